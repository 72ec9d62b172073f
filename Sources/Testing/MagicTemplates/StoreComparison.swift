import ExactText
import SQLiteAssets
import SQLiteCore

/// A comparison of the contents of two databases, which looks up each row of one in the other. This
/// takes constant memory, and no sorting.
struct StoreComparison {
  private let old: Connection
  private let new: Connection
  private let rowLimit: Int
  private var difference = StoreDifference()

  /// The maximum numbers of lines and of tables in a difference.
  private static let limits = (schema: 50, tables: 50)

  init(from old: Connection, to new: Connection, rowLimit: Int) {
    self.old = old
    self.new = new
    self.rowLimit = max(0, rowLimit)
  }

  /// Compares the databases and returns their difference.
  consuming func run() throws -> StoreDifference {
    try compareSchemas()
    let tables = Set(try old.contentTables()).union(try new.contentTables())
    for table in tables.sorted() {
      if let pair = try ComparedTable(table, old, new) { try compareRows(pair) }
    }
    return difference
  }
}

// The schemas.
extension StoreComparison {
  private mutating func compareSchemas() throws {
    try forEachMissing(StoreComparison.entries, old, new) { add(schema: "- \($0)") }
    try forEachMissing(StoreComparison.entries, new, old) { add(schema: "+ \($0)") }
    guard let before = try migrations(old), let after = try migrations(new) else { return }
    for name in before where !after.contains(name) { add(schema: "- migration \(name)") }
    for name in after where !before.contains(name) { add(schema: "+ migration \(name)") }
  }

  private mutating func add(schema line: String) {
    difference.schemaCount += 1
    guard difference.schema.count < StoreComparison.limits.schema else { return }
    difference.schema.append(line)
  }

  /// The query for the tables, indexes, views and triggers other than those of SQLite and of this
  /// library, and other than the tables in which virtual tables store their content.
  private static let entries: SQL = """
    SELECT type, name, sql FROM main.sqlite_schema AS entry
    WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      AND tbl_name NOT LIKE 'magicdata\\_%' ESCAPE '\\'
      AND NOT EXISTS (
        SELECT 1 FROM pragma_table_list AS list
        WHERE list.schema = 'main' AND list.type = 'shadow' AND list.name = entry.tbl_name)
    """

  /// Calls `body` with a line for each entry of a schema that the other schema lacks.
  private func forEachMissing(
    _ entries: SQL, _ connection: Connection, _ other: Connection, _ body: (String) -> Void
  ) throws {
    try connection.forEachRow("SELECT * FROM (\(entries)) ORDER BY type, name") { row in
      let (type, name, sql) = (try row.text(at: 0), try row.text(at: 1), try row.text(at: 2))
      let found = try other.firstRow(
        """
        SELECT 1 FROM main.sqlite_schema WHERE type = \(type) AND name = \(name) AND sql = \(sql)
        """)
      guard found == nil else { return }
      let line = sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      body("\(type) \(name): \(shortened(line, from: 0, count: 200))")
    }
  }

  /// Returns the names of the migrations that a database has run, or nil if it isn't a store.
  private func migrations(_ connection: Connection) throws -> [String]? {
    guard try connection.tableExists("magicdata_meta") else { return nil }
    return try connection.rows(
      """
      SELECT substr(key, 11) FROM main.magicdata_meta
      WHERE key >= 'migration:' AND key < 'migration;' ORDER BY value
      """, as: String.self)
  }
}

// The rows.
extension StoreComparison {
  private mutating func compareRows(_ table: ComparedTable) throws {
    var found = StoreDifference.Table(name: table.name)
    func add(
      _ kind: StoreDifference.Row.Kind, _ key: [Value],
      _ columns: () throws -> [StoreDifference.Column]
    ) rethrows {
      found.count += 1
      guard found.rows.count < rowLimit else { return }
      found.rows.append(.init(kind: kind, key: table.text(of: key), columns: try columns()))
    }
    try table.forEachKey(old) { key in
      guard let before = try table.values(at: key, old) else { return }
      guard let after = try table.values(at: key, new) else {
        return try add(.removed, key) {
          try zip(table.columns, before).map { name, value in
            .init(name: name, base: try text(of: value, old), value: nil)
          }
        }
      }
      var columns: [StoreDifference.Column] = []
      for (name, (before, after)) in zip(table.columns, zip(before, after)) {
        guard let (base, value) = try texts(of: before, after) else { continue }
        columns.append(.init(name: name, base: base, value: value))
      }
      if !columns.isEmpty { add(.changed, key) { columns } }
    }
    try table.forEachKey(new) { key in
      guard try table.values(at: key, old) == nil, let after = try table.values(at: key, new) else {
        return
      }
      try add(.added, key) {
        try zip(table.columns, after).map { name, value in
          .init(name: name, base: nil, value: try text(of: value, new))
        }
      }
    }
    guard found.count > 0 else { return }
    difference.tableCount += 1
    if difference.tables.count < StoreComparison.limits.tables { difference.tables.append(found) }
  }

  /// Returns the texts of two values, or nil if the values are equal.
  private func texts(of before: Value, _ after: Value) throws -> (String, String)? {
    let (base, value) = (try asset(before, old), try asset(after, new))
    if let base, let value, base == value { return nil }
    guard base != nil || value != nil || before != after else { return nil }
    if case .text(let left) = before, case .text(let right) = after, base == nil, value == nil {
      // Show the part that differs.
      let common = zip(left.unicodeScalars, right.unicodeScalars).prefix { $0 == $1 }.count
      let start = common > 30 ? common - 10 : 0
      return (quoted(left, from: start), quoted(right, from: start))
    }
    return (base?.description ?? before.summary, value?.description ?? after.summary)
  }

  private func text(of value: Value, _ connection: Connection) throws -> String {
    try asset(value, connection)?.description ?? value.summary
  }

  /// Returns the asset that a value references, or nil if it references none.
  private func asset(_ value: Value, _ connection: Connection) throws -> ComparedAsset? {
    guard case .text(let id) = value, AssetID(id) != nil,
      try connection.tableExists("magicdata_asset")
    else { return nil }
    let row = try connection.firstRow(
      "SELECT size, sha256, substr(file, 34) FROM main.magicdata_asset WHERE id = \(id)",
      as: Int.self, [UInt8].self, String.self)
    return row.map(ComparedAsset.init)
  }
}

/// The properties by which assets are compared.
private struct ComparedAsset: Equatable, CustomStringConvertible {
  let size: Int
  let sha256: [UInt8]
  let fileExtension: String

  var description: String {
    let start = Hex.lowercaseText(of: Array(sha256.prefix(4)))
    return "\(fileExtension)\(fileExtension.isEmpty ? "" : " ")asset of \(size) bytes "
      + "(SHA-256 \(start)…)"
  }
}

extension Value {
  /// The value as a short text.
  fileprivate var summary: String {
    switch self {
    case .null: "NULL"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): quoted(text, from: 0)
    case .blob(let bytes) where bytes.count <= 16: "x'\(Hex.lowercaseText(of: bytes))'"
    case .blob(let bytes):
      "x'\(Hex.lowercaseText(of: Array(bytes.prefix(16))))…' (\(bytes.count) bytes)"
    }
  }
}

/// Returns a part of a text in quotes.
private func quoted(_ text: String, from start: Int) -> String {
  shortened(text, from: start, count: 80).debugDescription
}

/// Returns a part of a text, with an ellipsis for each omitted part.
private func shortened(_ text: String, from start: Int, count: Int) -> String {
  let rest = text.unicodeScalars.dropFirst(start)
  let part = String(String.UnicodeScalarView(rest.prefix(count)))
  let isComplete = rest.dropFirst(count).isEmpty
  return "\(start > 0 ? "…" : "")\(part)\(isComplete ? "" : "…")"
}

/// A table that at least one of the databases has.
private struct ComparedTable {
  let name: String
  /// The names of the columns other than the key. If both databases have the table, only those that
  /// both tables have.
  let columns: [String]
  /// The names of the columns of the key.
  private let key: [String]
  /// Whether the table contains the elements of lists of objects. The list of an owner is compared
  /// as one value, because the positions of its elements depend on how it was changed.
  private let isList: Bool
  /// The query for a row, without the condition.
  private let selection: SQL
  /// The connections to the databases that have the table.
  private let connections: Set<ObjectIdentifier>

  /// Returns nil if the keys of the tables differ. The schema then shows the difference.
  init?(_ name: String, _ old: Connection, _ new: Connection) throws {
    let (before, after) = (try TableKey(name, old), try TableKey(name, new))
    guard let some = before ?? after, before == nil || after == nil || before?.key == after?.key
    else { return nil }
    connections = Set(
      [before.map { _ in ObjectIdentifier(old) }, after.map { _ in ObjectIdentifier(new) }]
        .compactMap { $0 })
    self.name = name
    isList = some.key == ["owner", "position"] && some.others == ["target"]
    if isList {
      key = ["owner"]
      columns = ["targets"]
      selection = "SELECT target FROM main.\(identifier: name)"
    } else {
      key = some.key
      columns = some.others.filter { after?.others.contains($0) ?? true }
      selection =
        "SELECT \(columns.isEmpty ? "1" : SQL(identifiers: columns)) FROM main.\(identifier: name)"
    }
  }

  private func exists(_ connection: Connection) -> Bool {
    connections.contains(ObjectIdentifier(connection))
  }

  func text(of key: [Value]) -> String {
    let values = key.map(\.summary)
    guard key.count > 1 || isList else { return values[0] }
    return zip(self.key, values).map { "\($0) \($1)" }.joined(separator: ", ")
  }

  /// Calls `body` with the key of each row, in the order of the keys.
  func forEachKey(_ connection: Connection, _ body: ([Value]) throws -> Void) throws {
    guard exists(connection) else { return }
    let list = SQL(identifiers: key)
    let selection: SQL = isList ? "SELECT DISTINCT \(list)" : "SELECT \(list)"
    try connection.forEachRow(
      "\(selection) FROM main.\(identifier: name) ORDER BY \(list)"
    ) { row in
      try body(try key.indices.map { try row.value(at: $0) })
    }
  }

  /// Returns the values of ``columns`` in the row with a key, or nil if there is no such row.
  func values(at key: [Value], _ connection: Connection) throws -> [Value]? {
    guard exists(connection) else { return nil }
    let conditions = zip(self.key, key).map { name, value in
      "\(identifier: name) IS \(value)" as SQL
    }
    let query: SQL = "\(selection) WHERE \(SQL(joining: conditions, separator: " AND "))"
    guard isList else { return try connection.firstRow(query)?.values }
    let targets = try connection.rows("\(query) ORDER BY position", as: Int64.self)
    guard !targets.isEmpty else { return nil }
    return [.text("\(targets)")]
  }
}

/// The columns of a table, divided into its key and the others.
private struct TableKey {
  let key: [String]
  let others: [String]

  /// Returns nil if the table doesn't exist or has no accessible key.
  init?(_ table: String, _ connection: Connection) throws {
    let columns = try connection.rows(
      "SELECT name, pk FROM pragma_table_xinfo(\(table), 'main') WHERE hidden <> 1 ORDER BY cid",
      as: String.self, Int.self)
    guard !columns.isEmpty else { return nil }
    let primary = columns.filter { $0.1 > 0 }.sorted { $0.1 < $1.1 }.map(\.0)
    let names = Set(columns.map { asciiLowercased($0.0) })
    let rowid = ["rowid", "_rowid_", "oid"].first { !names.contains($0) }
    guard let key = primary.isEmpty ? rowid.map({ [$0] }) : primary else { return nil }
    self.key = key
    others = columns.map(\.0).filter { !key.contains($0) }
  }
}

extension Connection {
  /// Returns the names of the tables with rows of the program: those other than SQLite's, this
  /// library's, and those of virtual tables.
  fileprivate func contentTables() throws -> [String] {
    try rows(
      """
      SELECT name FROM pragma_table_list
      WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        AND name NOT LIKE 'magicdata\\_%' ESCAPE '\\' ORDER BY name
      """, as: String.self)
  }
}
