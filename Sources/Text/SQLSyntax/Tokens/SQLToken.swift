import SQLLexer

/// One token of a text: a word, a mark, a value, a comment or blanks.
public struct SQLToken: Hashable, Sendable {
  /// The kinds of tokens.
  public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
    /// Blanks and line ends; a byte order mark is a blank too.
    case blank
    /// `-- …` or `/* … */`.
    case comment
    /// A word that is no keyword, or a name in double quotes, back quotes or brackets.
    case identifier
    /// One of the words that SQLite's grammar knows, though it may be used as a name.
    case keyword
    /// A text in single quotes.
    case string
    /// `x'…'`.
    case blob
    /// A number without a fraction.
    case integer
    /// A number with a point or an exponent.
    case real
    /// A placeholder: `?`, `?1`, `:name`, `@name`, `$name`.
    case parameter
    /// A comma, a parenthesis, a point, an operator.
    case mark
    /// The end of a statement.
    case semicolon
    /// What is no token, such as a text without its end.
    case illegal
    /// A NUL and all behind it, which SQLite does not read.
    case unread
  }

  typealias Code = TokenCode

  let code: Code
  let start: UInt32
  let length: UInt32

  init(_ code: Code, _ start: Int, _ end: Int) {
    self.code = code
    self.start = UInt32(truncatingIfNeeded: start)
    self.length = UInt32(truncatingIfNeeded: end - start)
  }

  /// The offsets of its bytes in the text.
  public var range: Range<Int> { Int(start)..<Int(start) + Int(length) }

  /// What the token is.
  public var kind: Kind {
    switch code {
    case .blank, .endOfText: .blank
    case .comment: .comment
    case .unread: .unread
    case .illegal: .illegal
    case .semicolon: .semicolon
    case .integer: .integer
    case .real: .real
    case .blob: .blob
    case .parameter: .parameter
    case .string: .string
    case .identifier: .identifier
    default: code.isWord ? .keyword : .mark
    }
  }

  /// The keyword in capitals, if the token is one.
  public var keyword: String? { kind == .keyword ? code.keyword : nil }
}

extension SQLToken.Kind {
  /// Whether the token is a keyword or a name.
  var isWord: Bool { self == .identifier || self == .keyword }
}
