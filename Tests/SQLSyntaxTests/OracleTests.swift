import SyntaxOracle
import Testing

/// Whether the oracle reads SQLite rightly, without any parser of ours.
@Suite struct OracleTests {
  let oracle: Oracle

  init() throws { oracle = try Oracle() }

  @Test func `SQLite judges each text of ours as it is marked`() {
    #expect(Texts.marked.count >= 400)
    for text in Texts.marked + Texts.bytes {
      let verdict = oracle.verdict(on: text.sql)
      switch verdict {
      case .refused(_, let offset): #expect(text.refusal == offset, "\(text.sql)")
      case .accepted, .meaningless: #expect(text.refusal == nil, "\(text.sql): \(verdict)")
      case .undecided: Issue.record("\(text.sql): \(verdict)")
      }
    }
  }

  @Test func `what the grammar accepts without a meaning has the message that is written`() {
    for (message, text) in Texts.meaningless {
      switch oracle.verdict(on: text.sql) {
      case .meaningless(let said, let offset, _), .undecided(let said, let offset, _):
        #expect(said == message, "\(text.sql)")
        #expect(offset == text.refusal, "\(text.sql)")
      case let verdict: Issue.record("\(text.sql): \(verdict)")
      }
    }
  }

  @Test func `the library has all keywords of the manual`() {
    #expect(Oracle.keywords.count >= 147)
    #expect(Set(Oracle.keywords).isSuperset(of: ["ABORT", "WITHOUT", "CURRENT_TIMESTAMP"]))
  }

  @Test func `a pragma does not act when it is asked for`() {
    _ = oracle.verdict(on: "PRAGMA foreign_keys = ON")
    _ = oracle.verdict(on: "PRAGMA hard_heap_limit = 1")
    #expect(oracle.verdict(on: "SELECT 1") == .accepted(end: 8))
  }

  @Test func `a table that is missing stops no statement of a trigger`() {
    #expect(
      oracle.verdict(on: "CREATE TRIGGER r INSERT ON \"a b\" BEGIN SELECT 1; END")
        == .accepted(end: 52))
    #expect(
      oracle.verdict(on: "CREATE TRIGGER x.r INSTEAD OF INSERT ON x.v BEGIN SELECT 1; END FROM")
        == .refused(message: "near \"FROM\": syntax error", offset: 64))
    #expect(oracle.verdict(on: "ALTER TABLE x.t ADD a") == .accepted(end: 21))
    // The database is as empty as before.
    #expect(oracle.rows("SELECT name FROM sqlite_schema") == [])
  }

  @Test func `an error at a semicolon inside of a trigger is not its end`() {
    let text = "CREATE TRIGGER r INSERT ON t BEGIN SELECT 1 LIMIT 1 UNION SELECT 2; garbage"
    guard case .undecided = oracle.verdict(on: text) else {
      Issue.record("\(oracle.verdict(on: text))")
      return
    }
  }

  @Test func `the text ends at a NUL`() {
    #expect(oracle.verdict(on: "SELECT 1\0 FROM FROM") == .accepted(end: 8))
    #expect(
      oracle.verdict(on: "SELECT\0 1") == .refused(message: "incomplete input", offset: 6))
    #expect(
      oracle.verdict(on: "SELECT a FROM t\0 FROM FROM")
        == .meaningless(message: "no such table: t", offset: nil, end: 15))
  }
}
