import SQLiteCore

/// An object in the schema of a database that is dumped or copied.
struct SchemaObject {
  /// The object, with the columns of its rows.
  let object: DumpObject
  /// Whether the object is a shadow table, in which a virtual table stores its data.
  let isShadow: Bool

  /// The name of the table in which a copy to a cluster records its progress.
  static let progressTable = "magicdata_restore"

  /// Returns the objects of a database in the order in which they were created. Omits SQLite's own
  /// tables, except `sqlite_stat1`, and the internal tables of a cluster.
  static func all(in connection: Connection) throws -> [SchemaObject] {
    try connection.rows(
      """
      SELECT s.type, s.name, s.sql, l.type FROM sqlite_schema s
      LEFT JOIN pragma_table_list l ON l.schema = 'main' AND l.name = s.name AND s.type = 'table'
      WHERE s.sql IS NOT NULL AND (s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' OR s.name = 'sqlite_stat1')
        AND s.tbl_name IS NOT \(Connection.tokenTable)
      ORDER BY s.rowid
      """, as: String.self, String.self, String.self, String?.self
    ).compactMap { type, name, sql, tableType in
      guard !isInternal(name, in: connection), var kind = DumpObject.Kind(rawValue: type) else {
        return nil
      }
      if tableType == "virtual" { kind = .virtualTable }
      if name == "sqlite_stat1" { kind = .statistics }
      return SchemaObject(
        object: DumpObject(
          kind: kind, name: name, sql: sql,
          columns: kind.hasRows ? try columns(of: name, connection) : []),
        isShadow: tableType == "shadow")
    }
  }

  /// Returns whether a table of a cluster's database isn't part of the content, because it was
  /// created by the cluster or by an unfinished restore.
  static func isInternal(_ name: String, in connection: Connection) -> Bool {
    connection.isRemote && isInternal(name)
  }

  static func isInternal(_ name: String) -> Bool {
    [Connection.tokenTable, progressTable].contains(name.lowercased())
  }

  /// Returns the names of the columns that contain the whole content of a table: those that aren't
  /// generated, preceded by the name of the rowid if the table has a rowid that isn't a column.
  private static func columns(of table: String, _ connection: Connection) throws -> [String] {
    let columns = try connection.rows(
      "SELECT name, type, pk, hidden FROM pragma_table_xinfo(\(table)) ORDER BY cid",
      as: String.self, String.self, Int.self, Int.self)
    // 2 and 3 mean generated, 1 means hidden.
    var names = columns.filter { $0.3 == 0 }.map(\.0)
    let keys = columns.filter { $0.2 > 0 }
    let isWithoutRowID = try connection.firstRow(
      "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = \(table)", as: Bool.self)
    // A key that has its own index isn't the rowid, such as INTEGER PRIMARY KEY DESC.
    let hasKeyIndex =
      try connection.firstRow(
        "SELECT 1 FROM pragma_index_list(\(table)) WHERE origin = 'pk'") != nil
    let isRowID = keys.count == 1 && keys[0].1.uppercased() == "INTEGER" && !hasKeyIndex
    if isWithoutRowID != true, !isRowID {
      let taken = Set(columns.map { $0.0.lowercased() })
      let free = ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
      if let free { names.insert(free, at: 0) }
    }
    return names
  }
}
