import Essentials
import SQLiteCore
import SQLiteHistory
import SQLiteMapping
import SQLiteObjects

/// The limits of a trail: the maximum number of its rows and the maximum age of a row. Nil means
/// that there is no limit.
struct TrailBounds: Sendable {
  let count: Int?
  let age: Duration?
}

/// The table that stores a trail, with one row for each row that a commit changed, or a single row
/// for a commit that was too large to record.
enum TrailTable {
  /// A changed row with its column names and its values before and after.
  private struct Content: Codable {
    var names: [String] = []
    /// A changeset that contains only this row. It preserves the exact values.
    var row: Data
  }

  static func make(_ connection: Connection) throws {
    if try exists(connection) { return }
    try connection.executeMultipleChanges(
      """
      CREATE TABLE main.magicdata_trail (
        number INTEGER PRIMARY KEY AUTOINCREMENT, first INTEGER NOT NULL, date REAL NOT NULL,
        author TEXT, title TEXT, key INTEGER, kind INTEGER NOT NULL, content BLOB);
      CREATE INDEX main.magicdata_trail_key ON magicdata_trail (title, key);
      """)
  }

  private static func exists(_ connection: Connection) throws -> Bool {
    try connection.firstRow("SELECT 1 FROM main.sqlite_schema WHERE name = 'magicdata_trail'")
      != nil
  }

  /// Records the changes of the open transaction, and then deletes rows of the trail beyond the
  /// limits. If `rows` is nil because the transaction was too large, inserts only one row, of the
  /// kind `unknown`.
  static func write(
    _ rows: RecordedRows?, _ bounds: TrailBounds, _ connection: Connection
  ) throws {
    // `isForDisplay` omits tables without a key. They contain no objects.
    let tables = try rows.map { rows in
      try Patch(HistoryRecording.changes(rows), isForDisplay: true).tables
    }
    if let tables, tables.isEmpty { return }
    try make(connection)
    let date = Date().timeIntervalSince1970
    let author = connection.author
    let last =
      try connection.firstRow(
        "SELECT seq FROM main.sqlite_sequence WHERE name = 'magicdata_trail'", as: Int64.self) ?? 0
    guard last < .max else {
      throw SQLiteError(.full, "magicdata_trail has no row number left")
    }
    let first = last + 1
    var insert = try connection.statement(
      """
      INSERT INTO main.magicdata_trail (first, date, author, title, key, kind, content)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """)
    if let tables {
      let encoder = JSONEncoder()
      for table in tables {
        let columns = table.columns ?? []
        let title = asciiLowercased(table.name)
        for row in table.rows {
          let one = Patch.Table(
            name: table.name, keyPositions: table.keyPositions, columns: table.columns, rows: [row])
          let content = try encoder.encode(
            Content(names: columns, row: Patch(tables: [one]).data))
          let kind: TrailEntry.Kind =
            switch row.kind {
            case .insert: .inserted
            case .update: .updated
            case .delete: .deleted
            }
          try insert.run(
            first, date, author, title, key(of: row, in: table), kind.rawValue, [UInt8](content))
        }
      }
    } else {
      try insert.run(
        first, date, author, String?.none, Int64?.none, TrailEntry.Kind.unknown.rawValue,
        [UInt8]?.none)
    }
    try prune(bounds, since: date, connection)
  }

  /// Returns the key (`z_index`) of the object that a row belongs to. For a row of a link table,
  /// this is the owner of the link. Returns nil if the row has no single integer key.
  private static func key(of row: Patch.Row, in table: Patch.Table) -> Int64? {
    let (old, new) = row.values
    let values = zip(old, new).map { $0 ?? $1 }
    if let columns = table.columns, columns.contains("target"),
      let owner = columns.firstIndex(of: "owner"), case .integer(let key)? = values[owner]
    {
      return key
    }
    guard table.keyColumns.count == 1, case .integer(let key)? = values[table.keyColumns[0]] else {
      return nil
    }
    return key
  }

  private static func prune(
    _ bounds: TrailBounds, since date: Double, _ connection: Connection
  ) throws {
    if let count = bounds.count {
      try connection.executeChange(
        """
        DELETE FROM main.magicdata_trail
        WHERE number <= (SELECT max(number) FROM main.magicdata_trail) - \(max(0, count))
        """)
    }
    if let age = bounds.age {
      let (seconds, attoseconds) = age.components
      let start = date - Double(seconds) - Double(attoseconds) / 1e18
      // At most 1,000 rows per commit. The oldest rows have the lowest numbers.
      try connection.executeChange(
        """
        DELETE FROM main.magicdata_trail WHERE date < \(start) AND number IN (
          SELECT number FROM main.magicdata_trail ORDER BY number LIMIT 1000)
        """)
    }
  }

  static func prune(before date: Date, _ connection: Connection) throws -> Int {
    guard try exists(connection) else { return 0 }
    return try connection.executeChange(
      "DELETE FROM main.magicdata_trail WHERE date < \(date.timeIntervalSince1970)"
    ).rows
  }

  /// An object whose trail is read, and the tables that contain its row and its links.
  struct Owner: Sendable {
    let zIndex: Int
    /// The lowercased name of the table that contains the object's row.
    let title: String
    /// The name of the relation property that each link table stores, by the lowercased name of the
    /// table.
    let links: [String: String]

    init(_ plan: ObjectPlan, _ zIndex: Int) {
      self.zIndex = zIndex
      title = asciiLowercased(plan.table)
      links = Dictionary(
        plan.links.map { (asciiLowercased(plan.linkTableName($0)), plan.properties[$0].name) },
        uniquingKeysWith: { $1 })
    }
  }

  /// Returns the entries of an object in the trail, the most recent first. Reads at most `limit`
  /// rows of the trail, so the last entry may be incomplete.
  static func entries(
    of owner: Owner, limit: Int, _ connection: Connection
  ) throws -> [TrailEntry] {
    guard try exists(connection) else { return [] }
    let titles = [owner.title] + owner.links.keys.sorted()
    var entries: [TrailEntry] = []
    var last: Int64?
    try connection.forEachRow(
      """
      SELECT first, date, author, title, kind, content FROM main.magicdata_trail
      WHERE (title IN \(titles) AND key = \(owner.zIndex)) OR title IS NULL
      ORDER BY first DESC, number LIMIT \(max(0, limit))
      """
    ) { row in
      let first = row.integer(at: 0)
      let title = row.isNull(at: 3) ? nil : try row.text(at: 3)
      let kind = TrailEntry.Kind(rawValue: Int(row.integer(at: 4))) ?? .unknown
      let changes = try title.map { try self.changes($0, owner, row.blob(at: 5)) } ?? []
      if first != last {
        last = first
        entries.append(
          TrailEntry(
            date: Date(timeIntervalSince1970: row.real(at: 1)),
            author: row.isNull(at: 2) ? nil : try row.text(at: 2), kind: .updated, changes: []))
      }
      let place = entries.count - 1
      // An entry with only links is an update of the owner.
      if title == owner.title || title == nil { entries[place].kind = kind }
      entries[place].changes += changes
    }
    return entries
  }

  private static func changes(
    _ title: String, _ owner: Owner, _ content: [UInt8]
  ) throws -> [TrailEntry.Change] {
    let content = try decoded(Content.self, from: Data(content), "a row of magicdata_trail")
    guard let row = try Patch(data: content.row).tables.first?.rows.first else { return [] }
    let property = owner.links[title]
    let values = row.values
    return content.names.indices.compactMap { column in
      guard values.old.indices.contains(column) else { return nil }
      let name = content.names[column]
      let (old, new) = (values.old[column], values.new[column])
      if let property {
        return name == "target" && (old != nil || new != nil)
          ? .init(property: property, old: old, new: new) : nil
      }
      switch row.kind {
      // Skip unchanged columns. An update also contains the key, which doesn't change.
      case .update: return new == nil ? nil : .init(property: name, old: old, new: new)
      case .insert, .delete: return .init(property: name, old: old, new: new)
      }
    }
  }
}
