import SQLLexer

/// An operator or opening parenthesis whose right operand isn't parsed yet.
struct PendingOperator {
  enum Kind: UInt8 {
    case prefix, binary, like, escape, low, high, parenthesis
  }

  var kind: Kind
  /// The precedence of the operator. A following operator of the same or a lower precedence
  /// completes this one. Zero means that no operator completes this one, but only a closing
  /// parenthesis or, for the low bound of BETWEEN, AND.
  var power: UInt8
  var operation: UInt8 = 0
  var isNegated = false
  /// The UTF-8 offset at which the expression of the operator begins.
  var start: UInt32
  /// The height of the tallest expression tree among the operands that are already parsed.
  var height: Int32 = 0
  /// The left operand of the operator; nil for a prefix operator or a parenthesis.
  var value: SQLExpression?
  /// The pattern after LIKE or the low bound after BETWEEN; nil if it isn't parsed yet.
  var second: SQLExpression?
  /// The values of a row that are already parsed, for a parenthesis.
  var row: [SQLExpression] = []
}

/// The precedences of the operators. An operator with a higher precedence binds more tightly.
enum Power {
  static let or: UInt8 = 1
  static let and: UInt8 = 2
  static let not: UInt8 = 3
  static let equality: UInt8 = 4
  static let comparison: UInt8 = 5
  static let bits: UInt8 = 7
  static let sum: UInt8 = 8
  static let product: UInt8 = 9
  static let concatenation: UInt8 = 10
  static let collate: UInt8 = 11
  static let sign: UInt8 = 12
  /// The precedence of a node that isn't an operator, higher than that of every operator.
  static let value: UInt8 = 13
}

extension Parser {
  mutating func parseOnlyExpression() throws(ParsingFailure) -> SQLExpression {
    try read(after: .endOfText)
    let expression = try parseExpression()
    guard token.code == .endOfText else { try throwSyntaxError() }
    try throwPending()
    return expression
  }

  /// Parses an expression.
  ///
  /// Operators and parentheses are on an explicit stack, so long chains and nested parentheses
  /// don't recurse. Calls, CASE, IN and queries do.
  mutating func parseExpression() throws(ParsingFailure) -> SQLExpression {
    let base = stack.count
    let operand = try parseOperand()
    return try parseExpression(from: operand, base)
  }

  /// Parses the rest of an expression after its first operand, `first`. `base` is the number of
  /// operators on the stack that belong to enclosing expressions.
  mutating func parseExpression(
    from first: SQLExpression, _ base: Int
  ) throws(ParsingFailure) -> SQLExpression {
    var operand = first
    while try readOperators(&operand, base) { operand = try parseOperand() }
    tallest = max(tallest, height)
    return operand
  }

  /// Parses an operand, and pushes the prefix operators and opening parentheses before it on the
  /// stack.
  private mutating func parseOperand() throws(ParsingFailure) -> SQLExpression {
    while true {
      switch token.code {
      case .leftParenthesis:
        let parenthesis = token.start
        try advance()
        if token.code == .select || token.code == .values || token.code == .with {
          return try parseSubquery(from: Int(parenthesis))
        }
        try push(PendingOperator(kind: .parenthesis, power: 0, start: parenthesis))
      case .minus: try pushPrefix(.minus, Power.sign)
      case .plus: try pushPrefix(.plus, Power.sign)
      case .tilde: try pushPrefix(.bitNot, Power.sign)
      case .not: try pushPrefix(.not, Power.not)
      default: return try parsePrimary()
      }
    }
  }

  private mutating func parseSubquery(from start: Int) throws(ParsingFailure) -> SQLExpression {
    try enter(1)
    let query = try parseSelect()
    level -= 1
    try expect(.rightParenthesis)
    try increaseHeight()
    return SQLExpression(.subquery(query), span: span(from: start))
  }

  @inline(never)
  private mutating func pushPrefix(
    _ operation: SQLUnaryOperator, _ power: UInt8
  ) throws(ParsingFailure) {
    try push(
      PendingOperator(
        kind: .prefix, power: power, operation: operation.rawValue, start: token.start))
    try advance()
  }

  private mutating func push(_ pendingOperator: PendingOperator) throws(ParsingFailure) {
    stack.append(pendingOperator)
    if level + stack.count > Parser.maximumLevel { try throwTooDeep() }
  }

  /// Increases the height of the last parsed expression by one level, and throws if it exceeds the
  /// limit.
  @inline(__always)
  mutating func increaseHeight() throws(ParsingFailure) {
    height += 1
    if height > Parser.maximumHeight { try throwTooHigh() }
  }

  // MARK: Operators

  /// Parses the operators after `operand`, up to one that requires another operand. Returns true if
  /// another operand must follow, and false at the end of the expression. `base` is the number of
  /// operators on the stack that belong to enclosing expressions.
  private mutating func readOperators(
    _ operand: inout SQLExpression, _ base: Int
  ) throws(ParsingFailure) -> Bool {
    while true {
      switch token.code {
      case .or: return try pushBinary(.or, Power.or, &operand, base)
      case .and: return try readAnd(&operand, base)
      case .equal: return try pushBinary(.equal, Power.equality, &operand, base)
      case .notEqual: return try pushBinary(.notEqual, Power.equality, &operand, base)
      case .is: return try readIs(&operand, base)
      case .less: return try pushBinary(.less, Power.comparison, &operand, base)
      case .lessOrEqual: return try pushBinary(.lessOrEqual, Power.comparison, &operand, base)
      case .greater: return try pushBinary(.greater, Power.comparison, &operand, base)
      case .greaterOrEqual:
        return try pushBinary(.greaterOrEqual, Power.comparison, &operand, base)
      case .ampersand: return try pushBinary(.bitAnd, Power.bits, &operand, base)
      case .bar: return try pushBinary(.bitOr, Power.bits, &operand, base)
      case .shiftLeft: return try pushBinary(.shiftLeft, Power.bits, &operand, base)
      case .shiftRight: return try pushBinary(.shiftRight, Power.bits, &operand, base)
      case .plus: return try pushBinary(.add, Power.sum, &operand, base)
      case .minus: return try pushBinary(.subtract, Power.sum, &operand, base)
      case .star: return try pushBinary(.multiply, Power.product, &operand, base)
      case .slash: return try pushBinary(.divide, Power.product, &operand, base)
      case .percent: return try pushBinary(.remainder, Power.product, &operand, base)
      case .concatenate:
        return try pushBinary(.concatenate, Power.concatenation, &operand, base)
      case .arrow: return try pushBinary(.extract, Power.concatenation, &operand, base)
      case .longArrow: return try pushBinary(.extractText, Power.concatenation, &operand, base)
      case .like, .glob, .regexp, .match:
        return try pushLike(isNegated: false, from: operand, base)
      case .between: return try pushBetween(isNegated: false, from: operand, base)
      case .in: try readIn(isNegated: false, &operand, base)
      case .not:
        if try readNot(&operand, base) { return true }
      case .isnull, .notnull: try readNullTest(&operand, base)
      case .collate: try readCollate(&operand, base)
      case .escape: return try pushEscape(operand, base)
      case .rightParenthesis:
        guard try closeParenthesis(&operand, base) else { return false }
      case .comma: return try pushRow(&operand, base)
      default:
        try finish(&operand, base)
        return false
      }
    }
  }

  @inline(never)
  private mutating func pushBinary(
    _ operation: SQLBinaryOperator, _ power: UInt8, _ operand: inout SQLExpression, _ base: Int
  ) throws(ParsingFailure) -> Bool {
    try reduce(&operand, power, base)
    try advance()
    try pushOperator(operand, operation, power)
    return true
  }

  private mutating func pushOperator(
    _ operand: SQLExpression, _ operation: SQLBinaryOperator, _ power: UInt8
  ) throws(ParsingFailure) {
    try push(
      PendingOperator(
        kind: .binary, power: power, operation: operation.rawValue, start: operand.span.start,
        height: Int32(height), value: operand))
  }

  @inline(never)
  private mutating func readIs(
    _ operand: inout SQLExpression, _ base: Int
  ) throws(ParsingFailure) -> Bool {
    try reduce(&operand, Power.equality, base)
    try advance()
    let isNegated = try take(.not)
    var operation: SQLBinaryOperator = isNegated ? .isNot : .is
    if try take(.distinct) {
      try expect(.from)
      operation = isNegated ? .isNotDistinctFrom : .isDistinctFrom
    }
    try pushOperator(operand, operation, Power.equality)
    return true
  }

  /// Parses AND, which belongs to BETWEEN if a low bound is on the stack. Always returns true,
  /// because another operand must follow.
  @inline(never)
  private mutating func readAnd(
    _ operand: inout SQLExpression, _ base: Int
  ) throws(ParsingFailure) -> Bool {
    try reduce(&operand, Power.not, base)
    guard stack.count > base, stack[stack.count - 1].kind == .low else {
      return try pushBinary(.and, Power.and, &operand, base)
    }
    stack[stack.count - 1].power = Power.equality
    return try storeSecondOperand(operand, as: .high)
  }

  /// Consumes the keyword before the third operand of BETWEEN or LIKE (AND or ESCAPE), and stores
  /// the second operand on the stack. Always returns true, because another operand must follow.
  private mutating func storeSecondOperand(
    _ operand: SQLExpression, as kind: PendingOperator.Kind
  ) throws(ParsingFailure) -> Bool {
    try advance()
    let top = stack.count - 1
    stack[top].kind = kind
    stack[top].second = operand
    stack[top].height = max(stack[top].height, Int32(height))
    return true
  }

  @inline(never)
  private mutating func pushLike(
    isNegated: Bool, from first: SQLExpression, _ base: Int
  ) throws(ParsingFailure) -> Bool {
    var operand = first
    try reduce(&operand, Power.equality, base)
    let operation = UInt8(token.code.rawValue)
    try advance()
    try push(
      PendingOperator(
        kind: .like, power: Power.equality, operation: operation, isNegated: isNegated,
        start: operand.span.start, height: Int32(height), value: operand))
    return true
  }

  /// Parses ESCAPE, which belongs to the nearest LIKE with a parsed pattern. Always returns true,
  /// because the escape character must follow.
  @inline(never)
  private mutating func pushEscape(
    _ first: SQLExpression, _ base: Int
  ) throws(ParsingFailure) -> Bool {
    var operand = first
    while stack.count > base, let top = stack.last, top.power > 0, top.kind != .like {
      operand = try combine(top, operand)
    }
    guard stack.count > base, stack[stack.count - 1].kind == .like else { try throwSyntaxError() }
    return try storeSecondOperand(operand, as: .escape)
  }

  @inline(never)
  private mutating func pushBetween(
    isNegated: Bool, from first: SQLExpression, _ base: Int
  ) throws(ParsingFailure) -> Bool {
    var operand = first
    try reduce(&operand, Power.equality, base)
    try advance()
    try push(
      PendingOperator(
        kind: .low, power: 0, isNegated: isNegated, start: operand.span.start,
        height: Int32(height), value: operand))
    return true
  }

  /// Parses NOT after a value: NOT LIKE, NOT BETWEEN, NOT IN or NOT NULL. Returns whether another
  /// operand must follow.
  @inline(never)
  private mutating func readNot(
    _ operand: inout SQLExpression, _ base: Int
  ) throws(ParsingFailure) -> Bool {
    try reduce(&operand, Power.equality, base)
    try advance()
    switch token.code {
    case .like, .glob, .regexp, .match:
      return try pushLike(isNegated: true, from: operand, base)
    case .between: return try pushBetween(isNegated: true, from: operand, base)
    case .in: try readIn(isNegated: true, &operand, base)
    case .null:
      try advance()
      try increaseHeight()
      operand = SQLExpression(
        .notNull(operand, isOneWord: false), span: span(from: operand.span.range.lowerBound))
    default: try throwSyntaxError()
    }
    return false
  }

  @inline(never)
  private mutating func readNullTest(
    _ operand: inout SQLExpression, _ base: Int
  ) throws(ParsingFailure) {
    try reduce(&operand, Power.equality, base)
    let isNull = token.code == .isnull
    try advance()
    try increaseHeight()
    operand = SQLExpression(
      isNull ? .isNull(operand) : .notNull(operand, isOneWord: true),
      span: span(from: operand.span.range.lowerBound))
  }

  @inline(never)
  private mutating func readCollate(
    _ operand: inout SQLExpression, _ base: Int
  ) throws(ParsingFailure) {
    try reduce(&operand, Power.collate, base)
    var names: [SQLName] = []
    while try take(.collate) { names.append(try parseIdentifierOrText()) }
    try increaseHeight()
    operand = SQLExpression(
      .collate(operand, names), span: span(from: operand.span.range.lowerBound))
  }

  /// Completes the operators on the stack that have at least the precedence of IN. Call it before
  /// parsing IN.
  mutating func reduceForIn(
    _ operand: inout SQLExpression, _ base: Int
  ) throws(ParsingFailure) {
    try reduce(&operand, Power.equality, base)
  }

  // MARK: Parentheses and the end of an expression

  /// Consumes a closing parenthesis, and completes the expression or row in it. Returns false, and
  /// consumes nothing, if the opening parenthesis isn't part of this expression.
  @inline(never)
  private mutating func closeParenthesis(
    _ operand: inout SQLExpression, _ base: Int
  ) throws(ParsingFailure) -> Bool {
    try reduce(&operand, Power.or, base)
    guard stack.count > base else { return false }
    guard stack[stack.count - 1].kind == .parenthesis else { try throwSyntaxError() }
    try advance()
    guard let parenthesis = stack.popLast() else { return false }
    let span = span(from: Int(parenthesis.start))
    if parenthesis.row.isEmpty {
      operand = SQLExpression(.parenthesized(operand), span: span)
    } else {
      height = max(height, Int(parenthesis.height))
      try increaseHeight()
      operand = SQLExpression(.row(parenthesis.row + [operand]), span: span)
    }
    return true
  }

  /// Parses a comma in parentheses, which separates the values of a row. Returns false if the comma
  /// isn't in parentheses of this expression.
  @inline(never)
  private mutating func pushRow(
    _ operand: inout SQLExpression, _ base: Int
  ) throws(ParsingFailure) -> Bool {
    try finish(&operand, base, isComma: true)
    guard stack.count > base else { return false }
    try advance()
    let top = stack.count - 1
    stack[top].row.append(operand)
    stack[top].height = max(stack[top].height, Int32(height))
    return true
  }

  /// Completes the expression before a token that can't continue it. Throws if a parenthesis isn't
  /// closed, unless the token is a comma.
  @inline(never)
  private mutating func finish(
    _ operand: inout SQLExpression, _ base: Int, isComma: Bool = false
  ) throws(ParsingFailure) {
    try reduce(&operand, Power.or, base)
    guard stack.count > base else { return }
    guard isComma, stack[stack.count - 1].kind == .parenthesis else { try throwSyntaxError() }
  }

  /// Completes the operators on the stack, above index `base`, that have at least the precedence
  /// `power`. The result becomes the new `operand`.
  @inline(__always)
  private mutating func reduce(
    _ operand: inout SQLExpression, _ power: UInt8, _ base: Int
  ) throws(ParsingFailure) {
    while stack.count > base, stack[stack.count - 1].power >= power {
      operand = try combine(stack[stack.count - 1], operand)
    }
  }

  /// Removes `pendingOperator`, which is the top of the stack, and returns its expression with
  /// `right` as the right operand.
  private mutating func combine(
    _ pendingOperator: PendingOperator, _ right: SQLExpression
  ) throws(ParsingFailure) -> SQLExpression {
    stack.removeLast()
    height = max(height, Int(pendingOperator.height))
    try increaseHeight()
    let span = SQLSpan(Int(pendingOperator.start)..<right.span.range.upperBound)
    guard let left = pendingOperator.value else {
      let operation = SQLUnaryOperator(rawValue: pendingOperator.operation) ?? .not
      return SQLExpression(.unary(operation, right), span: span)
    }
    if pendingOperator.kind == .binary {
      let operation = SQLBinaryOperator(rawValue: pendingOperator.operation) ?? .and
      return SQLExpression(.binary(left, operation, right), span: span)
    }
    return SQLExpression(Parser.pattern(pendingOperator, left, right), span: span)
  }

  @inline(never)
  private static func pattern(
    _ pendingOperator: PendingOperator, _ left: SQLExpression, _ right: SQLExpression
  ) -> SQLExpression.Node {
    guard pendingOperator.kind != .high else {
      return .between(
        left, isNegated: pendingOperator.isNegated, low: pendingOperator.second ?? right,
        high: right)
    }
    var operation = SQLLike.Operator.like
    switch pendingOperator.operation {
    case SQLToken.Code.glob.rawValue: operation = .glob
    case SQLToken.Code.regexp.rawValue: operation = .regexp
    case SQLToken.Code.match.rawValue: operation = .match
    default: break
    }
    let isEscaped = pendingOperator.kind == .escape
    return .like(
      left,
      SQLLike(
        operation, isNegated: pendingOperator.isNegated, pattern: pendingOperator.second ?? right,
        escape: isEscaped ? right : nil))
  }
}
