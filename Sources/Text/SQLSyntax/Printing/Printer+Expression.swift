extension SQLExpression.Node {
  /// The precedence of the node. A node that isn't an operator has a higher precedence than every
  /// operator.
  var power: UInt8 {
    switch self {
    case .binary(_, let operation, _): operation.power
    case .like, .between, .in, .isNull, .notNull: Power.equality
    case .unary(let operation, _): operation == .not ? Power.not : Power.sign
    case .collate: Power.collate
    default: Power.value
    }
  }

  /// The lowest precedence of the prefix operators at the right end of the node; if there are none,
  /// a precedence above that of every operator. An operator of a higher precedence after the node
  /// would become part of the prefix operator's operand: `NOT a` before `= b` is parsed as `NOT (a
  /// = b)`.
  fileprivate var powerAtRight: UInt8 {
    var least = Power.value
    var node = self
    while true {
      switch node {
      case .unary(_, let value):
        least = min(least, node.power)
        node = value.node
      case .binary(_, _, let value): node = value.node
      case .like(_, let like): node = (like.escape ?? like.pattern).node
      case .between(_, _, _, let high): node = high.node
      default: return least
      }
    }
  }

  /// Whether a following operator can't apply to a part of the node. For example, `1 ISNULL % 2` is
  /// `(1 ISNULL) % 2`, although `%` has a higher precedence.
  fileprivate var isClosed: Bool {
    switch self {
    case .in, .isNull, .notNull: true
    default: false
    }
  }

  /// Whether the node needs no parentheses before an operator of precedence `power`.
  fileprivate func isBare(before power: UInt8) -> Bool {
    (isClosed || self.power >= power) && powerAtRight >= power
  }

  /// The lowest precedence of the node and of the left operands in it that are written without
  /// parentheses.
  fileprivate var powerAtLeft: UInt8 {
    var least = power
    var node = self
    while let left = node.leftOperand?.node, left.isBare(before: node.power) {
      least = min(least, left.power)
      node = left
    }
    return least
  }

  /// Whether the node ends in a LIKE to which a following ESCAPE would apply.
  fileprivate var endsInLike: Bool {
    var node = self
    while true {
      switch node {
      case .unary(_, let value): node = value.node
      case .binary(_, _, let value): node = value.node
      case .like(_, let like):
        guard let escape = like.escape else { return true }
        node = escape.node
      case .between(_, _, _, let high): node = high.node
      default: return false
      }
    }
  }

  fileprivate var isPrefix: Bool {
    if case .unary = self { true } else { false }
  }
}

extension SQLBinaryOperator {
  var power: UInt8 {
    switch self {
    case .or: Power.or
    case .and: Power.and
    case .equal, .notEqual, .is, .isNot, .isDistinctFrom, .isNotDistinctFrom: Power.equality
    case .less, .lessOrEqual, .greater, .greaterOrEqual: Power.comparison
    case .bitAnd, .bitOr, .shiftLeft, .shiftRight: Power.bits
    case .add, .subtract: Power.sum
    case .multiply, .divide, .remainder: Power.product
    case .concatenate, .extract, .extractText: Power.concatenation
    }
  }

  /// The operator as SQL text, with a space before and after it.
  fileprivate var spaced: StaticString {
    switch self {
    case .or: " OR "
    case .and: " AND "
    case .equal: " = "
    case .notEqual: " <> "
    case .is: " IS "
    case .isNot: " IS NOT "
    case .isDistinctFrom: " IS DISTINCT FROM "
    case .isNotDistinctFrom: " IS NOT DISTINCT FROM "
    case .less: " < "
    case .lessOrEqual: " <= "
    case .greater: " > "
    case .greaterOrEqual: " >= "
    case .bitAnd: " & "
    case .bitOr: " | "
    case .shiftLeft: " << "
    case .shiftRight: " >> "
    case .add: " + "
    case .subtract: " - "
    case .multiply: " * "
    case .divide: " / "
    case .remainder: " % "
    case .concatenate: " || "
    case .extract: " -> "
    case .extractText: " ->> "
    }
  }
}

extension Printer {
  /// Writes an expression. A chain of left operands is written in a loop instead of recursively,
  /// because it can be long.
  mutating func expression(_ expression: SQLExpression) {
    guard expression.node.leftOperand != nil else { return leaf(expression.node) }
    var operators: [SQLExpression.Node] = []
    var first = expression
    while let left = first.node.leftOperand {
      let power = first.node.power
      operators.append(first.node)
      first = left
      if !left.node.isBare(before: power) { break }
    }
    operand(first, isBare: first.node.isBare(before: operators.last?.power ?? 0))
    for node in operators.reversed() { writeAfterLeftOperand(node) }
  }

  /// Writes an operand, in parentheses unless `isBare` is true.
  private mutating func operand(_ operand: SQLExpression, isBare: Bool) {
    if isBare {
      expression(operand)
    } else {
      parentheses { $0.expression(operand) }
    }
  }

  /// Writes the right operand of an operator with the precedence `power`, in parentheses if
  /// necessary. A prefix operator never needs them.
  private mutating func rightOperand(_ value: SQLExpression, above power: UInt8) {
    operand(value, isBare: value.node.powerAtLeft > power || value.node.isPrefix)
  }

  private mutating func writeAfterLeftOperand(_ node: SQLExpression.Node) {
    switch node {
    case .binary(_, let operation, let value):
      write(operation.spaced)
      // `a IS (NOT b)` differs from `a IS NOT b`.
      if operation == .is, case .unary(.not, _) = value.node {
        operand(value, isBare: false)
      } else {
        rightOperand(value, above: operation.power)
      }
    case .like(_, let like): self.like(like)
    case .between(_, let isNegated, let low, let high):
      if isNegated { write(" NOT") }
      write(" BETWEEN ")
      operand(low, isBare: low.node.powerAtLeft >= Power.not)
      write(" AND ")
      rightOperand(high, above: Power.equality)
    case .in(_, let isNegated, let set):
      if isNegated { write(" NOT") }
      write(" IN ")
      inSet(set)
    case .isNull: write(" ISNULL")
    case .notNull(_, let isOneWord): write(isOneWord ? " NOTNULL" : " NOT NULL")
    case .collate(_, let names):
      for collation in names {
        write(" COLLATE ")
        name(collation)
      }
    default: break
    }
  }

  private mutating func like(_ like: SQLLike) {
    write(like.isNegated ? " NOT " : " ")
    write(like.operator.rawValue)
    write(" ")
    guard let escape = like.escape else {
      return rightOperand(like.pattern, above: Power.equality)
    }
    let pattern = like.pattern.node
    operand(
      like.pattern,
      isBare: (pattern.powerAtLeft > Power.equality || pattern.isPrefix) && !pattern.endsInLike)
    write(" ESCAPE ")
    rightOperand(escape, above: Power.equality)
  }

  private mutating func inSet(_ set: SQLInSet) {
    switch set {
    case .list(let values): parentheses { $0.list(values) { $0.expression($1) } }
    case .select(let query): block { $0.select(query) }
    case .table(let table): name(table)
    case .function(let function, let arguments):
      name(function)
      parentheses { $0.list(arguments) { $0.expression($1) } }
    }
  }

  // MARK: Expressions without a left operand

  private mutating func leaf(_ node: SQLExpression.Node) {
    switch node {
    case .literal(let value): literal(value)
    case .parameter(let parameter): write(parameter)
    case .column(let column): name(column)
    case .qualifiedColumn(let schema, let table, let column):
      if let schema {
        name(schema)
        write(".")
      }
      name(table)
      write(".")
      name(column)
    case .unary(let operation, let value): unary(operation, value)
    case .parenthesized(let value): parentheses { $0.expression(value) }
    case .row(let values): parentheses { $0.list(values) { $0.expression($1) } }
    default: form(node)
    }
  }

  private mutating func form(_ node: SQLExpression.Node) {
    switch node {
    case .cast(let value, let type):
      write("CAST(")
      expression(value)
      write(type.text.isEmpty ? " AS)" : " AS \(type.text))")
    case .case(let value): caseExpression(value)
    case .call(let call): self.call(call)
    case .exists(let query):
      write("EXISTS ")
      block { $0.select(query) }
    case .subquery(let query): block { $0.select(query) }
    case .raise(let raise):
      write("RAISE(\(raise.action.rawValue)")
      if let message = raise.message {
        write(", ")
        expression(message)
      }
      write(")")
    default: break
    }
  }

  mutating func literal(_ value: SQLLiteral) {
    switch value {
    case .null: write("NULL")
    case .integer(let digits), .real(let digits): write(digits)
    case .string(let content): quoted(content, UInt8(ascii: "'"))
    case .blob(let digits):
      write("x'")
      write(digits)
      write("'")
    case .currentTime: write("CURRENT_TIME")
    case .currentDate: write("CURRENT_DATE")
    case .currentTimestamp: write("CURRENT_TIMESTAMP")
    }
  }

  private mutating func unary(_ operation: SQLUnaryOperator, _ value: SQLExpression) {
    switch operation {
    case .minus: write("-")
    case .plus: write("+")
    case .bitNot: write("~")
    case .not: write("NOT ")
    }
    // Two adjacent minus signs would begin a comment.
    if operation == .minus, case .unary(.minus, _) = value.node { write(" ") }
    let power = operation == .not ? Power.not : Power.sign
    operand(value, isBare: value.node.powerAtLeft >= power || value.node.isPrefix)
  }

  private mutating func caseExpression(_ value: SQLCase) {
    write("CASE")
    if let base = value.base {
      write(" ")
      expression(base)
    }
    for branch in value.branches {
      write(" WHEN ")
      expression(branch.condition)
      write(" THEN ")
      expression(branch.result)
    }
    if let otherwise = value.otherwise {
      write(" ELSE ")
      expression(otherwise)
    }
    write(" END")
  }

  private mutating func call(_ call: SQLFunctionCall) {
    name(call.name)
    write("(")
    if let quantifier = call.quantifier {
      write(quantifier.rawValue)
      if call.arguments?.isEmpty == false { write(" ") }
    }
    if let arguments = call.arguments {
      list(arguments) { $0.expression($1) }
    } else {
      write("*")
    }
    if !call.orderBy.isEmpty {
      write(" ORDER BY ")
      list(call.orderBy) { $0.orderTerm($1) }
    }
    write(")")
    if let value = call.withinGroup {
      write(" WITHIN GROUP (ORDER BY ")
      expression(value)
      write(")")
    }
    if let condition = call.filter {
      write(" FILTER (WHERE ")
      expression(condition)
      write(")")
    }
    if let over = call.over { self.over(over) }
  }

  private mutating func over(_ over: SQLOver) {
    write(" OVER ")
    switch over {
    case .name(let window): name(window)
    case .window(let window): self.window(window)
    }
  }
}
