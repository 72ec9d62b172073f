import Dispatch
import Synchronization

// How accesses get a connection, as soon as the ``Scheduler`` grants them a slot: blocking ones on
// their own thread, asynchronous ones on a thread of a ``Worker``.
//
// Only thin wrappers that store the result are generic. The rest is `dynamic`, so that the compiler
// doesn't specialize it for each result type and closure.
extension Database {
  /// Returns the description of an access that begins now. If `deadline` is nil,
  /// `Options.accessTimeout` determines the deadline.
  func access(
    _ scope: Access.Scope, _ deadline: ContinuousClock.Instant?,
    _ cancellation: Cancellation = Cancellation(), at place: Access.Place = .anywhere
  ) -> Access {
    Access(
      scope: scope,
      deadline: deadline.map { Moment($0) } ?? options.accessTimeout.map { .now + $0 },
      cancellation: cancellation, author: shared.commits.isEmpty ? nil : ChangeAuthor.current,
      place: place)
  }

  /// Runs an access on this thread and returns the result of `body`.
  @inlinable  // For the reason given at `Connection.transaction`.
  func result<Result>(
    of scope: Access.Scope, deadline: ContinuousClock.Instant?,
    _ body: (Connection) throws -> Result
  ) throws -> Result {
    try unsafe withResultStorage { memory, isInitialized in
      try perform(scope, deadline: deadline) {
        unsafe forget(memory, &isInitialized)
        unsafe memory.initialize(to: try body($0))
        isInitialized = true
        return unsafe TransactionOutcome(of: memory.pointee)
      }
    }
  }

  /// Runs an access on this thread. Blocks until a slot is granted, or throws if the access may not
  /// wait for one any longer.
  @usableFromInline dynamic func perform(
    _ scope: Access.Scope, deadline: ContinuousClock.Instant?,
    _ body: (Connection) throws -> TransactionOutcome
  ) throws {
    // A nested access never waits and can't be cancelled separately from the outer one.
    let isNested = scheduler.isHeldByThisThread
    let access = access(
      scope, deadline, isNested ? scheduler.nestedAccessCancellation : Cancellation())
    let grant = try scheduler.enter(
      access.kind, cancellation: access.cancellation, deadline: access.deadline)
    try run(grant, access, body)
  }

  dynamic func perform<Result: Sendable>(
    _ scope: Access.Scope, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let access = access(scope, deadline)
    let work = ResultWork(access, body)
    if case .write(.immediate) = scope, options.groupCommit.includesAsyncWrites,
      access.author == nil
    {
      try await performInGroup(access, work)
    } else {
      try await perform(access, work)
    }
    return try work.result()
  }

  /// Runs a read on the task's own thread if the read is short and doesn't need to wait, otherwise
  /// on a worker's thread. `body` may run twice.
  dynamic func performBriefly<Result: Sendable>(
    _ scope: Access.Scope, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    let brief = access(scope, deadline, at: .task)
    var result: Result?
    let isDone = try runOnTask(brief) { connection in
      let made = try body(connection)
      result = .some(made)
      return brief.isTransaction ? TransactionOutcome(of: made) : .commit
    }
    if isDone {
      // Now and then, a task that reads in a loop yields to other tasks. As 31 is odd, two
      // alternating tasks both yield.
      if readOnTaskCount.isMultiple(of: 31) { await Task.yield() }
      return try result.made()
    }
    let access = Access(
      scope: scope, deadline: brief.deadline, author: brief.author, place: .worker)
    let work = ResultWork(access, body)
    try await perform(access, work)
    return try work.result()
  }

  /// Runs an access on a worker's thread, and suspends the task until the access has ended.
  func perform(_ access: Access, _ work: any Work) async throws {
    let task = TaskAccess(access, work)
    try await cancelling(access, task) {
      scheduler.enter(access) { [self] granted, leaver in
        switch granted {
        case .success(let slot):
          let next = GrantedAccess(task: task, slot: slot)
          if leaver?.leaveSlot(to: next) != true { start(next) }
        case .failure(let error):
          // Not on this thread, which may hold locks of the program's tasks.
          scheduler.messenger.async { task.end(with: .failure(error)) }
        }
      }
      try await withCheckedThrowingContinuation { task.wake($0) }
    }
  }

  /// Runs a task's access and then its successors. Uses the thread that is currently resuming the
  /// task of another access, if there is one, otherwise a thread of the worker.
  func start(_ first: GrantedAccess) {
    // A thread that is resuming its task becomes free sooner than another thread wakes up.
    if exchangeResumed(nil)?.leaveSlot(to: first) == true { return }
    worker.start { [self] in
      var next: GrantedAccess? = first
      while let granted = next {
        scheduler.adopt(granted.slot)
        let outcome = outcome(of: granted)
        _ = exchangeResumed(granted.task)
        granted.task.end(with: outcome)
        next = granted.task.takeSuccessor()
      }
      _ = exchangeResumed(nil)
    }
  }

  /// Replaces the access whose task is being resumed. Returns the previous one, so that the caller
  /// releases it outside the lock.
  private func exchangeResumed(_ task: TaskAccess?) -> TaskAccess? {
    resumed.withLock { resumed in
      defer { resumed = task }
      return resumed
    }
  }

  private func outcome(of granted: GrantedAccess) -> Result<Void, any Error> {
    let task = granted.task
    let work = task.takeWork()
    let outcome = Result {
      try run(.slot(granted.slot), task.access, of: task) { connection in
        try work?.run(on: connection) ?? .rollback
      }
    }
    // If the task was cancelled before a successor was stored, the cancellation handler hasn't
    // started it.
    if task.access.cancellation.isRequested, let successor = task.takeSuccessor() {
      start(successor)
    }
    return outcome
  }

  /// Runs `body` on the writer connection, outside any transaction, after all reads that are
  /// running now have ended.
  ///
  /// When the last of these reads ends, the work joins the queue of writes. If the database has
  /// been closed or deallocated by then, the work is dropped. Reads of other processes, and of
  /// other `Database` values for the same file, aren't considered.
  ///
  /// - Parameter body: The work, which runs on a worker's thread.
  /// - Returns: True if a read is running now. If false, `body` is never called.
  package func afterCurrentReads(_ body: @escaping @Sendable (Connection) -> Void) -> Bool {
    scheduler.afterCurrentReads { [weak self] in
      guard let self else { return }
      let access = Access(scope: .bare, deadline: nil)
      scheduler.enter(access) { [self] granted, _ in
        guard case .success(let slot) = granted else { return }
        worker.start { [self] in
          scheduler.adopt(slot)
          // No caller can receive an error: `body` handles its own errors.
          try? run(.slot(slot), access) {
            body($0)
            return .commit
          }
        }
      }
    }
  }
}
