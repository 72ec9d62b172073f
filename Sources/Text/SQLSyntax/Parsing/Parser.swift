import SQLLexer

/// Stands for the error that ``Parser/error`` holds: throwing it costs no more than a return.
struct Refusal: Error {}

/// A parser by descent: one method for each rule of SQLite's grammar.
///
/// Every token is checked before it is taken, so that a refusal names the token at which no
/// statement could go on, which is also where SQLite's own parser stops.
struct Parser {
  var tokens: SQLTokens
  let grammar: SQLGrammar
  /// The token that is looked at.
  var token = SQLToken(.endOfText, 0, 0)
  /// The end of the token before it.
  var previousEnd = 0
  var error: SQLSyntaxError?
  /// An error in the meaning of a clause, thrown when the token at `token` is taken: a syntax error
  /// at that token is the one that SQLite tells.
  var pending: SQLSyntaxError?
  /// How deep the rule stands in others, counted as places on the stack of SQLite's parser.
  var level = 0
  /// The height of the expression read last.
  var height = 0
  /// The height of the tallest expression of the query that is read.
  var tallest = 0
  /// The operators and parentheses that wait for their right side.
  var stack: [Waiting] = []
  /// Whether the texts of result columns are kept, since they name columns of a view or a table.
  var keepsColumnTexts = false
  var isInTrigger = false

  static let maximumLevel = 100
  static let maximumHeight = 1000

  init(
    _ tokens: SQLTokens, from offset: Int = 0, _ grammar: SQLGrammar
  ) throws(SQLSyntaxError) {
    guard tokens.utf8Count <= 1_000_000_000 else {
      throw SQLSyntaxError(.tooLong, "string or blob too big", offset: 0, length: 0)
    }
    self.tokens = tokens
    self.grammar = grammar
    self.tokens.position = min(max(offset, 0), tokens.utf8Count)
    previousEnd = self.tokens.position
  }

  /// Runs `rule` and throws the error that it left.
  mutating func reporting<Result>(
    _ rule: (inout Parser) throws(Refusal) -> Result
  ) throws(SQLSyntaxError) -> Result {
    do {
      return try rule(&self)
    } catch {
      throw self.error ?? SQLSyntaxError(.syntax, "syntax error", offset: 0, length: 0)
    }
  }

  // MARK: Tokens

  /// Takes the token that is looked at and looks at the next one.
  mutating func advance() throws(Refusal) {
    if pending != nil { try throwPending() }
    let last = token.code
    previousEnd = Int(token.start &+ token.length)
    try read(behind: last)
  }

  /// Looks at the next token behind `position`.
  mutating func read(behind last: SQLToken.Code) throws(Refusal) {
    repeat { token = tokens.token() } while token.code == .blank || token.code == .comment
    if token.code.rawValue <= SQLToken.Code.illegal.rawValue {
      if token.code == .illegal { try refuseToken() }
      token = SQLToken(.endOfText, Int(token.start), Int(token.start))
    } else if token.code.rawValue >= SQLToken.Code.window.rawValue,
      token.code.rawValue <= SQLToken.Code.within.rawValue
    {
      token = word(token, behind: last)
    }
  }

  /// WINDOW, OVER and FILTER are keywords only where their neighbours say so.
  private func word(_ word: SQLToken, behind last: SQLToken.Code) -> SQLToken {
    var isKeyword = true
    switch word.code {
    case .window:
      var ahead = tokens
      isKeyword = Parser.nextIsName(&ahead) && ahead.nextCode() == .as
    case .over:
      var ahead = tokens
      isKeyword =
        last == .rightParenthesis
        && (Parser.next(&ahead, is: .leftParenthesis) || Parser.nextIsName(&ahead))
    case .filter:
      var ahead = tokens
      isKeyword = last == .rightParenthesis && ahead.nextCode() == .leftParenthesis
    default: break
    }
    return isKeyword ? word : SQLToken(.identifier, word.range.lowerBound, word.range.upperBound)
  }

  private static func next(_ ahead: inout SQLTokens, is code: SQLToken.Code) -> Bool {
    let position = ahead.position
    if ahead.nextCode() == code { return true }
    ahead.position = position
    return false
  }

  private static func nextIsName(_ ahead: inout SQLTokens) -> Bool {
    let code = ahead.nextCode()
    return code.isIdentifier || code.isJoinWord || code == .string || code == .window
      || code == .over
  }

  /// Takes the token if it is `code`.
  @inline(__always)
  mutating func take(_ code: SQLToken.Code) throws(Refusal) -> Bool {
    guard token.code == code else { return false }
    try advance()
    return true
  }

  /// Takes the token, which must be `code`.
  @inline(__always)
  mutating func expect(_ code: SQLToken.Code) throws(Refusal) {
    guard token.code == code else { try refuse() }
    try advance()
  }

  var start: Int { Int(token.start) }

  /// The span from `start` to the last token that was taken.
  func span(from start: Int) -> SQLSpan { SQLSpan(start..<max(start, previousEnd)) }

  // MARK: Errors

  /// Refuses the token that is looked at.
  @inline(never)
  mutating func refuse() throws(Refusal) -> Never {
    if token.code == .endOfText {
      try fail(SQLSyntaxError(.incomplete, "incomplete input", offset: start, length: 0))
    }
    try refuse(token)
  }

  @inline(never)
  mutating func refuse(_ token: SQLToken) throws(Refusal) -> Never {
    try fail(
      SQLSyntaxError(
        .syntax, "near \"\(tokens.text(of: token))\": syntax error",
        offset: token.range.lowerBound, length: token.range.count))
  }

  @inline(never)
  private mutating func refuseToken() throws(Refusal) -> Never {
    try fail(
      SQLSyntaxError(
        .unrecognizedToken, "unrecognized token: \"\(tokens.text(of: token))\"",
        offset: token.range.lowerBound, length: token.range.count))
  }

  @inline(never)
  mutating func fail(_ error: SQLSyntaxError) throws(Refusal) -> Never {
    self.error = error
    throw Refusal()
  }

  /// Throws the error of a clause that is complete.
  @inline(never)
  mutating func throwPending() throws(Refusal) {
    if let pending { try fail(pending) }
  }

  /// Notes that the clause from `range` on is wrong, unless the next token is.
  ///
  /// Of two such errors before one token the later one counts, as SQLite's message does.
  @inline(never)
  mutating func object(
    _ message: String, _ range: Range<Int>, _ kind: SQLSyntaxError.Kind = .structure
  ) {
    pending = SQLSyntaxError(kind, message, offset: range.lowerBound, length: range.count)
  }

  /// Counts `levels` more, which the caller takes off behind the rule.
  @inline(__always)
  mutating func enter(_ levels: Int) throws(Refusal) {
    level += levels
    if level + stack.count > Parser.maximumLevel { try refuseDepth() }
  }

  @inline(never)
  mutating func refuseDepth() throws(Refusal) -> Never {
    try fail(
      SQLSyntaxError(
        .tooDeep, "parser stack overflow", offset: start, length: token.range.count))
  }

  @inline(never)
  mutating func refuseHeight() throws(Refusal) -> Never {
    try fail(
      SQLSyntaxError(
        .tooDeep, "Expression tree is too large (maximum depth \(Parser.maximumHeight))",
        offset: start, length: token.range.count))
  }
}

extension SQLTokens {
  /// The code of the next token that is neither blank nor a comment.
  mutating func nextCode() -> SQLToken.Code {
    nextSolid()?.code ?? .endOfText
  }
}
