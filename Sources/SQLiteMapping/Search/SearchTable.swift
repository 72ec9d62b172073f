package import SQLiteCore

/// The FTS5 table of a type's table, and the triggers that update it.
///
/// It stores only the index. The text is in the type's own table and is found by rowid. The rowid
/// must be a declared column, because VACUUM would change it otherwise.
package struct SearchTable: Sendable {
  let table: String
  let rowID: String
  package let columns: [String]
  package var name: String { TablePlan.searchTableName(of: table) }

  /// Creates the description of the full-text index that a plan requires, or returns nil if no
  /// property is searched.
  package init?(_ plan: TablePlan) {
    columns = plan.searchedColumns
    guard !columns.isEmpty else { return nil }
    table = plan.name
    switch plan.definition().key {
    case .autoIncrement(let name), .rowID(let name): rowID = name
    case .columns(let names), .withoutRowID(let names): rowID = names[0]
    case .declared: return nil
    }
  }

  /// Returns whether the index is missing, its columns or triggers differ from those that the type
  /// requires, or its name belongs to another table or view.
  package func needsRebuild(_ connection: Connection) throws -> Bool {
    try fault(connection) != nil
  }

  /// Returns the difference in the definition of the index or its triggers, or nil if there is
  /// none.
  private func fault(_ connection: Connection) throws -> SchemaDifference? {
    func fault(_ description: String) -> SchemaDifference {
      SchemaDifference(
        kind: .searchIndex, column: nil, description: "the full-text index “\(name)” \(description)"
      )
    }
    guard let isIndex = try SearchTable.isIndex(of: table, connection) else {
      return fault("is missing")
    }
    guard isIndex else {
      return SchemaDifference(
        kind: .searchName, column: nil,
        description:
          "“\(name)” is not a full-text index of “\(table)”, which needs one with that name")
    }
    let present = try SearchTable.columns(of: table, connection)
    guard present == columns else {
      return fault(
        "has the columns (\(present.joined(separator: ", "))) and should have (\(columns.joined(separator: ", ")))"
      )
    }
    let stored = try connection.rows(
      "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = \(table) COLLATE NOCASE",
      as: String.self)
    let hasAll = try triggers.allSatisfy { stored.contains(try $0.checkedText) }
    return hasAll ? nil : fault("has a missing or outdated trigger")
  }

  /// Returns the difference between the index and what the type requires, or nil if there is none,
  /// or if the type's table doesn't exist. The content is compared word by word if the connection
  /// can write. Otherwise only the rowids are compared.
  ///
  /// - Complexity: O(*n*) for *n* rows.
  package func difference(_ connection: Connection) throws -> SchemaDifference? {
    guard try !connection.columnNames(of: table).isEmpty else { return nil }
    if let fault = try fault(connection) { return fault }
    if try hasContent(connection) { return nil }
    return SchemaDifference(
      kind: .searchContent, column: nil,
      description: "the full-text index “\(name)” does not match the rows of “\(table)”")
  }

  private func hasContent(_ connection: Connection) throws -> Bool {
    do throws(SQLiteError) {
      try connection.executeChange(
        "INSERT INTO \(identifier: name) (\(identifier: name), rank) VALUES ('integrity-check', 1)")
      return true
    } catch {
      if error.code.primary == .corrupt { return false }
      guard error.code.primary == .readOnly else { throw error }
      let indexed: SQL = "SELECT id FROM \(identifier: "\(name)_docsize")"
      let stored: SQL = "SELECT \(identifier: rowID) FROM \(identifier: table)"
      return try connection.firstRow(
        "SELECT 1 WHERE EXISTS (\(indexed) EXCEPT \(stored)) OR EXISTS (\(stored) EXCEPT \(indexed))"
      ) == nil
    }
  }

  /// Returns the names of the columns in the full-text index of a table.
  private static func columns(
    of table: String, _ connection: Connection
  ) throws(SQLiteError) -> [String] {
    try connection.columns(of: TablePlan.searchTableName(of: table)).filter { $0.kind == .ordinary }
      .map(\.name)
  }

  /// Drops the full-text index of a table and the triggers of the index, if they exist. Does
  /// nothing if the name of the index belongs to another table or view.
  package static func remove(of table: String, _ connection: Connection) throws {
    let name = TablePlan.searchTableName(of: table)
    if let isIndex = try isIndex(of: table, connection) {
      guard isIndex else { return }
      try connection.executeChange("DROP TABLE \(identifier: name)")
    }
    for event in ["insert", "update", "delete"] {
      try connection.executeChange("DROP TRIGGER IF EXISTS \(identifier: "\(name)_\(event)")")
    }
  }

  /// Builds the index, unless it already exists with the right columns and triggers.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if another table or view has the name of
  ///   the index, or ``SQLiteError`` if SQLite lacks FTS5 or a statement fails.
  package func ensure(_ connection: Connection) throws {
    guard let fault = try fault(connection) else { return }
    guard fault.isResolvedByWriting else { throw SQLiteError(.misuse, fault.description) }
    guard Capabilities.hasFTS5 else {
      throw SQLiteError(.error, "this libsqlite3 was compiled without full-text search (FTS5)")
    }
    try SearchTable.remove(of: table, connection)
    try connection.executeChange(
      """
      CREATE VIRTUAL TABLE \(identifier: name) USING fts5(
        \(SQL(identifiers: columns)), content = \(identifier: table),
        content_rowid = \(identifier: rowID))
      """)
    _ = try connection.trustSearch()
    for trigger in triggers { try connection.executeChange(trigger) }
    try connection.executeChange(
      "INSERT INTO \(identifier: name) (\(identifier: name)) VALUES ('rebuild')")
  }

  /// Returns true if a table has a full-text index, false if another table or view has the name of
  /// the index, and nil if nothing has that name.
  private static func isIndex(of table: String, _ connection: Connection) throws -> Bool? {
    let sql = try connection.firstRow(
      "SELECT sql FROM sqlite_schema WHERE name = \(TablePlan.searchTableName(of: table)) COLLATE NOCASE AND type IN ('table', 'view')",
      as: String?.self)
    guard let sql else { return nil }
    let content: SQL = "content = \(identifier: table)"
    guard let text = sql else { return false }
    return text.hasPrefix("CREATE VIRTUAL TABLE") && text.contains("USING fts5(")
      && text.contains(content.text)
  }

  /// Runs a change of a table's schema. If the table has a full-text index, drops it before the
  /// change and rebuilds it afterwards with the columns that still exist. SQLite renames columns in
  /// triggers, but not in FTS5 tables.
  ///
  /// - Parameters:
  ///   - table: The name of the table before the change.
  ///   - newTable: The name of the table after the change.
  ///   - connection: A connection that can write.
  ///   - newName: Returns the name of a column after the change.
  ///   - change: Changes the schema.
  package static func rebuildingIndex(
    _ table: String, to newTable: String, _ connection: Connection,
    newName: (String) -> String = { $0 }, _ change: () throws -> Void
  ) throws {
    guard let index = try SearchTable(of: table, connection) else { return try change() }
    try remove(of: table, connection)
    try change()
    let present = try connection.columns(of: newTable)
    let columns = index.columns.map(newName).filter { name in
      present.contains { isSameName($0.name, name) }
    }
    let keys = present.filter { $0.primaryKeyPosition > 0 }.map(\.name)
    // If no column is the rowid, no type can search the table.
    guard !columns.isEmpty, keys.count == 1 else { return }
    try SearchTable(table: newTable, rowID: keys[0], columns: columns).ensure(connection)
  }

  private init(table: String, rowID: String, columns: [String]) {
    self.table = table
    self.rowID = rowID
    self.columns = columns
  }

  /// Creates the description of the full-text index that a table has in the database, or returns
  /// nil if it has none.
  package init?(of table: String, _ connection: Connection) throws {
    guard try SearchTable.isIndex(of: table, connection) == true else { return nil }
    self.table = table
    rowID = "_rowid_"
    columns = try SearchTable.columns(of: table, connection)
  }

  /// Removes rows from the index. Call this before a change of these rows that doesn't run the
  /// triggers of the index.
  ///
  /// - Parameters:
  ///   - condition: The condition that selects the rows.
  ///   - connection: A connection that can write.
  package func removeFromIndex(where condition: SQL, _ connection: Connection) throws {
    try connection.executeChange(
      """
      INSERT INTO \(identifier: name) (\(identifier: name), rowid, \(SQL(identifiers: columns)))
      SELECT 'delete', \(SQL(identifiers: [rowID] + columns)) FROM \(identifier: table) WHERE \(condition)
      """)
  }

  /// Adds rows to the index. Call this after a change of these rows that didn't run the triggers of
  /// the index.
  ///
  /// - Parameters:
  ///   - condition: The condition that selects the rows.
  ///   - connection: A connection that can write.
  package func addToIndex(where condition: SQL, _ connection: Connection) throws {
    try connection.executeChange(
      """
      INSERT INTO \(identifier: name) (rowid, \(SQL(identifiers: columns)))
      SELECT \(SQL(identifiers: [rowID] + columns)) FROM \(identifier: table) WHERE \(condition)
      """)
  }

  private var insertion: SQL {
    "INSERT INTO \(identifier: name) (rowid, \(SQL(identifiers: columns))) VALUES (\(values(of: "new")));"
  }

  private var deletion: SQL {
    "INSERT INTO \(identifier: name) (\(identifier: name), rowid, \(SQL(identifiers: columns))) VALUES ('delete', \(values(of: "old")));"
  }

  private func values(of row: SQL) -> SQL {
    SQL(joining: ([rowID] + columns).map { "\(row).\(identifier: $0)" }, separator: ", ")
  }

  /// The SQL condition that is true if an update has changed a searched text or the key. Updating a
  /// record sets all columns, and indexing a text takes more than ten times as long as the update.
  /// Texts are compared byte by byte, because a collation or a numeric comparison may treat
  /// different texts as equal.
  private var change: SQL {
    let key: SQL = "old.\(identifier: rowID) IS NOT new.\(identifier: rowID)"
    let texts = columns.map { name -> SQL in
      "CAST(old.\(identifier: name) AS BLOB) IS NOT CAST(new.\(identifier: name) AS BLOB)"
    }
    return SQL(joining: [key] + texts, separator: " OR ")
  }

  /// The SQL of the triggers, exactly as SQLite stores it.
  private var triggers: [SQL] {
    // An UPDATE may use any of the names of the rowid.
    let keys = ([rowID, "rowid", "_rowid_", "oid"]).filter { key in
      !columns.contains { isSameName($0, key) }
    }
    let names = SQL(identifiers: columns + keys)
    return [
      trigger("insert", "AFTER INSERT", [insertion]),
      trigger("update", "AFTER UPDATE OF \(names)", when: change, [deletion, insertion]),
      trigger("delete", "AFTER DELETE", [deletion]),
    ]
  }

  @inline(never)
  private func trigger(
    _ event: String, _ time: SQL, when condition: SQL? = nil, _ statements: [SQL]
  ) -> SQL {
    let clause: SQL = condition.map { "WHEN \($0) " } ?? ""
    return """
      CREATE TRIGGER \(identifier: "\(name)_\(event)") \(time) ON \(identifier: table)
      \(clause)BEGIN \(SQL(joining: statements, separator: " ")) END
      """
  }
}
