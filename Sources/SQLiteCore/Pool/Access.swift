/// One use of a connection: what happens around the closure of a `read` or a `write`.
struct Access: Sendable {
  /// Whether an access needs the connection that writes.
  enum Kind: Sendable {
    case read
    case write
  }

  enum Scope: Sendable {
    /// A transaction on one snapshot.
    case read
    /// A single query: it begins a transaction itself if it needs one.
    case query
    /// A transaction that writes.
    case write(TransactionKind)
    /// No transaction of the library's.
    case bare
  }

  let scope: Scope
  let deadline: ContinuousClock.Instant?
  let cancellation = Cancellation()

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

  /// Runs the work of the access, whose result its caller keeps.
  func run(
    on connection: Connection, _ body: (Connection) throws -> TransactionOutcome
  ) throws {
    connection.noteContent()
    let interruption = connection.interruption
    let outer = (interruption.deadline, interruption.cancellation)
    if let deadline { interruption.deadline = min(deadline, outer.0 ?? deadline) }
    interruption.cancellation = outer.1 ?? cancellation
    let couldWrite = connection.refusesWrites
    defer {
      (interruption.deadline, interruption.cancellation) = outer
      connection.refusesWrites = couldWrite
    }
    if kind == .read {
      connection.refusesWrites = true
    } else if connection.refusesWrites {
      throw SQLiteError(.misuse, "a write cannot begin inside a read")
    }
    switch scope {
    case .read where connection.state.scopes.isEmpty:
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

/// An access that has a connection. A class: the copying of an instant is slow, and all holders are looked
/// through at each access (benchmark `call`).
final class Holder: Sendable {
  let kind: Access.Kind
  let since: ContinuousClock.Instant
  let cancellation: Cancellation
  /// The thread that it runs on, if it runs already.
  let thread: UInt?

  init(
    _ kind: Access.Kind, since: ContinuousClock.Instant, _ cancellation: Cancellation, thread: UInt?
  ) {
    self.kind = kind
    self.since = since
    self.cancellation = cancellation
    self.thread = thread
  }
}
