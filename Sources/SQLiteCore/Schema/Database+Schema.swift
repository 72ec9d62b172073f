extension Database {
  /// SQLite's English words for a result code.
  ///
  /// - Parameter code: A primary or an extended code.
  public static func errorMessage(for code: ResultCode) -> String { code.message }

  /// As ``Connection/createTable(_:columns:ifNotExists:isStrict:)``.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - columns: Its columns.
  ///   - ifNotExists: Whether a table of that name may be there already.
  ///   - isStrict: Whether values of another type than the column's are refused.
  /// - Throws: ``SQLiteError``.
  public func createTable(
    _ name: String, columns: [ColumnDefinition], ifNotExists: Bool = false, isStrict: Bool = false
  ) throws {
    try write {
      try $0.createTable(name, columns: columns, ifNotExists: ifNotExists, isStrict: isStrict)
    }
  }

  /// As ``createTable(_:columns:ifNotExists:isStrict:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func createTable(
    _ name: String, columns: [ColumnDefinition], ifNotExists: Bool = false, isStrict: Bool = false
  ) async throws {
    try await write {
      try $0.createTable(name, columns: columns, ifNotExists: ifNotExists, isStrict: isStrict)
    }
  }

  /// As ``Connection/createTable(_:ifNotExists:isStrict:)``.
  ///
  /// - Parameters:
  ///   - table: The table, with its indexes.
  ///   - ifNotExists: Whether a table of that name may be there already; it is left as it is then.
  ///   - isStrict: Whether values of another type than the column's are refused.
  /// - Throws: ``SQLiteError``; nothing is made then.
  public func createTable(
    _ table: TableDefinition, ifNotExists: Bool = false, isStrict: Bool = false
  ) throws {
    try write { try $0.createTable(table, ifNotExists: ifNotExists, isStrict: isStrict) }
  }

  /// As ``createTable(_:ifNotExists:isStrict:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func createTable(
    _ table: TableDefinition, ifNotExists: Bool = false, isStrict: Bool = false
  ) async throws {
    try await write { try $0.createTable(table, ifNotExists: ifNotExists, isStrict: isStrict) }
  }

  /// Returns whether there is a table of a name, in any case of its ASCII letters.
  ///
  /// - Parameter name: The table's name. A view is no table.
  /// - Throws: ``SQLiteError``.
  public func tableExists(_ name: String) throws -> Bool {
    try read { try $0.tableExists(name) }
  }

  /// As ``tableExists(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func tableExists(_ name: String) async throws -> Bool {
    try await read { try $0.tableExists(name) }
  }

  /// Deletes a table with its rows, indexes and triggers.
  ///
  /// Rows that refer to its rows by foreign keys are treated as if each was deleted: see
  /// ``DeleteRule``.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - ifExists: Whether the table may be missing.
  /// - Throws: ``SQLiteError``.
  public func deleteTable(_ name: String, ifExists: Bool = false) throws {
    try write { try $0.deleteTable(name, ifExists: ifExists) }
  }

  /// As ``deleteTable(_:ifExists:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func deleteTable(_ name: String, ifExists: Bool = false) async throws {
    try await write { try $0.deleteTable(name, ifExists: ifExists) }
  }

  /// Returns the names of the tables, without SQLite's own.
  ///
  /// - Throws: ``SQLiteError``.
  public func existingTables() throws -> [String] {
    try read { try $0.existingTables() }
  }

  /// As ``existingTables()``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func existingTables() async throws -> [String] {
    try await read { try $0.existingTables() }
  }

  /// Makes an index.
  ///
  /// - Parameters:
  ///   - name: The index's name.
  ///   - table: The table.
  ///   - columns: The columns, in order.
  ///   - isUnique: Whether no two rows may have one key.
  ///   - ifNotExists: Whether an index of that name may be there already.
  /// - Throws: ``SQLiteError``.
  public func createIndex(
    _ name: String, on table: String, columns: [String], isUnique: Bool = false,
    ifNotExists: Bool = false
  ) throws {
    try write {
      try $0.createIndex(
        name, on: table, columns: columns, isUnique: isUnique, ifNotExists: ifNotExists)
    }
  }

  /// As ``createIndex(_:on:columns:isUnique:ifNotExists:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func createIndex(
    _ name: String, on table: String, columns: [String], isUnique: Bool = false,
    ifNotExists: Bool = false
  ) async throws {
    try await write {
      try $0.createIndex(
        name, on: table, columns: columns, isUnique: isUnique, ifNotExists: ifNotExists)
    }
  }

  /// Removes an index.
  ///
  /// - Parameters:
  ///   - name: The index's name.
  ///   - ifExists: Whether the index may be missing.
  /// - Throws: ``SQLiteError``.
  public func removeIndex(_ name: String, ifExists: Bool = false) throws {
    try write { try $0.removeIndex(name, ifExists: ifExists) }
  }

  /// As ``removeIndex(_:ifExists:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func removeIndex(_ name: String, ifExists: Bool = false) async throws {
    try await write { try $0.removeIndex(name, ifExists: ifExists) }
  }

  /// Returns the indexes of all tables, or of one.
  ///
  /// - Parameter table: A table's name, or nil for all tables.
  /// - Throws: ``SQLiteError``.
  public func existingIndexes(of table: String? = nil) throws -> [TableIndex] {
    try read { try $0.existingIndexes(of: table) }
  }

  /// As ``existingIndexes(of:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func existingIndexes(of table: String? = nil) async throws -> [TableIndex] {
    try await read { try $0.existingIndexes(of: table) }
  }
}
