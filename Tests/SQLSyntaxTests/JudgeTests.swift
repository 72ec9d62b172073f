import SQLSyntax
import SyntaxOracle
import Testing

/// Tests that the judge detects the errors of a wrong parser.
@Suite struct JudgeTests {
  let judge: Judge

  init() throws { judge = try Judge() }

  /// Returns the difference if the parser's reading of one text is used for another one.
  private func difference(_ text: String, as other: String) -> String? {
    judge.difference(
      Array(text.utf8), Judge.Reading(of: Array(other.utf8), grammar: judge.grammar))
  }

  @Test(arguments: [
    // Accepted although SQLite rejects it, and vice versa.
    ("SELECT", "SELECT"), ("SELECT a FROM", "SELECT a FROM t"), ("SELECT 1 1", "SELECT 1+1"),
    ("SELECT a FROM t", "SELECT a FROM "), ("SELECT 1+1", "SELECT 1 1"),
    // Another end, offset or message.
    ("SELECT 1; SELECT 2", "SELECT 1  SELEC; 2"), ("SELECT 1 ;", "SELECT 1;"),
    ("SELECT 1  1", "SELECT 1 1"), ("SELECT 1 1", "SELECT 1 2"), ("SELECT 1a", "SELECT 1 a b"),
    ("SELECT a FROM t;;", "SELECT a FROM u"),
    // A structural error that SQLite doesn't report.
    ("SELECT a FROM a LEFT JOIN b", "SELECT a FROM a LEFT INNER JOIN b"),
    ("CREATE TABLE t(a) STRICT", "CREATE TABLE t(a) strange"),
    ("CREATE TABLE t(a, b) STRICT", "CREATE TABLE t(a, b) x"),
    // If there are two errors before one token, SQLite reports the later one.
    ("SELECT 1 LIMIT 1 EXCEPT SELECT#2", "SELECT#2"),
    ("SELECT 1 LIMIT 1 EXCEPT SELECT ?99999999", "SELECT ?99999999"),
    ("SELECT 1 LIMIT 1 EXCEPT SELECT#2, 1", "SELECT 1 LIMIT 1 EXCEPT SELECT 2"),
  ])
  func `any disagreement with SQLite is a difference`(text: String, other: String) {
    #expect(difference(text, as: text) == nil)
    if text != other { #expect(difference(text, as: other) != nil, "\(text), \(other)") }
  }

  @Test func `a depth limit that SQLite doesn't have is a difference`() {
    let deep = Array(
      ("SELECT " + String(repeating: "f(", count: 500) + String(repeating: ")", count: 500)).utf8)
    let reading = Judge.Reading(of: deep, grammar: judge.grammar)
    guard case .refused(let error) = reading, error.kind == .tooDeep else {
      Issue.record("\(reading)")
      return
    }
    #expect(judge.difference(deep, reading) == nil)
    #expect(judge.difference(Array("SELECT f(f(1))".utf8), reading) != nil)
    #expect(judge.difference(Array("SELECT f(f(a))".utf8), reading) != nil)
  }

  @Test func `an unknown option after invalid columns isn't a difference`() {
    for columns in ["a AS (1)", "a", "a foo"] {
      for options in ["STRICT, bar", "bar", "WITHOUT ROWID, bar", "STRICT, WITHOUT bar"] {
        let text = "CREATE TABLE t(\(columns)) \(options)"
        #expect(difference(text, as: text) == nil, "\(text)")
      }
    }
    // A valid option isn't an error.
    #expect(
      difference("CREATE TABLE t(a AS (1)) STRICT", as: "CREATE TABLE t(a AS (1)) strange") != nil)
  }

  @Test func `a printed text with another meaning compiles to another program`() {
    #expect(judge.oracle.haveSameProgram("SELECT 1 + 2 * 3", "SELECT (1 + 2) * 3") == false)
    #expect(judge.oracle.haveSameProgram("SELECT 1 + 2 * 3", "SELECT 1 + (2 * 3)") == true)
    #expect(judge.oracle.haveSameProgram("SELECT 'a'", "SELECT 'b'") == false)
    #expect(judge.oracle.haveSameProgram("SELECT a", "SELECT b") == nil)
    #expect(judge.oracle.haveSameProgram("SELECT 1", "SELECT b") == false)
  }
}
