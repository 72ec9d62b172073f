import Conformance
import Foundation
import SPON
import SQLiteCore
import SQLitePortable
import Synchronization
import Testing
import TestSupport

@Suite(.everyEngine) struct DumpTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// Creates a database with every kind of schema object and value.
  private func makeSample(fullText: Bool = true) throws -> Database {
    let database = try Database.at(folder.file("sample.sqlite3"))
    try database.write { connection in
      for sql in Self.schema { try connection.executeChange(SQL(unchecked: sql)) }
      let values: [Value] = [
        .null, .integer(.min), .integer(.max), .integer(0), .real(-0.0), .real(.infinity),
        .real(-.infinity), .real(0.1), .real(5e300), .real(1), .real(.leastNonzeroMagnitude),
        .text(""), .text(Engine.text("a\0b")), .text("`&01;\n\r\t\u{7f}é\u{301}\u{10ffff}\"\\"),
        .text("12"),
        .blob([]), .blob([0, 255, 10]), .blob(Array(repeating: 7, count: 7_000)),
      ]
      for value in values {
        try connection.executeChange("INSERT INTO any VALUES (\(value), \(value), \(value))")
      }
      try connection.executeChange("INSERT INTO any (rowid, a) VALUES (1000, 'far')")
      try connection.executeChange("DELETE FROM any WHERE rowid = 3")
      for name in ["x", "y", "z"] {
        try connection.executeChange("INSERT INTO counted (name) VALUES (\(name))")
        try connection.executeChange("INSERT INTO \"key\"\"ed\" VALUES (\(name), 1)")
      }
      try connection.executeChange("DELETE FROM counted WHERE name = 'z'")
      try connection.executeChange("INSERT INTO child VALUES (1, 'x')")
      try connection.executeChange("INSERT INTO made (a) VALUES (3)")
      try connection.executeChange("INSERT INTO down VALUES (5), (3)")
      try connection.executeChange("PRAGMA user_version = -7")
      try connection.executeChange("PRAGMA application_id = 42")
      try connection.executeChange("ANALYZE")
      guard fullText else { return }
      try connection.executeChange("CREATE VIRTUAL TABLE words USING fts5(body, title UNINDEXED)")
      try connection.executeChange("INSERT INTO words VALUES ('hello world', 'a'), ('bye', 'b')")
      try connection.executeChange("DELETE FROM words WHERE rowid = 2")
      try connection.executeChange("CREATE VIRTUAL TABLE bare USING fts5(body, content='')")
      try connection.executeChange("INSERT INTO bare (rowid, body) VALUES (9, 'nothing kept')")
      try connection.executeChange("CREATE VIRTUAL TABLE box USING rtree(id, x0, x1)")
      try connection.executeChange("INSERT INTO box VALUES (1, 0, 5)")
    }
    return database
  }

  private static let schema = [
    "CREATE TABLE child (id INTEGER PRIMARY KEY, parent REFERENCES \"key\"\"ed\")",
    "CREATE TABLE any (a, b TEXT, c REAL)",
    "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE \"key\"\"ed\" (name TEXT PRIMARY KEY, n INT) WITHOUT ROWID, STRICT",
    "CREATE TABLE made (a INT, twice AS (a * 2), thrice INT AS (a * 3) STORED)",
    "CREATE TABLE down (n INTEGER PRIMARY KEY DESC)",
    "CREATE TABLE hidden (rowid, _rowid_, oid)",
    "CREATE INDEX \"any by a\" ON any (a) WHERE a IS NOT NULL",
    "CREATE UNIQUE INDEX pairs ON counted (lower(name), id)",
    "CREATE VIEW large AS SELECT name, n FROM \"key\"\"ed\" WHERE n > 0",
    "CREATE TRIGGER counting AFTER INSERT ON counted BEGIN UPDATE \"key\"\"ed\" SET n = n + 1; END",
  ]

  /// Returns the whole schema and content of a database in a fixed order.
  private func content(of database: Database) throws -> [String] {
    try database.read { connection in
      var lines: [String] = []
      for row in try connection.executeQuery(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat4' ORDER BY name"
      ) {
        lines.append("\(row.values)")
      }
      let tables = try connection.rows(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') AND name NOT IN ('sqlite_schema', 'sqlite_stat4') ORDER BY name",
        as: String.self)
      for table in tables {
        let isKeyed =
          table == "key\"ed" || table.hasPrefix("words_") || table.hasPrefix("bare_")
          || table.hasPrefix("box_") || table == "hidden"
        let rows = try connection.executeQuery(
          isKeyed
            ? "SELECT * FROM \(identifier: table)"
            : "SELECT rowid, * FROM \(identifier: table) ORDER BY rowid")
        for row in rows { lines.append("\(table) \(row.values.map { Self.exact($0) })") }
      }
      lines.append("\(try connection.executeQuery("PRAGMA user_version")[0].values)")
      lines.append("\(try connection.executeQuery("PRAGMA application_id")[0].values)")
      // Excludes the internal table of clusters.
      return lines.filter { !$0.contains(Connection.tokenTable) }
    }
  }

  private static func exact(_ value: Value) -> String {
    switch value {
    case .real(let real): "real \(real.bitPattern)"
    case .text(let text): "text \(Array(text.utf8))"
    default: "\(value)"
    }
  }

  private var files: [DataFile] {
    [
      .spon(path: folder.file("a.spon")), .json(path: folder.file("a.jsonl")),
      .sqlite(path: folder.file("a.sqlite3")),
    ]
  }

  @Test func `a database is restored unchanged from every kind of file`() throws {
    let database = try makeSample()
    let before = try content(of: database)
    #expect(before.count > 60)
    for file in files {
      try database.dump(to: file)
      let copy = try Database.memory(restoring: file)
      #expect(try content(of: copy) == before, "\(file)")
      #expect(try copy.executeQuery("PRAGMA integrity_check")[0].values == [.text("ok")])
      #expect(try copy.executeQuery("PRAGMA foreign_key_check").isEmpty)
      #expect(
        try copy.rows("SELECT rowid FROM words WHERE words MATCH 'world'", as: Int.self) == [1])
      #expect(try copy.rows("SELECT rowid FROM bare WHERE bare MATCH 'kept'", as: Int.self) == [9])
      #expect(try copy.rows("SELECT id FROM box WHERE x1 > 4", as: Int.self) == [1])
      #expect(
        try copy.executeChange("INSERT INTO counted (name) VALUES ('new')").lastInsertedRowID == 4)
      #expect(try copy.rows("SELECT n FROM large WHERE name = 'x'", as: Int.self) == [4])
    }
  }

  @Test(.requires(.files)) func `a database can be copied from every kind of file to every other`()
    throws
  {
    let before = try content(of: makeSample())
    let source = DataFile.sqlite(path: folder.file("sample.sqlite3"))
    for first in files {
      try source.copy(to: first)
      for (index, second) in [
        DataFile.spon(path: folder.file("b.spon")), .json(path: folder.file("b.jsonl")),
        .sqlite(path: folder.file("b.sqlite3")),
      ].enumerated() {
        try first.copy(to: second)
        #expect(try content(of: Database.memory(restoring: second)) == before, "\(first) \(second)")
        // Copying a text to the same format doesn't change it.
        if first == files[index], index < 2 {
          #expect(
            try Data(contentsOf: URL(filePath: first.path))
              == Data(contentsOf: URL(filePath: second.path)))
        }
      }
    }
    #expect(try folder.names().allSatisfy { !$0.contains("pending") })
  }

  @Test func `the text formats are readable lines`() throws {
    let database = try Database.fresh()
    try database.write { connection in
      try connection.executeChange(
        "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, size REAL)")
      try connection.executeChange("INSERT INTO note VALUES (1, 'a\nb', 1.0), (2, NULL, x'00ff')")
      try connection.executeChange("CREATE INDEX sizes ON note (size)")
    }
    try database.dump(to: files[0])
    #expect(
      try String(contentsOfFile: files[0].path, encoding: .utf8) == """
        @obj:database<format!=`1` encoding$=`UTF-8` userVersion!=`0` applicationID!=`0`>
        @obj:table<name$=`note` sql$=`CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, size REAL)` columns=@array[`id`$, `text`$, `size`$]>
        @array[1!, `a&uA;b`$, 1.0&]
        @array[2!, ~, AP8=*]
        @obj:index<name$=`sizes` sql$=`CREATE INDEX sizes ON note (size)`>
        @obj:end<rows!=`2` others!=`2`>

        """)
    try database.dump(to: files[1])
    #expect(
      try String(contentsOfFile: files[1].path, encoding: .utf8) == """
        {"database":{"format":1,"encoding":"UTF-8","userVersion":0,"applicationID":0}}
        {"table":{"name":"note","sql":"CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, size REAL)","columns":["id","text","size"]}}
        [1,"a\\nb",1.0]
        [2,null,{"blob":"AP8="}]
        {"index":{"name":"sizes","sql":"CREATE INDEX sizes ON note (size)"}}
        {"end":{"rows":2,"others":2}}

        """)
  }

  @Test(.requires(.files))
  func `a restore replaces everything, or nothing if the file is damaged`() throws {
    let sample = try makeSample()
    let target = try Database.at(folder.file("target.sqlite3"))
    try target.write { try $0.executeChange("CREATE TABLE mine (a)") }
    let before = try content(of: target)
    for file in files.prefix(2) {
      try sample.dump(to: file)
      let text = try Data(contentsOf: URL(filePath: file.path))
      var lines = text.split(separator: 0x0a, omittingEmptySubsequences: false)
      for index in stride(from: 0, to: lines.count - 1, by: 7) {
        for damage in 0..<3 {
          let line = lines[index]
          switch damage {
          case 0: lines[index] = line.dropLast(1)
          case 1: lines.remove(at: index)
          default: lines[index] = Data("@array[1!, [1]".utf8)
          }
          try Data(lines.joined(separator: [0x0a])).write(to: URL(filePath: file.path))
          #expect(
            throws: DumpError.self,
            "\(index) \(damage) \(String(decoding: line.prefix(80), as: UTF8.self))"
          ) {
            try target.restore(from: file)
          }
          if damage == 1 { lines.insert(line, at: index) } else { lines[index] = line }
        }
      }
      for count in [0, 1, text.count / 2, text.count - 3] {
        try text.prefix(count).write(to: URL(filePath: file.path))
        #expect(throws: DumpError.self) { try target.restore(from: file) }
      }
      #expect(try content(of: target) == before)
      try text.write(to: URL(filePath: file.path))
      try target.restore(from: file)
      #expect(try content(of: target) == content(of: sample))
      try target.restore(from: file)
      try target.write { connection in
        for table in ["mine"] { try connection.deleteTable(table, ifExists: true) }
      }
      let fresh = try Database.fresh()
      try fresh.write { try $0.executeChange("CREATE TABLE mine (a)") }
      try fresh.backup(to: target)
    }
  }

  @Test(arguments: [
    "DROP TABLE mine", "CREATE TABLE other (a)", "ATTACH 'x' AS y",
    "CREATE TABLE t (a); DROP TABLE mine",
    "CREATE VIEW t AS SELECT 1", "CREATE", "", "CREATE TABLE t AS SELECT 1 AS a",
    "CREATE/**/TABLE t AS SELECT 1 AS a", "CREATE TEMP TABLE t (a)", "CREATE TABLE temp.t (a)",
    "CREATE TABLE main.t (a)", "CREATE TABLE t (a", "SELECT 1",
    "CREATE VIRTUAL TABLE t USING fts5(a)",
  ])
  func `a statement that doesn't create the named object throws an error that names it`(sql: String)
    throws
  {
    let file = files[1]
    let quoted = sql.replacingOccurrences(of: "'", with: "\\u0027")
    try """
    {"database":{"format":1,"encoding":"UTF-8","userVersion":0,"applicationID":0}}
    {"table":{"name":"t","sql":"\(quoted)","columns":["a"]}}
    {"end":{"rows":0,"others":1}}
    """.write(toFile: file.path, atomically: true, encoding: .utf8)
    let error = #expect(throws: DumpError.self) { try Database.memory(restoring: file) }
    #expect(error?.description.contains("“t”") == true, "\(error as Any)")
  }

  /// Runs in a separate process because versions of SQLite before 3.47 crash.
  @Test func `virtual table arguments that would crash the process throw`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TestFolder()
      let path = folder.file("dump.json")
      for options in ["'trigram case_sensitive'", #"\"trigram case_sensitive\""#] {
        try """
        {"database":{"format":1,"encoding":"UTF-8","userVersion":0,"applicationID":0}}
        {"virtualTable":{"name":"t","sql":"CREATE VIRTUAL TABLE t USING fts5(a, tokenize=\(options))"}}
        {"end":{"rows":0,"others":1}}
        """.write(toFile: path, atomically: true, encoding: .utf8)
        do {
          let database = try Database.memory(restoring: .json(path: path))
          _ = try database.executeQuery("PRAGMA table_info(t)")
          _ = try database.executeQuery("SELECT * FROM t")
          Issue.record("the table can be read")
        } catch let error where error is DumpError || error is SQLiteError {
          // Rejected.
        }
      }
    }
  }

  @Test func `an invalid line throws an error with its line number`() throws {
    let start =
      "{\"database\":{\"format\":1,\"encoding\":\"UTF-8\",\"userVersion\":0,\"applicationID\":0}}\n"
    let table =
      "{\"table\":{\"name\":\"t\",\"sql\":\"CREATE TABLE t (a UNIQUE)\",\"columns\":[\"a\"]}}\n"
    for (text, line) in [
      ("[1]\n", 1), (start + "[1]\n", 2), (start + start, 2), (start + table + "[1,2]\n", 3),
      (start + table + "[1]\n[1]\n", 4), (start + table + "[9223372036854775808]\n", 3),
      (start + table + "[1e999]\n", 3), (start + table + "[{\"blob\":\"!\"}]\n", 3),
      (start + table + "[true]\n", 3), (start + table + "[\"\\ud800\"]\n", 3),
      (start + table + "{\"end\":{\"rows\":1,\"others\":1}}\n", 3),
      (start + "{\"end\":{\"rows\":0,\"others\":0}}\n\n1", 4),
      (start.replacingOccurrences(of: ":1,", with: ":2,"), 1), (start + "{\"nothing\":{}}", 2),
      (start + String(repeating: "[", count: 100_000), 2),
    ] {
      try text.write(toFile: files[1].path, atomically: true, encoding: .utf8)
      let error = #expect(throws: DumpError.self, "\(text.suffix(40))") {
        try Database.memory(restoring: files[1])
      }
      guard case .line(let number, _) = error else { throw error ?? CancellationError() }
      #expect(number == line, "\(error as Any)")
    }
  }

  @Test func `dumping text that isn't UTF-8 throws an error that names the table`() throws {
    let database = try Database.fresh()
    try database.write { connection in
      try connection.executeChange("CREATE TABLE t (a)")
      try connection.executeChange("INSERT INTO t VALUES (CAST(x'ff' AS TEXT))")
    }
    let error = #expect(throws: DumpError.self) { try database.dump(to: files[0]) }
    #expect(error?.description.contains("“t”") == true)
    #expect(try folder.names() == [])
  }

  @Test(.requires(.files)) func `progress is reported, and an error in the closure ends the work`()
    throws
  {
    let database = try Database.fresh()
    try database.write { connection in
      try connection.executeChange("CREATE TABLE t (a)")
      for number in 0..<2_500 { try connection.executeChange("INSERT INTO t VALUES (\(number))") }
    }
    var steps: [DumpProgress] = []
    try database.dump(to: files[0]) { steps.append($0) }
    #expect(steps.map(\.rows) == [0, 1_000, 2_000, 2_500])
    #expect(steps.last?.table == "t")
    let size = try Data(contentsOf: URL(filePath: files[0].path)).count
    #expect(steps.last?.bytes == size)
    steps = []
    try database.restore(from: files[0]) { steps.append($0) }
    #expect(steps.last?.rows == 2_500)
    #expect(steps.last?.bytes == size)
    #expect(steps.last?.totalBytes == size)
    #expect(throws: CancellationError.self) {
      try database.dump(to: files[0]) { if $0.rows > 1_500 { throw CancellationError() } }
    }
    #expect(try Data(contentsOf: URL(filePath: files[0].path)).count == size)
    #expect(throws: CancellationError.self) {
      try database.restore(from: files[0]) { if $0.rows > 1_500 { throw CancellationError() } }
    }
    #expect(try database.rows("SELECT count(*) FROM t", as: Int.self) == [2_500])
  }

  @Test(.requires(.files)) func `the progress between databases is reported in bytes of pages`()
    throws
  {
    let database = try Database.fresh()
    try database.write { connection in
      try connection.executeChange("CREATE TABLE t (a)")
      try connection.executeChange("INSERT INTO t VALUES (zeroblob(3000000))")
    }
    let steps = Mutex<[DumpProgress]>([])
    try database.dump(to: files[2]) { step in steps.withLock { $0.append(step) } }
    #expect(steps.withLock { $0.count } > 1)
    #expect(steps.withLock { $0.last?.bytes } == steps.withLock { $0.last?.totalBytes })
    #expect(try #require(steps.withLock { $0.last?.bytes }) >= 3_000_000)
    let blocking = steps.withLock { $0 }
    steps.withLock { $0 = [] }
    let copy = try Database.fresh()
    try copy.restore(from: files[2]) { step in steps.withLock { $0.append(step) } }
    #expect(steps.withLock { $0 } == blocking)
  }

  @Test func `a failed copy to a new path leaves no database`() throws {
    let wrong = DataFile.json(path: folder.file("wrong"))
    try Data("no dump\n".utf8).write(to: URL(filePath: wrong.path))
    let database = try Database.fresh()
    try database.write { try $0.executeChange("CREATE TABLE t (a)") }
    let target = DataFile.sqlite(path: folder.file("new.sqlite3"))
    #expect(throws: DumpError.self) { try wrong.copy(to: target) }
    #expect(throws: CancellationError.self) {
      try database.dump(to: target) { _ in throw CancellationError() }
    }
    #expect(try folder.names() == ["wrong"])
    try database.dump(to: target)
    #expect(throws: DumpError.self) { try wrong.copy(to: target) }
    let kept = try Database(path: target.path)
    #expect(try kept.read { try $0.existingTables() } == ["t"])
  }

  @Test func `cancelling the task ends a copy`() async throws {
    let database = try Database.fresh()
    try await database.write { connection in
      try connection.executeChange("CREATE TABLE t (a)")
      for number in 0..<2_500 { try connection.executeChange("INSERT INTO t VALUES (\(number))") }
    }
    try await database.dump(to: files[0])
    for target in [files[1], files[2]] {
      let (started, begins) = AsyncStream<Void>.makeStream()
      let cancelled = Mutex(false)
      let task = Task { [source = files[0]] in
        try await source.copy(to: target) { _ in
          begins.yield()
          // Blocks the copy until the task is cancelled.
          while !cancelled.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.001) }
        }
      }
      for await _ in started { break }
      task.cancel()
      cancelled.withLock { $0 = true }
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(try folder.names() == [URL(filePath: files[0].path).lastPathComponent])
  }

  @Test(.requires(.files)) func `each call has an async version`() async throws {
    let database = try Database.fresh()
    try await database.write { try $0.executeChange("CREATE TABLE t (a)") }
    for file in files {
      try await database.dump(to: file)
      let copy = try Database.fresh()
      try await copy.restore(from: file)
      #expect(try await copy.read { try $0.existingTables() } == ["t"])
      try await file.copy(to: .spon(path: folder.file("c.spon")))
    }
    let steps = Mutex<[DumpProgress]>([])
    try await database.dump(to: files[2]) { step in steps.withLock { $0.append(step) } }
    #expect(steps.withLock { $0.last?.bytes } == steps.withLock { $0.last?.totalBytes })
    #expect(try #require(steps.withLock { $0.last?.bytes }) > 0)
  }

  @Test(.requires(.files)) func `a database with large pages is restored in place`() throws {
    let database = try Database.at(folder.file("large.sqlite3"), options: large)
    try database.write { try $0.executeChange("CREATE TABLE t (a)") }
    try database.dump(to: files[0])
    try database.write { try $0.executeChange("DROP TABLE t") }
    try database.restore(from: files[0])
    #expect(try database.read { try $0.existingTables() } == ["t"])
    #expect(try database.executeQuery("PRAGMA page_size")[0].values == [.integer(16_384)])
  }

  private var large: Database.Options {
    var options = Database.Options()
    options.journalMode = .delete
    options.prepareConnection = { try $0.executeChange("PRAGMA page_size = 16384") }
    return options
  }

  @Test(.requires(.files)) func `a database in UTF-16 is restored in UTF-16`() throws {
    let database = try Database.fresh()
    try database.withoutTransaction { try $0.executeChange("PRAGMA encoding = 'UTF-16le'") }
    try database.write { connection in
      try connection.executeChange("CREATE TABLE t (a)")
      try connection.executeChange("INSERT INTO t VALUES (\("é\0x"))")
    }
    try database.dump(to: files[0])
    let copy = try Database.memory(restoring: files[0])
    #expect(try copy.executeQuery("PRAGMA encoding")[0].values == [.text("UTF-16le")])
    #expect(try content(of: copy) == content(of: database))
  }

  @Test func `files that can't be read or written throw`() throws {
    let database = try Database.fresh()
    for file in [
      DataFile.spon(path: "/nowhere/a"), .json(path: folder.url.path), .spon(path: ""),
      .json(path: "a\0b"),
    ] {
      #expect(throws: SQLiteError.self) { try database.dump(to: file) }
      #expect(throws: (any Error).self) { try database.restore(from: file) }
    }
  }
}
