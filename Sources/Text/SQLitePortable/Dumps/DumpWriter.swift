import SQLiteCore

/// Writes a database as lines, in the memory of one row.
struct DumpWriter {
  let connection: Connection
  let format: any DumpFormat
  let file: TextWriter
  let report: (DumpProgress) throws -> Void
  private var progress = DumpProgress()
  private var lineCount = 0

  init(
    _ connection: Connection, _ format: any DumpFormat, _ file: TextWriter,
    _ report: @escaping (DumpProgress) throws -> Void
  ) {
    self.connection = connection
    self.format = format
    self.file = file
    self.report = report
  }

  mutating func run() throws {
    try write(.database(header()))
    let objects = try connection.rows(
      """
      SELECT type, name, sql FROM sqlite_schema
      WHERE sql IS NOT NULL AND (name NOT LIKE 'sqlite\\_%' ESCAPE '\\' OR name = 'sqlite_stat1')
        AND tbl_name IS NOT \(Connection.tokenTable)
      ORDER BY rowid
      """, as: String.self, String.self, String.self)
    for (type, name, sql) in objects
    where type == "table" && !Self.isVirtual(sql) && !isLeftOut(name) {
      try writeTable(name, sql)
    }
    try writeSequences()
    for (type, name, sql) in objects {
      if type == "table" {
        guard Self.isVirtual(sql) else { continue }
        try write(.object(DumpObject(kind: .virtualTable, name: name, sql: sql)))
      } else if let kind = DumpObject.Kind(rawValue: type) {
        try write(.object(DumpObject(kind: kind, name: name, sql: sql)))
      }
    }
    try write(.end(rows: Int64(progress.rows), others: Int64(lineCount - 1 - progress.rows)))
    try report(progress)
  }

  /// Whether a table is a server's own, of the writes there.
  private func isLeftOut(_ name: String) -> Bool {
    connection.isRemote && ClusterFilling.isOwn(name)
  }

  private func header() throws -> DumpHeader {
    DumpHeader(
      encoding: try connection.pragma("encoding").flatMap { try? String(databaseValue: $0) }
        ?? "UTF-8",
      userVersion: try connection.pragma("user_version").map { try Int64(databaseValue: $0) } ?? 0,
      applicationID: try connection.pragma("application_id").map { try Int64(databaseValue: $0) }
        ?? 0)
  }

  private static func isVirtual(_ sql: String) -> Bool {
    let words = sql.prefix(20).split(whereSeparator: \.isWhitespace)
    return words.count > 1 && words[1].uppercased() == "VIRTUAL"
  }

  private mutating func writeTable(_ name: String, _ sql: String) throws {
    let columns = try TableColumns(of: name, connection).names
    let kind = name == "sqlite_stat1" ? DumpObject.Kind.statistics : .table
    try write(.object(DumpObject(kind: kind, name: name, sql: sql, columns: columns)))
    progress.table = name
    try report(progress)
    let list = SQL(joining: columns.map { "\(identifier: $0)" }, separator: ", ")
    try connection.forEachRow("SELECT \(list) FROM \(identifier: name)") { row in
      var values: [Value] = []
      values.reserveCapacity(columns.count)
      do throws(SQLiteError) {
        for index in columns.indices { values.append(try row.value(at: index)) }
      } catch {
        throw DumpError.value(table: name, reason: error.message)
      }
      try write(.row(values))
      progress.rows += 1
      if progress.rows % 1_000 == 0 { try report(progress) }
    }
  }

  private mutating func writeSequences() throws {
    guard
      try connection.firstRow("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'") != nil
    else { return }
    let sequences = try connection.rows(
      "SELECT name, seq FROM sqlite_sequence", as: String.self, Int64?.self)
    for (table, value) in sequences where !isLeftOut(table) {
      try write(.sequence(table: table, value: value ?? 0))
    }
  }

  private mutating func write(_ line: DumpLine) throws {
    var text = format.text(of: line)
    text.append(0x0a)
    progress.bytes += text.count
    lineCount += 1
    try file.write(text)
  }
}

/// The columns with the whole content of a table: those that are not generated, and before them the row id
/// unless it is one of them.
struct TableColumns {
  let names: [String]

  init(of table: String, _ connection: Connection) throws {
    let columns = try connection.rows(
      "SELECT name, type, pk, hidden FROM pragma_table_xinfo(\(table)) ORDER BY cid",
      as: String.self, String.self, Int.self, Int.self)
    // 2 and 3 are generated, 1 is hidden.
    var names = columns.filter { $0.3 == 0 }.map(\.0)
    let keys = columns.filter { $0.2 > 0 }
    let isWithoutRowID = try connection.firstRow(
      "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = \(table)", as: Bool.self)
    // A key that has an index of its own is not the row id: INTEGER PRIMARY KEY DESC.
    let hasKeyIndex =
      try connection.firstRow(
        "SELECT 1 FROM pragma_index_list(\(table)) WHERE origin = 'pk'") != nil
    let isRowID = keys.count == 1 && keys[0].1.uppercased() == "INTEGER" && !hasKeyIndex
    if isWithoutRowID != true, !isRowID {
      let taken = Set(columns.map { $0.0.lowercased() })
      let free = ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
      if let free { names.insert(free, at: 0) }
    }
    self.names = names
  }
}
