import SQLSyntax
import SQLiteCore
import SQLiteSchema

/// A reader that fills a new database from the lines of a dump, with only one row in memory at a
/// time.
struct DumpReader {
  private let lines: LineReader
  private let format: any DumpFormat
  private let work: CopyWork
  private var progress = DumpProgress()
  private var number = 0
  /// The number of lines after the first that aren't rows.
  private var others: Int64 = 0

  init(_ path: String, _ format: any DumpFormat, _ work: CopyWork) throws {
    lines = try LineReader(path)
    self.format = format
    self.work = work
    progress.totalBytes = lines.size
  }

  /// Fills an empty database with the content of the dump.
  ///
  /// - Throws: ``DumpError`` if the dump is invalid, `SQLiteError` if the file can't be read or the
  ///   database can't be written before the deadline, `CancellationError` if the copy was
  ///   cancelled, or any error of the progress report.
  mutating func fill(_ database: Database) throws {
    guard case .database(let header) = try next() else {
      throw wrong("the first line is not the header of a database")
    }
    guard (1...DumpHeader.currentFormat).contains(header.format) else {
      throw wrong(
        "the file has the format \(header.format), which this version of the library cannot "
          + "read; update the library")
    }
    guard ["UTF-8", "UTF-16le", "UTF-16be"].contains(header.encoding),
      let userVersion = Int32(exactly: header.userVersion),
      let applicationID = Int32(exactly: header.applicationID)
    else { throw wrong("the encoding, the user version or the application ID is invalid") }
    try database.withoutTransaction(deadline: work.deadline) { connection in
      try work.check()
      _ = try connection.pragma("encoding", " = '\(header.encoding)'")
    }
    var reader = self
    try database.write(deadline: work.deadline) { connection in
      try work.check()
      _ = try connection.pragma("user_version", " = \(userVersion)")
      _ = try connection.pragma("application_id", " = \(applicationID)")
      try reader.fill(connection)
    }
    self = reader
    try database.withoutTransaction(deadline: work.deadline) { connection in
      try work.check()
      // Makes SQLite parse the schema again, so that an invalid schema is detected here.
      _ = try connection.pragma("writable_schema", " = RESET")
      do {
        _ = try connection.executeQuery("SELECT count(*) FROM sqlite_schema")
      } catch let error as SQLiteError where error.code != .interrupt {
        throw DumpError.schema(name: "sqlite_schema", reason: error.message)
      }
    }
    try work.report(progress)
  }

  private mutating func fill(_ connection: Connection) throws {
    var line = try next()
    while true {
      switch line {
      case .database: throw wrong("a second header of a database")
      case .row: throw wrong("a row without a table")
      case .sequence(let table, let value):
        try connection.executeChange("DELETE FROM sqlite_sequence WHERE name = \(table)")
        try connection.executeChange("INSERT INTO sqlite_sequence VALUES (\(table), \(value))")
      case .end(let rows, let others):
        guard rows == progress.rows, others == self.others else {
          throw wrong(
            "the file has \(progress.rows) rows and \(self.others) other lines, but its last "
              + "line says \(rows) and \(others)")
        }
        return try checkEnd()
      case .object(let object):
        try make(object, connection)
        if object.kind.hasRows {
          others += 1
          line = try readRows(of: object, connection)
          continue
        }
      }
      others += 1
      line = try next()
    }
  }

  /// Inserts the rows of a table, and returns the line after them.
  private mutating func readRows(
    of table: DumpObject, _ connection: Connection
  ) throws -> DumpLine {
    progress.table = table.name
    guard !table.columns.isEmpty else { return try next() }
    let list = SQL(joining: table.columns.map { "\(identifier: $0)" }, separator: ", ")
    let marks = SQL(unchecked: table.columns.map { _ in "?" }.joined(separator: ", "))
    var insert = try connection.statement(
      "INSERT INTO \(identifier: table.name) (\(list)) VALUES (\(marks))")
    while true {
      let line = try next()
      guard case .row(let values) = line else { return line }
      guard values.count == table.columns.count else {
        throw wrong(
          "the row has \(values.count) values for the \(table.columns.count) columns of "
            + "“\(table.name)”")
      }
      do throws(SQLiteError) {
        for (index, value) in values.enumerated() { try insert.bind(value, at: index + 1) }
        try insert.run()
      } catch {
        if error.code == .interrupt { throw error }
        throw wrong("the row does not fit the table “\(table.name)”: \(error.message)")
      }
      progress.rows += 1
      if progress.rows % 1_000 == 0 { try work.report(progress) }
    }
  }

  private func make(_ object: DumpObject, _ connection: Connection) throws {
    try Self.checkSQL(of: object)
    // The rows must be inserted into the new object, and not into an existing view or table.
    guard try Self.type(of: object.name, connection) == nil else {
      throw DumpError.schema(name: object.name, reason: "it already exists")
    }
    let isCreated: Bool
    do throws(SQLiteError) {
      switch object.kind {
      case .statistics:
        try connection.executeChange("ANALYZE sqlite_schema")
        try connection.executeChange("DELETE FROM sqlite_stat1")
      case .virtualTable:
        // Its shadow tables already exist with their content. CREATE VIRTUAL TABLE would create
        // them again.
        _ = try connection.pragma("writable_schema", " = ON")
        try connection.executeChange(
          """
          INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
          VALUES ('table', \(object.name), \(object.name), 0, \(object.sql))
          """)
        _ = try connection.pragma("writable_schema", " = OFF")
      default:
        try connection.executeChange(SQL(unchecked: object.sql))
      }
      isCreated = try Self.type(of: object.name, connection) == object.kind.type
    } catch {
      // A slow function may not notice the interruption. The next statement then fails, which isn't
      // the one to report.
      if error.code == .interrupt {
        throw SQLiteError(error.code, error.message, sql: object.sql)
      }
      throw DumpError.schema(name: object.name, reason: error.message)
    }
    guard isCreated else {
      throw DumpError.schema(name: object.name, reason: "its SQL creates something else")
    }
  }

  private static func type(
    of name: String, _ connection: Connection
  ) throws(SQLiteError) -> String? {
    try connection.firstRow(
      "SELECT type FROM sqlite_schema WHERE name = \(name) COLLATE NOCASE", as: String.self)
  }

  /// Throws unless the SQL of an object is a single statement that only creates this object.
  private static func checkSQL(of object: DumpObject) throws {
    let made: SQLQualifiedName?
    do {
      switch (object.kind, try SQLStatement(parsing: object.sql, grammar: .linked)) {
      case (.table, .createTable(let table)), (.statistics, .createTable(let table)):
        guard case .definition = table.body else {
          throw DumpError.schema(name: object.name, reason: "its SQL contains a query")
        }
        made = table.isTemporary ? nil : table.name
      case (.virtualTable, .createVirtualTable(let table)): made = table.name
      case (.index, .createIndex(let index)): made = index.name
      case (.view, .createView(let view)): made = view.isTemporary ? nil : view.name
      case (.trigger, .createTrigger(let trigger)):
        made = trigger.isTemporary ? nil : trigger.name
      default: made = nil
      }
    } catch let error as SQLSyntaxError {
      throw DumpError.schema(name: object.name, reason: "\(error)")
    }
    guard let made, made.schema == nil, made.name.matches(object.name) else {
      throw DumpError.schema(name: object.name, reason: "its SQL creates something else")
    }
  }

  private mutating func next() throws -> DumpLine {
    while true {
      number += 1
      guard let text = try lines.next() else { throw DumpError.truncated(lines.path) }
      progress.bytes = lines.position
      if text.allSatisfy({ $0 == 0x20 || $0 == 0x0d || $0 == 0x09 }) { continue }
      do {
        return try format.line(text)
      } catch {
        throw wrong("\(error)")
      }
    }
  }

  private mutating func checkEnd() throws {
    while let text = try lines.next() {
      number += 1
      guard text.allSatisfy({ $0 == 0x20 || $0 == 0x0d || $0 == 0x09 }) else {
        throw wrong("there is text after the last line")
      }
    }
    progress.bytes = lines.position
  }

  private func wrong(_ reason: String) -> DumpError { .line(number, reason) }
}

/// The deadline, cancellation and progress report of a running copy.
struct CopyWork {
  /// The time by which the copy must be complete; nil for no limit.
  let deadline: ContinuousClock.Instant?
  let cancellation: CancellableWork
  /// A closure that is called repeatedly with the progress of the copy. If it throws, the copy
  /// ends.
  let report: (DumpProgress) throws -> Void

  /// Throws if the copy has been cancelled.
  func check() throws { try cancellation.check() }
}
