import Dispatch
import Synchronization

// How calls get a connection: the blocking ones on their own thread, the asynchronous ones on a thread of a
// ``Worker``, each as soon as the ``Scheduler`` has a slot for it.
//
// Only thin shells that keep the results are generic, and the rest is `dynamic`: the compiler makes no
// copies for types of results or for closures that it knows.
extension Database {
  /// Describes an access that begins now.
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

  /// Runs an access and returns the result of `body`, blocking the thread.
  @inlinable  // As `Connection.transaction`.
  func result<Result>(
    of scope: Access.Scope, deadline: ContinuousClock.Instant?,
    _ body: (Connection) throws -> Result
  ) throws -> Result {
    try unsafe keepingResult { memory, isMade in
      try perform(scope, deadline: deadline) {
        unsafe forget(memory, &isMade)
        unsafe memory.initialize(to: try body($0))
        isMade = true
        return unsafe TransactionOutcome(of: memory.pointee)
      }
    }
  }

  /// Runs an access, blocking the thread.
  @usableFromInline dynamic func perform(
    _ scope: Access.Scope, deadline: ContinuousClock.Instant?,
    _ body: (Connection) throws -> TransactionOutcome
  ) throws {
    // An access inside another one ends with that: nobody asks it alone to end, and it never waits.
    let isNested = scheduler.isHeldByThisThread
    let access = access(scope, deadline, isNested ? scheduler.ofNestedAccesses : Cancellation())
    let grant = try scheduler.enter(
      access.kind, cancellation: access.cancellation, deadline: access.deadline)
    try run(grant, access, body)
  }

  dynamic func perform<Result: Sendable>(
    _ scope: Access.Scope, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let access = access(scope, deadline)
    let work = KeptWork(access, body)
    if case .write(.immediate) = scope, options.groupCommit.includesAsyncWrites,
      access.author == nil
    {
      try await performInGroup(access, work)
    } else {
      try await perform(access, work)
    }
    return try work.result()
  }

  /// Runs a read that may begin twice, on the task's thread if it is short and need not wait.
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
      // A task that reads again and again lets others go on. Two that take turns both come to an odd number.
      if readOnTaskCount.isMultiple(of: 31) { await Task.yield() }
      return try result.made()
    }
    let access = Access(
      scope: scope, deadline: brief.deadline, author: brief.author, place: .worker)
    let work = KeptWork(access, body)
    try await perform(access, work)
    return try work.result()
  }

  /// Runs an access, suspending the task unless that has ended before.
  func perform(_ access: Access, _ work: any Work) async throws {
    let task = TaskAccess(access, work)
    try await cancelling(access, task) {
      scheduler.enter(access) { [self] granted, leaver in
        switch granted {
        case .success(let slot):
          let next = GrantedAccess(task: task, slot: slot)
          if leaver?.leaveSlot(to: next) != true { start(next) }
        case .failure(let error):
          // The thread that wakes it may hold locks of a user's tasks.
          scheduler.messenger.async { task.end(with: .failure(error)) }
        }
      }
      try await withCheckedThrowingContinuation { task.wake($0) }
    }
  }

  /// Runs the access of a task, and those that follow it, on a thread of the worker.
  func start(_ first: GrantedAccess) {
    // A thread that is resuming its task is free sooner than another one is awake.
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

  /// Exchanges the access whose task is being resumed. What is released goes outside the lock.
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
    // Requested before there was a successor, so that the handler has found none.
    if task.access.cancellation.isRequested, let successor = task.takeSuccessor() {
      start(successor)
    }
    return outcome
  }

  /// Runs `body` on the connection that writes, outside any transaction, once all reads of this
  /// database that run now have ended.
  ///
  /// It joins the queue of writes at that moment. Nothing is run if the database was closed
  /// or has gone by then. Reads of other processes, and of other databases on the file, do not count.
  ///
  /// - Parameter body: The work, which runs on a thread of the database's own.
  /// - Returns: False if no read runs now: then `body` is never run.
  package func afterPresentReads(_ body: @escaping @Sendable (Connection) -> Void) -> Bool {
    scheduler.afterPresentReads { [weak self] in
      guard let self else { return }
      let access = Access(scope: .bare, deadline: nil)
      scheduler.enter(access) { [self] granted, _ in
        guard case .success(let slot) = granted else { return }
        worker.start { [self] in
          scheduler.adopt(slot)
          // There is no caller to throw to: `body` handles its own errors.
          try? run(.slot(slot), access) {
            body($0)
            return .commit
          }
        }
      }
    }
  }
}
