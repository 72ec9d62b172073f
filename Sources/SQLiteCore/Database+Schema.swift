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
  /// - Throws: ``SQLiteError``.
  public func createTable(
    _ name: String, columns: [ColumnDefinition], ifNotExists: Bool = false
  ) throws {
    try write { try $0.createTable(name, columns: columns, ifNotExists: ifNotExists) }
  }

  /// Deletes a table with its rows, indexes and triggers.
  ///
  /// - Parameter name: The table's name.
  /// - Throws: ``SQLiteError``.
  public func deleteTable(_ name: String) throws {
    try write { try $0.deleteTable(name) }
  }

  /// Returns the names of the tables, without SQLite's own.
  ///
  /// - Throws: ``SQLiteError``.
  public func existingTables() throws -> [String] {
    try read { try $0.existingTables() }
  }

  /// Makes an index.
  ///
  /// - Parameters:
  ///   - name: The index's name.
  ///   - table: The table.
  ///   - columns: The columns, in order.
  ///   - isUnique: Whether no two rows may have one key.
  /// - Throws: ``SQLiteError``.
  public func createIndex(
    _ name: String, on table: String, columns: [String], isUnique: Bool = false
  ) throws {
    try write { try $0.createIndex(name, on: table, columns: columns, isUnique: isUnique) }
  }

  /// Removes an index.
  ///
  /// - Parameter name: The index's name.
  /// - Throws: ``SQLiteError``.
  public func removeIndex(_ name: String) throws {
    try write { try $0.removeIndex(name) }
  }

  /// Returns the indexes of all tables, or of one.
  ///
  /// - Parameter table: A table's name, or nil for all tables.
  /// - Throws: ``SQLiteError``.
  public func existingIndexes(of table: String? = nil) throws -> [TableIndex] {
    try read { try $0.existingIndexes(of: table) }
  }
}
