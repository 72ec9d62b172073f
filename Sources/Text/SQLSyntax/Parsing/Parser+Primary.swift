import SQLLexer

extension Parser {
  /// Parses an expression that isn't an operator: a value, a column, a call, CASE, CAST, EXISTS or
  /// RAISE.
  mutating func parsePrimary() throws(ParsingFailure) -> SQLExpression {
    height = 1
    switch token.code {
    case .integer, .real: return try parseNumber()
    case .string: return try parseText()
    case .blob: return try parseBlob()
    case .parameter: return try parseParameter()
    case .null: return try parseKeywordValue(.null)
    case .currentTime: return try parseKeywordValue(.currentTime)
    case .currentDate: return try parseKeywordValue(.currentDate)
    case .currentTimestamp: return try parseKeywordValue(.currentTimestamp)
    case .case: return try parseCase()
    case .cast: return try parseCast()
    case .exists: return try parseExists()
    case .raise: return try parseRaise()
    default:
      guard token.code.isIdentifier || token.code.isJoinWord || token.code == .indexed else {
        try throwSyntaxError()
      }
      let code = token.code
      let name = takeName()
      try advance()
      return try parseAfterName(name, code)
    }
  }

  /// Returns the current token as a name. The caller consumes the token.
  @inline(__always)
  func takeName() -> SQLName { tokens.name(token) }

  /// Parses the rest of an expression that begins with `name`: the arguments of a call, the rest of
  /// a qualified column, or nothing if the name is the whole expression. `code` is the code of the
  /// name's token.
  mutating func parseAfterName(
    _ name: SQLName, _ code: SQLToken.Code
  ) throws(ParsingFailure) -> SQLExpression {
    switch token.code {
    case .dot:
      try advance()
      return try parseQualified(name)
    case .leftParenthesis:
      guard code != .string, !code.isJoinWord || grammar.joinWordsNameFunctions else {
        try throwSyntaxError()
      }
      return try parseCall(name)
    default: return SQLExpression(.column(name), span: name.span)
    }
  }

  /// Parses the rest of a qualified column after `name.`.
  mutating func parseQualified(_ name: SQLName) throws(ParsingFailure) -> SQLExpression {
    let second = try parseName()
    guard token.code == .dot else {
      return SQLExpression(
        .qualifiedColumn(schema: nil, table: name, column: second),
        span: span(from: name.span.range.lowerBound))
    }
    try advance()
    let third = try parseName()
    return SQLExpression(
      .qualifiedColumn(schema: name, table: second, column: third),
      span: span(from: name.span.range.lowerBound))
  }

  // MARK: Values

  @inline(never)
  private mutating func parseNumber() throws(ParsingFailure) -> SQLExpression {
    let token = token
    let text = tokens.text(of: token)
    try advance()
    if grammar.digitSeparators, !hasValidSeparators(token.range) {
      recordError("unrecognized token: \"\(text)\"", token.range, .unrecognizedToken)
    }
    return SQLExpression(
      .literal(token.code == .integer ? .integer(text) : .real(text)),
      span: SQLSpan(token.range))
  }

  private func hasValidSeparators(_ range: Range<Int>) -> Bool {
    let isHex = tokens[range.lowerBound + 1] | 0x20 == UInt8(ascii: "x")
    for offset in range where tokens[offset] == UInt8(ascii: "_") {
      let before = tokens[offset - 1]
      let after = tokens[offset + 1]
      guard isHex ? isHexDigit(before) && isHexDigit(after) : isDigit(before) && isDigit(after)
      else { return false }
    }
    return true
  }

  @inline(never)
  private mutating func parseText() throws(ParsingFailure) -> SQLExpression {
    let name = takeName()
    try advance()
    if token.code == .dot {
      try advance()
      return try parseQualified(name)
    }
    return SQLExpression(.literal(.string(name.text)), span: name.span)
  }

  @inline(never)
  private mutating func parseBlob() throws(ParsingFailure) -> SQLExpression {
    let range = token.range
    let digits = tokens.text((range.lowerBound + 2)..<(range.upperBound - 1))
    try advance()
    return SQLExpression(.literal(.blob(digits)), span: SQLSpan(range))
  }

  @inline(never)
  private mutating func parseKeywordValue(
    _ value: SQLLiteral
  ) throws(ParsingFailure) -> SQLExpression {
    let span = SQLSpan(token.range)
    try advance()
    return SQLExpression(.literal(value), span: span)
  }

  @inline(never)
  private mutating func parseParameter() throws(ParsingFailure) -> SQLExpression {
    let token = token
    let text = tokens.text(of: token)
    try advance()
    let range = token.range
    if tokens[range.lowerBound] == UInt8(ascii: "#"), isDigit(tokens[range.lowerBound + 1]) {
      recordError("near \"\(text)\": syntax error", range, .syntax)
    }
    if tokens[range.lowerBound] == UInt8(ascii: "?"), range.count > 1 {
      let number = Int(text.dropFirst()) ?? .max
      if number < 1 || number > grammar.maximumParameterNumber {
        recordError(
          "variable number must be between ?1 and ?\(grammar.maximumParameterNumber)", range)
      }
    }
    return SQLExpression(.parameter(text), span: SQLSpan(range))
  }

  // MARK: Expressions that begin with a keyword

  @inline(never)
  private mutating func parseCase() throws(ParsingFailure) -> SQLExpression {
    let start = start
    try advance()
    var height = 0
    var base: SQLExpression?
    if token.code != .when { base = try parsePart(1, &height) }
    var branches: [SQLCase.Branch] = []
    repeat {
      try expect(.when)
      let condition = try parsePart(3, &height)
      try expect(.then)
      let result = try parsePart(5, &height)
      branches.append(SQLCase.Branch(when: condition, then: result))
    } while token.code == .when
    var otherwise: SQLExpression?
    if try take(.else) { otherwise = try parsePart(4, &height) }
    try expect(.end)
    self.height = height
    try increaseHeight()
    return SQLExpression(
      .case(SQLCase(base, branches: branches, otherwise: otherwise)), span: span(from: start))
  }

  /// Parses a nested expression in a grammar rule that is `levels` deeper than the current one.
  /// Increases `height` to the height of the expression if that is greater.
  private mutating func parsePart(
    _ levels: Int, _ height: inout Int
  ) throws(ParsingFailure) -> SQLExpression {
    try enter(levels)
    let part = try parseExpression()
    level -= levels
    height = max(height, self.height)
    return part
  }

  @inline(never)
  private mutating func parseCast() throws(ParsingFailure) -> SQLExpression {
    let start = start
    try advance()
    try expect(.leftParenthesis)
    var height = 0
    let value = try parsePart(2, &height)
    try expect(.as)
    let type = try parseTypeName() ?? SQLTypeName("")
    try expect(.rightParenthesis)
    try increaseHeight()
    return SQLExpression(.cast(value, type), span: span(from: start))
  }

  @inline(never)
  private mutating func parseExists() throws(ParsingFailure) -> SQLExpression {
    let start = start
    try advance()
    try expect(.leftParenthesis)
    try enter(2)
    let query = try parseSelect()
    level -= 2
    try expect(.rightParenthesis)
    try increaseHeight()
    return SQLExpression(.exists(query), span: span(from: start))
  }

  @inline(never)
  private mutating func parseRaise() throws(ParsingFailure) -> SQLExpression {
    let start = start
    try advance()
    try expect(.leftParenthesis)
    let action: SQLRaise.Action
    switch token.code {
    case .ignore: action = .ignore
    case .rollback: action = .rollback
    case .abort: action = .abort
    case .fail: action = .fail
    default: try throwSyntaxError()
    }
    try advance()
    var message: SQLExpression?
    if action != .ignore {
      try expect(.comma)
      message = try parseRaiseMessage()
    }
    try expect(.rightParenthesis)
    height = 1
    return SQLExpression(.raise(SQLRaise(action, message: message)), span: span(from: start))
  }

  private mutating func parseRaiseMessage() throws(ParsingFailure) -> SQLExpression {
    if grammar.raiseTakesExpression {
      var height = 0
      return try parsePart(4, &height)
    }
    let isText = token.code == .string
    let name = try parseName()
    return SQLExpression(isText ? .literal(.string(name.text)) : .column(name), span: name.span)
  }

  // MARK: IN

  @inline(never)
  mutating func readIn(
    isNegated: Bool, _ operand: inout SQLExpression, _ base: Int
  ) throws(ParsingFailure) {
    if !isNegated { try reduceForIn(&operand, base) }
    try advance()
    let leftHeight = height
    height = 0
    let set = try parseInSet()
    height = max(height, leftHeight)
    try increaseHeight()
    operand = SQLExpression(
      .in(operand, isNegated: isNegated, set),
      span: span(from: operand.span.range.lowerBound))
  }

  private mutating func parseInSet() throws(ParsingFailure) -> SQLInSet {
    if try take(.leftParenthesis) {
      let set: SQLInSet
      try enter(3)
      if token.code == .select || token.code == .values || token.code == .with {
        set = .select(try parseSelect())
      } else {
        set = .list(try parseExpressions())
      }
      level -= 3
      try expect(.rightParenthesis)
      return set
    }
    let table = try parseQualifiedName()
    guard try take(.leftParenthesis) else { return .table(table) }
    try enter(3)
    let arguments = try parseExpressions()
    level -= 3
    try expect(.rightParenthesis)
    return .function(table, arguments)
  }

  /// Parses expressions up to a closing parenthesis. Returns an empty array if the parenthesis is
  /// the current token.
  mutating func parseExpressions() throws(ParsingFailure) -> [SQLExpression] {
    if token.code == .rightParenthesis { return [] }
    return try parseExpressionList()
  }

  /// Parses one or more expressions that are separated by commas.
  mutating func parseExpressionList() throws(ParsingFailure) -> [SQLExpression] {
    var expressions: [SQLExpression] = []
    var height = 0
    repeat {
      expressions.append(try parseExpression())
      height = max(height, self.height)
    } while try take(.comma)
    self.height = height
    return expressions
  }

  // MARK: Calls

  @inline(never)
  private mutating func parseCall(_ name: SQLName) throws(ParsingFailure) -> SQLExpression {
    try enter(3)
    try advance()
    var call = SQLFunctionCall(name)
    height = 0
    if try take(.star) {
      call.arguments = nil
    } else {
      call.quantifier = try parseQuantifier()
      if token.code != .rightParenthesis, token.code != .order || !grammar.orderByInCalls {
        call.arguments = try parseExpressionList()
      }
      if grammar.orderByInCalls, token.code == .order {
        let height = height
        call.orderBy = try parseOrderBy()
        self.height = max(height, self.height)
      }
    }
    level -= 3
    try expect(.rightParenthesis)
    let height = height
    if token.code == .filter || token.code == .over || isWithin() {
      try parseAfterCall(&call)
    }
    self.height = height
    try increaseHeight()
    return SQLExpression(.call(call), span: span(from: name.span.range.lowerBound))
  }

  mutating func parseQuantifier() throws(ParsingFailure) -> SQLQuantifier? {
    switch token.code {
    case .distinct:
      try advance()
      return .distinct
    case .all:
      try advance()
      return .all
    default: return nil
    }
  }

  private func isWithin() -> Bool {
    grammar.withinGroup && token.code == .identifier
      && tokens.text(of: token).uppercased() == "WITHIN"
  }

  @inline(never)
  private mutating func parseAfterCall(_ call: inout SQLFunctionCall) throws(ParsingFailure) {
    try enter(3)
    if isWithin() {
      try advance()
      try expect(.group)
      try expect(.leftParenthesis)
      try expect(.order)
      try expect(.by)
      call.withinGroup = try parseExpression()
      try expect(.rightParenthesis)
    }
    if try take(.filter) {
      try expect(.leftParenthesis)
      try expect(.where)
      call.filter = try parseExpression()
      try expect(.rightParenthesis)
    }
    if try take(.over) { call.over = try parseOver() }
    level -= 3
  }
}

extension SQLTokens {
  @inline(__always)
  func name(_ token: SQLToken) -> SQLName {
    let range = token.range
    let byte = self[range.lowerBound]
    // The codes of letters, digits and `_` are above those of all quotation marks, except back
    // quotes and brackets.
    if byte > UInt8(ascii: "'"), byte != UInt8(ascii: "`"), byte != UInt8(ascii: "[") {
      return SQLName(text(range), quoting: .none, span: SQLSpan(range))
    }
    return SQLName(token, in: bytes)
  }
}
