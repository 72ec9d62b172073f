import Synchronization

/// One use of a connection: what happens around the closure of a `read` or a `write`.
@usableFromInline struct Access: Sendable {
  /// Whether an access needs the connection that writes.
  enum Kind: Sendable {
    case read
    case write
  }

  @usableFromInline enum Scope: Sendable {
    /// A transaction on one snapshot.
    case read
    /// A single query: it begins a transaction itself if it needs one.
    case query
    /// A transaction that writes.
    case write(TransactionKind)
    /// No transaction of the library's.
    case bare
  }

  /// Where an access runs.
  enum Place {
    /// On any thread; nobody asks how long it takes.
    case anywhere
    /// On a thread that may wait: its statements learn how long they take.
    case worker
    /// On the thread of the task that made it, which must not wait.
    case task
  }

  let scope: Scope
  let deadline: Moment?
  var cancellation = Cancellation()
  /// The author of what it writes, if anybody wants to know.
  var author: String?
  var place = Place.anywhere

  var kind: Kind {
    switch scope {
    case .read, .query: .read
    case .write, .bare: .write
    }
  }

  /// Whether the outcome that the closure returns decides about a transaction.
  var isTransaction: Bool {
    switch scope {
    case .read, .write: true
    case .query, .bare: false
    }
  }

  /// Why the access must end now, if it must; asked while it waits for a connection to a server.
  var reasonToEnd: String? {
    if let cancelled = cancellation.reason { return cancelled.message }
    if let deadline, .now >= deadline { return SQLiteError.deadlineMessage }
    return nil
  }

  /// Runs the work of the access, whose result its caller keeps.
  ///
  /// `dynamic`, so that the compiler makes no copy of it for each closure that it knows.
  dynamic func run(
    on connection: Connection, _ body: (Connection) throws -> TransactionOutcome
  ) throws {
    connection.noteContent()
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
    // Functions of the user's may wait for anything.
    if place == .task, connection.hooks.hasUserCode { throw interruption.giveUp() }
    if kind == .read {
      connection.refusesWrites = true
    } else if connection.refusesWrites {
      throw SQLiteError(.misuse, "a write cannot begin inside a read")
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
    // Inside another access this one takes part in what that one began.
    guard connection.state.enterBare() else {
      _ = try body(connection)
      return
    }
    defer { connection.state.leaveBare() }
    let result = Result { try body(connection) }
    connection.acceptLog()
    let failure = connection.state.failure
    guard connection.isAutocommit, failure == nil else {
      connection.rollBackWhatIsOpen()
      _ = try result.get()
      if let failure { throw failure }
      throw SQLiteError(.misuse, "a transaction was left open, and has been rolled back")
    }
    if case .success = result { connection.committed() } else { connection.discardActions() }
    _ = try result.get()
  }
}

/// An access that has a connection.
struct Holder: Sendable {
  let kind: Access.Kind
  let since: Moment
  var cancellation: Cancellation
  /// The thread that it runs on, or 0 if it does not run yet.
  var thread: UInt = 0
}

/// The work of an access that runs on another thread than its caller's.
protocol Work: AnyObject, Sendable {
  /// Does the work, and keeps its result for the one who waits.
  func run(on connection: Connection) throws -> TransactionOutcome
}

/// Work that keeps the result of its last run.
final class KeptWork<Result: Sendable>: Work {
  private let body: @Sendable (Connection) throws -> Result
  private let isTransaction: Bool
  private let kept = Mutex<Result?>(nil)

  /// - Parameters:
  ///   - access: The access.
  ///   - body: The work; it may run several times, of which only the last counts.
  init(_ access: Access, _ body: @escaping @Sendable (Connection) throws -> Result) {
    self.body = body
    isTransaction = access.isTransaction
  }

  func run(on connection: Connection) throws -> TransactionOutcome {
    let result = try body(connection)
    // The result of the run before goes outside the lock: it may be a user's object.
    let before = kept.withLock { kept in
      defer { kept = .some(result) }
      return kept
    }
    withExtendedLifetime(before) {}
    return isTransaction ? TransactionOutcome(of: result) : .commit
  }

  /// Returns the result.
  func result() throws(SQLiteError) -> Result {
    try kept.withLock { $0 }.made()
  }
}

/// The access of a task, which runs on a thread of a ``Worker``.
///
/// The thread resumes the task and goes on with the access that waits next for the slot, or with one that begins
/// meanwhile, such as the next one of that task: waking another thread for it would take longer than a read. But a task
/// cannot be resumed while its cancellation handlers run, and one of these may wait for the slot. So the next access
/// stands here meanwhile: our own handler runs before those around it, and gives it to another thread.
final class TaskAccess: Sendable {
  private struct State: Sendable {
    var work: (any Work)?
    var successor: GrantedAccess?
    /// Whether the thread, or another one, has looked for a successor: then none may be left here any more.
    var isOver = false
    /// The task, if it is suspended.
    var continuation: CheckedContinuation<Void, any Error>?
    var outcome: Result<Void, any Error>?
  }

  let access: Access
  private let state: Mutex<State>

  init(_ access: Access, _ work: any Work) {
    self.access = access
    state = Mutex(State(work: work))
  }

  /// Takes the work out, so that it is released before the task, which has it too, is resumed: objects of
  /// the user's are never released last on the worker's thread, where their deinit might wait for the slot.
  func takeWork() -> (any Work)? {
    state.withLock { state in
      defer { state.work = nil }
      return state.work
    }
  }

  /// Ends the access, and resumes the task if it is suspended.
  func end(with outcome: Result<Void, any Error>) {
    let continuation = state.withLock { state in
      // Kept for the task alone: another thread may release this object last.
      if state.continuation == nil { state.outcome = outcome }
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(with: outcome)
  }

  /// Lets the end resume a task that is being suspended.
  func wake(_ continuation: CheckedContinuation<Void, any Error>) {
    let outcome = state.withLock { state in
      if state.outcome == nil { state.continuation = continuation }
      defer { state.outcome = nil }
      return state.outcome
    }
    if let outcome { continuation.resume(with: outcome) }
  }

  /// Leaves the slot to another access on the same thread, or returns false if there is one already, or if the thread may
  /// have gone on.
  func leaveSlot(to next: GrantedAccess) -> Bool {
    state.withLock { state in
      guard state.successor == nil, !state.isOver else { return false }
      state.successor = next
      return true
    }
  }

  /// Takes the access to which the slot was left, unless somebody else has. No other one can be left here afterwards.
  func takeSuccessor() -> GrantedAccess? {
    state.withLock { state in
      state.isOver = true
      defer { state.successor = nil }
      return state.successor
    }
  }
}

/// The access of a task that has a slot.
struct GrantedAccess: Sendable {
  let task: TaskAccess
  let slot: Int
}
