extension Database {
  /// Runs `body` on a snapshot of the database, and blocks the thread.
  ///
  /// In WAL mode, the snapshot begins with the first statement, and concurrent writes don't affect
  /// it. Statements that write throw ``ResultCode/readOnly``. Inside another access on the same
  /// thread, `body` runs on that access's connection.
  ///
  /// - Parameters:
  ///   - deadline: The time by which the access must end, or nil to use ``Options/accessTimeout``.
  ///     A statement that is still running then is interrupted.
  ///   - body: The work, which may run more than once in a cluster. Don't use the connection
  ///     outside the closure.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; ``SQLiteError`` if the access can't begin or is interrupted,
  ///   with ``ResultCode/misuse`` after `close()`, ``ResultCode/abort`` after `suspend()`, or
  ///   ``ResultCode/interrupt`` after the deadline or a call of `interrupt()`.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a Sendable result, or read(giving:_:), in a function"
  )
  @inlinable  // For the reason given at `Connection.transaction`.
  public func read<Result>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: (Connection) throws -> Result
  ) throws -> Result {
    try result(of: .read, deadline: deadline, body)
  }

  /// Runs `body` on a snapshot of the database, and suspends the task meanwhile.
  ///
  /// `body` runs on a thread of the database, not on Swift's cooperative threads. Statements that
  /// write throw ``ResultCode/readOnly``. Cancelling the task interrupts a running statement.
  ///
  /// - Parameters:
  ///   - deadline: The time by which the access must end, or nil to use ``Options/accessTimeout``.
  ///     A statement that is still running then is interrupted.
  ///   - body: The work, which may run more than once in a cluster. Don't use the connection
  ///     outside the closure.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; ``SQLiteError`` if the access can't begin or is interrupted,
  ///   with ``ResultCode/misuse`` after `close()`, ``ResultCode/abort`` after `suspend()`, or
  ///   ``ResultCode/interrupt`` after the deadline or a call of `interrupt()`; `CancellationError`
  ///   if the task was cancelled.
  public func read<Result: Sendable>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await perform(.read, deadline: deadline, body)
  }

  /// Runs a short read on a snapshot of the database, if possible on the task's own thread.
  ///
  ///     let name = try await database.readBriefly { connection in
  ///       try connection.firstRow("SELECT name FROM city WHERE id = \(id)", as: String.self)
  ///     }
  ///
  /// Switching threads takes several times as long as a lookup by key. However, Swift's few
  /// cooperative threads must not block. `body` therefore runs on the task's thread only if a
  /// connection is free, and if each statement is already compiled and took at most
  /// ``Options/longestReadOnTask`` in its last run. It always runs on a thread of the database if
  /// the database has a custom ``Options/vfs`` or belongs to a cluster, or if the program has added
  /// functions, collations, an authorizer or a trace to the connection.
  ///
  /// If a statement on the task's thread has to wait for a lock, or executes more than 2,000 SQLite
  /// instructions, it is interrupted, and `body` runs again on a thread of the database. Pages that
  /// are not in memory are read from the disk on the task's thread.
  ///
  /// Because `body` may run twice, it must have no side effects. It must not wait for anything. The
  /// library's own lookups, such as `rows`, use this method.
  ///
  /// - Parameters:
  ///   - deadline: The time by which the access must end, or nil to use ``Options/accessTimeout``.
  ///     A statement that is still running then is interrupted.
  ///   - body: The work. Don't use the connection outside the closure.
  /// - Returns: The result of the last run of `body`.
  /// - Throws: The error of `body`; ``SQLiteError`` if the access can't begin or is interrupted,
  ///   with ``ResultCode/misuse`` after `close()`, ``ResultCode/abort`` after `suspend()`, or
  ///   ``ResultCode/interrupt`` after the deadline or a call of `interrupt()`; `CancellationError`
  ///   if the task was cancelled.
  public func readBriefly<Result: Sendable>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await performBriefly(.read, deadline: deadline, body)
  }

  /// Runs `body` in a transaction, and blocks the thread.
  ///
  /// When this method returns, the changes are committed, and as durable as ``Options/synchronous``
  /// specifies. If `body` throws or returns ``TransactionOutcome/rollback``, they are rolled back.
  /// Inside another write on the same thread, this method opens a savepoint of that write, and the
  /// changes are committed when that write ends.
  ///
  /// - Parameters:
  ///   - kind: How the transaction begins. `immediate` waits for the write lock at the beginning.
  ///   - deadline: The time by which the access must end, or nil to use ``Options/accessTimeout``.
  ///     A statement that is still running then is interrupted.
  ///   - body: The work, which may run more than once in a cluster. Don't use the connection
  ///     outside the closure.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; ``SQLiteError`` if the transaction can't begin or commit, or is
  ///   interrupted, with ``ResultCode/busy`` if another process holds the lock for longer than the
  ///   busy timeout, ``ResultCode/misuse`` inside a read or after `close()`, ``ResultCode/abort``
  ///   after `suspend()`, or ``ResultCode/interrupt`` after the deadline or a call of
  ///   `interrupt()`.
  @available(
    *, noasync,
    message:
      "blocks the thread; `await` needs a Sendable result, or write(giving:_:), in a function"
  )
  @inlinable  // For the reason given at `Connection.transaction`.
  @discardableResult
  public func write<Result>(
    _ kind: TransactionKind = .immediate, deadline: ContinuousClock.Instant? = nil,
    _ body: (Connection) throws -> Result
  ) throws -> Result {
    try result(of: .write(kind), deadline: deadline, body)
  }

  /// Runs `body` in a transaction, and suspends the task meanwhile.
  ///
  /// `body` runs on a thread of the database, not on Swift's cooperative threads. Cancelling the
  /// task interrupts a running statement and rolls back the transaction, unless its commit has
  /// already begun.
  ///
  /// - Parameters:
  ///   - kind: How the transaction begins. `immediate` waits for the write lock at the beginning.
  ///   - deadline: The time by which the access must end, or nil to use ``Options/accessTimeout``.
  ///     A statement that is still running then is interrupted.
  ///   - body: The work. It may run more than once in a cluster, or if
  ///     ``GroupCommit/includesAsyncWrites`` is true. Don't use the connection outside the closure.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; ``SQLiteError`` if the transaction can't begin or commit, or is
  ///   interrupted, with ``ResultCode/busy`` if another process holds the lock for longer than the
  ///   busy timeout, ``ResultCode/misuse`` after `close()`, ``ResultCode/abort`` after `suspend()`,
  ///   or ``ResultCode/interrupt`` after the deadline or a call of `interrupt()`;
  ///   `CancellationError` if the task was cancelled.
  @discardableResult
  public func write<Result: Sendable>(
    _ kind: TransactionKind = .immediate, deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await perform(.write(kind), deadline: deadline, body)
  }

  /// Runs `body` on the writer connection, outside any transaction, and blocks the thread.
  ///
  /// Use this method for statements that SQLite doesn't allow inside a transaction, such as
  /// `VACUUM` and some pragmas, and for SQL that begins and ends transactions itself. Inside
  /// another write on the same thread, `body` runs as part of that write.
  ///
  /// - Parameters:
  ///   - deadline: The time by which the access must end, or nil to use ``Options/accessTimeout``.
  ///     A statement that is still running then is interrupted.
  ///   - body: The work, which may run more than once in a cluster. Don't use the connection
  ///     outside the closure.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; ``SQLiteError`` if the access can't begin or is interrupted,
  ///   with ``ResultCode/misuse`` inside a read, after `close()`, or if `body` leaves a transaction
  ///   open, which is then rolled back; with ``ResultCode/abort`` after `suspend()`, or
  ///   ``ResultCode/interrupt`` after the deadline or a call of `interrupt()`.
  @available(
    *, noasync,
    message:
      "blocks the thread; `await` needs a Sendable result and a @Sendable closure, in a function"
  )
  @inlinable  // For the reason given at `Connection.transaction`.
  @discardableResult
  public func withoutTransaction<Result>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: (Connection) throws -> Result
  ) throws -> Result {
    try result(of: .bare, deadline: deadline, body)
  }

  /// Runs `body` on the writer connection, outside any transaction, and suspends the task
  /// meanwhile.
  ///
  /// Use this method for statements that SQLite doesn't allow inside a transaction, such as
  /// `VACUUM` and some pragmas, and for SQL that begins and ends transactions itself.
  ///
  /// - Parameters:
  ///   - deadline: The time by which the access must end, or nil to use ``Options/accessTimeout``.
  ///     A statement that is still running then is interrupted.
  ///   - body: The work, which may run more than once in a cluster. Don't use the connection
  ///     outside the closure.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; ``SQLiteError`` if the access can't begin or is interrupted,
  ///   with ``ResultCode/misuse`` after `close()`, or if `body` leaves a transaction open, which is
  ///   then rolled back; with ``ResultCode/abort`` after `suspend()`, or ``ResultCode/interrupt``
  ///   after the deadline or a call of `interrupt()`; `CancellationError` if the task was
  ///   cancelled.
  @discardableResult
  public func withoutTransaction<Result: Sendable>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await perform(.bare, deadline: deadline, body)
  }
}
