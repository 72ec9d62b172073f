import SQLLexer

/// A text of several statements, cut at their semicolons.
///
///     let script = SQLScript("CREATE TABLE a (x); INSERT INTO a VALUES (';');")
///     for part in script { print(part.kind, script.text(of: part)) }
///
/// The statements are not parsed: semicolons in texts, comments, triggers and the arguments of
/// modules end none. Where a statement is wrong, its part ends at the next semicolon.
public struct SQLScript: Sequence, IteratorProtocol, Sendable {
  /// One statement.
  public struct Part: Hashable, Sendable {
    /// Its bytes, from the first token up to the semicolon.
    public let range: Range<Int>
    /// The offset behind the semicolon.
    public let end: Int
    /// What it is for.
    public let kind: SQLKind

    /// Whether a semicolon ends it. Without one, at the end of the text, it may be incomplete.
    public var hasSemicolon: Bool { end > range.upperBound }
  }

  private var tokens: SQLTokens

  /// Makes the statements of `sql`.
  public init(_ sql: String, grammar: SQLGrammar = SQLGrammar()) {
    tokens = SQLTokens(sql, grammar: grammar)
  }

  /// Makes the statements of bytes that need not be UTF-8.
  public init(bytes: [UInt8], grammar: SQLGrammar = SQLGrammar()) {
    tokens = SQLTokens(bytes: bytes, grammar: grammar)
  }

  /// Returns the text of a statement, without its semicolon.
  public func text(of part: Part) -> String { tokens.text(part.range) }

  /// Returns the next statement, or nil behind the last one.
  ///
  /// - Complexity: O(n) in the bytes of the statement.
  public mutating func next() -> Part? {
    var first = tokens.solidToken()
    while first.code == .semicolon { first = tokens.solidToken() }
    guard first.code != .endOfText, first.code != .unread else { return nil }
    let (kind, isEnded) = skipStatement(first)
    let end = tokens.position
    return Part(
      range: first.range.lowerBound..<(isEnded ? end - 1 : end), end: end, kind: kind)
  }

  /// Goes behind the semicolon of the statement that begins with `first`; returns whether it has one.
  private mutating func skipStatement(_ first: SQLToken) -> (SQLKind, Bool) {
    switch first.code {
    case .with:
      let verb = skipCommonTables()
      let isEnded = verb.code == .semicolon || tokens.lexer.skipBehindSemicolon()
      return (SQLKind(verb.code), isEnded)
    case .create: return (.schema, skipCreate())
    case .explain: return (.explanation, skipExplained())
    default: return (SQLKind(first.code), tokens.lexer.skipBehindSemicolon())
    }
  }

  /// Goes up to the word behind WITH and its queries, which is the first one behind a parenthesis.
  private mutating func skipCommonTables() -> SQLToken {
    var depth = 0
    var isBehindParenthesis = false
    while true {
      let token = tokens.solidToken()
      switch token.code {
      case .endOfText, .unread: return token
      case .semicolon where depth == 0: return token
      case .leftParenthesis: depth += 1
      case .rightParenthesis: depth -= 1
      default:
        if depth == 0, isBehindParenthesis, SQLKind(token.code) != .unknown { return token }
      }
      isBehindParenthesis = token.code == .rightParenthesis
    }
  }

  private mutating func skipExplained() -> Bool {
    let position = tokens.position
    var token = tokens.solidToken()
    if token.code == .query { token = tokens.solidToken() }
    if token.code == .plan { token = tokens.solidToken() }
    if token.code == .create { return skipCreate() }
    tokens.position = position
    return tokens.lexer.skipBehindSemicolon()
  }

  private mutating func skipCreate() -> Bool {
    let position = tokens.position
    var token = tokens.solidToken()
    if token.code == .temp || token.code == .temporary { token = tokens.solidToken() }
    switch token.code {
    case .trigger: return skipTrigger()
    case .virtual: return skipVirtualTable()
    default:
      tokens.position = position
      return tokens.lexer.skipBehindSemicolon()
    }
  }

  /// A trigger ends at the semicolon behind the END that stands behind another semicolon.
  private mutating func skipTrigger() -> Bool {
    repeat {
      guard tokens.lexer.skipBehindSemicolon() else { return false }
    } while !takeEnd()
    return tokens.lexer.skipBehindSemicolon()
  }

  private mutating func takeEnd() -> Bool {
    let position = tokens.position
    if tokens.solidToken().code == .end { return true }
    tokens.position = position
    return false
  }

  private mutating func skipVirtualTable() -> Bool {
    var depth = 0
    while true {
      switch tokens.solidToken().code {
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
  /// The next token that is neither blank nor a comment; an empty one at the end of the text.
  mutating func solidToken() -> SQLToken {
    while true {
      let token = token()
      if token.code != .blank, token.code != .comment { return token }
    }
  }
}
