extension Connection {
  /// Makes a table.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - columns: Its columns, at least one. Several primary keys are one key of several columns.
  ///   - ifNotExists: Whether a table of that name may be there already; it is left as it is.
  ///   - isStrict: Whether values of another type than the column's are refused.
  /// - Throws: ``SQLiteError``.
  public func createTable(
    _ name: String, columns: [ColumnDefinition], ifNotExists: Bool = false, isStrict: Bool = false
  ) throws(SQLiteError) {
    let table = TableDefinition(name, key: .declared, columns: columns)
    try executeChange(table.createSQL(ifNotExists: ifNotExists, isStrict: isStrict))
  }

  /// Creates a table with its indexes.
  ///
  ///     try connection.createTable(
  ///       TableDefinition(
  ///         "city", key: .autoIncrement("id"), columns: [ColumnDefinition("name", .text)],
  ///         indexes: [IndexDefinition(["name"])]))
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - ifNotExists: Whether a table of that name may be there already; it is left as it is then.
  ///   - isStrict: Whether values of another type than the column's are refused.
  /// - Throws: ``SQLiteError``; nothing is made then.
  public func createTable(
    _ table: TableDefinition, ifNotExists: Bool = false, isStrict: Bool = false
  ) throws {
    try savepoint {
      if ifNotExists, try tableExists(table.name) { return }
      try executeChange(table.createSQL(ifNotExists: false, isStrict: isStrict))
      for index in try missingIndexes(of: table) { try make(index, on: table.name) }
    }
  }

  /// Deletes a table with its rows, indexes and triggers.
  ///
  /// What refers to the rows by foreign keys fares as if each of them was deleted: see
  /// ``DeleteRule``.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - ifExists: Whether the table may be missing.
  /// - Throws: ``SQLiteError``.
  public func deleteTable(_ name: String, ifExists: Bool = false) throws(SQLiteError) {
    try executeChange(
      ifExists ? "DROP TABLE IF EXISTS \(identifier: name)" : "DROP TABLE \(identifier: name)")
  }

  /// Says whether there is a table of a name, in any case of its ASCII letters.
  ///
  /// - Parameter name: The table's name. A view is no table.
  /// - Throws: ``SQLiteError``.
  public func tableExists(_ name: String) throws(SQLiteError) -> Bool {
    try firstRow(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = \(name) COLLATE NOCASE") != nil
  }

  /// The tables whose foreign keys refer to a table, besides itself.
  package func tables(referringTo name: String) throws(SQLiteError) -> [String] {
    try rows(
      """
      SELECT DISTINCT t.name FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS k
      WHERE t.type = 'table' AND k."table" = \(name) COLLATE NOCASE
      AND t.name <> \(name) COLLATE NOCASE ORDER BY t.name
      """, as: String.self)
  }

  /// Returns the names of the tables, in alphabetical order, without SQLite's own.
  ///
  /// - Throws: ``SQLiteError``.
  public func existingTables() throws(SQLiteError) -> [String] {
    try rows(
      """
      SELECT name FROM sqlite_schema
      WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
      """, as: String.self)
  }

  /// Makes an index.
  ///
  /// - Parameters:
  ///   - name: The index's name.
  ///   - table: The table.
  ///   - columns: The columns, in order.
  ///   - isUnique: Whether no two rows may have one key.
  ///   - ifNotExists: Whether an index of that name may be there already; it is left as it is.
  /// - Throws: ``SQLiteError``.
  public func createIndex(
    _ name: String, on table: String, columns: [String], isUnique: Bool = false,
    ifNotExists: Bool = false
  ) throws(SQLiteError) {
    let list = SQL(joining: columns.map { "\(identifier: $0)" }, separator: ", ")
    let start: SQL = isUnique ? "CREATE UNIQUE INDEX " : "CREATE INDEX "
    let condition: SQL = ifNotExists ? "IF NOT EXISTS " : ""
    try executeChange(
      "\(start)\(condition)\(identifier: name) ON \(identifier: table) (\(list))")
  }

  /// Removes an index.
  ///
  /// - Parameters:
  ///   - name: The index's name.
  ///   - ifExists: Whether the index may be missing.
  /// - Throws: ``SQLiteError``.
  public func removeIndex(_ name: String, ifExists: Bool = false) throws(SQLiteError) {
    try executeChange(
      ifExists ? "DROP INDEX IF EXISTS \(identifier: name)" : "DROP INDEX \(identifier: name)")
  }

  /// Returns the indexes of all tables, or of one, by name; those that constraints made included.
  ///
  /// - Parameter table: A table's name, or nil for all tables.
  /// - Throws: ``SQLiteError``.
  public func existingIndexes(of table: String? = nil) throws(SQLiteError) -> [TableIndex] {
    var indexes: [TableIndex] = []
    let tables = if let table { [table] } else { try existingTables() }
    for table in tables {
      let list = try rows(
        "SELECT name, \"unique\", origin, partial FROM pragma_index_list(\(table)) ORDER BY name",
        as: String.self, Bool.self, String.self, Bool.self)
      for (name, isUnique, origin, isPartial) in list {
        let columns = try rows(
          "SELECT name FROM pragma_index_info(\(name)) ORDER BY seqno", as: String?.self)
        indexes.append(
          TableIndex(
            name: name, table: table, columns: columns, isUnique: isUnique, isPartial: isPartial,
            isExplicit: origin == "c"))
      }
    }
    return indexes
  }
}

extension Connection {
  /// Returns the columns of a table or a view, in order; none if there is no such table.
  ///
  /// - Parameter table: The table's name.
  /// - Throws: ``SQLiteError``.
  public func columns(of table: String) throws(SQLiteError) -> [TableColumn] {
    try rows(
      """
      SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(\(table))
      ORDER BY cid
      """, as: String.self, String.self, Bool.self, String?.self, Int.self, Int.self
    ).map { row in
      TableColumn(
        name: row.0, declaredType: row.1, isNotNull: row.2, defaultSQL: row.3,
        primaryKeyPosition: row.4, kind: TableColumn.Kind(rawValue: row.5) ?? .ordinary)
    }
  }

  /// Returns the foreign keys of a table.
  ///
  /// - Parameter table: The table's name.
  /// - Throws: ``SQLiteError``.
  public func foreignKeys(of table: String) throws(SQLiteError) -> [ForeignKey] {
    let list = try rows(
      """
      SELECT id, "table", "from", "to", on_update, on_delete
      FROM pragma_foreign_key_list(\(table)) ORDER BY id DESC, seq
      """, as: Int.self, String.self, String.self, String?.self, String.self, String.self)
    var keys: [ForeignKey] = []
    var last: Int?
    for (id, table, from, to, onUpdate, onDelete) in list {
      let old = id == last ? keys.popLast() : nil
      last = id
      keys.append(
        ForeignKey(
          columns: (old?.columns ?? []) + [from], referencedTable: table,
          referencedColumns: (old?.referencedColumns ?? []) + [to].compactMap(\.self),
          onUpdate: onUpdate, onDelete: onDelete))
    }
    return keys
  }

  /// Returns the number that belongs to the user of the database (`PRAGMA user_version`). This
  /// library never writes it.
  ///
  /// - Throws: ``SQLiteError``.
  public func userVersion() throws(SQLiteError) -> Int32 {
    try number("user_version")
  }

  /// Sets the number that belongs to the user of the database.
  ///
  /// - Parameter version: Any number.
  /// - Throws: ``SQLiteError``.
  public func setUserVersion(_ version: Int32) throws(SQLiteError) {
    _ = try pragma("user_version", "=\(version)")
  }

  /// Returns the number that tells programs what the file is (`PRAGMA application_id`).
  ///
  /// - Throws: ``SQLiteError``.
  public func applicationID() throws(SQLiteError) -> Int32 {
    try number("application_id")
  }

  /// Sets the number that tells programs what the file is.
  ///
  /// - Parameter id: Any number.
  /// - Throws: ``SQLiteError``.
  public func setApplicationID(_ id: Int32) throws(SQLiteError) {
    _ = try pragma("application_id", "=\(id)")
  }

  private func number(_ name: String) throws(SQLiteError) -> Int32 {
    try Int32(databaseValue: try pragma(name) ?? .null)
  }
}
