import CSQLite

extension Connection {
  /// The table that a cluster's clients keep in its database for themselves: no list of the user's tables
  /// and no copy of a database has it.
  package static let tokenTable = "magicdata_token"

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
  /// Rows that refer to its rows by foreign keys are treated as if each was deleted: see
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

  /// Returns whether there is a table of a name, in any case of its ASCII letters.
  ///
  /// - Parameter name: The table's name. A view is no table.
  /// - Throws: ``SQLiteError``.
  public func tableExists(_ name: String) throws(SQLiteError) -> Bool {
    try firstRow(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = \(name) COLLATE NOCASE") != nil
  }

  /// Returns whether a table has a column in the schema as this connection has loaded it, which it does now if it has not
  /// yet (`sqlite3_table_column_metadata`). No statement is compiled; whether others have changed the schema since is not
  /// looked at.
  package func hasLoaded(_ column: String, of table: String) throws(SQLiteError) -> Bool {
    try checkAccess()
    let code = unsafe sqlite3_table_column_metadata(
      handle.pointer, "main", table, column, nil, nil, nil, nil, nil)
    guard code != SQLITE_ERROR else { return false }
    try handle.check(code)
    return true
  }

  /// The tables whose foreign keys refer to a table, besides itself.
  package func tables(referringTo name: String) throws(SQLiteError) -> [String] {
    try texts(
      """
      SELECT DISTINCT t.name FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS k
      WHERE t.type = 'table' AND k."table" = \(name) COLLATE NOCASE
      AND t.name <> \(name) COLLATE NOCASE ORDER BY t.name
      """)
  }

  /// Returns the names of the tables, in alphabetical order, without SQLite's own.
  ///
  /// - Throws: ``SQLiteError``.
  public func existingTables() throws(SQLiteError) -> [String] {
    try texts(
      """
      SELECT name FROM sqlite_schema
      WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      AND name <> \(Self.tokenTable) ORDER BY name
      """)
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
      var row = try statement(
        """
        SELECT i.name, i."unique", i.origin, i.partial, c.name, c.coll
        FROM pragma_index_list(\(table)) AS i, pragma_index_xinfo(i.name) AS c
        WHERE c.key ORDER BY i.name, c.seqno
        """)
      while try row.step() {
        let name = try row.text(at: 0)
        let before = indexes.last.flatMap { $0.table == table && $0.name == name ? $0 : nil }
        if before != nil { indexes.removeLast() }
        indexes.append(
          TableIndex(
            name: name, table: table,
            columns: (before?.columns ?? []) + [try row.textUnlessNull(at: 4)],
            collations: (before?.collations ?? []) + [try row.text(at: 5)],
            isUnique: row.integer(at: 1) != 0, isPartial: row.integer(at: 3) != 0,
            isExplicit: try row.text(at: 2) == "c"))
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
  public func columns(of table: String) throws(SQLiteError) -> [SchemaColumn] {
    var row = try statement(
      """
      SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(\(table))
      ORDER BY cid
      """)
    var columns: [SchemaColumn] = []
    while try row.step() {
      columns.append(
        SchemaColumn(
          name: try row.text(at: 0), declaredType: try row.text(at: 1),
          isNotNull: row.integer(at: 2) != 0, defaultSQL: try row.textUnlessNull(at: 3),
          primaryKeyPosition: Int(row.integer(at: 4)),
          kind: SchemaColumn.Kind(rawValue: Int(row.integer(at: 5))) ?? .ordinary))
    }
    return columns
  }

  /// Returns the foreign keys of a table.
  ///
  /// - Parameter table: The table's name.
  /// - Throws: ``SQLiteError``.
  public func foreignKeys(of table: String) throws(SQLiteError) -> [ForeignKey] {
    var row = try statement(
      """
      SELECT id, "table", "from", "to", on_update, on_delete
      FROM pragma_foreign_key_list(\(table)) ORDER BY id DESC, seq
      """)
    var keys: [ForeignKey] = []
    var last: Int64?
    while try row.step() {
      let id = row.integer(at: 0)
      let old = id == last ? keys.popLast() : nil
      last = id
      var referenced = old?.referencedColumns ?? []
      if let column = try row.textUnlessNull(at: 3) { referenced.append(column) }
      keys.append(
        ForeignKey(
          columns: (old?.columns ?? []) + [try row.text(at: 2)],
          referencedTable: try row.text(at: 1), referencedColumns: referenced,
          onUpdate: try row.text(at: 4), onDelete: try row.text(at: 5)))
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

  /// The first column of all rows of a query.
  func texts(_ sql: SQL) throws(SQLiteError) -> [String] {
    var statement = try boundStatement(sql)
    var texts: [String] = []
    while try statement.step() { texts.append(try statement.text(at: 0)) }
    return texts
  }
}

extension Statement {
  fileprivate func textUnlessNull(at column: Int) throws(SQLiteError) -> String? {
    isNull(at: column) ? nil : try text(at: column)
  }
}

// For the layers above.
extension Connection {
  /// Notes that a table belongs to a type, in this process and as long as the file is open.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - type: The type.
  ///   - purpose: The use that the type makes of the table; nil for the rows of the type itself.
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if it belongs to another one.
  package func claim(
    _ table: String, for type: Any.Type, as purpose: String? = nil
  ) throws(SQLiteError) {
    let name = purpose ?? qualifiedName(of: type)
    guard let other = environment.claims?.claim([(table, name)], for: type) else { return }
    throw SQLiteError(
      .misuse,
      "\(other.owner) and \(name) both claim the table “\(table)”: "
        + "declare a tableName, or isReadOnly for a record that is only read")
  }

  /// The indexes that a table lacks.
  package func missingIndexes(of table: TableDefinition) throws(SQLiteError) -> [IndexDefinition] {
    let needed = table.neededIndexes(hasDecimalOrder: !isRemote)
    guard !needed.isEmpty else { return [] }
    let existing = try existingIndexes(of: table.name)
    return needed.filter { index in !existing.contains { index.isFulfilled(by: $0) } }
  }

  /// Makes an index that a table lacks, by a name that is free.
  ///
  /// An index of the same columns that an older version made, without the collation, is dropped.
  package func make(_ index: IndexDefinition, on table: String) throws(SQLiteError) {
    if !index.collations.isEmpty {
      for found in try existingIndexes(of: table) where index.isPreceded(by: found, on: table) {
        try executeChange("DROP INDEX \(identifier: found.name)")
      }
    }
    let name = try freeName(index.name(on: table))
    let unique: SQL = index.isUnique ? "UNIQUE " : ""
    let columns = index.columns.map { column -> SQL in
      guard let collation = index.collations[column] else { return "\(identifier: column)" }
      return "\(identifier: column) COLLATE \(identifier: collation)"
    }
    try executeChange(
      "CREATE \(unique)INDEX \(identifier: name) ON \(identifier: table) (\(SQL(joining: columns, separator: ", ")))"
    )
  }

  /// The name, with a number if it is taken. Indexes are found by their columns, not by their names.
  private func freeName(_ name: String) throws(SQLiteError) -> String {
    let names = try texts("SELECT name FROM sqlite_schema")
    let taken = Set(names.map(asciiLowercased))
    guard taken.contains(asciiLowercased(name)) else { return name }
    var number = 2
    while taken.contains(asciiLowercased("\(name) \(number)")) { number += 1 }
    return "\(name) \(number)"
  }
}
