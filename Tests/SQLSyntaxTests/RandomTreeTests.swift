import SQLSyntax
import SyntaxOracle
import Testing

/// Trees that are made, not read.
@Suite(.enabled(if: parserIsThere)) struct RandomTreeTests {
  @Test(arguments: 0..<4)
  func `a tree is printed, accepted, read as the same tree, and means the same`(part: Int) throws {
    let judge = try Judge()
    for sql in TreeSource.schema { #expect(judge.oracle.run(sql)) }
    var differences = Differences()
    var compiled = 0
    for number in 0..<5_000 {
      let seed = UInt64(part * 5_000 + number)
      // One statement twice: with the parentheses that it needs, and with all that it can have.
      var short = TreeSource(seed: seed)
      var long = TreeSource(seed: seed, parenthesizes: true)
      let (plain, full) = (short.statement(), long.statement())
      let (text, fullText) = (plain.printed(), full.printed())
      for (sql, tree) in [(text, plain), (fullText, full)] {
        if let difference = judge.difference(Array(sql.utf8)) {
          differences.add(difference, sql)
          continue
        }
        guard let read = try? SQLStatement(parsing: sql, grammar: judge.grammar) else {
          differences.add("refused", sql)
          continue
        }
        // The printer adds parentheses where the tree has none, and they are read.
        let isEqual = tree == full ? read == tree : read.printed() == sql
        if !isEqual { differences.add("another tree", sql + "\n -> " + read.printed()) }
        let indented = tree.printed(.indented)
        guard (try? SQLStatement(parsing: indented, grammar: judge.grammar)) == read else {
          differences.add("another tree when indented", indented)
          continue
        }
      }
      if case .explain = plain { continue }
      switch judge.oracle.haveOneProgram(text, fullText) {
      case true?: compiled += 1
      case false?: differences.add("another program", text + "\n -> " + fullText)
      case nil: break
      }
    }
    #expect(differences.count == 0, "\(differences)")
    #expect(compiled > 2_000, "\(compiled) of 5000 statements compile")
  }
}
