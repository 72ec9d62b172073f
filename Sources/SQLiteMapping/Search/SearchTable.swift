import SQLiteCore

/// The FTS5 table beside a type's table, and the triggers that keep it in step.
///
/// It holds the words only; the texts stay in the type's own table, found by their rowid. That
/// rowid must be a column, since VACUUM gives rows other rowids where it is none.
struct SearchTable {
  let table: String
  let rowID: String
  let columns: [String]
  var name: String { "\(table)_search" }

  /// The table for a plan, or nil if no property is searched.
  init?(_ plan: RecordPlan) throws(SQLiteError) {
    columns = plan.table.searchedColumns
    guard !columns.isEmpty else { return nil }
    table = plan.name
    switch try plan.definition().key {
    case .autoIncrement(let name), .rowID(let name): rowID = name
    case .columns(let names), .withoutRowID(let names): rowID = names[0]
    case .declared: return nil
    }
  }

  /// Allows triggers to use FTS5 on a connection.
  ///
  /// Until 2023 FTS5 did not tell SQLite that it is harmless, so that a schema that is not trusted
  /// cannot use it. Functions that may be called directly only stay out of its reach.
  static func allowTriggers(_ connection: Connection) throws(SQLiteError) {
    _ = try connection.pragma("trusted_schema", "=1")
  }

  /// Makes the table if it is not there as it should be, and fills it.
  func ensure(_ connection: Connection) throws {
    let existing = try connection.columns(of: name).filter { $0.kind == .ordinary }.map(\.name)
    try checkOwn(connection)
    guard existing != columns else { return }
    guard Capabilities.hasFTS5 else {
      throw SQLiteError(.error, "this SQLite has no full-text search (FTS5)")
    }
    try connection.executeChange("DROP TABLE IF EXISTS \(identifier: name)")
    for event in ["insert", "update", "delete"] {
      try connection.executeChange("DROP TRIGGER IF EXISTS \(identifier: "\(name)_\(event)")")
    }
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

  /// Throws if there is something of the index's name that is no index of the table.
  private func checkOwn(_ connection: Connection) throws {
    let sql = try connection.firstRow(
      "SELECT sql FROM sqlite_schema WHERE name = \(name) COLLATE NOCASE AND type IN ('table', 'view')",
      as: String?.self)
    guard let sql else { return }
    let content: SQL = "content = \(identifier: table)"
    if let text = sql, text.hasPrefix("CREATE VIRTUAL TABLE"), text.contains("USING fts5("),
      text.contains(content.text)
    {
      return
    }
    throw SQLiteError(
      .misuse, "“\(name)” is no full-text index of “\(table)”, which needs one of that name")
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
