import CSQLite

extension Connection {
  /// The name of the table in which a cluster's clients store internal data. Lists of tables and
  /// copies of a database omit it.
  package static let tokenTable = "magicdata_token"

  /// Creates a table from column definitions.
  ///
  /// - Parameters:
  ///   - name: The name of the table.
  ///   - columns: The columns, at least one. If several are primary keys, they form one composite
  ///     key.
  ///   - ifNotExists: Whether to do nothing if the table already exists.
  ///   - isStrict: Whether to create a STRICT table, which rejects values that SQLite can't convert
  ///     to the column's type without loss.
  /// - Throws: ``SQLiteError`` if the definition is invalid, or if the table already exists and
  ///   `ifNotExists` is false.
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
  ///   - table: The definition of the table.
  ///   - ifNotExists: Whether to do nothing if the table already exists.
  ///   - isStrict: Whether to create a STRICT table, which rejects values that SQLite can't convert
  ///     to the column's type without loss.
  /// - Throws: ``SQLiteError`` if the table or an index can't be created, or if the table already
  ///   exists and `ifNotExists` is false. Nothing is created then.
  public func createTable(
    _ table: TableDefinition, ifNotExists: Bool = false, isStrict: Bool = false
  ) throws {
    try savepoint {
      if ifNotExists, try tableExists(table.name) { return }
      try executeChange(table.createSQL(ifNotExists: false, isStrict: isStrict))
      for index in try missingIndexes(of: table) { try make(index, on: table.name) }
    }
  }

  /// Drops a table with its rows, indexes and triggers.
  ///
  /// If foreign keys are enforced, rows that reference the table's rows are treated as if each
  /// referenced row were deleted, see ``DeleteRule``.
  ///
  /// - Parameters:
  ///   - name: The name of the table.
  ///   - ifExists: Whether to do nothing if the table does not exist.
  /// - Throws: ``SQLiteError`` if the table can't be dropped, for example because of
  ///   ``DeleteRule/restrict``, or if it does not exist and `ifExists` is false.
  public func deleteTable(_ name: String, ifExists: Bool = false) throws(SQLiteError) {
    try executeChange(
      ifExists ? "DROP TABLE IF EXISTS \(identifier: name)" : "DROP TABLE \(identifier: name)")
  }

  /// Returns whether a table exists. The case of ASCII letters in its name doesn't matter.
  ///
  /// - Parameter name: The name of the table. Views don't count.
  /// - Throws: ``SQLiteError`` if the schema can't be read.
  public func tableExists(_ name: String) throws(SQLiteError) -> Bool {
    try firstRow(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = \(name) COLLATE NOCASE") != nil
  }

  /// Returns whether a table has a column in the schema that this connection has loaded
  /// (`sqlite3_table_column_metadata`). Loads the schema if necessary.
  ///
  /// This compiles no statement, and doesn't detect changes of the schema by other connections.
  package func hasLoaded(_ column: String, of table: String) throws(SQLiteError) -> Bool {
    try checkAccess()
    let code = unsafe sqlite3_table_column_metadata(
      handle.pointer, "main", table, column, nil, nil, nil, nil, nil)
    guard code != SQLITE_ERROR else { return false }
    try handle.check(code)
    return true
  }

  /// Returns the names of the other tables whose foreign keys reference a table.
  package func tables(referringTo name: String) throws(SQLiteError) -> [String] {
    try texts(
      """
      SELECT DISTINCT t.name FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS k
      WHERE t.type = 'table' AND k."table" = \(name) COLLATE NOCASE
      AND t.name <> \(name) COLLATE NOCASE ORDER BY t.name
      """)
  }

  /// Returns the names of the tables, without SQLite's internal tables and the table in which a
  /// cluster's clients store internal data. The names are sorted by their bytes, so that upper case
  /// letters precede lower case letters.
  ///
  /// - Throws: ``SQLiteError`` if the schema can't be read.
  public func existingTables() throws(SQLiteError) -> [String] {
    try texts(
      """
      SELECT name FROM sqlite_schema
      WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      AND name <> \(Self.tokenTable) ORDER BY name
      """)
  }

  /// Creates an index on columns of a table.
  ///
  /// - Parameters:
  ///   - name: The name of the index.
  ///   - table: The name of the table.
  ///   - columns: The names of the columns, the most significant first.
  ///   - isUnique: Whether the index rejects rows with equal keys.
  ///   - ifNotExists: Whether to do nothing if an index with this name already exists.
  /// - Throws: ``SQLiteError`` if the index can't be created, for example because existing rows
  ///   have equal keys.
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

  /// Drops an index.
  ///
  /// - Parameters:
  ///   - name: The name of the index.
  ///   - ifExists: Whether to do nothing if the index does not exist.
  /// - Throws: ``SQLiteError`` if the index can't be dropped, or if it does not exist and
  ///   `ifExists` is false.
  public func removeIndex(_ name: String, ifExists: Bool = false) throws(SQLiteError) {
    try executeChange(
      ifExists ? "DROP INDEX IF EXISTS \(identifier: name)" : "DROP INDEX \(identifier: name)")
  }

  /// Returns the indexes of one table or of all tables, including those that constraints have
  /// created. The indexes of a table are sorted by name.
  ///
  /// - Parameter table: The name of a table, or nil for all tables.
  /// - Throws: ``SQLiteError`` if the schema can't be read.
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
  /// Returns the columns of a table or view in order, including hidden and generated columns. The
  /// result is empty if the table does not exist.
  ///
  /// - Parameter table: The name of the table or view.
  /// - Throws: ``SQLiteError`` if the schema can't be read.
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

  /// Returns the foreign keys of a table, in the order in which they are declared.
  ///
  /// - Parameter table: The name of the table.
  /// - Throws: ``SQLiteError`` if the schema can't be read.
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

  /// Returns the version number that applications can store in the database (`PRAGMA
  /// user_version`). The library doesn't use it.
  ///
  /// - Throws: ``SQLiteError`` if the database can't be read.
  public func userVersion() throws(SQLiteError) -> Int32 {
    try number("user_version")
  }

  /// Sets the version number that applications can store in the database (`PRAGMA user_version`).
  ///
  /// - Parameter version: The new version number. SQLite and the library don't interpret it.
  /// - Throws: ``SQLiteError`` if the database can't be written.
  public func setUserVersion(_ version: Int32) throws(SQLiteError) {
    _ = try pragma("user_version", "=\(version)")
  }

  /// Returns the application ID, by which programs recognize the type of a database file (`PRAGMA
  /// application_id`).
  ///
  /// - Throws: ``SQLiteError`` if the database can't be read.
  public func applicationID() throws(SQLiteError) -> Int32 {
    try number("application_id")
  }

  /// Sets the application ID, by which programs recognize the type of a database file (`PRAGMA
  /// application_id`).
  ///
  /// - Parameter id: The new application ID. SQLite and the library don't interpret it.
  /// - Throws: ``SQLiteError`` if the database can't be written.
  public func setApplicationID(_ id: Int32) throws(SQLiteError) {
    _ = try pragma("application_id", "=\(id)")
  }

  private func number(_ name: String) throws(SQLiteError) -> Int32 {
    try Int32(databaseValue: try pragma(name) ?? .null)
  }

  /// Returns the first column of each row of a query as text.
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

// Used by the package's other modules.
extension Connection {
  /// Registers a type as the owner of a table in this process, for as long as the file is open.
  ///
  /// - Parameters:
  ///   - table: The name of the table.
  ///   - type: The type that owns the table.
  ///   - purpose: The purpose for which the type uses the table; nil if the table stores instances
  ///     of the type.
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if the table has another owner or
  ///   purpose.
  package func claim(
    _ table: String, for type: Any.Type, as purpose: String? = nil
  ) throws(SQLiteError) {
    let name = purpose ?? qualifiedName(of: type)
    guard let other = environment.claims?.claim([(table, name)], for: type) else { return }
    throw SQLiteError(
      .misuse,
      "\(other.owner) and \(name) both use the table “\(table)”; declare another tableName, or "
        + "isReadOnly for a record that is only read")
  }

  /// Returns the indexes in the definition of a table that don't exist.
  package func missingIndexes(of table: TableDefinition) throws(SQLiteError) -> [IndexDefinition] {
    let needed = table.neededIndexes(hasDecimalOrder: !isRemote)
    guard !needed.isEmpty else { return [] }
    let existing = try existingIndexes(of: table.name)
    return needed.filter { index in !existing.contains { index.isFulfilled(by: $0) } }
  }

  /// Creates a missing index under an unused name.
  ///
  /// An earlier version of the library may have created the index without its collations. This
  /// first drops that older index.
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

  /// Returns `name`, followed by a number if something in the schema already has this name. Any
  /// unused name will do, because the library identifies indexes by their columns.
  private func freeName(_ name: String) throws(SQLiteError) -> String {
    let names = try texts("SELECT name FROM sqlite_schema")
    let taken = Set(names.map(asciiLowercased))
    guard taken.contains(asciiLowercased(name)) else { return name }
    var number = 2
    while taken.contains(asciiLowercased("\(name) \(number)")) { number += 1 }
    return "\(name) \(number)"
  }
}
