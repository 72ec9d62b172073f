extension Database {
  /// Runs `body` on one snapshot of the database, blocking the thread.
  ///
  /// In WAL mode the snapshot is taken by the first statement and is not touched by writes that
  /// happen meanwhile. Statements that write are refused. Inside another access on the same thread
  /// the closure runs on that access's connection.
  ///
  /// - Parameters:
  ///   - deadline: The time at which the access must be over. A statement that still runs then is stopped.
  ///   - body: The work. The connection must not be kept.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, or ``SQLiteError``: ``ResultCode/interrupt`` for a deadline.
  @inlinable  // For the reason given at `Connection.transaction`.
  public func read<Result>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: (Connection) throws -> Result
  ) throws -> Result {
    try result(of: .read, deadline: deadline, body)
  }

  /// As ``read(deadline:_:)``, without blocking the task.
  ///
  /// `body` runs on a thread of the database's own, never on one of Swift's cooperative threads.
  /// Cancelling the task stops a running statement.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func read<Result: Sendable>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await perform(.read, deadline: deadline, body)
  }

  /// As the asynchronous `read`, for a short one: it runs on the task's own thread, without switching threads, if it
  /// need not wait.
  ///
  ///     let name = try await database.readBriefly { connection in
  ///       try connection.firstRow("SELECT name FROM city WHERE id = \(id)", as: String.self)
  ///     }
  ///
  /// Switching threads takes several times as long as a look-up. But Swift's threads, as many as the machine has
  /// cores, must not wait. So a read runs there only if a connection is free and each of its statements was
  /// compiled before and took no longer than ``Options/longestReadOnTask`` the last time; and never on a
  /// connection with functions, collations, an authorizer or a trace of the program's, nor with a ``Options/vfs``
  /// of its own, nor at a server. If a statement then waits for a lock, or takes more than 2,000 of SQLite's
  /// instructions, it is stopped, and the read begins anew on a thread of the database's own. A page that is not
  /// in memory is read from the disk meanwhile.
  ///
  /// So `body` may run twice, of which the last counts. It must have no effects but its result, and wait for
  /// nothing. The library's own look-ups, such as `rows`, run in this way.
  ///
  /// - Parameters:
  ///   - deadline: The time at which the access must be over.
  ///   - body: The work. The connection must not be kept.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, ``SQLiteError``, or `CancellationError`.
  public func readBriefly<Result: Sendable>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await performBriefly(.read, deadline: deadline, body)
  }

  /// Runs `body` in a transaction, blocking the thread.
  ///
  /// The changes are durable when this returns, and all undone if it throws, or if `body` returns
  /// ``TransactionOutcome/rollback``. Inside another write on the same thread this is a savepoint;
  /// inside a read it throws.
  ///
  /// - Parameters:
  ///   - kind: How the transaction begins. Immediate ones wait for the lock instead of failing late.
  ///   - deadline: The time at which the access must be over. A statement that still runs then is stopped.
  ///   - body: The work. The connection must not be kept.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, or ``SQLiteError``: ``ResultCode/interrupt`` for a deadline,
  ///   ``ResultCode/busy`` if another process kept the lock for longer than the busy timeout.
  @inlinable  // For the reason given at `Connection.transaction`.
  @discardableResult
  public func write<Result>(
    _ kind: TransactionKind = .immediate, deadline: ContinuousClock.Instant? = nil,
    _ body: (Connection) throws -> Result
  ) throws -> Result {
    try result(of: .write(kind), deadline: deadline, body)
  }

  /// As ``write(_:deadline:_:)``, without blocking the task.
  ///
  /// `body` runs on a thread of the database's own, never on one of Swift's cooperative threads.
  /// Cancelling the task stops a running statement and undoes the transaction; a transaction whose
  /// commit has begun is finished.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func write<Result: Sendable>(
    _ kind: TransactionKind = .immediate, deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await perform(.write(kind), deadline: deadline, body)
  }

  /// Runs `body` on the connection that writes, outside any transaction, blocking the thread.
  ///
  /// For what SQLite refuses inside a transaction, such as `VACUUM` and some pragmas, and for SQL
  /// that begins and ends transactions itself. A transaction left open is rolled back, and an error.
  ///
  /// - Parameters:
  ///   - deadline: The time at which the access must be over.
  ///   - body: The work. The connection must not be kept.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, or ``SQLiteError``.
  @inlinable  // For the reason given at `Connection.transaction`.
  @discardableResult
  public func withoutTransaction<Result>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: (Connection) throws -> Result
  ) throws -> Result {
    try result(of: .bare, deadline: deadline, body)
  }

  /// As ``withoutTransaction(deadline:_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func withoutTransaction<Result: Sendable>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await perform(.bare, deadline: deadline, body)
  }
}
