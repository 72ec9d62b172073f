import SQLiteCore
import SQLiteMapping
import Testing

/// Columns by their names, in whatever table.
private struct NameWriter: FilterWriter {
  func write(_ term: String, _ row: String, to sql: inout FilterSQL) throws {
    try sql.append("\(identifier: row).\(identifier: term)" as SQL)
  }
}

private typealias Condition = FilterCondition<String>
private typealias Operand = FilterOperand<String>

private let name = Operand.column("name")
private let age = Operand.column("age")
private let first = Condition.comparison(age, .greater, .value(.integer(30)))
private let second = Condition.comparison(name, .notEqual, .value(.text("x")))
private let third = Condition.comparison(age, .less, .value(.integer(50)))

@Suite struct FilterWriterTests {
  let database: Database

  init() throws {
    database = try Database.memory()
    try database.executeMultipleChanges(
      """
      CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, other INTEGER);
      INSERT INTO person VALUES
        (1, 'Ann', 20, 20), (2, 'ann', 40, 1), (3, 'Änne', NULL, 1), (4, NULL, 60, NULL),
        (5, '100%', NULL, NULL), (6, 'An_', 31, 31), (7, 'x', 49, 7);
      """)
  }

  private func sql(_ condition: Condition) throws -> SQL {
    var writer = NameWriter()
    var sql = FilterSQL()
    try writer.write(condition, "person", to: &sql)
    return sql.sql
  }

  private func text(_ condition: Condition) throws -> String { try sql(condition).text }

  private func ids(_ condition: Condition) throws -> [Int] {
    try database.rows("SELECT id FROM person WHERE \(sql(condition)) ORDER BY id", as: Int.self)
  }

  @Test func `a column called true does not change what is not`() throws {
    try database.executeChange("ALTER TABLE person ADD COLUMN \"true\" DEFAULT 0")
    #expect(try ids(.not(first)) == [1, 3, 5])
    #expect(try ids(.not(.not(first))) == [2, 4, 6, 7])
    #expect(try ids(.not(.sql("age - 20"))) == [1, 3, 5])
    #expect(try ids(.not(.not(.sql("age")))) == [1, 2, 4, 6, 7])
  }

  @Test func `a comparison is a column, a sign and a bound value`() throws {
    #expect(try text(first) == #""person"."age" > ?"#)
    #expect(try sql(first).values == [.integer(30)])
    #expect(try ids(first) == [2, 4, 6, 7])
  }

  @Test func `values are bound in the order of the text and never spliced into it`() throws {
    let hostile = "x'); DROP TABLE person; --"
    let condition = Condition.or(
      .comparison(name, .equal, .value(.text(hostile))), .and(.contains(name, hostile), first))
    let sql = try sql(condition)
    #expect(!sql.text.contains("DROP"))
    #expect(sql.values == [.text(hostile), .text(hostile), .integer(30)])
    #expect(try ids(condition) == [])
    #expect(try ids(.sql("TRUE")).count == 7)
  }

  @Test func `and binds as the tree says, whatever the words would`() throws {
    #expect(
      try text(.and(.or(first, second), third))
        == #"(("person"."age" > ? OR "person"."name" IS NOT ?) AND "person"."age" < ?)"#)
    #expect(
      try text(.or(first, .and(second, third)))
        == #"("person"."age" > ? OR ("person"."name" IS NOT ? AND "person"."age" < ?))"#)
    let never = Condition.sql("FALSE")
    let always = Condition.sql("TRUE")
    #expect(try ids(.and(.or(always, never), never)) == [])
    #expect(try ids(.or(always, .and(never, never))).count == 7)
  }

  @Test func `SQL is enclosed, so that its words and its comments end with it`() throws {
    let condition = Condition.and(.sql("age > 30 OR TRUE -- all"), .sql("FALSE"))
    #expect(try ids(condition) == [])
  }

  @Test func `nil is a value like others to == and !=`() throws {
    let isNil = Condition.comparison(age, .equal, .value(.null))
    let isNotNil = Condition.comparison(age, .notEqual, .value(.null))
    #expect(try text(isNil) == #""person"."age" IS NULL"#)
    #expect(try ids(isNil) == [3, 5])
    #expect(try ids(isNotNil) == [1, 2, 4, 6, 7])
    #expect(try ids(.comparison(age, .notEqual, .value(.integer(20)))) == [2, 3, 4, 5, 6, 7])
    // Two columns that are both nil are equal.
    #expect(try ids(.comparison(age, .equal, .column("other"))) == [1, 5, 6])
    #expect(try ids(.comparison(age, .notEqual, .column("other"))) == [2, 3, 4, 7])
  }

  @Test func `what is not true is false, so that its negation is true`() throws {
    #expect(try ids(.not(first)) == [1, 3, 5])
    #expect(try ids(.not(.not(first))) == [2, 4, 6, 7])
    #expect(try ids(.not(.sql("age - 20"))) == [1, 3, 5])
    #expect(try ids(.not(.not(.sql("age")))) == [1, 2, 4, 6, 7])
    #expect(try ids(.not(.contains(name, "n"))) == [4, 5, 7])
    #expect(try ids(.not(.isIn(age, [.value(.integer(20))]))) == [2, 3, 4, 5, 6, 7])
    #expect(try ids(.not(.and(first, third))) == [1, 3, 4, 5])
  }

  @Test func `texts are compared by their bytes`() throws {
    #expect(try ids(.comparison(name, .equal, .value(.text("ann")))) == [2])
    #expect(try ids(.hasPrefix(name, "An")) == [1, 6])
    #expect(try ids(.contains(name, "nn")) == [1, 2, 3])
    #expect(try ids(.contains(name, "ä")) == [])
    #expect(try ids(.comparison(name, .less, .value(.text("a")))) == [1, 5, 6])
    // One character to Swift, but other bytes than the stored ones.
    #expect(try ids(.hasPrefix(name, "A\u{308}")) == [])
  }

  @Test func `wildcards are letters to all but like`() throws {
    #expect(try ids(.contains(name, "%")) == [5])
    #expect(try ids(.contains(name, "_")) == [6])
    #expect(try ids(.hasPrefix(name, "An_")) == [6])
    #expect(try ids(.like(name, "an_")) == [1, 2, 6])
    #expect(try ids(.like(name, "%0%")) == [5])
  }

  @Test func `an empty text begins and is part of every text, but not of nil`() throws {
    #expect(try ids(.hasPrefix(name, "")) == [1, 2, 3, 5, 6, 7])
    #expect(try ids(.contains(name, "")) == [1, 2, 3, 5, 6, 7])
  }

  @Test(arguments: [
    "a\u{7f}", "\u{d7ff}", "\u{10ffff}", "a\u{10ffff}\u{10ffff}", "\u{e000}", "a\0",
  ])
  func `a prefix is found whatever its last character`(prefix: String) throws {
    try database.executeChange("DELETE FROM person")
    let next = Unicode.Scalar((prefix.unicodeScalars.last?.value ?? 0) &+ 0x1000) ?? "\u{10fffe}"
    let texts = [
      prefix, prefix + "b", prefix + "\u{10ffff}", String(prefix.dropLast()), "\(next)", "b", "",
    ]
    for (index, text) in texts.enumerated() {
      try database.executeChange("INSERT INTO person (id, name) VALUES (\(index), \(text))")
    }
    let expected = texts.indices.filter { texts[$0].utf8.starts(with: prefix.utf8) }
    #expect(try ids(.hasPrefix(name, prefix)) == expected)
  }

  @Test func `a list is one parameter, so that its length does not change the text`() throws {
    func list(_ numbers: some Sequence<Int>) -> Condition {
      .isIn(age, numbers.map { .value(.integer(Int64($0))) })
    }
    #expect(try text(list([1])) == text(list(1...100_000)))
    #expect(try ids(list(1...100_000)) == [1, 2, 4, 6, 7])
    #expect(try ids(list([])) == [])
    #expect(try ids(.not(list([]))).count == 7)
  }

  @Test func `a list may hold nil and columns`() throws {
    #expect(try ids(.isIn(age, [.value(.null), .value(.integer(40))])) == [2, 3, 5])
    #expect(try ids(.isIn(age, [.column("other"), .value(.integer(40))])) == [1, 2, 5, 6])
    #expect(try ids(.and(.isIn(age, [.value(.null)]), .sql("id = 3"))) == [3])
  }

  @Test func `numbers are calculated in the database, as the tree says`() throws {
    let sum = Operand.arithmetic(age, .sum, .value(.integer(1)))
    let product = Operand.arithmetic(sum, .product, .value(.integer(2)))
    let condition = Condition.comparison(product, .equal, .value(.integer(42)))
    #expect(try text(condition) == #"(("person"."age" + ?) * ?) = ?"#)
    #expect(try ids(condition) == [1])
    #expect(
      try ids(.comparison(age, .equal, .arithmetic(.column("other"), .sum, .value(.integer(0)))))
        == [1, 5, 6])
    let remainder = Operand.arithmetic(age, .remainder, .value(.integer(0)))
    #expect(try ids(.comparison(remainder, .equal, .value(.null))).count == 7)
  }

  @Test func `a name is quoted, whatever is in it`() throws {
    try database.executeChange(#"ALTER TABLE person RENAME COLUMN age TO "a""b c""#)
    let column = Operand.column(#"a"b c"#)
    #expect(try ids(.comparison(column, .equal, .value(.integer(40)))) == [2])
  }

  @Test func `thousands of conditions in a row are as deep as a few`() throws {
    var any = Condition.comparison(age, .equal, .value(.integer(0)))
    var all = Condition.comparison(age, .notEqual, .value(.integer(0)))
    var other = all
    for number in 1...2_000 {
      any = .or(any, .comparison(age, .equal, .value(.integer(Int64(number)))))
      all = .and(all, .comparison(age, .notEqual, .value(.integer(Int64(number)))))
      other = .and(.comparison(age, .notEqual, .value(.integer(Int64(-number)))), other)
    }
    #expect(try ids(any) == [1, 2, 4, 6, 7])
    #expect(try ids(all) == [3, 5])
    #expect(try ids(other).count == 7)
  }

  @Test(arguments: [10, 40, 100_000])
  func `a deep tree is evaluated or refused, and never overflows the stack`(depth: Int) throws {
    var condition = first
    for level in 0..<depth {
      condition = level % 2 == 0 ? .not(condition) : .or(condition, .sql("FALSE"))
    }
    guard depth < 1_000 else {
      let error = #expect(throws: SQLiteError.self) { try text(condition) }
      #expect(error?.code == .tooBig)
      return
    }
    #expect(try ids(condition) == (depth / 2 % 2 == 0 ? [2, 4, 6, 7] : [1, 3, 5]))
  }
}
