import Conformance
import Foundation
import MagicCluster
import MagicData
import SQLiteCluster
import SQLitePortable
import Testing

private final class Author: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var books: [Book]

  static var traits: [PropertyTrait] { [.searched(\Author.$name)] }

  init() { books = [] }
  init(_ id: Int, _ name: String) {
    self.id = id
    self.name = name
    books = []
  }
}

private final class Book: MagicObject {
  @PrimaryMagicValue var title: String

  init() {}
  init(_ title: String) { self.title = title }
}

/// Tests databases that move between files and clusters.
@Suite(.serialized, .enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterDumpTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "magicdata-dumps-\(UUID().uuidString)").path(percentEncoded: false)

  init() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// Creates a database with every kind of object that a dump supports.
  private func source(rows: Int = 3_000) throws -> Database {
    let database = try Database(path: "\(folder)/source.sqlite3")
    try database.executeMultipleChanges(
      """
      CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES parent);
      CREATE TABLE parent (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, v);
      CREATE TABLE key (a TEXT, b REAL, PRIMARY KEY (a, b)) WITHOUT ROWID;
      CREATE TABLE plain (x, double AS (x * 2));
      CREATE VIRTUAL TABLE word USING fts5(text);
      CREATE VIRTUAL TABLE names USING fts5(name, content=parent, content_rowid=id);
      CREATE VIRTUAL TABLE words USING fts5vocab(word, row);
      CREATE VIRTUAL TABLE box USING rtree(id, low, high);
      CREATE INDEX parent_name ON parent (name);
      CREATE VIEW names_view AS SELECT name FROM parent;
      CREATE TRIGGER parent_added AFTER INSERT ON parent BEGIN
        INSERT INTO plain VALUES (new.id);
      END;
      PRAGMA user_version = 7;
      """)
    try database.write { connection in
      for id in 1...rows {
        let value: Value =
          switch id % 5 {
          case 0: .null
          case 1: .real(Double(id) / 7)
          case 2: .blob([UInt8(id & 255), 0, 255])
          case 3: .text("Zürich \(id)\n\"'")
          default: .integer(Int64(id) << 40)
          }
        try connection.executeChange("INSERT INTO parent VALUES (\(id), \("name \(id)"), \(value))")
        try connection.executeChange("INSERT INTO child VALUES (\(id), \(id))")
      }
      try connection.executeChange("DELETE FROM child WHERE parent = \(rows)")
      try connection.executeChange("DELETE FROM parent WHERE id = \(rows)")
      try connection.executeChange("INSERT INTO key VALUES ('a', 0.1), ('b', -1)")
      try connection.executeChange(
        "INSERT INTO word (rowid, text) VALUES (5, 'one two'), (9, 'two')")
      try connection.executeChange("INSERT INTO names (names) VALUES ('rebuild')")
      try connection.executeChange("INSERT INTO box VALUES (1, 0, 2), (2, 5, 9)")
    }
    return database
  }

  /// Returns the results of queries that both databases must agree on.
  private func content(of database: Database) throws -> [[Value]] {
    try [
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'magicdata_%' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%\\_%' ESCAPE '\\' ORDER BY name",
      "SELECT * FROM parent ORDER BY id", "SELECT * FROM child ORDER BY id",
      "SELECT * FROM key ORDER BY a", "SELECT rowid, x, double FROM plain ORDER BY rowid",
      "SELECT rowid, text FROM word WHERE word MATCH 'two' ORDER BY rowid",
      "SELECT rowid FROM names WHERE names MATCH '17' ORDER BY rowid",
      "SELECT term, doc FROM words", "SELECT id FROM box WHERE low > 3",
      "SELECT seq FROM sqlite_sequence WHERE name = 'parent'",
      "PRAGMA user_version", "SELECT count(*) FROM names_view",
    ].flatMap { sql in
      try database.executeQuery(SQL(unchecked: sql)).map { row in
        (0..<row.count).map { row[$0]?.value ?? .null }
      }
    }
  }

  @Test(arguments: ["sqlite", "spon", "json"])
  func `a database moves to a cluster and back unchanged`(_ kind: String) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let cluster = try TestCluster()
    let source = try source()
    let expected = try content(of: source)
    func file(_ name: String) -> DataFile {
      let path = "\(folder)/\(name)"
      return switch kind {
      case "spon": .spon(path: path)
      case "json": .json(path: path)
      default: .sqlite(path: path)
      }
    }
    try source.dump(to: file("out"))
    let database = try cluster.database()
    var steps: [DumpProgress] = []
    try database.restore(from: file("out")) { steps.append($0) }
    #expect(try content(of: database) == expected)
    #expect(steps.contains { $0.table == "parent" && $0.rows > 0 })
    #expect(steps.last?.rows ?? 0 > 5_900)

    try database.dump(to: file("back"))
    let copy = try Database.memory(restoring: file("back"))
    #expect(try content(of: copy) == expected)
    #expect(try !copy.read { try $0.existingTables() }.contains { $0.hasPrefix("magicdata_") })
  }

  @Test(arguments: [
    "CREATE TABLE flag (id INTEGER PRIMARY KEY, isSet BOOLEAN)",
    "CREATE INDEX parent_v ON parent (v COLLATE magicdata_decimal)",
  ])
  func `a file with a schema that the cluster rejects leaves no tables`(_ sql: String) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let cluster = try TestCluster(count: 1)
    let source = try source(rows: 1_500)
    try source.dump(to: .spon(path: "\(folder)/good.spon"))
    try source.executeChange(SQL(unchecked: sql))
    try source.dump(to: .spon(path: "\(folder)/bad.spon"))

    let database = try cluster.database()
    #expect(throws: DumpError.self) {
      try database.restore(from: .spon(path: "\(folder)/bad.spon"))
    }
    #expect(try database.read { try $0.existingTables() }.allSatisfy { $0 == "magicdata_token" })
    // It doesn't prevent the restore of another file, either.
    try database.restore(from: .spon(path: "\(folder)/good.spon"))
    #expect(try database.rows("SELECT count(*) FROM parent", as: Int.self).first == 1_499)
  }

  @Test func `a database that isn't empty isn't overwritten`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let cluster = try TestCluster(count: 1)
    let file = DataFile.sqlite(path: "\(folder)/source.sqlite3")
    try source(rows: 10).close()
    let database = try cluster.database()
    try database.executeChange("CREATE TABLE mine (id INTEGER PRIMARY KEY)")
    let error = #expect(throws: SQLiteError.self) { try database.restore(from: file) }
    #expect(error?.message.contains("mine") == true)
    #expect(try database.read { try $0.existingTables() }.contains("mine"))
  }

  @Test func `an interrupted restore resumes, but only with the same file`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let cluster = try TestCluster(count: 1)
    let source = try source()
    let expected = try content(of: source)
    let file = DataFile.spon(path: "\(folder)/a.spon")
    try source.dump(to: file)
    try source.executeChange("INSERT INTO key VALUES ('later', 1)")
    let other = DataFile.spon(path: "\(folder)/b.spon")
    try source.dump(to: other)

    let database = try cluster.database()
    struct Stop: Error {}
    var interruptions = 0
    var isDone = false
    var first: [Int] = []
    while !isDone {
      var calls = 0
      do {
        try database.restore(from: file) { step in
          calls += 1
          if calls == 1, step.rows > 0 { first.append(step.rows) }
          // Reading the file reports progress, too, but only copied rows count here.
          if step.totalBytes == nil { throw Stop() }
        }
        isDone = true
      } catch is Stop {
        interruptions += 1
        if interruptions > 40 { break }
        let error = #expect(throws: SQLiteError.self) {
          try cluster.database().restore(from: other)
        }
        #expect(
          error?.message.contains("another file") == true
            || error?.message.contains("empty") == true)
      }
    }
    #expect(interruptions > 5)
    #expect(try content(of: database) == expected)
  }

  @Test func `killed nodes don't interrupt a restore or a dump`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let cluster = try TestCluster()
    let source = try source(rows: 6_000)
    let expected = try content(of: source)
    let database = try cluster.database()
    var kills = 0
    try database.restore(from: .sqlite(path: "\(folder)/source.sqlite3")) { step in
      guard step.rows / 2_000 > kills else { return }
      kills += 1
      let leader = try cluster.leader()
      cluster.signal(leader, SIGKILL)
      try cluster.start(leader)
    }
    #expect(kills > 3)
    #expect(try content(of: database) == expected)

    // The same for a dump.
    var isKilled = false
    try database.dump(to: .spon(path: "\(folder)/back.spon")) { step in
      guard !isKilled, step.rows > 1_000 else { return }
      isKilled = true
      cluster.signal(try cluster.leader(), SIGKILL)
    }
    let copy = try Database.memory(restoring: .spon(path: "\(folder)/back.spon"))
    #expect(try content(of: copy) == expected)
  }

  @Test func `a store of objects moves to a cluster`() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let cluster = try TestCluster(count: 1)
    let local = try await MagicData(path: "\(folder)/store.sqlite3")
    let author = Author(1, "Zoë Müller")
    author.books = [Book("a"), Book("b")]
    try await local.update(author)
    try await local.database.dump(to: .spon(path: "\(folder)/store.spon"))

    try await cluster.database("library").restore(from: .spon(path: "\(folder)/store.spon"))
    let magic = try await MagicData(cluster: cluster.addresses, name: "library")
    let found = try await magic.fetch(Author.all.search(.all(of: "müller"))).map(\.value)
    #expect(found.map { $0.books.map(\.title) } == [["a", "b"]])
    let first = try #require(found.first)
    first.name = "Anna"
    try await magic.update(first)
    #expect(try await magic.fetch(Author.all.search(.all(of: "anna"))).count == 1)
  }

  @Test func `concurrent restores of the same file don't duplicate rows`() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let cluster = try TestCluster(count: 1)
    let source = try source()
    let expected = try content(of: source)
    let file = DataFile.sqlite(path: "\(folder)/source.sqlite3")
    await withTaskGroup { group in
      for _ in 0..<2 {
        // One of them may throw because the other one is restoring.
        group.addTask { try? await cluster.database().restore(from: file) }
      }
      await group.waitForAll()
    }
    let database = try cluster.database()
    if try await database.read({ try $0.existingTables() }).contains("magicdata_restore") {
      try await database.restore(from: file)
    }
    #expect(try content(of: database) == expected)
  }
}
