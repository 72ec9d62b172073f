import SQLSyntax
import SyntaxOracle
import Testing

/// Tests the parser and the printer with handwritten texts.
@Suite struct TextTests {
  let judge: Judge

  init() throws { judge = try Judge() }

  private static var all: [String] {
    (Texts.marked + Texts.bytes + Texts.semanticError.map(\.text)).map(\.sql)
  }

  @Test func `each text is accepted or rejected like in SQLite`() {
    var differences = Differences()
    for sql in Self.all {
      if let difference = judge.difference(Array(sql.utf8)) { differences.add(difference, sql) }
    }
    #expect(differences.count == 0, "\(differences)")
  }

  @Test func `each prefix of a text is accepted or rejected like in SQLite`() {
    var differences = Differences()
    for sql in Self.all where sql.utf8.count < 60 {
      let bytes = Array(sql.utf8)
      for count in 0..<bytes.count {
        if let difference = judge.difference(Array(bytes[..<count])) {
          differences.add(difference, Array(bytes[..<count]))
        }
      }
    }
    #expect(differences.count == 0, "\(differences)")
  }

  @Test func `an accepted text has the same tree after it is printed`() {
    var differences = Differences()
    for sql in Self.all {
      if let difference = judge.printingFault(Array(sql.utf8)) { differences.add(difference, sql) }
    }
    #expect(differences.count == 0, "\(differences)")
  }

  @Test func `SQLite compiles a printed text to the same program`() throws {
    for sql in TreeSource.schema { #expect(judge.oracle.run(sql)) }
    var differences = Differences()
    for sql in Self.all {
      if let printed = judge.printedWithOtherProgram(sql) {
        differences.add("other program", sql + " -> " + printed)
      }
    }
    #expect(differences.count == 0, "\(differences)")
  }

  @Test func `structural errors have SQLite's messages`() {
    let structural = [
      "unknown table option", "unknown join type", "a JOIN clause is required", "ORDER BY clause",
      "LIMIT clause", "duplicate WITH table", "syntax error after column name",
      "variable number must be", "unsupported frame", "qualified table names", "the INDEXED BY",
      "the NOT INDEXED", "cannot use RETURNING",
    ]
    var seen: Set<String> = []
    for (message, text) in Texts.semanticError {
      guard let start = structural.first(where: message.hasPrefix) else { continue }
      seen.insert(start)
      #expect(throws: SQLSyntaxError.self, "\(text.sql)") {
        try SQLStatement(parsing: text.sql, grammar: judge.grammar)
      }
    }
    #expect(seen == Set(structural))
  }
}
