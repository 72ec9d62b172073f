import Dispatch
import Synchronization

// How calls get a connection: the blocking ones on their own thread, the asynchronous ones on a thread of a
// ``Worker``, each as soon as the ``Scheduler`` has a slot for it.
//
// Not generic but for thin shells that keep the results, and `dynamic`: the compiler makes copies of it
// neither for each type of results nor for each closure that it knows.
extension Database {
  /// Describes an access that begins now.
  func access(_ scope: Access.Scope, _ deadline: ContinuousClock.Instant?) -> Access {
    Access(
      scope: scope,
      deadline: deadline.map { Moment($0) } ?? options.accessTimeout.map { .now + $0 })
  }

  @usableFromInline dynamic func runRead(
    deadline: ContinuousClock.Instant?, _ body: (Connection) throws -> TransactionOutcome
  ) throws {
    try perform(.read, deadline: deadline, body)
  }

  @usableFromInline dynamic func runWrite(
    _ kind: TransactionKind, deadline: ContinuousClock.Instant?,
    _ body: (Connection) throws -> TransactionOutcome
  ) throws {
    try perform(.write(kind), deadline: deadline, body)
  }

  @usableFromInline dynamic func runBare(
    deadline: ContinuousClock.Instant?, _ body: (Connection) throws -> TransactionOutcome
  ) throws {
    try perform(.bare, deadline: deadline, body)
  }

  @usableFromInline dynamic func runQuery(_ body: (Connection) throws -> Void) throws {
    try perform(.query, deadline: nil) {
      try body($0)
      return .commit
    }
  }

  /// Runs an access, blocking the thread.
  @inline(never) private func perform(
    _ scope: Access.Scope, deadline: ContinuousClock.Instant?,
    _ body: (Connection) throws -> TransactionOutcome
  ) throws {
    let access = access(scope, deadline)
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
    if case .write(.immediate) = scope, options.groupCommit.includesAsyncWrites {
      try await performInGroup(access, work)
    } else {
      try await perform(access, work)
    }
    return try work.result()
  }

  /// Runs an access, suspending the task.
  func perform(_ access: Access, _ work: any Work) async throws {
    try await suspendTask(access) { [self] continuation in
      // From the grant straight to the worker: the task's own thread may be a long time coming.
      do throws(SQLiteError) {
        if let slot = try scheduler.grant(access) {
          return worker.start(AccessJob(self, access, work, slot, continuation))
        }
      } catch {
        return refuse(error, continuation)
      }
      scheduler.wait(access) { [self] granted, leaver in
        switch granted {
        case .success(let slot):
          let job = AccessJob(self, access, work, slot, continuation)
          if leaver?.leaveSlot(to: job) != true { worker.start(job) }
        case .failure(let error): refuse(error, continuation)
        }
      }
    }
  }

  private func refuse(
    _ error: SQLiteError, _ continuation: CheckedContinuation<Void, any Error>
  ) {
    // The thread that wakes it may hold locks of a user's tasks.
    scheduler.messenger.async { continuation.resume(throwing: error) }
  }

  /// Suspends the task until `enter`, which is called once, has resumed it.
  func suspendTask(
    _ access: Access, _ enter: (CheckedContinuation<Void, any Error>) -> Void
  ) async throws {
    try Task.checkCancellation()
    do {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation(enter)
      } onCancel: {
        access.cancellation.request(.task)
        scheduler.giveUpCancelled(access.cancellation)
        // The thread that resumes the task waits until its handlers have run: another one goes on.
        if let successor = access.cancellation.takeSuccessor() { worker.start(successor) }
      }
    } catch let error as SQLiteError
      where error.code == .interrupt && access.cancellation.reason == .task
    {
      throw CancellationError()
    }
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

/// The access of a task that has a slot, for a thread of a ``Worker``.
///
/// The thread resumes the task and goes on with the access that waits next for the slot: waking another
/// thread for it would take longer than a read. But a task cannot be resumed while its cancellation handlers
/// run, and one of these may wait for the slot. So the next access stands in the ``Cancellation`` meanwhile:
/// our own handler runs before those around it, and gives it to another thread.
final class AccessJob: Sendable {
  private let database: Database
  private let access: Access
  private let work: Mutex<(any Work)?>
  private let slot: Int
  private let continuation: CheckedContinuation<Void, any Error>

  init(
    _ database: Database, _ access: Access, _ work: any Work, _ slot: Int,
    _ continuation: CheckedContinuation<Void, any Error>
  ) {
    self.database = database
    self.access = access
    self.work = Mutex(work)
    self.slot = slot
    self.continuation = continuation
  }

  /// Runs the access and resumes its task, and returns the next one for this thread.
  func run() -> AccessJob? {
    database.scheduler.adopt(slot)
    continuation.resume(with: result())
    return access.cancellation.takeSuccessor()
  }

  private func result() -> Result<Void, any Error> {
    // Let go of before the task is resumed, which has it too: what is the user's never ends here, where it
    // might wait for the slot.
    let work = work.withLock { work in
      defer { work = nil }
      return work
    }
    let result = Result {
      try database.run(.slot(slot), access, mayGoOn: true) { connection in
        try work?.run(on: connection) ?? .rollback
      }
    }
    // Requested before there was a successor, so that the handler has found none.
    if access.cancellation.isRequested, let successor = access.cancellation.takeSuccessor() {
      database.worker.start(successor)
    }
    return result
  }
}
