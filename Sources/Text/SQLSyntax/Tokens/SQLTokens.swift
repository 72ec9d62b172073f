import SQLLexer

/// A sequence of the tokens in a text, the same ones that SQLite's lexer produces.
///
///     for token in SQLTokens("SELECT 1") where token.kind == .keyword { … }
///
/// The tokens cover the whole text, including blanks, comments and invalid text. The lexer doesn't
/// use the grammar: WINDOW, OVER and FILTER are always keywords.
public struct SQLTokens: Sequence, IteratorProtocol, Sendable {
  var lexer: Lexer

  /// Creates the sequence of tokens in a string.
  ///
  /// - Parameters:
  ///   - sql: The SQL text.
  ///   - grammar: The grammar of the linked SQLite library.
  public init(_ sql: String, grammar: SQLGrammar = SQLGrammar()) {
    lexer = Lexer(sql, digitSeparators: grammar.digitSeparators)
  }

  /// Creates the sequence of tokens in bytes, which don't have to be valid UTF-8.
  ///
  /// - Parameters:
  ///   - bytes: The SQL text in UTF-8. SQLite ignores a NUL and everything after it, so these bytes
  ///     are one token of the kind ``SQLToken/Kind/unread``.
  ///   - grammar: The grammar of the linked SQLite library.
  public init(bytes: [UInt8], grammar: SQLGrammar = SQLGrammar()) {
    lexer = Lexer(bytes: bytes, digitSeparators: grammar.digitSeparators)
  }

  /// The bytes of the text, to which the ranges of the tokens refer.
  public var bytes: ArraySlice<UInt8> { lexer.bytes }

  /// The number of bytes in the text.
  public var utf8Count: Int { lexer.count }

  /// The UTF-8 offset of the next token.
  var position: Int {
    @inline(__always) get { lexer.position }
    @inline(__always) set { lexer.position = newValue }
  }

  /// Returns the text of a token, with replacement characters for invalid UTF-8.
  ///
  /// - Parameter token: A token of this sequence.
  public func text(of token: SQLToken) -> String { text(token.range) }

  func text(_ range: Range<Int>) -> String { lexer.text(range) }

  @inline(__always)
  subscript(_ offset: Int) -> UInt8 { lexer[offset] }

  /// Returns the next token, or nil at the end of the text.
  public mutating func next() -> SQLToken? {
    guard position < lexer.count else { return nil }
    return token()
  }

  /// Returns the next token that is neither blank nor a comment, or nil at the end of the text.
  public mutating func nextSignificant() -> SQLToken? {
    while let token = next() {
      if token.code != .blank, token.code != .comment { return token }
    }
    return nil
  }

  /// Returns the next token. At the end of the text, returns an empty token.
  @inline(__always)
  mutating func token() -> SQLToken {
    let start = lexer.position
    let code = lexer.next()
    return SQLToken(code, start, lexer.position)
  }
}
