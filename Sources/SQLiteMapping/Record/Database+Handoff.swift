public import SQLiteCore

// For values that are not Sendable, such as instances of classes.
extension Database {
  /// Runs a transaction with a value that is not `Sendable`, such as an instance of a class,
  /// without blocking the thread.
  ///
  ///     let saved = try await database.write(giving: town) { try $0.update($1) }
  ///
  /// - Parameters:
  ///   - given: The value. You give it away and cannot use it afterwards.
  ///   - body: The work, which runs in a transaction. It must not keep the connection.
  /// - Returns: The result of `body`, which may be the same value.
  /// - Throws: An error from `body`, `SQLiteError` if the transaction cannot be started or
  ///   committed, or `CancellationError` if the task was cancelled.
  @discardableResult
  public func write<Given, Result>(
    giving given: sending Given,
    _ body: @escaping @Sendable (Connection, Given) throws -> Result
  ) async throws -> sending Result {
    let given = Handoff(given)
    return try await write { Handoff(try body($0, given.take())) }.take()
  }

  /// Reads with a value that is not `Sendable`, such as an instance of a class, without blocking
  /// the thread.
  ///
  /// - Parameters:
  ///   - given: The value. You give it away and cannot use it afterwards. Pass `()` if only the
  ///     result is not `Sendable`.
  ///   - body: The work, which reads a snapshot. It must not keep the connection.
  /// - Returns: The result of `body`.
  /// - Throws: An error from `body`, `SQLiteError` if the snapshot cannot be read, or
  ///   `CancellationError` if the task was cancelled.
  public func read<Given, Result>(
    giving given: sending Given,
    _ body: @escaping @Sendable (Connection, Given) throws -> Result
  ) async throws -> sending Result {
    let given = Handoff(given)
    return try await read { Handoff(try body($0, given.take())) }.take()
  }

  /// Reads a result that doesn't have to be `Sendable`, without blocking the thread.
  package func readGiving<Result>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> sending Result {
    try await read { Handoff(try body($0)) }.take()
  }

  /// Runs `body` on the writer connection outside of any transaction. Its result doesn't have to be
  /// `Sendable`.
  package func withoutTransactionGiving<Result>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> sending Result {
    try await withoutTransaction { Handoff(try body($0)) }.take()
  }
}
