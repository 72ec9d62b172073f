public import SQLiteCore

// One snapshot from the first value to the last: what is committed meanwhile is not met. The values
// are taken on the database's own thread, since a transaction never waits for a task.
extension Database {
  /// Lends values one by one, in the memory of one, suspending the task until the last.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - condition: SQL for the rows that are wanted, or nil for all.
  ///   - order: The order, or nil for whichever is fastest.
  ///   - body: Takes a value, on a thread of the database's own. What it throws ends the query.
  /// - Throws: As the blocking form, or `CancellationError`; what `body` throws.
  public func forEachObject<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil, orderedBy order: Ordering? = nil,
    _ body: @escaping @Sendable (Value) throws -> Void
  ) async throws {
    try await read { try $0.forEachObject(of: type, where: condition, orderedBy: order, body) }
  }

  /// Lends the rows of a query one by one as any `Decodable` type, in the memory of one.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - sql: A single statement.
  ///   - body: Takes a value. What it throws ends the query.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type; what `body`
  ///   throws.
  public func forEachObject<Value: Decodable>(
    of type: Value.Type, sql: SQL, _ body: (Value) throws -> Void
  ) throws {
    try read { try $0.forEachObject(of: type, sql: sql, body) }
  }

  /// As the blocking ``forEachObject(of:sql:_:)``, suspending the task until the last.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - sql: A single statement.
  ///   - body: Takes a value, on a thread of the database's own. What it throws ends the query.
  /// - Throws: As the blocking form, or `CancellationError`; what `body` throws.
  public func forEachObject<Value: Decodable & SendableMetatype>(
    of type: Value.Type, sql: SQL, _ body: @escaping @Sendable (Value) throws -> Void
  ) async throws {
    try await read { try $0.forEachObject(of: type, sql: sql, body) }
  }
}
