import SQLSyntax
import SyntaxOracle
import Testing
import TestSupport

/// Tests arbitrary bytes, most of which aren't SQL.
@Suite struct AnyBytesTests {
  @Test func `arbitrary bytes are accepted or rejected like in SQLite, on a small stack`() throws {
    let differences = try onSmallStack {
      let judge = try Judge()
      var random = SplitMix64(seed: 4)
      var differences = Differences()
      let marks = Array("()+-*/%'\"`[]<>=!|&~.,;:@#$?0123456789eExX_ \t\n\u{B}".utf8)
      for number in 0..<20_000 {
        var text: [UInt8] = []
        if number % 2 == 0 { text += Array("SELECT ".utf8) }
        for _ in 0..<random.next() % 24 {
          let byte = UInt8(truncatingIfNeeded: random.next())
          switch number % 3 {
          case 0: text.append(byte)
          case 1: text.append(marks[Int(byte) % marks.count])
          default: text.append(byte % 3 == 0 ? byte : marks[Int(byte) % marks.count])
          }
        }
        if let difference = judge.difference(text) { differences.add(difference, text) }
        if let difference = judge.printingFault(text) { differences.add(difference, text) }
      }
      return differences
    }
    #expect(differences.count == 0, "\(differences)")
  }

  /// SQLite accepts the text in a module's parentheses if it consists of valid tokens and its
  /// parentheses balance.
  @Test func `the lexer accepts the tokens that SQLite accepts`() throws {
    let judge = try Judge()
    var random = SplitMix64(seed: 5)
    let bytes =
      Array("abexX019.'\"`[]-/*<>=!|&~,;:@#$?_() \n\u{B}".utf8) + [0xC3, 0xA9, 0xEF, 0xBB]
    var differences = Differences()
    for _ in 0..<20_000 {
      var text = Array("CREATE VIRTUAL TABLE v USING m(".utf8)
      for _ in 0..<1 + random.next() % 8 {
        text.append(bytes[Int(random.next() % UInt64(bytes.count))])
      }
      text += Array(")".utf8)
      if let difference = judge.difference(text) { differences.add(difference, text) }
    }
    #expect(differences.count == 0, "\(differences)")
  }

  @Test func `tokens cover a text without gaps`() throws {
    var mutations = Mutations(of: Texts.marked.map(\.sql), keywords: Oracle.keywords, seed: 6)
    for _ in 0..<5_000 {
      let text = mutations.next()
      var end = 0
      for token in SQLTokens(bytes: text) {
        #expect(token.range.lowerBound == end)
        #expect(token.range.upperBound > end)
        end = token.range.upperBound
      }
      #expect(end == text.count, "\(String(decoding: text, as: UTF8.self))")
    }
  }
}
