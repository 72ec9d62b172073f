import Conformance
import MagicData
import Testing

private struct Human: MagicObject {
  static let tableName = "person"

  @PrimaryMagicValue var id: Int
  @OptionalMagicValue var name: String?
  @OptionalMagicValue var age: Int?
  @OptionalMagicValue var other: Int?

  init() {}
}

private struct Quoted: MagicObject {
  static let tableName = #"a"b c"#

  @MagicValue var group: Int

  init() { group = 1 }
}

private typealias Condition = Filter<Human>

private let first: Condition = \.$age > 30
private let second: Condition = \.$name != "x"
private let third: Condition = \.$age < 50
private let never = Condition(sql: "FALSE")
private let always = Condition(sql: "TRUE")

@Suite(.everyEngine) struct FilterSQLTests {
  let magic: MagicData

  init() throws {
    magic = try MagicData.fresh()
    try magic.update(Human())
    try magic.database.executeMultipleChanges(
      """
      DELETE FROM person;
      INSERT INTO person (id, name, age, other) VALUES
        (1, 'Ann', 20, 20), (2, 'ann', 40, 1), (3, 'Änne', NULL, 1), (4, NULL, 60, NULL),
        (5, '100%', NULL, NULL), (6, 'An_', 31, 31), (7, 'x', 49, 7);
      """)
  }

  private func sql(_ condition: Condition) throws -> SQL { try condition.sql(in: magic) }

  private func text(_ condition: Condition) throws -> String { try sql(condition).text }

  private func ids(_ condition: Condition) throws -> [Int] {
    try magic.database.rows(
      "SELECT id FROM person WHERE \(sql(condition)) ORDER BY id", as: Int.self)
  }

  @Test func `a column named true doesn't change negated filters`() throws {
    try magic.database.executeChange("ALTER TABLE person ADD COLUMN \"true\" DEFAULT 0")
    #expect(try ids(!first) == [1, 3, 5])
    #expect(try ids(!(!first)) == [2, 4, 6, 7])
    #expect(try ids(!Condition(sql: "age - 20")) == [1, 3, 5])
    #expect(try ids(!(!Condition(sql: "age"))) == [1, 2, 4, 6, 7])
  }

  @Test func `a comparison is written as column, operator and bound value`() throws {
    #expect(try text(first) == #""person"."age" > ?"#)
    #expect(try sql(first).values == [.integer(30)])
    #expect(try ids(first) == [2, 4, 6, 7])
  }

  @Test func `values are bound in order and never inserted into the SQL text`() throws {
    let hostile = "x'); DROP TABLE person; --"
    let condition: Condition =
      \.$name == hostile || (\Human.$name).contains(hostile) && first
    let sql = try sql(condition)
    #expect(!sql.text.contains("DROP"))
    #expect(sql.values == [.text(hostile), .text(hostile), .integer(30)])
    #expect(try ids(condition) == [])
    #expect(try ids(always).count == 7)
  }

  @Test func `parentheses preserve the precedence of the Swift expression`() throws {
    #expect(
      try text((first || second) && third)
        == #"(("person"."age" > ? OR "person"."name" IS NOT ?) AND "person"."age" < ?)"#)
    #expect(
      try text(first || second && third)
        == #"("person"."age" > ? OR ("person"."name" IS NOT ? AND "person"."age" < ?))"#)
    #expect(try ids((always || never) && never) == [])
    #expect(try ids(always || never && never).count == 7)
  }

  @Test func `raw SQL is enclosed, so its operators and comments end with it`() throws {
    let condition = Condition(sql: "age > 30 OR TRUE -- all") && never
    #expect(try ids(condition) == [])
  }

  @Test(arguments: [
    "1) OR (1", "age > 30) OR (1 --", "(age > 30", "age > 30; DELETE FROM person", "age = 'a",
    "age = 1 /* a", "age = 1) /* a", "age = ?", "age = ?1", "age = :age", "age = @age",
    "age = $age",
    "age = [a", "age = \"a",
  ])
  func `raw SQL that isn't a complete expression throws`(text: String) throws {
    let condition = Condition(sql: .init(stringLiteral: text))
    #expect(throws: SQLiteError.self) { try ids(condition) }
    #expect(throws: SQLiteError.self) { try ids(condition && always) }
    #expect(throws: SQLiteError.self) { try ids(\.$age < 30 && condition) }
    #expect(throws: SQLiteError.self) {
      try magic.removeAll(Human.where(always && condition))
    }
    #expect(try ids(always).count == 7)
  }

  @Test func `columns and values are allowed in raw SQL, but not in quotes or comments`() throws {
    #expect(try ids(Condition(sql: "(\(\Human.$age) = \(20) /* ? ) */ OR 0) -- ' ?")) == [1])
    #expect(try ids(Condition(sql: "name = 'a)?;' AND \(1)")) == [])
    for condition in [
      Condition(sql: "name = '\("a")'"), Condition(sql: "age > 1 -- \(\Human.$age)"),
      Condition(sql: "name = '\(\Human.$age)'"), Condition(sql: "1 /* \(5) */"),
    ] {
      #expect(throws: SQLiteError.self) { try ids(condition) }
    }
  }

  @Test func `== and != treat nil like any other value`() throws {
    let isNil: Condition = \.$age == nil
    let isNotNil: Condition = \.$age != nil
    #expect(try text(isNil) == #""person"."age" IS NULL"#)
    #expect(try ids(isNil) == [3, 5])
    #expect(try ids(isNotNil) == [1, 2, 4, 6, 7])
    #expect(try ids(\.$age != 20) == [2, 3, 4, 5, 6, 7])
    // Two columns that are both NULL are equal.
    #expect(try ids(\.$age == \.$other) == [1, 5, 6])
    #expect(try ids(\.$age != \.$other) == [2, 3, 4, 7])
  }

  @Test func `a condition that is NULL counts as false, so its negation is true`() throws {
    #expect(try ids(!first) == [1, 3, 5])
    #expect(try ids(!(!first)) == [2, 4, 6, 7])
    #expect(try ids(!Condition(sql: "age - 20")) == [1, 3, 5])
    #expect(try ids(!(!Condition(sql: "age"))) == [1, 2, 4, 6, 7])
    #expect(try ids(!(\Human.$name).contains("n")) == [4, 5, 7])
    #expect(try ids(!(\Human.$age).isIn([20])) == [2, 3, 4, 5, 6, 7])
    #expect(try ids(!(first && third)) == [1, 3, 4, 5])
  }

  @Test func `strings are compared by their bytes`() throws {
    #expect(try ids(\.$name == "ann") == [2])
    #expect(try ids((\Human.$name).hasPrefix("An")) == [1, 6])
    #expect(try ids((\Human.$name).contains("nn")) == [1, 2, 3])
    #expect(try ids((\Human.$name).contains("ä")) == [])
    #expect(try ids(\.$name < "a") == [1, 5, 6])
    // Swift considers it equal to the stored character, but its bytes differ.
    #expect(try ids((\Human.$name).hasPrefix("A\u{308}")) == [])
  }

  @Test func `only the function like treats % and _ as wildcards`() throws {
    #expect(try ids((\Human.$name).contains("%")) == [5])
    #expect(try ids((\Human.$name).contains("_")) == [6])
    #expect(try ids((\Human.$name).hasPrefix("An_")) == [6])
    #expect(try ids((\Human.$name).like("an_")) == [1, 2, 6])
    #expect(try ids((\Human.$name).like("%0%")) == [5])
  }

  @Test func `an empty prefix or substring matches every string, but not nil`() throws {
    #expect(try ids((\Human.$name).hasPrefix("")) == [1, 2, 3, 5, 6, 7])
    #expect(try ids((\Human.$name).contains("")) == [1, 2, 3, 5, 6, 7])
  }

  @Test(arguments: [
    "a\u{7f}", "\u{d7ff}", "\u{10ffff}", "a\u{10ffff}\u{10ffff}", "\u{e000}", "a\0",
  ])
  func `a prefix matches whatever its last character is`(prefix: String) throws {
    let prefix = Engine.text(prefix)
    try magic.database.executeChange("DELETE FROM person")
    let next = Unicode.Scalar((prefix.unicodeScalars.last?.value ?? 0) &+ 0x1000) ?? "\u{10fffe}"
    let texts = [
      prefix, prefix + "b", prefix + "\u{10ffff}", String(prefix.dropLast()), "\(next)", "b", "",
    ]
    for (index, text) in texts.enumerated() {
      try magic.database.executeChange("INSERT INTO person (id, name) VALUES (\(index), \(text))")
    }
    let expected = texts.indices.filter { texts[$0].utf8.starts(with: prefix.utf8) }
    #expect(try ids((\Human.$name).hasPrefix(prefix)) == expected)
  }

  @Test func `a list is one parameter, so the SQL text doesn't depend on its length`() throws {
    func list(_ numbers: some Sequence<Int>) -> Condition {
      (\Human.$age).isIn(numbers)
    }
    #expect(try text(list([1])) == text(list(1...100_000)))
    #expect(try ids(list(1...100_000)) == [1, 2, 4, 6, 7])
    #expect(try ids(list([])) == [])
    #expect(try ids(!list([])).count == 7)
  }

  @Test func `arithmetic is done in the database, in the order of the Swift expression`() throws {
    let condition: Condition = (\.$age + 1) * 2 == 42
    #expect(try text(condition) == #"(("person"."age" + ?) * ?) = ?"#)
    #expect(try ids(condition) == [1])
    #expect(try ids(MagicExpression(\.$age) == \.$other + 0) == [1, 5, 6])
    #expect(try ids(!(\.$age % 0 == 0)).count == 7)
  }

  @Test func `table and column names are quoted`() throws {
    try magic.update(Quoted())
    #expect(try magic.count(of: Quoted.self, where: \.$group == 1) == 1)
    #expect(try magic.fetch(Quoted.where(\.$group + 1 > 1).values(\.$group, \.$group)).count == 1)
  }

  @Test(.requires(.manyParameters))
  func `thousands of chained conditions don't exceed the depth limit`() throws {
    var any: Condition = \.$age == 0
    var all: Condition = \.$age != 0
    var other = all
    for number in 1...2_000 {
      any = any || \.$age == number
      all = all && \.$age != number
      other = \.$age != -number && other
    }
    #expect(try ids(any) == [1, 2, 4, 6, 7])
    #expect(try ids(all) == [3, 5])
    #expect(try ids(other).count == 7)
  }

  @Test(.requires(.manyParameters))
  func `a chain of thousands of choices becomes one CASE`() throws {
    var choice: MagicExpression<Human, Int> = .when(\.$age == 20, then: 1, else: 0)
    for number in 2...5_000 { choice = .when(\.$id == number, then: number, else: choice) }
    #expect(try text(choice == 7).split(separator: " ").filter { $0 == "CASE" }.count == 1)
    #expect(try ids(choice == 7) == [7])
    #expect(try ids(choice == 1) == [1])
  }

  @Test(arguments: [10, 40, 100_000])
  func `a deep expression is evaluated or throws, and never overflows the stack`(depth: Int)
    throws
  {
    var condition = first
    for level in 0..<depth {
      condition = level % 2 == 0 ? !condition : condition || never
    }
    guard depth < 1_000 else {
      let error = #expect(throws: SQLiteError.self) { try text(condition) }
      #expect(error?.code == .tooBig)
      return
    }
    #expect(try ids(condition) == (depth / 2 % 2 == 0 ? [2, 4, 6, 7] : [1, 3, 5]))
  }
}
