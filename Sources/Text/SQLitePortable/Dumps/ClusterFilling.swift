import SQLiteCore

/// A resumable copy of a local database to an empty database of a cluster, table by table.
///
/// A transaction contains at most 1,000 rows, because it has to fit in the memory of each node. The
/// table `magicdata_restore` in the target records the progress in the same transaction as the
/// rows. After an interruption, another copy of the same source continues from there.
struct ClusterFilling {
  /// The maximum number of rows in one transaction. A transaction also ends when its values reach
  /// ``byteLimit`` bytes.
  private static let rowLimit = 1_000
  private static let byteLimit = 1 << 20
  /// The maximum number of values that are bound to one statement.
  private static let valueLimit = 255

  private let source: Database
  private let target: Database
  private let work: CopyWork
  private var progress = DumpProgress()

  /// A step of the copy, which creates an object of the schema and copies its rows.
  private struct Step {
    /// The object. Its columns are empty if it has no rows to copy.
    var object: DumpObject
    var rowCount: Int64 = 0
    /// Whether the object is a full-text index that is rebuilt from another table.
    var isRebuilt = false

    var name: String { object.name }
    var sql: String { object.sql }
    var columns: [String] { object.columns }
  }

  /// The progress of the copy: the index of the current step, and the number of its rows that are
  /// already copied.
  private struct Position: Equatable {
    var step = 0
    var rows: Int64 = 0
  }

  init(_ source: Database, _ target: Database, _ work: CopyWork) {
    self.source = source
    self.target = target
    self.work = work
  }

  mutating func run() throws {
    let steps = try source.read { try Self.steps($0) }
    let fingerprint = Self.fingerprint(of: steps)
    var position = try begin(fingerprint, steps)
    for step in steps[..<min(position.step, steps.count)] { progress.rows += Int(step.rowCount) }
    while position.step < steps.count {
      let step = steps[position.step]
      progress.table = step.name
      if position.rows == 0 { try make(step, at: position) }
      try copyRows(of: step, from: &position)
      let next = Position(step: position.step + 1)
      try change(from: position, to: next) { _ in }
      position = next
    }
    // If this throws, the same call can still continue at this position.
    try work.report(progress)
    try finish(position)
  }

  // MARK: The source

  /// Returns the steps in order: tables, then virtual tables, then indexes, views and triggers.
  private static func steps(_ connection: Connection) throws -> [Step] {
    var tables: [Step] = []
    var virtual: [Step] = []
    var others: [Step] = []
    for entry in try SchemaObject.all(in: connection)
    where !SchemaObject.isInternal(entry.object.name) {
      var step = Step(object: entry.object)
      let name = step.name
      switch step.object.kind {
      // Created together with the virtual table to which it belongs, or by SQLite itself.
      case .table where entry.isShadow, .statistics: continue
      case .table: tables.append(step)
      case .virtualTable:
        let words = step.sql.lowercased().filter { !$0.isWhitespace }
        // An index over another table is rebuilt from that table. A vocabulary table shows the
        // content of an index.
        step.isRebuilt = words.contains("content=")
        if !step.isRebuilt, !words.contains("usingfts5vocab(") {
          step.object.columns =
            ["rowid"]
            + (try connection.rows(
              "SELECT name FROM pragma_table_xinfo(\(name)) WHERE hidden = 0 ORDER BY cid",
              as: String.self))
        }
        virtual.append(step)
      case .index:
        // A node doesn't have the collation for decimals. This library creates such indexes without
        // it.
        step.object.sql = step.sql.replacing(" COLLATE \"magicdata_decimal\"", with: "")
        others.append(step)
      case .view, .trigger: others.append(step)
      }
    }
    return try (tables + virtual + others).map { step in
      var step = step
      if !step.columns.isEmpty {
        step.rowCount =
          try connection.firstRow(
            "SELECT count(*) FROM \(identifier: step.name)", as: Int64.self) ?? 0
      }
      return step
    }
  }

  /// Returns a number that identifies the source by its schema and row counts (FNV-1a).
  private static func fingerprint(of steps: [Step]) -> Int64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for step in steps {
      for byte in "\(step.name)\0\(step.sql)\0\(step.rowCount)\0".utf8 {
        hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
      }
    }
    return Int64(bitPattern: hash)
  }

  // MARK: The target

  /// Returns the position at which an interrupted copy of the same source stopped, or begins a new
  /// copy.
  private func begin(_ fingerprint: Int64, _ steps: [Step]) throws -> Position {
    let numbers = try source.read { connection in
      try ["user_version", "application_id"].map { name in
        (name, try connection.pragma(name).map { try Int64(databaseValue: $0) } ?? 0)
      }
    }
    return try target.write(deadline: work.deadline) { connection in
      let names = try connection.existingTables()
      if names.contains(SchemaObject.progressTable) {
        let found = try connection.firstRow(
          "SELECT source, step, rows FROM magicdata_restore", as: Int64.self, Int.self, Int64.self)
        guard let found, found.0 == fingerprint else {
          throw SQLiteError(
            .misuse,
            "the database contains an interrupted restore of another file; restore that file, "
              + "or use an empty database")
        }
        return Position(step: found.1, rows: found.2)
      }
      if let other = names.first(where: { !SchemaObject.isInternal($0) }) {
        throw SQLiteError(
          .misuse,
          "only an empty cluster database can be restored, but this one has the table \(other)"
        )
      }
      // Try the whole schema first. If a node rejects it, the database must stay empty.
      _ = try connection.savepoint {
        for step in steps { try Self.make(step, connection) }
        return TransactionOutcome.rollback
      }
      try connection.executeChange(
        "CREATE TABLE magicdata_restore (source INTEGER, step INTEGER, rows INTEGER)")
      try connection.executeChange("INSERT INTO magicdata_restore VALUES (\(fingerprint), 0, 0)")
      for (name, value) in numbers { _ = try connection.pragma(name, " = \(value)") }
      return Position()
    }
  }

  /// Runs a part of the copy in a transaction that also records the new position. Throws
  /// `SQLiteError` if the recorded position isn't `from`, because another program is also restoring
  /// the database.
  private func change(
    from: Position, to: Position, _ body: (Connection) throws -> Void
  ) throws {
    try work.check()
    try target.withoutTransaction(deadline: work.deadline) { connection in
      // Rows may be copied before the rows that they reference. A new session resets this setting.
      try connection.executeChange("PRAGMA foreign_keys = OFF")
      defer {
        if target.options.foreignKeys {
          _ = try? connection.executeChange("PRAGMA foreign_keys = ON")
        }
      }
      try connection.transaction {
        let change = try connection.executeChange(
          """
          UPDATE magicdata_restore SET step = \(to.step), rows = \(to.rows)
          WHERE step = \(from.step) AND rows = \(from.rows)
          """)
        guard change.rows == 1 else {
          throw SQLiteError(.busy, "another program is restoring the database at the same time")
        }
        try body(connection)
      }
    }
  }

  private func make(_ step: Step, at position: Position) throws {
    // An interrupted run may have created the object without copying any rows.
    try change(from: position, to: position) { connection in
      let exists = try connection.firstRow(
        "SELECT 1 FROM sqlite_schema WHERE name = \(step.name) AND type = \(step.object.kind.type)")
      guard exists == nil else { return }
      try Self.make(step, connection)
    }
  }

  private static func make(_ step: Step, _ connection: Connection) throws {
    do {
      try connection.executeChange(SQL(unchecked: step.sql))
      if step.isRebuilt { try rebuild(step, connection) }
    } catch let error as SQLiteError where !error.isUnrelatedToData {
      throw DumpError.schema(name: step.name, reason: error.message)
    }
  }

  /// Rebuilds a full-text index from the table that contains its text. Only full-text modules have
  /// such a table.
  private static func rebuild(_ step: Step, _ connection: Connection) throws {
    try connection.executeChange(
      "INSERT INTO \(identifier: step.name) (\(identifier: step.name)) VALUES ('rebuild')")
  }

  // MARK: Rows

  private mutating func copyRows(of step: Step, from position: inout Position) throws {
    guard !step.columns.isEmpty else { return }
    guard step.columns.count <= Self.valueLimit else {
      throw DumpError.value(
        table: step.name,
        reason: "its \(step.columns.count) columns are more than a cluster supports")
    }
    let list = SQL(joining: step.columns.map { "\(identifier: $0)" }, separator: ", ")
    // One statement reads the whole table, because an OFFSET makes SQLite step over all rows before
    // it.
    try source.read { connection in
      var statement = try connection.statement(
        "SELECT \(list) FROM \(identifier: step.name) LIMIT -1 OFFSET \(position.rows)")
      while position.rows < step.rowCount {
        let rows = try Self.nextRows(of: &statement, columnCount: step.columns.count)
        guard !rows.isEmpty else {
          throw DumpError.value(
            table: step.name, reason: "rows were deleted from the source in the meantime")
        }
        let next = Position(step: position.step, rows: position.rows + Int64(rows.count))
        try change(from: position, to: next) { try Self.insert(rows, into: step, $0) }
        position = next
        progress.rows += rows.count
        try work.report(progress)
      }
    }
    if step.object.kind == .table { try copySequence(of: step, at: position) }
  }

  /// Reads the next rows of a statement, as many as one transaction may contain. Returns an empty
  /// array after the last row.
  private static func nextRows(
    of statement: inout Statement, columnCount: Int
  ) throws(SQLiteError) -> [[Value]] {
    var rows: [[Value]] = []
    var bytes = 0
    while bytes < byteLimit, rows.count < rowLimit, try statement.step() {
      var values: [Value] = []
      for index in 0..<columnCount {
        let value = try statement.value(at: index)
        bytes += value.size
        values.append(value)
      }
      rows.append(values)
    }
    return rows
  }

  private static func insert(_ rows: [[Value]], into step: Step, _ connection: Connection) throws {
    let list = SQL(joining: step.columns.map { "\(identifier: $0)" }, separator: ", ")
    let marks = "(" + step.columns.map { _ in "?" }.joined(separator: ", ") + ")"
    // Insert as many rows per statement as possible, and the rest one by one.
    let most = max(1, min(50, valueLimit / step.columns.count))
    var index = 0
    while index < rows.count {
      let count = rows.count - index >= most ? most : 1
      let all = SQL(unchecked: Array(repeating: marks, count: count).joined(separator: ", "))
      var insert = try connection.statement(
        "INSERT INTO \(identifier: step.name) (\(list)) VALUES \(all)")
      do throws(SQLiteError) {
        for (place, value) in rows[index..<index + count].joined().enumerated() {
          try insert.bind(value, at: place + 1)
        }
        try insert.run()
      } catch {
        if error.isUnrelatedToData { throw error }
        throw DumpError.value(table: step.name, reason: error.message)
      }
      index += count
    }
  }

  /// Copies the AUTOINCREMENT counter of a table (the largest rowid that was ever assigned), if the
  /// table has one.
  private func copySequence(of step: Step, at position: Position) throws {
    let value = try source.read { connection -> Int64? in
      guard try connection.tableExists("sqlite_sequence") else { return nil }
      return try connection.firstRow(
        "SELECT seq FROM sqlite_sequence WHERE name = \(step.name)", as: Int64?.self) ?? nil
    }
    guard let value else { return }
    try change(from: position, to: position) { connection in
      try connection.executeChange("DELETE FROM sqlite_sequence WHERE name = \(step.name)")
      try connection.executeChange("INSERT INTO sqlite_sequence VALUES (\(step.name), \(value))")
    }
  }

  private func finish(_ position: Position) throws {
    let hasStatistics = try source.read { try $0.tableExists("sqlite_stat1") }
    try change(from: position, to: position) { connection in
      if hasStatistics { try connection.executeChange("ANALYZE") }
      try connection.executeChange("DROP TABLE magicdata_restore")
    }
  }
}

extension SQLiteError {
  /// Whether the error is caused by the node, a lock or the deadline, and not by the copied data.
  fileprivate var isUnrelatedToData: Bool {
    switch code.primary {
    case .interrupt, .busy, .inputOutput: true
    default: false
    }
  }
}

extension Value {
  /// The approximate size of the value in bytes.
  fileprivate var size: Int {
    switch self {
    case .null, .integer, .real: 8
    case .text(let text): text.utf8.count
    case .blob(let blob): blob.count
    }
  }
}
