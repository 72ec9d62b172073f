import SQLLexer

/// An error without content. ``Parser/error`` stores the details, so that throwing costs no more
/// than returning.
struct ParsingFailure: Error {}

/// A parser for SQLite's grammar, by recursive descent for statements and clauses, and with an
/// operator stack for expressions.
///
/// It checks each token before consuming it. An error therefore names the first token that can't
/// continue the statement, which is also where SQLite's own parser stops.
struct Parser {
  var tokens: SQLTokens
  let grammar: SQLGrammar
  /// The current token, which the parser has read but not yet consumed.
  var token = SQLToken(.endOfText, 0, 0)
  /// The UTF-8 offset after the last consumed token.
  var previousEnd = 0
  var error: SQLSyntaxError?
  /// An error in a complete clause, which is thrown when the current token is consumed; nil if
  /// there is none. If the grammar doesn't allow the current token, a syntax error is thrown
  /// instead, as in SQLite.
  var pending: SQLSyntaxError?
  /// The nesting depth of the grammar rule that is being parsed, measured in entries on the stack
  /// of SQLite's parser.
  var level = 0
  /// The height of the last parsed expression, that is, the number of levels of its tree.
  var height = 0
  /// The height of the tallest expression tree in the current query, which becomes the height of
  /// the query itself.
  var tallest = 0
  /// The operators and parentheses with a right operand that isn't parsed yet.
  var stack: [PendingOperator] = []
  /// Whether to store the source text of result columns. It is true for the query of CREATE TABLE AS
  /// or of a view without column names, because the texts become column names.
  var storesColumnTexts = false
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

  /// Returns the result of `rule`. If `rule` fails, throws the error that the parser recorded.
  mutating func throwingRecordedError<Result>(
    _ rule: (inout Parser) throws(ParsingFailure) -> Result
  ) throws(SQLSyntaxError) -> Result {
    do {
      return try rule(&self)
    } catch {
      throw self.error ?? SQLSyntaxError(.syntax, "syntax error", offset: 0, length: 0)
    }
  }

  // MARK: Tokens

  /// Consumes the current token and reads the next one.
  mutating func advance() throws(ParsingFailure) {
    if pending != nil { try throwPending() }
    let last = token.code
    previousEnd = Int(token.start &+ token.length)
    try read(after: last)
  }

  /// Reads the next token that is neither blank nor a comment and makes it the current token.
  /// `last` is the code of the previous one. Throws if the token is illegal.
  mutating func read(after last: SQLToken.Code) throws(ParsingFailure) {
    repeat { token = tokens.token() } while token.code == .blank || token.code == .comment
    if token.code.rawValue <= SQLToken.Code.illegal.rawValue {
      if token.code == .illegal { try throwUnrecognizedToken() }
      token = SQLToken(.endOfText, Int(token.start), Int(token.start))
    } else if token.code.rawValue >= SQLToken.Code.window.rawValue,
      token.code.rawValue <= SQLToken.Code.within.rawValue
    {
      token = word(token, after: last)
    }
  }

  /// Returns WINDOW, OVER or FILTER as a keyword if the adjacent tokens require it, and as an
  /// identifier otherwise.
  private func word(_ word: SQLToken, after last: SQLToken.Code) -> SQLToken {
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

  /// Consumes the current token if it is `code`, and returns whether it was.
  @inline(__always)
  mutating func take(_ code: SQLToken.Code) throws(ParsingFailure) -> Bool {
    guard token.code == code else { return false }
    try advance()
    return true
  }

  /// Consumes the current token, and throws if it isn't `code`.
  @inline(__always)
  mutating func expect(_ code: SQLToken.Code) throws(ParsingFailure) {
    guard token.code == code else { try throwSyntaxError() }
    try advance()
  }

  var start: Int { Int(token.start) }

  /// Returns the span from `start` to the end of the last consumed token.
  func span(from start: Int) -> SQLSpan { SQLSpan(start..<max(start, previousEnd)) }

  // MARK: Errors

  /// Throws a syntax error at the current token.
  @inline(never)
  mutating func throwSyntaxError() throws(ParsingFailure) -> Never {
    if token.code == .endOfText {
      try fail(SQLSyntaxError(.incomplete, "incomplete input", offset: start, length: 0))
    }
    try throwSyntaxError(token)
  }

  @inline(never)
  mutating func throwSyntaxError(_ token: SQLToken) throws(ParsingFailure) -> Never {
    try fail(
      SQLSyntaxError(
        .syntax, "near \"\(tokens.text(of: token))\": syntax error",
        offset: token.range.lowerBound, length: token.range.count))
  }

  @inline(never)
  private mutating func throwUnrecognizedToken() throws(ParsingFailure) -> Never {
    try fail(
      SQLSyntaxError(
        .unrecognizedToken, "unrecognized token: \"\(tokens.text(of: token))\"",
        offset: token.range.lowerBound, length: token.range.count))
  }

  @inline(never)
  mutating func fail(_ error: SQLSyntaxError) throws(ParsingFailure) -> Never {
    self.error = error
    throw ParsingFailure()
  }

  /// Throws the pending error of a complete clause, if there is one.
  @inline(never)
  mutating func throwPending() throws(ParsingFailure) {
    if let pending { try fail(pending) }
  }

  /// Records an error in a complete clause. The parser throws it when it consumes the current
  /// token, or throws a syntax error instead if the grammar doesn't allow this token.
  ///
  /// If two such errors occur before the same token, the later one is thrown, as in SQLite.
  ///
  /// - Parameters:
  ///   - message: The message of the error.
  ///   - range: The range of the clause in the text, as UTF-8 offsets.
  ///   - kind: The kind of the error.
  @inline(never)
  mutating func recordError(
    _ message: String, _ range: Range<Int>, _ kind: SQLSyntaxError.Kind = .structure
  ) {
    pending = SQLSyntaxError(kind, message, offset: range.lowerBound, length: range.count)
  }

  /// Increases `level` by `levels`, and throws if the parser stack would then exceed its limit.
  /// After the rule, the caller must decrease `level` again.
  @inline(__always)
  mutating func enter(_ levels: Int) throws(ParsingFailure) {
    level += levels
    if level + stack.count > Parser.maximumLevel { try throwTooDeep() }
  }

  @inline(never)
  mutating func throwTooDeep() throws(ParsingFailure) -> Never {
    try fail(
      SQLSyntaxError(
        .tooDeep, "parser stack overflow", offset: start, length: token.range.count))
  }

  @inline(never)
  mutating func throwTooHigh() throws(ParsingFailure) -> Never {
    try fail(
      SQLSyntaxError(
        .tooDeep, "Expression tree is too large (maximum depth \(Parser.maximumHeight))",
        offset: start, length: token.range.count))
  }
}

extension SQLTokens {
  /// Advances past the next token that is neither blank nor a comment, and returns its code, or
  /// `.endOfText` if there is none.
  mutating func nextCode() -> SQLToken.Code {
    nextSignificant()?.code ?? .endOfText
  }
}
