import Conformance
import SQLiteCore
import Synchronization
import TestSupport
import Testing

@Suite(.everyEngine, .requires(.functions)) struct FunctionTests {
  /// Returns a database that runs `prepare` on each new connection.
  private func database(
    _ kind: Kind = .memory, _ prepare: @escaping @Sendable (Connection) throws -> Void
  ) throws -> Fixture {
    var options = Database.Options()
    options.prepareConnection = prepare
    return try Fixture(kind, options)
  }

  @Test(arguments: Kind.allCases)
  func `a closure becomes an SQL function on every connection`(kind: Kind) throws {
    let fixture = try database(kind) { connection in
      try connection.addFunction("plus") { (a: Int, b: Int) in a + b }
      try connection.addFunction("shout") { (text: String?) in text?.uppercased() }
      try connection.addFunction("answer") { 42 }
      try connection.addFunction("bytes") { (bytes: [UInt8]) in bytes + [0] }
    }
    let sql: SQL =
      "SELECT plus(1, 2), shout('a'), shout(NULL), answer(), bytes(x'01'), typeof(bytes(x''))"
    let expected: [Value] = [
      .integer(3), .text("A"), .null, .integer(42), .blob([1, 0]), .text("blob"),
    ]
    #expect(try fixture.database.read { try $0.firstRow(sql) }?.values == expected)
    #expect(try fixture.database.write { try $0.firstRow(sql) }?.values == expected)
  }

  @Test func `functions can be overloaded by their number of arguments`() throws {
    let fixture = try database { connection in
      try connection.addFunction("f") { (a: Int) in "one" }
      try connection.addFunction("f") { (a: Int, b: Int) in "two" }
      try connection.addVariadicFunction("f") { .integer(Int64($0.count)) }
    }
    let row = try fixture.database.executeQuery("SELECT f(1), f(1, 2), f(1, 2, 3), f()").first
    #expect(row?.values == [.text("one"), .text("two"), .integer(3), .integer(0)])
  }

  @Test func `a wrong number or type of arguments is an SQL error`() throws {
    let fixture = try database { try $0.addFunction("f") { (a: Int) in a } }
    let count = sqliteError { _ = try fixture.database.executeQuery("SELECT f(1, 2)") }
    #expect(count?.message.contains("wrong number of arguments") == true)
    let type = sqliteError { _ = try fixture.database.executeQuery("SELECT f('x')") }
    #expect(type?.code == .mismatch)
    #expect(type?.message == "argument 1: expected Int, found TEXT")
    #expect(sqliteError { _ = try fixture.database.executeQuery("SELECT f(NULL)") } != nil)
    let text = sqliteError {
      _ = try fixture.database.executeQuery("SELECT f(CAST(x'ff' AS TEXT))")
    }
    #expect(text?.message.contains("UTF-8") == true)
  }

  @Test func `an error thrown by a closure fails the statement and undoes it`() throws {
    let fixture = try database { connection in
      try connection.addFunction("fail") { (a: Int) throws -> Int in
        if a == 3 { throw SQLiteError(.constraint, "three is not welcome") }
        return a
      }
      try connection.addFunction("stop") { () throws -> Int in throw Stop() }
      try connection.addFunction("nan") { Double.nan }
      try connection.addFunction("ok") { () throws -> Int in throw SQLiteError(.ok, "fine") }
    }
    try fixture.database.executeChange("CREATE TABLE t (a)")
    let error = sqliteError {
      try fixture.database.executeChange(
        "INSERT INTO t SELECT fail(value) FROM json_each('[1,2,3]')")
    }
    #expect(error?.code == .constraint)
    #expect(error?.message == "three is not welcome")
    #expect(try fixture.count() == 0)
    for name in ["stop()", "nan()", "ok()"] {
      #expect(
        sqliteError { _ = try fixture.database.executeQuery(SQL(unchecked: "SELECT \(name)")) }
          != nil)
    }
  }

  @Test func `the schema can use only functions that allow it`() throws {
    let fixture = try database { connection in
      try connection.addFunction("closed") { 1 }
      try connection.addFunction("open", isDeterministic: true, isUsableInSchema: true) {
        (a: Int) in a * 2
      }
    }
    try fixture.database.executeMultipleChanges(
      """
      CREATE VIEW v AS SELECT open(21) AS a; CREATE VIEW w AS SELECT closed() AS a;
      CREATE TABLE t (a); CREATE INDEX i ON t (open(a));
      """)
    #expect(try fixture.database.rows("SELECT a FROM v", as: Int.self).first == 42)
    let error = sqliteError { _ = try fixture.database.executeQuery("SELECT a FROM w") }
    #expect(error?.message.contains("unsafe use of closed") == true)
  }

  @Test func `a function can be removed`() throws {
    let fixture = try database { try $0.addFunction("f") { 1 } }
    try fixture.database.read { connection in
      _ = try connection.executeQuery("SELECT f()")
      try connection.removeFunction("f", argumentCount: 0)
      #expect(sqliteError { _ = try connection.executeQuery("SELECT f()") } != nil)
    }
  }

  @Test(arguments: ["", "a\0b", String(repeating: "f", count: 256)])
  func `an invalid function name throws`(name: String) throws {
    let error = sqliteError { _ = try database { try $0.addFunction(name) { 1 } } }
    #expect(error?.code == .misuse)
  }

  @Test func `an aggregate collects each group`() throws {
    let fixture = try database { connection in
      try connection.addAggregate("product", initial: { 1 }) { (state: inout Int, factor: Int) in
        state *= factor
      } result: {
        $0
      }
      try connection.addAggregate("listed", initial: { [String]() }) {
        (state: inout [String], text: String, separator: String) in
        state.append(text + separator)
      } result: {
        $0.joined()
      }
    }
    let rows = try fixture.database.rows(
      """
      SELECT value % 2, product(value), listed('v' || value, ';') FROM json_each('[1,2,3,4]')
      GROUP BY 1 ORDER BY 1
      """, as: Int.self, Int.self, String.self)
    #expect(rows.map { $0.1 } == [8, 3])
    #expect(rows.map { $0.2 } == ["v2;v4;", "v1;v3;"])
    let none = try fixture.database.rows(
      "SELECT product(value) FROM json_each('[]')", as: Int.self
    ).first
    #expect(none == 1)
  }

  @Test func `an aggregate that throws fails the statement`() throws {
    let fixture = try database { connection in
      try connection.addAggregate("bad", initial: { 0 }) { (state: inout Int, _: Int) in
        state += 1
        if state == 2 { throw Stop() }
      } result: {
        $0
      }
      try connection.addAggregate("worse", initial: { 0 }) { (_: inout Int, _: Int) in
      } result: { _ -> Int in
        throw SQLiteError(.full, "no more")
      }
    }
    #expect(
      sqliteError {
        _ = try fixture.database.executeQuery("SELECT bad(value) FROM json_each('[1,2,3]')")
      } != nil)
    #expect(
      sqliteError {
        _ = try fixture.database.executeQuery("SELECT worse(value) FROM json_each('[1,2,3]')")
      }?.code == .full)
    #expect(
      sqliteError { _ = try fixture.database.executeQuery("SELECT bad('x')") }?.code == .mismatch)
  }

  @Test func `a window function adds and removes rows`() throws {
    let fixture = try database { connection in
      try connection.addWindowFunction(
        "total", initial: { 0 }, step: { (state: inout Int, value: Int) in state += value },
        remove: { (state: inout Int, value: Int) in state -= value }, result: { $0 })
    }
    let sums = try fixture.database.rows(
      """
      SELECT total(value) OVER (ORDER BY value ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
      FROM json_each('[1,2,3,4]')
      """, as: Int.self)
    #expect(sums == [1, 3, 5, 7])
    let sum = try fixture.database.rows(
      "SELECT total(value) FROM json_each('[1,2]')", as: Int.self
    ).first
    #expect(sum == 3)
  }

  @Test func `a collation orders and compares text`() throws {
    let fixture = try database(.file) { connection in
      try connection.addCollation("byLength") { $0.utf8.count - $1.utf8.count }
    }
    let texts = try fixture.database.rows(
      "SELECT value FROM json_each('[\"ccc\", \"a\", \"bb\", \"\"]') ORDER BY value COLLATE byLength",
      as: String.self)
    #expect(texts == ["", "a", "bb", "ccc"])
    let equal = try fixture.database.rows("SELECT 'ab' = 'xy' COLLATE byLength", as: Bool.self)
      .first
    #expect(equal == true)
    try fixture.database.executeMultipleChanges(
      "CREATE TABLE t (a COLLATE byLength UNIQUE); INSERT INTO t VALUES ('a'), ('bb')")
    #expect(
      sqliteError { try fixture.database.executeChange("INSERT INTO t VALUES ('c')") }?.code
        == .uniqueConstraint)
  }

  /// Statements, and whether each requires the functions that upper layers add on first use.
  static let needs: [(sql: SQL, isMet: Bool)] = [
    ("SELECT count(*) FROM t", false),
    ("INSERT INTO plain VALUES (1)", false),
    ("UPDATE t SET c = 2", true),
    ("CREATE TABLE other (a)", false),
    ("SELECT half(4)", true),
    ("INSERT INTO t (a) VALUES (4)", true),
    ("UPDATE t SET a = 6", true),
    ("SELECT h FROM t WHERE half(a) = 1", true),
    ("SELECT * FROM halves", true),
    ("INSERT INTO source VALUES (1)", true),
    ("REINDEX", true),
    ("ALTER TABLE t RENAME COLUMN c TO d", true),
    ("ALTER TABLE plain RENAME TO other", true),
    ("ALTER TABLE t DROP COLUMN c", true),
    ("VACUUM", true),
    ("PRAGMA integrity_check", true),
    ("CREATE INDEX more ON t (half(c))", true),
  ]

  @Test(.requires(.files), arguments: needs.indices)
  func `functions of upper layers are added when the schema or a statement needs them`(
    index: Int
  ) throws {
    let folder = try TestFolder()
    let added = Mutex(0)
    var options = Database.Options()
    options.addFunctions = { connection in
      added.withLock { $0 += 1 }
      try connection.addPureFunction("half", argumentCount: 1) { values in
        .integer(try Int64(databaseValue: values[0]) / 2)
      }
    }
    try Database(path: folder.file(), options: options).executeMultipleChanges(
      """
      CREATE TABLE t (a INTEGER CHECK (half(a) < 100), c, h AS (half(a)) STORED);
      CREATE INDEX i ON t (half(a)) WHERE half(a) > 0;
      CREATE VIEW halves AS SELECT half(a) FROM t;
      CREATE TABLE plain (a); CREATE TABLE source (a);
      CREATE TRIGGER moved AFTER INSERT ON source BEGIN INSERT INTO plain VALUES (half(new.a)); END;
      INSERT INTO t (a) VALUES (2);
      """)
    #expect(added.withLock { $0 } == 1)
    let database = try Database(path: folder.file(), options: options)
    let need = Self.needs[index]
    try database.withoutTransaction { connection in
      _ = try connection.executeQuery(need.sql)
      #expect(added.withLock { $0 } == (need.isMet ? 2 : 1))
      #expect(
        sqliteError { _ = try connection.executeQuery("SELECT missing(1)") }?.message.contains(
          "no such function: missing") == true)
      let halves = try connection.rows("SELECT half(a) FROM t", as: Int.self)
      #expect(try connection.rows("SELECT a / 2 FROM t", as: Int.self) == halves)
      #expect(try connection.pragma("integrity_check") == .text("ok"))
    }
    // Reader connections have the functions too.
    #expect(try database.rows("SELECT half(8)", as: Int.self) == [4])
  }
}
