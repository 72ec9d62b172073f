import SQLSyntax
import SyntaxOracle
import Testing
import TestSupport

/// Tests texts with several statements, and the kinds of statements.
@Suite struct ScriptTests {
  let judge: Judge

  init() throws { judge = try Judge() }

  private static let accepted = Texts.marked.filter { $0.refusal == nil }.map(\.sql)
    .filter { !$0.contains("not ended") }

  @Test func `a script is split where SQLite's statements end`() {
    var random = SplitMix64(seed: 7)
    var differences = Differences()
    for _ in 0..<600 {
      var script: [UInt8] = []
      for _ in 0..<2 + random.next() % 4 {
        script += Array(Self.accepted[Int(random.next() % UInt64(Self.accepted.count))].utf8)
        script += Array(
          ["\n;", "\n; ", "\n;;", "\n; -- a; b\n", "\n;/* ; */"][Int(random.next() % 5)].utf8)
      }
      var expected: [Int] = []
      var start = 0
      while start < script.count {
        let verdict = judge.oracle.verdict(on: script[start...])
        guard case .accepted(let end) = verdict else {
          guard case .semanticError(_, _, let end) = verdict else { break }
          expected.append(start + end)
          start += end
          continue
        }
        expected.append(start + end)
        start += end
      }
      // A rest with only blanks isn't a statement.
      let parts = SQLScript(bytes: script, grammar: judge.grammar).map(\.end)
      if !expected.starts(with: parts) || expected.count > parts.count + 1 {
        differences.add("\(parts) instead of \(expected)", script)
      }
    }
    #expect(differences.count == 0, "\(differences)")
  }

  @Test func `the kind from the first words equals the kind from the tree`() throws {
    for sql in Self.accepted {
      guard let statement = try SQLStatement.parseFirst(in: Array(sql.utf8)).statement else {
        continue
      }
      #expect(SQLKind(of: sql) == statement.kind, "\(sql)")
    }
  }

  @Test func `each part of a script is a statement`() throws {
    let script = SQLScript(
      """
      CREATE TABLE a (x); -- the first; one
      CREATE TRIGGER r AFTER INSERT ON a BEGIN SELECT ';'; SELECT CASE WHEN 1 THEN 2 END; END;
      CREATE VIRTUAL TABLE v USING m(a; b, (c; d)) ;; ;
      INSERT INTO a VALUES (';'), ("a;b"), ([;]); SELECT 1
      """)
    let texts = script.map { script.text(of: $0) }
    #expect(script.map(\.kind) == [.schema, .schema, .schema, .change, .query])
    #expect(script.map(\.hasSemicolon) == [true, true, true, true, false])
    for text in texts { #expect(throws: Never.self) { try SQLStatement(parsing: text) } }
  }

  @Test func `statements that differ only in values have the same fingerprint`() {
    var differences = Differences()
    for seed in 0..<1_500 {
      var source = TreeSource(seed: UInt64(seed))
      let statement = SQLStatement.select(source.select())
      var other = statement
      other.rewrite { part in
        guard case .expression(let value) = part else { return }
        switch value.node {
        case .literal(.integer): part = .expression(SQLExpression(.literal(.integer("4711"))))
        case .literal(.real): part = .expression(SQLExpression(.literal(.real("0.25"))))
        case .literal(.string): part = .expression(SQLExpression(.literal(.string("other"))))
        case .literal(.blob): part = .expression(SQLExpression(.literal(.blob("0102"))))
        default: break
        }
      }
      if statement.fingerprint != other.fingerprint {
        differences.add("another fingerprint", "\(statement.fingerprint)\n -> \(other.fingerprint)")
      }
    }
    #expect(differences.count == 0, "\(differences)")
    #expect(SQLFingerprint("SELECT a FROM t") != SQLFingerprint("SELECT b FROM t"))
    #expect(SQLFingerprint("SELECT a -1") != SQLFingerprint("SELECT a +1"))
  }

  @Test func `walking visits each part, and rewriting changes each part`() throws {
    var differences = Differences()
    for seed in 0..<1_500 {
      var source = TreeSource(seed: UInt64(seed))
      let statement = source.statement()
      var same = statement
      same.rewrite { _ in }
      if same != statement { differences.add("changed by nothing", statement.printed()) }
      var columns = 0
      statement.forEachPart { part in
        if case .expression(let value) = part, case .qualifiedColumn = value.node { columns += 1 }
      }
      var renamed = statement
      var rewritten = 0
      renamed.rewrite { part in
        guard case .expression(let value) = part, case .qualifiedColumn = value.node else { return }
        rewritten += 1
        part = .expression(SQLExpression(.column("zz_")))
      }
      if rewritten != columns { differences.add("\(rewritten) of \(columns)", statement.printed()) }
      let text = renamed.printed()
      let found = text.split(separator: "zz_", omittingEmptySubsequences: false).count - 1
      if found != columns { differences.add("\(found) printed of \(columns)", text) }
    }
    #expect(differences.count == 0, "\(differences)")
  }
}
