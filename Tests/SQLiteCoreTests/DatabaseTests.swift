import Conformance
import SQLiteCore
import Testing
import TestSupport

@Suite(.everyEngine) struct DatabaseTests {
  @Test func `values of every storage class survive a round trip`() throws {
    let database = try Database.fresh()
    let row = try database.write { connection in
      try connection.executeChange("CREATE TABLE t (a, b, c, d, e)")
      try connection.executeChange(
        "INSERT INTO t VALUES (\(Int64.min), \(1.5), \(Engine.text("a\0b")), \([UInt8]([1, 0, 2])), \(Int?.none))"
      )
      return try connection.firstRow("SELECT * FROM t")
    }
    #expect(
      row?.values == [
        .integer(.min), .real(1.5), .text(Engine.text("a\0b")), .blob([1, 0, 2]), .null,
      ])
  }

  @Test func `a write that throws changes nothing`() throws {
    struct Stop: Error {}
    let database = try Database.fresh()
    try database.write { _ = try $0.executeChange("CREATE TABLE t (a)") }
    #expect(throws: Stop.self) {
      try database.write { connection in
        try connection.executeChange("INSERT INTO t VALUES (1)")
        throw Stop()
      }
    }
    let count = try database.read { try $0.firstRow("SELECT count(*) FROM t", as: Int.self) }
    #expect(count == 0)
  }

  @Test func `a statement is compiled again after any connection changes its tables`()
    throws
  {
    let folder = try TestFolder()
    let one = try Database.at(folder.file())
    let two = try Database.at(folder.file())
    try one.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)")
    try two.executeChange("INSERT INTO t VALUES (1, 'a')")
    try one.executeChange("ALTER TABLE t ADD b INTEGER")
    try two.executeChange("INSERT INTO t VALUES (\(2), 'b', 3)")
    try one.executeChange("ALTER TABLE t RENAME a TO c")
    try two.write { connection in
      try connection.executeChange("INSERT INTO t (id, c) VALUES (3, 'c')")
      #expect(try connection.firstRow("SELECT c FROM t WHERE id = 1", as: String.self) == "a")
    }
    try one.executeMultipleChanges("DROP TABLE t; CREATE TABLE t (b REAL, a TEXT, d BLOB, id TEXT)")
    try two.executeChange("INSERT INTO t VALUES (1, 'a', NULL, 'x')")
    #expect(try two.rows("SELECT id FROM t", as: String.self) == ["x"])
    let error = #expect(throws: SQLiteError.self) {
      try two.executeChange("INSERT INTO t VALUES (1, 2)")
    }
    #expect(error?.message == "table t has 4 columns but 2 values were supplied")
  }

  @Test func `a list of any length is one parameter`() throws {
    let database = try Database.fresh()
    let ids = Array(1...300_000)
    let found = try database.read {
      try $0.rows("SELECT 7 IN \(ids), 0 IN \(ids)", as: Bool.self, Bool.self)
    }
    #expect(found.first?.0 == true)
    #expect(found.first?.1 == false)
  }

  @Test func `async writes from many tasks add up`() async throws {
    let database = try Database.fresh()
    try await database.write { _ = try $0.executeChange("CREATE TABLE t (a)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for index in 0..<100 {
            try await database.write { connection in
              _ = try connection.executeChange("INSERT INTO t VALUES (\(task * 100 + index))")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let sum = try await database.read { try $0.firstRow("SELECT sum(a) FROM t", as: Int.self) }
    #expect(sum == (0..<800).reduce(0, +))
  }
}
