extension Database {
  /// As the blocking ``createTable(_:columns:ifNotExists:isStrict:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - columns: Its columns.
  ///   - ifNotExists: Whether a table of that name may be there already.
  ///   - isStrict: Whether values of another type than the column's are refused.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func createTable(
    _ name: String, columns: [ColumnDefinition], ifNotExists: Bool = false, isStrict: Bool = false
  ) async throws {
    try await write {
      try $0.createTable(name, columns: columns, ifNotExists: ifNotExists, isStrict: isStrict)
    }
  }

  /// As the blocking ``deleteTable(_:ifExists:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - ifExists: Whether the table may be missing.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func deleteTable(_ name: String, ifExists: Bool = false) async throws {
    try await write { try $0.deleteTable(name, ifExists: ifExists) }
  }

  /// As the blocking ``existingTables()``, suspending the task.
  ///
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func existingTables() async throws -> [String] {
    try await read { try $0.existingTables() }
  }

  /// As the blocking ``createIndex(_:on:columns:isUnique:ifNotExists:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - name: The index's name.
  ///   - table: The table.
  ///   - columns: The columns, in order.
  ///   - isUnique: Whether no two rows may have one key.
  ///   - ifNotExists: Whether an index of that name may be there already.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func createIndex(
    _ name: String, on table: String, columns: [String], isUnique: Bool = false,
    ifNotExists: Bool = false
  ) async throws {
    try await write {
      try $0.createIndex(
        name, on: table, columns: columns, isUnique: isUnique, ifNotExists: ifNotExists)
    }
  }

  /// As the blocking ``removeIndex(_:ifExists:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - name: The index's name.
  ///   - ifExists: Whether the index may be missing.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func removeIndex(_ name: String, ifExists: Bool = false) async throws {
    try await write { try $0.removeIndex(name, ifExists: ifExists) }
  }

  /// As the blocking ``existingIndexes(of:)``, suspending the task.
  ///
  /// - Parameter table: A table's name, or nil for all tables.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func existingIndexes(of table: String? = nil) async throws -> [TableIndex] {
    try await read { try $0.existingIndexes(of: table) }
  }
}
