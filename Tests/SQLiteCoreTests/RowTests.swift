import Conformance
import SQLiteCore
import Testing

@Suite(.everyEngine) struct RowTests {
  let database: Database

  init() throws { database = try .fresh() }

  private func row(_ sql: SQL) throws -> Row {
    try #require(try database.executeQuery(sql).first)
  }

  @Test func `columns with the same name are accessible by index`() throws {
    let row = try row("SELECT 1 AS a, 2 AS a, 3 AS b, 4 AS A")
    #expect(row["a"]?.asInt() == 1)
    #expect(row["A"]?.asInt() == 1)
    #expect((0..<4).map { row[$0]?.asInt() } == [1, 2, 3, 4])
    #expect(row.columnNames == ["a", "a", "b", "A"])
    #expect(row[4] == nil)
    #expect(row[-1] == nil)
    #expect(row["c"] == nil)
  }

  @Test func `column names are compared like in SQLite, not like in Swift`() throws {
    let row = try row(
      SQL(unchecked: "SELECT 1 AS \"\u{e9}\", 2 AS \"e\u{301}\", 3 AS \"É\", 4 AS \"Ab\""))
    #expect(row["\u{e9}"]?.asInt() == 1)
    #expect(row["e\u{301}"]?.asInt() == 2)
    #expect(row["É"]?.asInt() == 3)
    #expect(row["aB"]?.asInt() == 4)
  }

  @Test func `optional accessors return nil for missing values and lossy conversions`() throws {
    let row = try row("SELECT 'x' s, 5 i, 2.5 r, 3.0 whole, NULL n, x'00' b, 9e99 big, 0 zero")
    #expect(row["s"]?.asString() == "x")
    #expect(row["i"]?.asString() == nil)
    #expect(row["i"]?.asInt() == 5)
    #expect(row["r"]?.asInt() == nil)
    #expect(row["whole"]?.asInt64() == 3)
    #expect(row["big"]?.asInt() == nil)
    #expect(row["i"]?.asDouble() == 5)
    #expect(row["r"]?.asDouble() == 2.5)
    #expect(row["s"]?.asDouble() == nil)
    #expect(row["i"]?.asBool() == true)
    #expect(row["zero"]?.asBool() == false)
    #expect(row["s"]?.asBool() == nil)
    #expect(row["b"]?.asBytes() == [0])
    #expect(row["s"]?.asBytes() == nil)
    #expect(row["n"]?.asValue() == .null)
    #expect(row["n"]?.asInt() == nil)
  }

  @Test func `get throws an error with the expected and the stored type`() throws {
    let row = try row("SELECT 'x' AS s, 300 AS i, NULL AS n, 1 AS b")
    #expect(try row.get("s", as: String.self) == "x")
    #expect(try row.get(1, as: Int16.self) == 300)
    #expect(try row.get("n", as: Int?.self) == nil)
    #expect(try row.get("b", as: Bool.self))
    let mismatch = sqliteError { _ = try row.get("s", as: Int.self) }
    #expect(mismatch?.code == .mismatch)
    #expect(mismatch?.message == "column “s”: expected Int, found TEXT")
    #expect(sqliteError { _ = try row.get("i", as: UInt8.self) }?.code == .range)
    #expect(sqliteError { _ = try row.get("n", as: String.self) }?.code == .mismatch)
    #expect(sqliteError { _ = try row.get("x", as: String.self) }?.code == .range)
    #expect(sqliteError { _ = try row.get(9, as: String.self) }?.code == .range)
    #expect(sqliteError { _ = try row.get("i", as: Bool.self) }?.code == .range)
  }

  @Test func `typed rows throw an error that names the column`() throws {
    let error = sqliteError {
      _ = try database.rows("SELECT 1 AS a, 'x' AS b", as: Int.self, Int.self)
    }
    #expect(error?.code == .mismatch)
    #expect(error?.message.contains("“b”") == true)
    let count = sqliteError { _ = try database.rows("SELECT 1, 2", as: Int.self) }
    #expect(count?.code == .range)
    #expect(try database.rows("SELECT 1 WHERE 0", as: Int.self).isEmpty)
  }

  @Test func `typed reads are exact for every type`() throws {
    let all = try database.rows(
      "SELECT -128, 65535, 1, 2.5, 0.5, 'a', x'01', NULL, 9007199254740992",
      as: Int8.self, UInt16.self, Bool.self, Double.self, Float.self, String.self, [UInt8].self,
      String?.self, Double.self
    ).first
    #expect(all?.0 == -128)
    #expect(all?.1 == 65_535)
    #expect(all?.2 == true)
    #expect(all?.4 == 0.5)
    #expect(all?.6 == [1])
    #expect(all?.8 == 9_007_199_254_740_992)
    for sql in ["SELECT 9007199254740993", "SELECT 'a'", "SELECT NULL"] as [SQL] {
      #expect(sqliteError { _ = try database.rows(sql, as: Double.self).first } != nil)
    }
    #expect(
      sqliteError { _ = try database.rows("SELECT 0.1", as: Float.self).first }?.code == .range)
    #expect(sqliteError { _ = try database.rows("SELECT -1", as: UInt.self).first }?.code == .range)
    #expect(sqliteError { _ = try database.rows("SELECT 'a'", as: [UInt8].self).first } != nil)
  }

  @Test func `text that isn't UTF-8 throws and isn't repaired`() throws {
    for sql in ["SELECT CAST(x'ff' AS TEXT) AS bad", "SELECT CAST(x'61c328' AS TEXT) AS bad"]
      as [SQL]
    {
      let error = sqliteError { _ = try database.executeQuery(sql) }
      #expect(error?.code == .mismatch)
      #expect(error?.message.contains("bad") == true)
      #expect(sqliteError { _ = try database.rows(sql, as: String.self).first }?.code == .mismatch)
    }
    let bytes = try database.rows("SELECT CAST(CAST(x'ff' AS TEXT) AS BLOB)", as: [UInt8].self)
      .first
    #expect(bytes == [255])
  }

  @Test func `rows are equal by names and values, and text is compared by bytes`() throws {
    #expect(try row("SELECT 1 AS a") == (try row("SELECT 1 AS a")))
    #expect(try row("SELECT 1 AS a") != (try row("SELECT 1 AS b")))
    #expect(try row("SELECT 1 AS a") != (try row("SELECT 1.0 AS a")))
    #expect(Value.text("\u{e9}") != Value.text("e\u{301}"))
    #expect(Set([Value.text("\u{e9}"), .text("e\u{301}"), .null, .blob([]), .text("")]).count == 5)
  }

  @Test func `a row's description doesn't contain its values`() throws {
    #expect(try row("SELECT 'secret' AS a, 1 AS b").description == "Row(a: TEXT, b: INTEGER)")
  }

  @Test func `a million rows can be streamed`() throws {
    let rows: Int64 = Engine.current == .local ? 1_000_000 : 50_000
    var count: Int64 = 0
    var size = 0
    try database.read { connection in
      // A cluster may run the read again.
      (count, size) = (0, 0)
      try connection.forEachRow(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
        SELECT i, printf('row %d of many', i) FROM n
        """
      ) { row in
        count += row.integer(at: 0)
        size += try row.text(at: 1).utf8.count
      }
    }
    #expect(count == rows * (rows + 1) / 2)
    #expect(size > rows * 15)
  }

  @Test func `an error in the closure ends the query`() throws {
    var seen = 0
    #expect(throws: Stop.self) {
      try database.read { connection in
        try connection.forEachRow("SELECT value FROM json_each('[1,2,3]')") { _ in
          seen += 1
          throw Stop()
        }
      }
    }
    #expect(seen == 1)
  }
}
