import Conformance
import SQLiteCore
import Testing
import TestSupport

@Suite(.everyEngine) struct SQLTests {
  static let hostile = [
    "", "'", "''", "\"", "`", "]", "[", ";", "--", "/*", "*/", "\\", "%", "_", "?", "i?", "?1",
    ":a", "@a", "$a", "\0", "a\0b", "\n", "'; DROP TABLE t; --", "\"; DROP TABLE t; --",
    "x' OR '1'='1", "1); DELETE FROM t; --", "\u{301}", "\"\u{301}; DROP TABLE t; --", "é",
    "\u{feff}",
    "Robert'); DROP TABLE student;--", "char(39)", "x'27'", "null", "\u{2019}", "\u{ff07}",
  ]

  @Test(arguments: hostile)
  func `an interpolated value is bound, never inserted into the SQL text`(text: String) throws {
    let text = Engine.text(text)
    let database = try Database.fresh()
    try database.executeChange("CREATE TABLE t (a)")
    try database.executeChange("INSERT INTO t VALUES (\(text))")
    let found = try database.rows("SELECT a FROM t WHERE a = \(text)", as: Value.self)
    #expect(found == [.text(text)])
    #expect(try database.read { try $0.existingTables() } == ["t"])
  }

  @Test(arguments: hostile.filter { !$0.isEmpty && !$0.utf8.contains(0) })
  func `a hostile name can be a table and column name`(name: String) throws {
    let database = try Database.fresh()
    try database.executeChange("CREATE TABLE t (a)")
    try database.executeChange("CREATE TABLE \(identifier: name) (\(identifier: name), b)")
    try database.executeChange("INSERT INTO \(identifier: name) VALUES (1, 2)")
    let row = try database.executeQuery("SELECT \(identifier: name) FROM \(identifier: name)")
    #expect(row.first?.values == [.integer(1)])
    let old = try database.executeQuery("SELECT i?, b FROM i?", withArgs: [name, name])
    #expect(old.first?.values == [.integer(1), .integer(2)])
    let names = try database.rows(
      "SELECT name FROM sqlite_schema WHERE tbl_name NOT IN ('t', 'magicdata_token')",
      as: Value.self)
    #expect(names == [.text(name)])
  }

  @Test(arguments: ["", "a\0b", "\0"])
  func `an empty identifier and one with NUL throw`(name: String) throws {
    let database = try Database.fresh()
    #expect(sqliteError { _ = try database.executeQuery("SELECT \(identifier: name)") } != nil)
    #expect(
      sqliteError { _ = try database.executeQuery("SELECT i?", withArgs: [name]) } != nil)
  }

  @Test func `SQL fragments are composed with their values`() throws {
    let database = try Database.fresh()
    let condition: SQL = "a > \(1) AND b = \("x")"
    let query: SQL = "SELECT \(0), * FROM (SELECT 2 AS a, 'x' AS b) WHERE \(condition) LIMIT \(5)"
    #expect(query.text.filter { $0 == "?" }.count == 4)
    #expect(
      try database.executeQuery(query).first?.values == [.integer(0), .integer(2), .text("x")])
    let list = SQL(joining: [1, 2, 3].map { "\($0)" }, separator: " + ")
    #expect(try database.rows("SELECT \(list)", as: Int.self).first == 6)
    var sum: SQL = "SELECT \(1)"
    sum.append(" + \(2)")
    #expect(try database.rows(sum, as: Int.self).first == 3)
  }

  @Test(arguments: [0, 1, 2, 1_000, 300_000])
  func `a list for IN can have any length and has one SQL text`(count: Int) throws {
    let database = try Database.fresh()
    let list = Array(0..<count)
    let sql: SQL = "SELECT count(*) FROM json_each('[-1, 0, 1, 299999]') WHERE value IN \(list)"
    let expected = [-1, 0, 1, 299_999].filter { $0 >= 0 && $0 < count }.count
    #expect(try database.rows(sql, as: Int.self).first == expected)
    let other: SQL = "SELECT count(*) FROM json_each('[-1, 0, 1, 299999]') WHERE value IN \([9])"
    #expect(sql.text == other.text)
    #expect(try database.rows("SELECT 3 NOT IN \(Set<Int>())", as: Bool.self).first == true)
  }

  @Test func `lists contain every storage class and combine with other values`() throws {
    let database = try Database.fresh()
    let list: [Value] = [
      .integer(1), .real(2.5), .text(Engine.text("a\0b")), .blob([]), .null,
    ]
    let rows = try database.rows(
      "SELECT value FROM (SELECT \("x") AS s) JOIN (SELECT value FROM \(list) AS l)", as: Value.self
    )
    #expect(rows == list)
    let mixed = try database.rows(
      "SELECT \(7) + (\("b") IN \(["a", "b"])) + (\("c") IN \(["a", "b"]))", as: Int.self
    ).first
    #expect(mixed == 8)
  }

  @Test func `the list function returns no rows for a forged argument`() throws {
    let database = try Database.fresh()
    let forged = try database.rows(
      "SELECT count(*) FROM magicdata_list(12345)", as: Int.self
    ).first
    #expect(forged == 0)
    #expect(try database.rows("SELECT count(*) FROM magicdata_list", as: Int.self).first == 0)
  }

  @Test func `interpolation inside a string literal throws`() throws {
    let database = try Database.fresh()
    #expect(sqliteError { _ = try database.executeQuery("SELECT '\(1)'") }?.code == .range)
  }

  @Test func `interpolated values and arguments can't be mixed`() throws {
    let database = try Database.fresh()
    let error = sqliteError { _ = try database.executeQuery("SELECT \(1), ?", withArgs: [2]) }
    #expect(error?.code == .misuse)
    #expect(sqliteError { _ = try database.executeQuery("SELECT \(1), ?") }?.code == .range)
    #expect(sqliteError { _ = try database.executeQuery("SELECT ?") }?.code == .range)
  }

  @Test func `question marks in literals, comments and quoted names aren't parameters`() throws {
    let database = try Database.fresh()
    let sql: SQL = """
      SELECT 'i? ? it''s i?' AS "i? "" ?", -- i? ?
        [a].i? /* i? ? */, `a`.i? AS [?i?], ?
      FROM (SELECT 1 AS x, 2 AS y) AS a
      """
    let row = try database.executeQuery(sql, withArgs: ["x", "y", 3]).first
    #expect(row?.values == [.text("i? ? it's i?"), .integer(1), .integer(2), .integer(3)])
    #expect(row?.columnNames == ["i? \" ?", "x", "?i?", "?"])
  }

  @Test func `an identifier argument must exist and be text`() throws {
    let database = try Database.fresh()
    func code(_ sql: SQL, _ arguments: [(any Bindable)?]) -> ResultCode? {
      sqliteError { _ = try database.executeQuery(sql, withArgs: arguments) }?.code
    }
    #expect(code("SELECT i?", [1]) == .mismatch)
    #expect(code("SELECT i?", [nil]) == .mismatch)
    #expect(code("SELECT i?", []) == .range)
    #expect(code("SELECT i?, ?", ["a"]) == .range)
    #expect(code("SELECT i? FROM (SELECT 1 AS a)", ["a", 2]) == .range)
  }

  @Test func `numbered parameters next to identifiers keep their numbers`() throws {
    let database = try Database.fresh()
    let row = try database.executeQuery(
      "SELECT i?, ?2, ?1 FROM (SELECT 1 AS a)", withArgs: ["a", 10, 20])
    #expect(row.first?.values == [.integer(1), .integer(20), .integer(10)])
  }

  @Test func `random text and names survive a round trip`() throws {
    var generator = SplitMix64(seed: 3)
    let alphabet: [Unicode.Scalar] = [
      "'", "\"", "`", "[", "]", ";", "-", "/", "*", "?", "i", "a", " ", "\n", "é", "\u{301}", "𝄞",
    ]
    let database = try Database.fresh()
    try database.executeChange("CREATE TABLE t (a)")
    for _ in 0..<500 {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 1...12, using: &generator) {
        text.append(alphabet[Int.random(in: 0..<alphabet.count, using: &generator)])
      }
      let name = String(text)
      let row = try database.executeQuery(
        "SELECT \(name) AS \(identifier: name), \(name) || 'x'"
      ).first
      #expect(row?.values.first == .text(name))
      #expect(row?.columnNames.first.map { Array($0.utf8) } == Array(name.utf8))
      let old = try database.executeQuery("SELECT ? AS i?", withArgs: [name, name])
      #expect(old.first?.columnNames.first.map { Array($0.utf8) } == Array(name.utf8))
    }
  }
}
