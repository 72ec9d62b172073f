import Synchronization

/// One use of a connection, with its scope, deadline and cancellation. The method `run(on:_:)` runs
/// the closure of a `read` or a `write` accordingly.
@usableFromInline struct Access: Sendable {
  /// The kind of connection that an access needs: one for reading, or the writer connection.
  enum Kind: Sendable {
    case read
    case write
  }

  @usableFromInline enum Scope: Sendable {
    /// A read transaction, on one snapshot.
    case read
    /// A single query. The access's closure begins a transaction itself if the query needs one.
    case query
    /// A write transaction.
    case write(TransactionKind)
    /// An access to the writer connection without a transaction of the library.
    case bare
  }

  /// The thread on which an access runs, which decides whether it can block and whether its
  /// statements are timed.
  enum Place {
    /// Any thread. The statements aren't timed.
    case anywhere
    /// A thread that can block. The statements are timed, to decide whether they may run on a
    /// task's thread next time.
    case worker
    /// The cooperative thread of the calling task, which must not block.
    case task
  }

  let scope: Scope
  let deadline: Moment?
  var cancellation = Cancellation()
  /// The author to record for the changes of the access, or nil if the task has no author or
  /// nothing records authors.
  var author: String?
  var place = Place.anywhere

  var kind: Kind {
    switch scope {
    case .read, .query: .read
    case .write, .bare: .write
    }
  }

  /// Whether the access begins a transaction. If it does, its closure can return a
  /// ``TransactionOutcome`` to commit it or roll it back.
  var isTransaction: Bool {
    switch scope {
    case .read, .write: true
    case .query, .bare: false
    }
  }

  /// The reason why the access must end now, or nil. Checked while the access waits for a server.
  var reasonToEnd: String? {
    if let cancelled = cancellation.reason { return cancelled.message }
    if let deadline, .now >= deadline { return SQLiteError.deadlineMessage }
    return nil
  }

  /// Runs the access. `body` stores its result for the caller.
  ///
  /// This function is `dynamic`, so that the compiler doesn't specialize it for each closure.
  dynamic func run(
    on connection: Connection, _ body: (Connection) throws -> TransactionOutcome
  ) throws {
    connection.recordContentGeneration()
    let interruption = connection.interruption
    let outerDeadline = interruption.deadline
    let isOutermost = interruption.cancellation == nil
    if let deadline { interruption.deadline = min(deadline, outerDeadline ?? deadline) }
    if isOutermost { interruption.cancellation = cancellation }
    if place != .anywhere { interruption.begin(at: place) }
    if let author, isOutermost { connection.recording.author = author }
    let couldWrite = connection.refusesWrites
    defer {
      interruption.deadline = outerDeadline
      if isOutermost { interruption.cancellation = nil }
      if place != .anywhere { interruption.begin(at: .anywhere) }
      if author != nil, isOutermost { connection.recording.author = nil }
      connection.refusesWrites = couldWrite
    }
    // The program's own functions may block.
    if place == .task, connection.hooks.hasUserCode { throw interruption.giveUp() }
    if kind == .read {
      connection.refusesWrites = true
    } else if connection.refusesWrites {
      throw SQLiteError(.misuse, "a write cannot begin inside a read; begin it outside")
    }
    switch scope {
    case .read where !connection.state.isInsideScope:
      try connection.runTransaction(.deferred) { try body(connection) }
    case .read, .query:
      _ = try body(connection)
    case .write(let kind):
      try connection.runTransaction(kind) { try body(connection) }
    case .bare:
      try runBare(on: connection, body)
    }
  }

  private func runBare(
    on connection: Connection, _ body: (Connection) throws -> TransactionOutcome
  ) throws {
    // A nested access runs as part of the outer one.
    guard connection.state.enterBare() else {
      _ = try body(connection)
      return
    }
    defer { connection.state.leaveBare() }
    let result = Result { try body(connection) }
    connection.acceptLog()
    let failure = connection.state.failure
    guard connection.isAutocommit, failure == nil else {
      connection.rollBackOpenTransaction()
      _ = try result.get()
      if let failure { throw failure }
      throw SQLiteError(
        .misuse,
        "the access left a transaction open, which was rolled back; commit it before the "
          + "access ends")
    }
    if case .success = result { connection.committed() } else { connection.discardActions() }
    _ = try result.get()
  }
}

/// An access that holds a slot.
struct Holder: Sendable {
  let kind: Access.Kind
  let since: Moment
  var cancellation: Cancellation
  /// The number of the thread that runs the access, or 0 if the access isn't running yet.
  var thread: UInt = 0
}

/// The work of an access that may run on a thread other than its caller's.
protocol Work: AnyObject, Sendable {
  /// Runs the work on a connection and stores the result for the caller. Returns whether to commit
  /// or roll back the transaction.
  func run(on connection: Connection) throws -> TransactionOutcome
}

/// Work that stores the result of its last run.
final class ResultWork<Result: Sendable>: Work {
  private let body: @Sendable (Connection) throws -> Result
  private let isTransaction: Bool
  private let kept = Mutex<Result?>(nil)

  /// Creates the work of an access.
  ///
  /// - Parameters:
  ///   - access: The access that runs the work.
  ///   - body: The work. It may run several times; only the last result is used.
  init(_ access: Access, _ body: @escaping @Sendable (Connection) throws -> Result) {
    self.body = body
    isTransaction = access.isTransaction
  }

  func run(on connection: Connection) throws -> TransactionOutcome {
    let result = try body(connection)
    // The previous result may be an object of the program, so it is released outside the lock.
    let before = kept.withLock { kept in
      defer { kept = .some(result) }
      return kept
    }
    withExtendedLifetime(before) {}
    return isTransaction ? TransactionOutcome(of: result) : .commit
  }

  /// Returns the result of the last run.
  func result() throws(SQLiteError) -> Result {
    try kept.withLock { $0 }.made()
  }
}

/// A task's access that runs on a thread of a ``Worker``.
///
/// After resuming the task, the thread runs the next access that waits for the slot, or one that
/// begins meanwhile, such as the same task's next access. Waking another thread would take longer
/// than a read.
///
/// A task can't be resumed while its cancellation handlers run, and such a handler may wait for the
/// slot. The next access is therefore stored as the successor in this object, where another thread
/// can take it: the library's own cancellation handler runs before the program's handlers around
/// it, and starts the successor on another thread.
final class TaskAccess: Sendable {
  private struct State: Sendable {
    var work: (any Work)?
    var successor: GrantedAccess?
    /// Whether ``takeSuccessor()`` has been called. No successor can be stored afterwards.
    var isOver = false
    /// The continuation of the task, if it is suspended.
    var continuation: CheckedContinuation<Void, any Error>?
    var outcome: Result<Void, any Error>?
  }

  let access: Access
  private let state: Mutex<State>

  init(_ access: Access, _ work: any Work) {
    self.access = access
    state = Mutex(State(work: work))
  }

  /// Removes and returns the work, so that the worker's thread can release it before resuming the
  /// task, which also holds a reference to the work. Otherwise the worker's thread might be the
  /// last to release the program's objects, and their deinitializers might wait for the slot that
  /// this thread must leave.
  func takeWork() -> (any Work)? {
    state.withLock { state in
      defer { state.work = nil }
      return state.work
    }
  }

  /// Ends the access and resumes the task if it is suspended.
  func end(with outcome: Result<Void, any Error>) {
    let continuation = state.withLock { state in
      // Stored only if the task needs it later: another thread may release this object last.
      if state.continuation == nil { state.outcome = outcome }
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(with: outcome)
  }

  /// Stores the continuation of a task that is being suspended, so that ``end(with:)`` resumes it.
  /// If the access has already ended, resumes it immediately.
  func wake(_ continuation: CheckedContinuation<Void, any Error>) {
    let outcome = state.withLock { state in
      if state.outcome == nil { state.continuation = continuation }
      defer { state.outcome = nil }
      return state.outcome
    }
    if let outcome { continuation.resume(with: outcome) }
  }

  /// Stores the access that runs next on the same thread. Returns false if one is already stored,
  /// or if ``takeSuccessor()`` was called.
  func leaveSlot(to next: GrantedAccess) -> Bool {
    state.withLock { state in
      guard state.successor == nil, !state.isOver else { return false }
      state.successor = next
      return true
    }
  }

  /// Removes and returns the successor, or returns nil if none is stored. No other successor can be
  /// stored afterwards.
  func takeSuccessor() -> GrantedAccess? {
    state.withLock { state in
      state.isOver = true
      defer { state.successor = nil }
      return state.successor
    }
  }
}

/// A task's access and the slot that it was granted.
struct GrantedAccess: Sendable {
  let task: TaskAccess
  let slot: Int
}
