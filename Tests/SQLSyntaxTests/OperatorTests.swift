import SQLSyntax
import SyntaxOracle
import Testing
import TestSupport

/// Tests random sequences of operands and operators, including very unusual ones.
@Suite struct OperatorTests {
  static let tokens = [
    "1", "a", "b", "'x'", "NULL", "(", ")", "-", "+", "~", "NOT", "*", "/", "%", "||", "->", "<<",
    "&", "|", "<", ">=", "=", "<>", "IS", "IS NOT", "IS NOT DISTINCT FROM", "AND", "OR", "ISNULL",
    "NOTNULL", "NOT NULL", "COLLATE nocase", "LIKE", "NOT LIKE", "GLOB", "ESCAPE", "BETWEEN",
    "NOT BETWEEN", "AND", "IN (1, 2)", "NOT IN (3)", "IN t", "IN main.t", "IN ()",
    "CASE WHEN 1 THEN 2 END", "CAST(a AS TEXT)", "f(1)",
  ]

  @Test(arguments: 0..<2)
  func `accepted expressions keep their tree and program when they are printed`(part: Int) throws {
    let judge = try Judge()
    for sql in TreeSource.schema { #expect(judge.oracle.run(sql)) }
    var random = SplitMix64(seed: UInt64(30 + part))
    var differences = Differences()
    var accepted = 0
    for _ in 0..<20_000 {
      // Mostly alternates operands and operators, so that many sequences are expressions.
      var words = ["SELECT"]
      var wantsOperand = true
      for _ in 0..<2 + random.next() % 9 {
        let operand = ["1", "a", "b", "'x'", "NULL", "- a", "NOT b", "~ 1", "(a)", "f(1)"]
        let any = Self.tokens[Int(random.next() % UInt64(Self.tokens.count))]
        words.append(
          wantsOperand && random.next() % 4 != 0 ? operand[Int(random.next() % 10)] : any)
        let last = words[words.count - 1]
        let ends = ["NULL", "ISNULL", "NOTNULL", ")", "t", "nocase"].contains(where: last.hasSuffix)
        wantsOperand = !ends && !operand.contains(last)
      }
      words.append("FROM w")
      let sql = words.joined(separator: " ")
      let text = Array(sql.utf8)
      if let difference = judge.difference(text) { differences.add(difference, sql) }
      guard let statement = try? SQLStatement(parsing: sql, grammar: judge.grammar) else {
        continue
      }
      accepted += 1
      if let difference = judge.printingFault(text) { differences.add(difference, sql) }
      if judge.oracle.haveSameProgram(sql, statement.printed()) == false {
        differences.add("another program", sql + "\n -> " + statement.printed())
      }
    }
    #expect(differences.count == 0, "\(differences)")
    #expect(accepted > 2_000, "\(accepted) of 20000")
  }
}
