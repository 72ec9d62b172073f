import Conformance
import SQLiteCore
import Testing

@Suite(.everyEngine) struct BindingTests {
  let database: Database

  init() throws { database = try .memory() }

  private func echo(_ value: some Bindable) throws -> Value? {
    try database.rows("SELECT \(value)", as: Value.self).first
  }

  @Test(arguments: ["", "a", "a\0b", "\0", "héllo", "e\u{301}", "👩‍👩‍👧", "'; DROP TABLE t;--"])
  func `text survives byte for byte`(text: String) throws {
    let text = Engine.text(text)
    #expect(try echo(text) == .text(text))
    #expect(try echo(text[...]) == .text(text))
  }

  @Test(arguments: [[], [0], [255, 0, 1], [UInt8](repeating: 7, count: 100_000)] as [[UInt8]])
  func `bytes survive, and an empty array isn't stored as NULL`(bytes: [UInt8]) throws {
    #expect(try echo(bytes) == .blob(bytes))
    let type = try database.rows("SELECT typeof(\(bytes))", as: String.self).first
    #expect(type == "blob")
  }

  @Test(arguments: [Int64.min, Int64.min + 1, -1, 0, 1, Int64.max - 1, Int64.max])
  func `integers survive up to the limits of Int64`(integer: Int64) throws {
    #expect(try echo(integer) == .integer(integer))
  }

  @Test func `every integer width binds its extreme values`() throws {
    #expect(try echo(Int8.min) == .integer(-128))
    #expect(try echo(UInt8.max) == .integer(255))
    #expect(try echo(Int16.min) == .integer(-32_768))
    #expect(try echo(UInt16.max) == .integer(65_535))
    #expect(try echo(Int32.min) == .integer(-2_147_483_648))
    #expect(try echo(UInt32.max) == .integer(4_294_967_295))
    #expect(try echo(Int.min) == .integer(.min))
    #expect(try echo(UInt64(Int64.max)) == .integer(.max))
    #expect(try echo(UInt(7)) == .integer(7))
  }

  @Test(arguments: [UInt64.max, UInt64(Int64.max) + 1])
  func `an unsigned integer that doesn't fit throws an error with its value`(integer: UInt64) throws
  {
    let error = sqliteError { _ = try echo(integer) }
    #expect(error?.code == .range)
    #expect(error?.message == "the UInt64 does not fit SQLite's 64-bit integer")
  }

  @Test(
    arguments: [
      0, 0.1, -1.5, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .pi,
    ] as [Double])
  func `reals survive, including infinities`(real: Double) throws {
    #expect(try echo(real) == .real(real))
  }

  @Test func `minus zero is stored as zero`() throws {
    let fixture = try Fixture(.memory)
    try fixture.database.executeMultipleChanges("CREATE TABLE t (a REAL)")
    try fixture.database.executeChange("INSERT INTO t VALUES (\(-0.0))")
    let zero = try fixture.database.rows("SELECT a FROM t", as: Double.self).first
    #expect(zero == 0)
    #expect(zero?.sign == .plus)
  }

  @Test func `NaN throws in every way to bind it`() throws {
    #expect(sqliteError { _ = try echo(Double.nan) }?.code == .mismatch)
    #expect(sqliteError { _ = try echo(Float.nan) }?.code == .mismatch)
    #expect(sqliteError { _ = try echo(Value.real(.nan)) }?.code == .mismatch)
    #expect(sqliteError { _ = try echo(Double?.some(.nan)) }?.code == .mismatch)
    #expect(
      sqliteError { _ = try database.executeQuery("SELECT ?", withArgs: [Double.nan]) }?.code
        == .mismatch)
    let direct = sqliteError {
      try database.read { connection in
        var statement = try connection.statement("SELECT ?")
        try statement.bind(Double.nan, at: 1)
      }
    }
    #expect(direct?.code == .mismatch)
    let value = sqliteError {
      try database.read { connection in
        var statement = try connection.statement("SELECT ?")
        try statement.bind(Value.real(.nan), at: 1)
      }
    }
    #expect(value?.code == .mismatch)
    #expect(sqliteError { _ = try database.executeQuery("SELECT 1 IN \([Double.nan])") } != nil)
  }

  @Test func `Booleans and nil bind as 0, 1 and NULL`() throws {
    #expect(try echo(true) == .integer(1))
    #expect(try echo(false) == .integer(0))
    #expect(try echo(Int?.none) == .null)
    #expect(try echo(Int?.some(3)) == .integer(3))
    #expect(try echo(Float(0.5)) == .real(0.5))
  }

  private enum Suit: String, Bindable, ColumnValue { case hearts, spades }
  private struct Meters: RawRepresentable, Bindable, ColumnValue { let rawValue: Double }

  @Test func `a raw representable type binds and reads as its raw value`() throws {
    #expect(try echo(Suit.spades) == .text("spades"))
    #expect(try echo(Meters(rawValue: 2.5)) == .real(2.5))
    let read = try database.rows("SELECT 'hearts', 1.5", as: Suit.self, Meters.self).first
    #expect(read?.0 == .hearts)
    #expect(read?.1.rawValue == 1.5)
    let unknown = sqliteError { _ = try database.rows("SELECT 'clubs'", as: Suit.self).first }
    #expect(unknown?.code == .mismatch)
  }

  @Test func `positional, numbered and named parameters receive their values`() throws {
    func first(_ sql: SQL, _ arguments: [(any Bindable)?]) throws -> [Value]? {
      try database.executeQuery(sql, withArgs: arguments).first?.values
    }
    #expect(try first("SELECT ?, ?", [1, "a"]) == [.integer(1), .text("a")])
    #expect(try first("SELECT ?2, ?1, ?2", [1, nil]) == [.null, .integer(1), .null])
    let named = try database.read {
      try $0.executeQuery("SELECT :a, @b, $c, :a", withArgs: ["a": 1, "@b": 2, "c": nil])
    }
    #expect(named.first?.values == [.integer(1), .integer(2), .null, .integer(1)])
    let bound = try database.read { connection in
      var statement = try connection.statement("SELECT :a, @b")
      try statement.bind(1, named: ":a")
      try statement.bind("x", named: "b")
      return try statement.firstRow()
    }
    #expect(bound?.values == [.integer(1), .text("x")])
  }

  @Test(arguments: [[], [1], [1, 2, 3]])
  func `a wrong number of values throws before the statement runs`(values: [Int]) throws {
    try database.executeChange("CREATE TABLE IF NOT EXISTS t (a, b)")
    let error = sqliteError {
      try database.executeChange("INSERT INTO t VALUES (?, ?)", withArgs: values)
    }
    #expect(error?.code == .range)
    #expect(try database.rows("SELECT count(*) FROM t", as: Int.self).first == 0)
  }

  @Test func `an unknown parameter name throws`() throws {
    let error = sqliteError {
      try database.read { _ = try $0.executeQuery("SELECT :a", withArgs: ["b": 1]) }
    }
    #expect(error?.code == .range)
    #expect(error?.message.contains("b") == true)
  }

  @Test func `naming one parameter twice throws if another has no value`() throws {
    let error = sqliteError {
      try database.read { _ = try $0.executeQuery("SELECT :a, :b", withArgs: ["a": 1, ":a": 2]) }
    }
    #expect(error?.code == .range)
  }

  @Test func `the same name with two prefixes is two parameters`() throws {
    let row = try database.read {
      try $0.executeQuery("SELECT :a, @a", withArgs: [":a": 1, "@a": 2])
    }.first
    #expect(row?.values == [.integer(1), .integer(2)])
  }

  @Test(arguments: [0, -1, 2, Int.max, Int.min, (1 << 32) + 1])
  func `a parameter number out of range throws`(parameter: Int) throws {
    let error = sqliteError {
      try database.read { connection in
        var statement = try connection.statement("SELECT ?")
        try statement.bind(1, at: parameter)
      }
    }
    #expect(error?.code == .range)
  }

  @Test func `the number of values in a parameter pack is checked`() throws {
    try database.read { connection in
      var statement = try connection.statement("SELECT ?, ?")
      try statement.bind(1, "a")
      _ = try statement.step()
      #expect(try statement.row().values == [.integer(1), .text("a")])
    }
    for count in [1, 3] {
      let error = sqliteError {
        try database.read { connection in
          var statement = try connection.statement("SELECT ?, ?")
          if count == 1 { try statement.bind(1) } else { try statement.bind(1, 2, 3) }
        }
      }
      #expect(error?.code == .range)
    }
  }

  @Test func `250,000 parameters can be bound`() throws {
    let count = 250_000
    let text = "SELECT \(count) IN (" + Array(repeating: "?", count: count).joined(separator: ",")
    let found = try database.executeQuery(
      SQL(unchecked: text + ")"), withArgs: (1...count).map { $0 })
    #expect(found.first?.values == [.integer(1)])
    let error = sqliteError {
      _ = try database.executeQuery(SQL(unchecked: text + ",?)"), withArgs: [])
    }
    #expect(error?.code == .error)
  }
}
