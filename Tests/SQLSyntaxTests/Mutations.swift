import TestSupport

/// A generator of texts that are almost statements: it removes, doubles, swaps, inserts and
/// replaces tokens.
struct Mutations {
  private var random: SplitMix64
  private let statements: [[[UInt8]]]
  private let vocabulary: [[UInt8]]
  /// Replacements for words. The replacements for values and operators follow.
  private let names = ["a", "t", "abort", "left", "\"b\"", "[d]", "window", "key", "x.y", "'c'"]
    .map { Array($0.utf8) }
  private let values = [
    "1", "2.5", "x'00'", "NULL", "?1", ":p", "(1)", "'c'", "a", "f(1)", "(a, b)",
  ]
  .map { Array($0.utf8) }
  private let marks = [
    "+", "-", "*", "||", "->", "=", "<", "AND", "IS NOT", ",", "LIKE", "COLLATE",
  ]
  .map { Array($0.utf8) }

  init(of texts: [String], keywords: [String], seed: UInt64) {
    random = SplitMix64(seed: seed)
    statements = texts.map { Self.tokens(Array($0.utf8)) }.filter { !$0.isEmpty }
    let others = [
      "a", "t", "main", "\"b\"", "'c'", "[d]", "`e`", "1", "2.5", "0x1F", "x'00'", "?", "?3", ":p",
      "(", ")", "(", ")", ",", ",", ".", ".", ";", "*", "+", "-", "/", "%", "||", "->", "->>", "=",
      "==", "<>", "!=", "<", "<=", ">", ">=", "<<", ">>", "&", "|", "~", "--", "/*", "*/", "'",
      "\"", "[", "]", "#1", "1a", "$a::b(c)", "\u{B}", "é", "rowid", "strict", "_", "{", "!", "@",
    ]
    vocabulary = (keywords + others).map { Array($0.utf8) }
  }

  /// Returns the next text.
  mutating func next() -> [UInt8] {
    var tokens = statements[below(statements.count)]
    for _ in 0...[0, 0, 0, 0, 1, 2][below(6)] { mutate(&tokens) }
    var text: [UInt8] = []
    // Mostly separates the tokens, because adjacent ones may become other tokens.
    let apart = below(8) != 0
    for token in tokens {
      if apart || below(3) != 0 { text.append(0x20) }
      text += token
    }
    return text
  }

  private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  private mutating func mutate(_ tokens: inout [[UInt8]]) {
    guard !tokens.isEmpty else { return }
    let place = below(tokens.count)
    switch below(9) {
    case 5, 6, 7: tokens[place] = sibling(of: tokens[place])
    case 0: tokens.remove(at: place)
    case 1: tokens.insert(tokens[place], at: place)
    case 2: tokens.swapAt(place, below(tokens.count))
    case 3: tokens.insert(vocabulary[below(vocabulary.count)], at: place)
    case 4: tokens[place] = vocabulary[below(vocabulary.count)]
    default:
      // Inserts tokens of another statement.
      let other = statements[below(statements.count)]
      let start = below(other.count)
      let end = min(start + 1 + below(4), other.count)
      tokens.insert(contentsOf: other[start..<end], at: place)
    }
  }

  /// Returns a token that is often valid in the same place.
  private mutating func sibling(of token: [UInt8]) -> [UInt8] {
    guard let first = token.first else { return token }
    let kind =
      (0x30...0x39).contains(first) || first == 0x27 ? values : Self.isWord(first) ? names : marks
    return kind[below(kind.count)]
  }

  /// Splits a text into words, quoted strings and single characters. They needn't be SQLite's
  /// tokens.
  private static func tokens(_ text: [UInt8]) -> [[UInt8]] {
    var tokens: [[UInt8]] = []
    var position = 0
    while position < text.count {
      let start = position
      let byte = text[position]
      position += 1
      if byte == 0x20 || byte == 0x0A { continue }
      if isWord(byte) {
        while position < text.count, isWord(text[position]) { position += 1 }
      } else if byte == 0x27 || byte == 0x22 || byte == 0x60 || byte == 0x5B {
        let end: UInt8 = byte == 0x5B ? 0x5D : byte
        while position < text.count, text[position] != end { position += 1 }
        position = min(position + 1, text.count)
      }
      tokens.append(Array(text[start..<position]))
    }
    return tokens
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    byte >= 0x80 || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
      || (0x61...0x7A).contains(byte) || byte == 0x5F || byte == 0x2E
  }
}
