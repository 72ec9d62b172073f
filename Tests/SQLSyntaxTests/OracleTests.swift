import SyntaxOracle
import Testing

/// Tests that the oracle interprets SQLite correctly, independently of our parser.
@Suite struct OracleTests {
  let oracle: Oracle

  init() throws { oracle = try Oracle() }

  @Test func `SQLite's verdict on each text is the expected one`() {
    #expect(Texts.marked.count >= 400)
    for text in Texts.marked + Texts.bytes {
      let verdict = oracle.verdict(on: text.sql)
      switch verdict {
      case .refused(_, let offset): #expect(text.refusal == offset, "\(text.sql)")
      case .accepted, .semanticError: #expect(text.refusal == nil, "\(text.sql): \(verdict)")
      case .undecided: Issue.record("\(text.sql): \(verdict)")
      }
    }
  }

  @Test func `semantic errors have the expected message and offset`() {
    for (message, text) in Texts.semanticError {
      switch oracle.verdict(on: text.sql) {
      case .semanticError(let said, let offset, _), .undecided(let said, let offset, _):
        #expect(said == message, "\(text.sql)")
        #expect(offset == text.refusal, "\(text.sql)")
      case let verdict: Issue.record("\(text.sql): \(verdict)")
      }
    }
  }

  @Test func `SQLite has all keywords of its manual`() {
    #expect(Oracle.keywords.count >= 147)
    #expect(Set(Oracle.keywords).isSuperset(of: ["ABORT", "WITHOUT", "CURRENT_TIMESTAMP"]))
  }

  @Test func `the oracle doesn't execute pragmas`() {
    _ = oracle.verdict(on: "PRAGMA foreign_keys = ON")
    _ = oracle.verdict(on: "PRAGMA hard_heap_limit = 1")
    #expect(oracle.verdict(on: "SELECT 1") == .accepted(end: 8))
  }

  @Test func `a missing table doesn't prevent the verdict on a trigger`() {
    #expect(
      oracle.verdict(on: "CREATE TRIGGER r INSERT ON \"a b\" BEGIN SELECT 1; END")
        == .accepted(end: 52))
    #expect(
      oracle.verdict(on: "CREATE TRIGGER x.r INSTEAD OF INSERT ON x.v BEGIN SELECT 1; END FROM")
        == .refused(message: "near \"FROM\": syntax error", offset: 64))
    #expect(oracle.verdict(on: "ALTER TABLE x.t ADD a") == .accepted(end: 21))
    // The database is still empty.
    #expect(oracle.rows("SELECT name FROM sqlite_schema") == [])
  }

  @Test func `a semicolon inside a trigger isn't the end of an invalid statement`() {
    let text = "CREATE TRIGGER r INSERT ON t BEGIN SELECT 1 LIMIT 1 UNION SELECT 2; garbage"
    guard case .undecided = oracle.verdict(on: text) else {
      Issue.record("\(oracle.verdict(on: text))")
      return
    }
  }

  @Test func `the text ends at a NUL character`() {
    #expect(oracle.verdict(on: "SELECT 1\0 FROM FROM") == .accepted(end: 8))
    #expect(
      oracle.verdict(on: "SELECT\0 1") == .refused(message: "incomplete input", offset: 6))
    #expect(
      oracle.verdict(on: "SELECT a FROM t\0 FROM FROM")
        == .semanticError(message: "no such table: t", offset: nil, end: 15))
  }
}
