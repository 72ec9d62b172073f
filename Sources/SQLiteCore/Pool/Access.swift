/// One use of a connection: what happens around the closure of a `read` or a `write`.
struct Access: Sendable {
  enum Scope: Sendable {
    /// A transaction on one snapshot.
    case read
    /// A single query: it begins a transaction itself if it needs one.
    case query
    /// A transaction that writes.
    case write(TransactionKind)
    /// No transaction of ours.
    case bare
  }

  let scope: Scope
  let cancellation: Cancellation
  let deadline: ContinuousClock.Instant?

  var kind: Scheduler.Kind {
    switch scope {
    case .read, .query: .read
    case .write, .bare: .write
    }
  }

  func run<Result>(
    on connection: Connection, _ body: (Connection) throws -> Result
  ) throws -> Result {
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
    case .read where connection.scopes.isEmpty:
      return try connection.transaction(.deferred) { try body(connection) }
    case .read, .query:
      return try body(connection)
    case .write(let kind):
      return try connection.transaction(kind) { try body(connection) }
    case .bare:
      return try runBare(on: connection, body)
    }
  }

  private func runBare<Result>(
    on connection: Connection, _ body: (Connection) throws -> Result
  ) throws -> Result {
    // Inside another access this one takes part in what that one began.
    guard connection.scopes.isEmpty, !connection.allowsTransactionControl else {
      return try body(connection)
    }
    connection.allowsTransactionControl = true
    defer { connection.allowsTransactionControl = false }
    let result = Swift.Result { try body(connection) }
    connection.acceptLog()
    let ended = connection.ended
    guard connection.isAutocommit, ended == nil else {
      connection.rollBackWhatIsOpen()
      _ = try result.get()
      if let ended { throw ended.asEndOfTransaction() }
      throw SQLiteError(.misuse, "a transaction was left open, and has been rolled back")
    }
    if case .success = result { connection.committed() } else { connection.discardActions() }
    return try result.get()
  }
}
