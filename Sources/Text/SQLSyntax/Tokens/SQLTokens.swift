import SQLLexer

/// The tokens of a text, as SQLite's lexer cuts them.
///
///     for token in SQLTokens("SELECT 1") where token.kind == .keyword { … }
///
/// The tokens cover the text without a gap: blanks, comments and what is no token are among them.
/// The lexer knows nothing of the grammar; WINDOW, OVER and FILTER are always keywords here.
public struct SQLTokens: Sequence, IteratorProtocol, Sendable {
  var lexer: Lexer

  /// Makes the tokens of `sql`.
  public init(_ sql: String, grammar: SQLGrammar = SQLGrammar()) {
    lexer = Lexer(sql, digitSeparators: grammar.digitSeparators)
  }

  /// Makes the tokens of bytes that need not be UTF-8.
  public init(bytes: [UInt8], grammar: SQLGrammar = SQLGrammar()) {
    lexer = Lexer(bytes: bytes, digitSeparators: grammar.digitSeparators)
  }

  /// The bytes of the text.
  public var bytes: ArraySlice<UInt8> { lexer.bytes }

  /// How many bytes the text has.
  public var utf8Count: Int { lexer.count }

  /// Where the next token begins.
  var position: Int {
    @inline(__always) get { lexer.position }
    @inline(__always) set { lexer.position = newValue }
  }

  /// The text of `token`, with replacement characters for what is not UTF-8.
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
  public mutating func nextSolid() -> SQLToken? {
    while let token = next() {
      if token.code != .blank, token.code != .comment { return token }
    }
    return nil
  }

  /// The next token; at the end of the text an empty one.
  @inline(__always)
  mutating func token() -> SQLToken {
    let start = lexer.position
    let code = lexer.next()
    return SQLToken(code, start, lexer.position)
  }
}
