import Conformance
import Foundation
import MagicData
import SQLiteCluster
import Testing

@Suite(.enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterDatabaseTests {
  private func database(_ name: String = #function) throws -> Database {
    try TestCluster.shared.get().database(name)
  }

  @Test func `values are returned as they were sent`() throws {
    let database = try database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
    let values: [Value] = [
      .null, .integer(0), .integer(.min), .integer(.max), .real(0.1), .real(-.infinity),
      .real(.leastNonzeroMagnitude), .text(""), .text("Zürich"), .text("1234567"),
      .text("12345678"), .blob([]),
      .blob([0, 1, 255]), .blob([UInt8](repeating: 7, count: 10_000)),
    ]
    for (index, value) in values.enumerated() {
      try database.executeChange("INSERT INTO t VALUES (?, ?)", withArgs: [index, value])
    }
    let rows = try database.executeQuery("SELECT v, typeof(v) FROM t ORDER BY id")
    #expect(rows.map { $0[0]?.value } == values)
    for (row, value) in zip(rows, values) {
      #expect(row[1]?.value == .text(value.storageClass.lowercased()))
    }
  }

  @Test func `many rows arrive in several messages`() throws {
    let database = try database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
    try database.write { connection in
      for index in 0..<3_000 {
        try connection.executeChange("INSERT INTO t VALUES (\(index), \("row \(index)"))")
      }
    }
    let rows = try database.executeQuery("SELECT * FROM t ORDER BY id")
    #expect(rows.count == 3_000)
    #expect(rows.last?["text"]?.value == .text("row 2999"))
    // Runs queries inside another one and abandons queries before their end.
    try database.read { connection in
      var count = 0
      try connection.forEachRow("SELECT id FROM t ORDER BY id") { row in
        count += 1
        let id = row.integer(at: 0)
        if count % 1_000 == 1 {
          let inner = try connection.firstRow("SELECT text FROM t WHERE id = \(id)")
          #expect(inner != nil)
        }
      }
      #expect(count == 3_000)
      #expect(try connection.firstRow("SELECT id FROM t ORDER BY id")?[0]?.value == .integer(0))
      #expect(
        try connection.firstRow("SELECT id FROM t ORDER BY id DESC")?[0]?.value == .integer(2_999))
    }
  }

  @Test func `change counts and rowids are reported`() throws {
    let database = try database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)")
    try database.write { connection in
      #expect(
        try connection.executeChange("INSERT INTO t (n) VALUES (1), (2)").lastInsertedRowID == 2)
      #expect(try connection.executeChange("UPDATE t SET n = n + 1").rows == 2)
      #expect(try connection.executeChange("DELETE FROM t WHERE n > 99").rows == 0)
      let rows = try connection.executeQuery("INSERT INTO t (n) VALUES (7) RETURNING id")
      #expect(rows.map { $0[0]?.value } == [.integer(3)])
      #expect(connection.lastInsertedRowID == 3)
    }
    // Outside an explicit transaction.
    try database.withoutTransaction { connection in
      let rows = try connection.executeQuery("UPDATE t SET n = 0 RETURNING id")
      #expect(rows.count == 3)
    }
    #expect(try database.executeQuery("SELECT sum(n) FROM t")[0][0]?.value == .integer(0))
  }

  @Test func `failed writes and savepoints are rolled back and throw SQLite's error`() throws {
    let database = try database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER UNIQUE)")
    try database.executeChange("INSERT INTO t VALUES (1, 1)")
    let error = #expect(throws: SQLiteError.self) {
      try database.write { connection in
        try connection.executeChange("INSERT INTO t VALUES (2, 2)")
        try connection.executeChange("INSERT INTO t VALUES (3, 1)")
      }
    }
    #expect(error?.code == .uniqueConstraint)
    #expect(error?.constraint?.columns == ["n"])
    try database.write { connection in
      try connection.executeChange("INSERT INTO t VALUES (4, 4)")
      #expect(throws: SQLiteError.self) {
        try connection.savepoint {
          try connection.executeChange("INSERT INTO t VALUES (5, 5)")
          try connection.executeChange("INSERT INTO t VALUES (5, 6)")
        }
      }
      try connection.executeChange("INSERT INTO t VALUES (6, 6)")
    }
    let left = try database.executeQuery("SELECT id FROM t ORDER BY id").map { $0[0]?.value }
    #expect(left == [.integer(1), .integer(4), .integer(6)])
    let missing = #expect(throws: SQLiteError.self) {
      try database.executeQuery("SELECT * FROM nowhere")
    }
    #expect(missing?.message.contains("nowhere") == true)
    let wrong = #expect(throws: SQLiteError.self) { try database.executeQuery("SELEC 1") }
    #expect(wrong?.offset == 0)
  }

  @Test func `a statement that rolls back the whole transaction makes the write throw`() throws {
    let database = try database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    #expect(throws: SQLiteError.self) {
      try database.write { connection in
        try connection.executeChange("INSERT INTO t VALUES (1)")
        _ = try? connection.executeChange("INSERT OR ROLLBACK INTO t VALUES (1)")
        try connection.executeChange("INSERT INTO t VALUES (2)")
      }
    }
    #expect(try database.executeQuery("SELECT * FROM t").isEmpty)
    try database.executeChange("INSERT INTO t VALUES (3)")
  }

  @Test(
    arguments: [
      "VACUUM", "ATTACH 'x' AS y", "PRAGMA journal_mode = DELETE", "PRAGMA wal_checkpoint",
      "CREATE TABLE b (x BOOLEAN)", "CREATE TABLE d (x datetime)",
      "ALTER TABLE t ADD COLUMN x Timestamp", "VACUUM INTO 'x'",
      "CREATE VIRTUAL TABLE f USING fts5(z, tokenize='trigram case_sensitive')",
    ])
  func `statements that would crash or confuse a node throw an authorization error`(_ sql: String)
    throws
  {
    let database = try TestCluster.shared.get().database("refusals")
    try database.executeChange("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY)")
    let error = #expect(throws: SQLiteError.self) {
      try database.withoutTransaction { try $0.executeChange(SQL(unchecked: sql)) }
    }
    #expect(error?.code == .authorization)
    try database.executeChange("INSERT INTO t VALUES (NULL)")
  }

  @Test func `savepoints with equal names work like in SQLite`() throws {
    for database in [try database(), try Database.memory()] {
      try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
      try database.withoutTransaction { connection in
        for sql in [
          "SAVEPOINT a", "INSERT INTO t VALUES (1)", "SAVEPOINT A", "INSERT INTO t VALUES (2)",
          "RELEASE a",
        ] { try connection.executeChange(SQL(unchecked: sql)) }
        #expect(!connection.isAutocommit)
        for sql in [
          "SAVEPOINT b", "INSERT INTO t VALUES (3)", "SAVEPOINT a", "ROLLBACK TO b",
          // Releases the savepoint that began the transaction; the later ones with this name are
          // gone.
          "RELEASE a",
        ] { try connection.executeChange(SQL(unchecked: sql)) }
        #expect(connection.isAutocommit)
      }
      let ids = try database.executeQuery("SELECT id FROM t ORDER BY id").map { $0[0]?.asInt() }
      #expect(ids == [1, 2])
    }
  }

  @Test func `too many arguments and text with a NUL character throw`() throws {
    let database = try database()
    let marks = Array(repeating: "?", count: 256).joined(separator: ", ")
    let values = (0..<256).map { $0 as (any Bindable)? }
    let many = #expect(throws: SQLiteError.self) {
      try database.executeQuery(SQL(unchecked: "SELECT \(marks)"), withArgs: values)
    }
    #expect(many?.code == .range)
    let text = #expect(throws: SQLiteError.self) { try database.executeQuery("SELECT \("a\0b")") }
    #expect(text?.code == .mismatch)
    #expect(try database.executeQuery("SELECT \("ab")")[0][0]?.value == .text("ab"))
  }

  @Test func `repeated EXPLAIN statements don't keep a reader on an old snapshot`() throws {
    let database = try database()
    try database.executeChange("CREATE TABLE t (a)")
    for count in 0..<4 {
      let found = try database.read { connection in
        _ = try connection.executeQuery("EXPLAIN SELECT count(*) FROM t")
        _ = try connection.executeQuery("EXPLAIN QUERY PLAN SELECT count(*) FROM t")
        return try connection.firstRow("SELECT count(*) FROM t", as: Int.self)
      }
      #expect(found == count)
      try database.executeChange("INSERT INTO t VALUES (1)")
    }
  }

  @Test func `a list is one parameter`() throws {
    let database = try database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
    let names = ["a", "b\"\\\u{1}", "ü", "d"]
    for name in names { try database.executeChange("INSERT INTO t (name) VALUES (\(name))") }
    let found = try database.executeQuery("SELECT id FROM t WHERE name IN \(names) ORDER BY id")
    #expect(found.count == 4)
    let ids = Array(2...5_000)
    #expect(try database.executeQuery("SELECT id FROM t WHERE id IN \(ids)").count == 3)
  }

  @Test func `concurrent increments add up`() async throws {
    let database = try database()
    try await database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)")
    try await database.executeChange("INSERT INTO t VALUES (1, 0)")
    try await withThrowingTaskGroup { group in
      for _ in 0..<40 {
        group.addTask {
          try await database.writeInGroup { connection in
            _ = try connection.executeChange("UPDATE t SET n = n + 1")
          }
        }
        group.addTask { _ = try await database.executeQuery("SELECT * FROM t") }
      }
      try await group.waitForAll()
    }
    #expect(try await database.executeQuery("SELECT n FROM t")[0][0]?.value == .integer(40))
  }
}
