package import SQLiteCore

/// The FTS5 table beside a type's table, and the triggers that keep it in step.
///
/// It holds the words only; the texts stay in the type's own table, found by their rowid. That
/// rowid must be a column, since VACUUM gives rows other rowids where it is none.
package struct SearchTable: Sendable {
  let table: String
  let rowID: String
  let columns: [String]
  package var name: String { SearchTable.name(of: table) }

  /// The name of the index of a table.
  package static func name(of table: String) -> String { "\(table)_search" }

  /// The table for a plan, or nil if no property is searched.
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

  /// Allows triggers to use FTS5 on a connection.
  ///
  /// Until 2023 FTS5 did not tell SQLite that it is harmless, so that a schema that is not trusted cannot
  /// use it. Functions that may only be called directly cannot be used by triggers all the same.
  static func allowTriggers(_ connection: Connection) throws(SQLiteError) {
    _ = try connection.pragma("trusted_schema", "=1")
  }

  /// Allows triggers to use FTS5 on a connection whose database has a table of it, or gets one by another
  /// connection.
  package static func allowTriggersIfNeeded(_ connection: Connection) throws(SQLiteError) {
    if try !allowsTriggers(connection) { connection.setTrust(allowsTriggers) }
  }

  /// Allows triggers to use FTS5 on a connection if its database has a table of it, and returns whether it has.
  private static func allowsTriggers(_ connection: Connection) throws(SQLiteError) -> Bool {
    let isNeeded = try connection.firstRow(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%USING fts5%'"
    )
    guard isNeeded != nil else { return false }
    try allowTriggers(connection)
    return true
  }

  /// Returns whether the table lacks something.
  package func isLacking(_ connection: Connection) throws(SQLiteError) -> Bool {
    try SearchTable.columns(of: table, connection) != columns
  }

  /// The columns of the index of a table, none if there is no index.
  static func columns(
    of table: String, _ connection: Connection
  ) throws(SQLiteError) -> [String] {
    try connection.columns(of: name(of: table)).filter { $0.kind == .ordinary }.map(\.name)
  }

  /// Removes the index of a table with its triggers, if there is one. Anything else of that name stays.
  package static func remove(of table: String, _ connection: Connection) throws {
    guard try isIndex(of: table, connection) == true else { return }
    let name = name(of: table)
    try connection.executeChange("DROP TABLE \(identifier: name)")
    for event in ["insert", "update", "delete"] {
      try connection.executeChange("DROP TRIGGER IF EXISTS \(identifier: "\(name)_\(event)")")
    }
  }

  /// Makes the table anew and fills it, unless it is there with the right columns and triggers.
  package func ensure(_ connection: Connection) throws {
    if try SearchTable.isIndex(of: table, connection) == false {
      throw SQLiteError(
        .misuse, "“\(name)” is not a full-text index of “\(table)”, which needs one of that name")
    }
    guard try isLacking(connection) else { return }
    guard Capabilities.hasFTS5 else {
      throw SQLiteError(.error, "this SQLite has no full-text search (FTS5)")
    }
    try SearchTable.allowTriggers(connection)
    try SearchTable.remove(of: table, connection)
    try connection.executeChange(
      """
      CREATE VIRTUAL TABLE \(identifier: name) USING fts5(
        \(SQL(identifiers: columns)), content = \(identifier: table),
        content_rowid = \(identifier: rowID))
      """)
    try trigger("insert", "AFTER INSERT", [insertion], connection)
    try trigger("update", "AFTER UPDATE", [deletion, insertion], connection)
    try trigger("delete", "AFTER DELETE", [deletion], connection)
    try connection.executeChange(
      "INSERT INTO \(identifier: name) (\(identifier: name)) VALUES ('rebuild')")
  }

  /// Returns whether what has the index's name is the index of a table; nil if nothing has it.
  private static func isIndex(of table: String, _ connection: Connection) throws -> Bool? {
    let sql = try connection.firstRow(
      "SELECT sql FROM sqlite_schema WHERE name = \(name(of: table)) COLLATE NOCASE AND type IN ('table', 'view')",
      as: String?.self)
    guard let sql else { return nil }
    let content: SQL = "content = \(identifier: table)"
    guard let text = sql else { return false }
    return text.hasPrefix("CREATE VIRTUAL TABLE") && text.contains("USING fts5(")
      && text.contains(content.text)
  }

  /// The index of a table as it is in the database, or nil if there is none.
  package init?(of table: String, _ connection: Connection) throws {
    guard try SearchTable.isIndex(of: table, connection) == true else { return nil }
    self.table = table
    rowID = "_rowid_"
    columns = try SearchTable.columns(of: table, connection)
  }

  /// Takes rows out of the index that are about to change where no trigger sees it.
  ///
  /// - Parameters:
  ///   - condition: The condition on the rows.
  ///   - connection: The connection that writes.
  package func takeOut(where condition: SQL, _ connection: Connection) throws {
    try connection.executeChange(
      """
      INSERT INTO \(identifier: name) (\(identifier: name), rowid, \(SQL(identifiers: columns)))
      SELECT 'delete', \(SQL(identifiers: [rowID] + columns)) FROM \(identifier: table) WHERE \(condition)
      """)
  }

  /// Puts rows into the index that have changed where no trigger saw it.
  ///
  /// - Parameters:
  ///   - condition: The condition on the rows.
  ///   - connection: The connection that writes.
  package func putIn(where condition: SQL, _ connection: Connection) throws {
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

  @inline(never)
  private func trigger(
    _ event: String, _ time: SQL, _ statements: [SQL], _ connection: Connection
  ) throws {
    try connection.executeChange(
      """
      CREATE TRIGGER \(identifier: "\(name)_\(event)") \(time) ON \(identifier: table)
      BEGIN \(SQL(joining: statements, separator: " ")) END
      """)
  }
}
