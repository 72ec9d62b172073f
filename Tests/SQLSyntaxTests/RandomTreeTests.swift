import SQLSyntax
import SyntaxOracle
import Testing

/// Tests trees that are generated, not parsed.
@Suite struct RandomTreeTests {
  let judge: Judge

  init() throws {
    judge = try Judge()
    for sql in TreeSource.schema { #expect(judge.oracle.run(sql)) }
  }

  /// Returns one statement twice: with the necessary parentheses only, and with all possible ones.
  private func statements(_ seed: Int) -> (plain: SQLStatement, full: SQLStatement) {
    var short = TreeSource(seed: UInt64(seed))
    var long = TreeSource(seed: UInt64(seed), parenthesizes: true)
    return (short.statement(), long.statement())
  }

  @Test(arguments: 0..<4)
  func `a printed tree is accepted by SQLite and keeps its tree and meaning`(part: Int) {
    var differences = Differences()
    var compiled = 0
    for number in 0..<5_000 {
      let (plain, full) = statements(part * 5_000 + number)
      let (text, fullText) = (plain.printed(), full.printed())
      accept(text, &differences)
      accept(fullText, &differences)
      if Judge.embedsItsText(plain) { continue }
      switch judge.oracle.haveSameProgram(text, fullText) {
      case true?: compiled += 1
      case false?: differences.add("another program", text + "\n -> " + fullText)
      case nil: break
      }
      read(text, plain.printed(.indented), &differences)
      if let read = read(fullText, full.printed(.indented), &differences), read != full {
        differences.add("another tree", fullText)
      }
    }
    #expect(differences.count == 0, "\(differences)")
    #expect(compiled > 2_000, "\(compiled) of 5000 statements compile")
  }

  /// Records a difference if SQLite doesn't accept a text completely.
  private func accept(_ sql: String, _ differences: inout Differences) {
    switch judge.oracle.verdict(on: sql) {
    case .accepted(let end), .semanticError(_, _, let end):
      if end != sql.utf8.count { differences.add("ends too early", sql) }
    case .undecided(let message, _, _):
      // SQLite's parser stack, and rules for tables that the generator doesn't follow.
      let reasons = ["parser stack overflow", "conflicting ON CONFLICT clauses specified"]
      if !reasons.contains(message) { differences.add(message, sql) }
    case .refused(let message, _): differences.add(message, sql)
    }
  }

  /// Parses both printed forms of a tree and records differences.
  @discardableResult
  private func read(
    _ sql: String, _ indented: String, _ differences: inout Differences
  ) -> SQLStatement? {
    do {
      let tree = try SQLStatement(parsing: sql, grammar: judge.grammar)
      // The printer adds necessary parentheses, and the parser then keeps them.
      let again = tree.printed()
      if again != sql { differences.add("printed differently again", sql + "\n -> " + again) }
      if try SQLStatement(parsing: indented, grammar: judge.grammar) != tree {
        differences.add("another tree when indented", indented)
      }
      return tree
    } catch {
      differences.add("\(error)", sql)
      return nil
    }
  }
}
