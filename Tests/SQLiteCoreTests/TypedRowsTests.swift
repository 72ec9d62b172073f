import Conformance
import SQLiteCore
import Testing

@Suite(.everyEngine) struct TypedRowsTests {
  let database: Database

  init() throws { database = try .fresh() }

  @Test func `a single column is returned as its own type`() throws {
    #expect(try database.rows("SELECT 1", as: Int.self).first == 1)
    #expect(try database.rows("VALUES (1), (2)", as: Int.self) == [1, 2])
    #expect(try database.rows("SELECT 1 WHERE 0", as: Int.self).first == nil)
    let null = try database.rows("SELECT NULL", as: Int?.self).first
    #expect(null == .some(nil))
    try database.read { connection in
      let text = try connection.firstRow("SELECT 'a'", as: String.self)
      #expect(text == "a")
      #expect(try connection.rows("SELECT x'00'", as: [UInt8].self) == [[0]])
    }
  }

  @Test func `an async query returns a single column as its own type`() async throws {
    #expect(try await database.rows("SELECT 1", as: Int.self).first == 1)
    #expect(try await database.rows("VALUES (1), (2)", as: Int.self) == [1, 2])
  }

  @Test func `each number of columns is read in order`() throws {
    let two = try database.rows("SELECT 1, 2", as: Int.self, Int.self).first
    #expect(two.map { [$0, $1] } == [1, 2])
    let three = try database.rows("SELECT 1, 2, 3", as: Int.self, Int.self, Int.self).first
    #expect(three.map { [$0, $1, $2] } == [1, 2, 3])
    let four = try database.rows(
      "SELECT 1, 2, 3, 4", as: Int.self, Int.self, Int.self, Int.self
    ).first
    #expect(four.map { [$0, $1, $2, $3] } == [1, 2, 3, 4])
    let five = try database.rows(
      "SELECT 1, 2, 3, 4, 5", as: Int.self, Int.self, Int.self, Int.self, Int.self)
    #expect(five.map { [$0, $1, $2, $3, $4] } == [[1, 2, 3, 4, 5]])
    let six = try database.rows(
      "SELECT 1, 2, 3, 4, 5, 6", as: Int.self, Int.self, Int.self, Int.self, Int.self, Int.self)
    #expect(six.map { [$0, $1, $2, $3, $4, $5] } == [[1, 2, 3, 4, 5, 6]])
    let seven = try database.rows(
      "SELECT 1, 2, 3, 4, 5, 6, 7", as: Int.self, Int.self, Int.self, Int.self, Int.self,
      Int.self, Int.self)
    #expect(seven.map { [$0, $1, $2, $3, $4, $5, $6] } == [[1, 2, 3, 4, 5, 6, 7]])
    let eight = try database.rows(
      "SELECT 1, 2, 3, 4, 5, 6, 7, 8", as: Int.self, Int.self, Int.self, Int.self, Int.self,
      Int.self, Int.self, Int.self)
    #expect(eight.map { [$0, $1, $2, $3, $4, $5, $6, $7] } == [[1, 2, 3, 4, 5, 6, 7, 8]])
    let nine = try database.rows(
      "SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9", as: Int.self, Int.self, Int.self, Int.self, Int.self,
      Int.self, Int.self, Int.self, Int.self
    ).first
    #expect(nine.map { [$0, $1, $2, $3, $4, $5, $6, $7, $8] } == [1, 2, 3, 4, 5, 6, 7, 8, 9])
  }

  @Test func `each number of values is bound in order`() throws {
    func texts(_ body: (inout Statement) throws -> Void, _ count: Int) throws -> String? {
      try database.write { connection in
        try connection.executeChange("CREATE TEMP TABLE log (text)")
        let marks = Array(repeating: "?", count: count).joined(separator: " || ")
        var statement = try connection.statement(SQL(unchecked: "INSERT INTO log SELECT \(marks)"))
        try body(&statement)
        defer { _ = try? connection.executeChange("DROP TABLE log") }
        return try connection.firstRow("SELECT text FROM log", as: String.self)
      }
    }
    #expect(try texts({ try $0.run("1", "2") }, 2) == "12")
    #expect(try texts({ try $0.run("1", "2", "3") }, 3) == "123")
    #expect(try texts({ try $0.run("1", "2", "3", "4") }, 4) == "1234")
    #expect(try texts({ try $0.run("1", "2", "3", "4", "5") }, 5) == "12345")
    #expect(try texts({ try $0.run("1", "2", "3", "4", "5", "6") }, 6) == "123456")
    #expect(try texts({ try $0.run("1", "2", "3", "4", "5", "6", "7") }, 7) == "1234567")
    #expect(try texts({ try $0.run("1", "2", "3", "4", "5", "6", "7", "8") }, 8) == "12345678")
    let nine = try texts({ try $0.run("1", "2", "3", "4", "5", "6", "7", "8", "9") }, 9)
    #expect(nine == "123456789")
  }

  @Test(arguments: ["SELECT ?", "SELECT ? || ? || ?"])
  func `a wrong number of values throws before anything runs`(sql: String) throws {
    try database.read { connection in
      var statement = try connection.statement(SQL(unchecked: sql))
      let error = #expect(throws: SQLiteError.self) { try statement.run(1, "2") }
      #expect(error?.code == .range)
    }
  }

  @Test func `an error names its column`() throws {
    let error = sqliteError {
      _ = try database.rows("SELECT 1 AS a, NULL AS b, 'c' AS c", as: Int.self, Int?.self, Int.self)
    }
    #expect(error?.code == .mismatch)
    #expect(error?.message == "column “c” (2): expected Int, found TEXT")
  }

  @Test func `optionals read NULL as nil and throw for other types`() throws {
    let nulls = try database.rows(
      "SELECT NULL, NULL, NULL, NULL, NULL", as: Int?.self, Double?.self, String?.self,
      Bool?.self, [UInt8]?.self
    ).first
    let row = try #require(nulls)
    #expect(row.0 == nil && row.1 == nil && row.2 == nil && row.3 == nil && row.4 == nil)
    let values = try #require(
      try database.rows(
        "SELECT 7, 0.5, 'x', 1, x'01'", as: Int?.self, Double?.self, String?.self, Bool?.self,
        [UInt8]?.self
      ).first)
    #expect(values.0 == 7 && values.1 == 0.5 && values.2 == "x" && values.3 == true)
    #expect(values.4 == [1])
    #expect(sqliteError { _ = try database.rows("SELECT 1", as: String?.self).first } != nil)
    #expect(sqliteError { _ = try database.rows("SELECT 'a'", as: Int?.self).first } != nil)
    #expect(sqliteError { _ = try database.rows("SELECT 'a'", as: Double?.self).first } != nil)
    #expect(sqliteError { _ = try database.rows("SELECT 2", as: Bool?.self).first } != nil)
    #expect(sqliteError { _ = try database.rows("SELECT 'a'", as: [UInt8]?.self).first } != nil)
    #expect(
      sqliteError { _ = try database.rows("SELECT 300", as: UInt8?.self).first }?.code == .range)
  }

  @Test(arguments: 0...40)
  func `text of every length is read unchanged, and throws if it isn't UTF-8`(length: Int) throws {
    for place in 0..<max(1, length) {
      var ascii = [UInt8](repeating: UInt8(ascii: "a"), count: length)
      let text = String(decoding: ascii, as: UTF8.self)
      #expect(try database.rows("SELECT \(text)", as: String.self).first == text)
      guard length > 0 else { continue }
      ascii[place] = 0xFF
      let error = sqliteError {
        _ = try database.rows("SELECT CAST(\(ascii) AS TEXT)", as: String.self).first
      }
      #expect(error?.code == .mismatch)
    }
  }
}
