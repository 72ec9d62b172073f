import SQLLexer

/// A sequence of the statements in a text, split at their semicolons.
///
///     let script = SQLScript("CREATE TABLE a (x); INSERT INTO a VALUES (';');")
///     for part in script { print(part.kind, script.text(of: part)) }
///
/// Statements aren't parsed, but semicolons in strings, comments, triggers and module arguments
/// don't end a statement. An invalid statement ends at the next semicolon.
public struct SQLScript: Sequence, IteratorProtocol, Sendable {
  /// The position and kind of one statement of a script.
  public struct Part: Hashable, Sendable {
    /// The UTF-8 offsets from the first token of the statement to its semicolon, or to the end of
    /// the text if there is no semicolon.
    public let range: Range<Int>
    /// The UTF-8 offset after the semicolon, or the end of the text if there is no semicolon.
    public let end: Int
    /// The kind of the statement, determined by its first keywords.
    public let kind: SQLKind

    /// A Boolean value that indicates whether a semicolon ends the statement. If false, the
    /// statement is at the end of the text and may be incomplete.
    public var hasSemicolon: Bool { end > range.upperBound }
  }

  private var tokens: SQLTokens

  /// Creates the sequence of statements in a string.
  ///
  /// - Parameters:
  ///   - sql: The SQL text.
  ///   - grammar: The grammar of the linked SQLite library.
  public init(_ sql: String, grammar: SQLGrammar = SQLGrammar()) {
    tokens = SQLTokens(sql, grammar: grammar)
  }

  /// Creates the sequence of statements in bytes, which don't have to be valid UTF-8.
  ///
  /// - Parameters:
  ///   - bytes: The SQL text in UTF-8. A NUL ends it.
  ///   - grammar: The grammar of the linked SQLite library.
  public init(bytes: [UInt8], grammar: SQLGrammar = SQLGrammar()) {
    tokens = SQLTokens(bytes: bytes, grammar: grammar)
  }

  /// Returns the text of a statement without its semicolon.
  ///
  /// - Parameter part: A statement of this sequence.
  public func text(of part: Part) -> String { tokens.text(part.range) }

  /// Returns the next statement, or nil after the last one.
  ///
  /// - Complexity: O(*n*) in the length of the statement.
  public mutating func next() -> Part? {
    var first = tokens.significantToken()
    while first.code == .semicolon { first = tokens.significantToken() }
    guard first.code != .endOfText, first.code != .unread else { return nil }
    let (kind, isEnded) = skipStatement(first)
    let end = tokens.position
    return Part(
      range: first.range.lowerBound..<(isEnded ? end - 1 : end), end: end, kind: kind)
  }

  /// Advances past the semicolon of the statement that begins with `first`. Returns its kind and
  /// whether it has a semicolon.
  private mutating func skipStatement(_ first: SQLToken) -> (SQLKind, Bool) {
    switch first.code {
    case .with:
      let verb = skipCommonTables()
      let isEnded = verb.code == .semicolon || tokens.lexer.skipPastSemicolon()
      return (SQLKind(verb.code), isEnded)
    case .create: return (.schema, skipCreate())
    case .explain: return (.explanation, skipExplained())
    default: return (SQLKind(first.code), tokens.lexer.skipPastSemicolon())
    }
  }

  /// Advances past WITH and its queries. Returns the next token: the first statement keyword that
  /// follows a closing parenthesis, or the semicolon or end of the text if there is no such
  /// keyword.
  private mutating func skipCommonTables() -> SQLToken {
    var depth = 0
    var isAfterParenthesis = false
    while true {
      let token = tokens.significantToken()
      switch token.code {
      case .endOfText, .unread: return token
      case .semicolon where depth == 0: return token
      case .leftParenthesis: depth += 1
      case .rightParenthesis: depth -= 1
      default:
        if depth == 0, isAfterParenthesis, SQLKind(token.code) != .unknown { return token }
      }
      isAfterParenthesis = token.code == .rightParenthesis
    }
  }

  private mutating func skipExplained() -> Bool {
    let position = tokens.position
    var token = tokens.significantToken()
    if token.code == .query { token = tokens.significantToken() }
    if token.code == .plan { token = tokens.significantToken() }
    if token.code == .create { return skipCreate() }
    tokens.position = position
    return tokens.lexer.skipPastSemicolon()
  }

  private mutating func skipCreate() -> Bool {
    let position = tokens.position
    var token = tokens.significantToken()
    if token.code == .temp || token.code == .temporary { token = tokens.significantToken() }
    switch token.code {
    case .trigger: return skipTrigger()
    case .virtual: return skipVirtualTable()
    default:
      tokens.position = position
      return tokens.lexer.skipPastSemicolon()
    }
  }

  /// Advances past the semicolon that ends a trigger: the next one after an END that follows a
  /// semicolon. Returns whether there is one.
  private mutating func skipTrigger() -> Bool {
    repeat {
      guard tokens.lexer.skipPastSemicolon() else { return false }
    } while !takeEnd()
    return tokens.lexer.skipPastSemicolon()
  }

  private mutating func takeEnd() -> Bool {
    let position = tokens.position
    if tokens.significantToken().code == .end { return true }
    tokens.position = position
    return false
  }

  private mutating func skipVirtualTable() -> Bool {
    var depth = 0
    while true {
      switch tokens.significantToken().code {
      case .endOfText, .unread: return false
      case .leftParenthesis: depth += 1
      case .rightParenthesis: depth -= 1
      case .semicolon where depth <= 0: return true
      default: break
      }
    }
  }
}

extension SQLTokens {
  /// Returns the next token that is neither blank nor a comment. At the end of the text, returns an
  /// empty token.
  mutating func significantToken() -> SQLToken {
    while true {
      let token = token()
      if token.code != .blank, token.code != .comment { return token }
    }
  }
}
