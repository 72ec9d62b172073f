import SQLSyntax
import TestSupport

/// A generator of random trees, which are the same for the same seed.
///
/// It uses the tables of ``schema``, and expressions mostly name existing columns, so SQLite can
/// compile most statements.
struct TreeSource {
  /// The tables for the statements. The statements are never executed.
  static let schema = [
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c)", "CREATE TABLE u(a, b, c UNIQUE)",
    "CREATE TABLE w(a, b INT, c REAL)", "CREATE INDEX i ON t(b)",
    "CREATE VIEW v AS SELECT a, b, c FROM t", "CREATE TABLE singles(x)",
  ]

  var random: SplitMix64
  /// Whether each operand is parenthesized. The same random numbers are drawn in both cases, so one
  /// seed gives two spellings of one statement.
  let parenthesizes: Bool
  /// The names of the tables that an expression can reference.
  var scope: [String] = []
  /// Whether an expression can contain aggregates and window functions.
  var allowsAggregates = false
  var hasWindow = false
  /// The number of levels that can still be nested.
  var levels = 4

  init(seed: UInt64, parenthesizes: Bool = false) {
    random = SplitMix64(seed: seed)
    self.parenthesizes = parenthesizes
  }

  // MARK: Choices

  mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  /// Returns true with a probability of one in `count`.
  mutating func once(in count: Int) -> Bool { below(count) == 0 }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  mutating func pick<Choice: CaseIterable>(_: Choice.Type) -> Choice {
    pick(Array(Choice.allCases))
  }

  mutating func maybe<Element>(
    in count: Int = 2, _ make: (inout TreeSource) -> Element
  ) -> Element? {
    once(in: count) ? make(&self) : nil
  }

  mutating func some<Element>(_ range: ClosedRange<Int>, _ make: (inout TreeSource) -> Element)
    -> [Element]
  {
    let count = range.lowerBound + below(range.count)
    return (0..<count).map { _ in make(&self) }
  }

  /// Calls `make` with aggregates and window functions allowed or not.
  mutating func aggregating<Element>(
    _ allowed: Bool, _ make: (inout TreeSource) -> Element
  ) -> Element {
    let outer = allowsAggregates
    allowsAggregates = allowed
    defer { allowsAggregates = outer }
    return make(&self)
  }

  /// Calls `make` one level deeper.
  mutating func deeper<Element>(_ make: (inout TreeSource) -> Element) -> Element {
    levels -= 1
    defer { levels += 1 }
    return make(&self)
  }

  // MARK: Names

  /// Returns a name for a new object.
  mutating func freshName() -> SQLName {
    switch below(12) {
    case 0: SQLName("my name \(below(9))", quoting: .double)
    case 1: SQLName("x\(below(9))", quoting: .back)
    case 2: SQLName("select", quoting: .bracket)
    case 3: SQLName("it's \"\"", quoting: .double)
    case 4: SQLName("Größe\(below(9))", quoting: .none)
    case 5: SQLName(pick(["abort", "key", "rows", "temp", "view", "plan"]), quoting: .none)
    case 6: SQLName("a`b'c", quoting: .back)
    case 7: SQLName("", quoting: .double)
    default: SQLName("x\(below(99))", quoting: .none)
    }
  }

  /// Returns a name that may be quoted.
  mutating func name(_ text: String) -> SQLName {
    SQLName(text, quoting: once(in: 6) ? pick([.double, .back, .bracket]) : .none)
  }

  mutating func columnName() -> SQLName {
    name(pick(["a", "b", "c"]))
  }

  mutating func tableName() -> SQLQualifiedName {
    let schema = maybe(in: 6) { $0.name("main") }
    return SQLQualifiedName(schema: schema, name(pick(["t", "u", "w", "v"])))
  }

  mutating func freshQualifiedName() -> SQLQualifiedName {
    let schema = maybe(in: 6) { $0.name("main") }
    return SQLQualifiedName(schema: schema, freshName())
  }

  mutating func collation() -> SQLName { name(pick(["nocase", "binary", "rtrim"])) }

  mutating func typeName() -> SQLTypeName {
    SQLTypeName(
      pick([
        "INTEGER", "TEXT", "REAL", "BLOB", "NUMERIC", "VARCHAR(10)", "DECIMAL(10, 5)", "\"x y\"",
        "UNSIGNED BIG INT", "d(-1)", "f(+1.5,-2)", "any",
      ]))
  }
}
