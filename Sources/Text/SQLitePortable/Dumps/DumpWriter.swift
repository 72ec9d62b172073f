import SQLiteCore

/// A writer that dumps a database as lines, with only one row in memory at a time.
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
    let objects = try SchemaObject.all(in: connection)
    for entry in objects where entry.object.kind.hasRows { try writeTable(entry.object) }
    try writeSequences()
    for entry in objects where !entry.object.kind.hasRows { try write(.object(entry.object)) }
    try write(.end(rows: Int64(progress.rows), others: Int64(lineCount - 1 - progress.rows)))
    try report(progress)
  }

  private func header() throws -> DumpHeader {
    DumpHeader(
      encoding: try connection.pragma("encoding").flatMap { try? String(databaseValue: $0) }
        ?? "UTF-8",
      userVersion: try connection.pragma("user_version").map { try Int64(databaseValue: $0) } ?? 0,
      applicationID: try connection.pragma("application_id").map { try Int64(databaseValue: $0) }
        ?? 0)
  }

  private mutating func writeTable(_ table: DumpObject) throws {
    let (name, columns) = (table.name, table.columns)
    try write(.object(table))
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
    guard try connection.tableExists("sqlite_sequence") else { return }
    let sequences = try connection.rows(
      "SELECT name, seq FROM sqlite_sequence", as: String.self, Int64?.self)
    for (table, value) in sequences where !SchemaObject.isInternal(table, in: connection) {
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
