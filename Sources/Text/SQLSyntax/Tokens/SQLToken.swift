import SQLLexer

/// A token of SQL text: a word, an operator or punctuation mark, a value, a comment or blanks.
public struct SQLToken: Hashable, Sendable {
  /// The kinds of tokens.
  public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
    /// Spaces, tabs and line breaks. A byte order mark is also blank.
    case blank
    /// A comment: `-- …` or `/* … */`.
    case comment
    /// A word that isn't a keyword, or a name in double quotes, back quotes or brackets.
    case identifier
    /// A keyword of SQLite's grammar. It may be used as a name.
    case keyword
    /// A string in single quotes.
    case string
    /// A blob literal, `x'…'`.
    case blob
    /// A number without a decimal point or exponent.
    case integer
    /// A number with a decimal point or an exponent.
    case real
    /// A parameter: `?`, `?1`, `:name`, `@name`, `$name`.
    case parameter
    /// A comma, a parenthesis, a dot or an operator.
    case mark
    /// A semicolon, which ends a statement.
    case semicolon
    /// Text that isn't a valid token, such as an unterminated string.
    case illegal
    /// A NUL and everything after it, which SQLite doesn't read.
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

  /// The UTF-8 offsets of the token in its text.
  public var range: Range<Int> { Int(start)..<Int(start) + Int(length) }

  /// What the token is, as SQLite's lexer classifies it without the grammar.
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

  /// The keyword in uppercase, or nil if the token isn't a keyword.
  public var keyword: String? { kind == .keyword ? code.keyword : nil }
}

extension SQLToken.Kind {
  /// Whether the token is a keyword or a name.
  var isWord: Bool { self == .identifier || self == .keyword }
}
