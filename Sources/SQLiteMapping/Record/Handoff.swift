package import SQLiteCore

/// A value on its way between a task and the thread of an access.
// Proof: what goes in was given away (`sending`), and what comes out was read from a row by that one
// access, or went in before: the connection keeps nothing of either. Each side looks at the value
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
  /// Writes with a value that was given away, suspending the task.
  package func write<Given, Result>(
    giving given: sending Given,
    _ body: @escaping @Sendable (Connection, Given) throws -> Result
  ) async throws -> sending Result {
    let given = Handoff(given)
    return try await write { Handoff(try body($0, given.take())) }.take()
  }

  /// Reads with a value that was given away, suspending the task.
  package func read<Given, Result>(
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

  /// Reads values that are given away, on the task's thread if that is short: see `readBriefly`.
  func readBrieflyGiving<Result>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> sending Result {
    try await readBriefly { Handoff(try body($0)) }.take()
  }

  /// Runs `body` on the connection that writes, outside any transaction, for values that are given away.
  package func withoutTransactionGiving<Result>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> sending Result {
    try await withoutTransaction { Handoff(try body($0)) }.take()
  }

  /// Runs a query for values that are given away, suspending the task.
  func queryGiving<Result>(
    _ sql: SQL, _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> sending Result {
    try await query(sql) { Handoff(try body($0)) }.take()
  }
}
