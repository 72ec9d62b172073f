public import SQLiteCore

/// A value on its way between a task and the thread of an access.
// Proof: what goes in was given away (`sending`), and what comes out was made by that one access, or went in before: a
// `@Sendable` closure has no other place to keep it, and the connection keeps nothing of either. Each side looks at the value
// once, the second after the first.
package struct Handoff<Value>: @unchecked Sendable {
  // Proof: as above.
  private nonisolated(unsafe) let value: Value

  package init(_ value: Value) { unsafe self.value = value }

  /// The value, for the side that it was made for.
  package func take() -> sending Value {
    // Proof: as above.
    nonisolated(unsafe) let value = unsafe value
    return unsafe value
  }
}

// For values that are not Sendable, such as instances of classes.
extension Database {
  /// Writes with a value that is not `Sendable`, such as an instance of a class, without blocking the task.
  ///
  ///     let saved = try await database.write(giving: town) { try $0.update($1) }
  ///
  /// - Parameters:
  ///   - given: The value, which the caller gives away.
  ///   - body: The work, in a transaction. The connection must not be kept.
  /// - Returns: The result of `body`, which may be the same value.
  /// - Throws: The error of `body`, `SQLiteError`, or `CancellationError`.
  @discardableResult
  public func write<Given, Result>(
    giving given: sending Given,
    _ body: @escaping @Sendable (Connection, Given) throws -> Result
  ) async throws -> sending Result {
    let given = Handoff(given)
    return try await write { Handoff(try body($0, given.take())) }.take()
  }

  /// Reads with a value that is not `Sendable`, such as an instance of a class, without blocking the task.
  ///
  /// - Parameters:
  ///   - given: The value, which the caller gives away; `()` if only the result is not `Sendable`.
  ///   - body: The work, on one snapshot. The connection must not be kept.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, `SQLiteError`, or `CancellationError`.
  public func read<Given, Result>(
    giving given: sending Given,
    _ body: @escaping @Sendable (Connection, Given) throws -> Result
  ) async throws -> sending Result {
    let given = Handoff(given)
    return try await read { Handoff(try body($0, given.take())) }.take()
  }

  /// Reads values that are given away, suspending the task.
  package func readGiving<Result>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> sending Result {
    try await read { Handoff(try body($0)) }.take()
  }

  /// Runs `body` on the connection that writes, outside any transaction, for values that are given away.
  package func withoutTransactionGiving<Result>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> sending Result {
    try await withoutTransaction { Handoff(try body($0)) }.take()
  }
}
