/// A visitor that passes each part of a tree to a closure. It rebuilds the tree only if `rewrites`
/// is true.
struct Walker {
  let rewrites: Bool
  let body: (inout SQLPart) throws -> Void

  init(rewrites: Bool, _ body: @escaping (inout SQLPart) throws -> Void) {
    self.rewrites = rewrites
    self.body = body
  }

  mutating func each<Element>(
    _ elements: inout [Element], _ visit: (inout Walker, inout Element) throws -> Void
  ) rethrows {
    guard rewrites else {
      for var element in elements { try visit(&self, &element) }
      return
    }
    for index in elements.indices { try visit(&self, &elements[index]) }
  }

  mutating func expressions(_ expressions: inout [SQLExpression]) throws {
    try each(&expressions) { (walker, expression) throws in try walker.expression(&expression) }
  }

  mutating func optional(_ expression: inout SQLExpression?) throws {
    guard var value = expression else { return }
    try self.expression(&value)
    if rewrites { expression = value }
  }

  mutating func table(_ name: inout SQLQualifiedName) throws {
    var part = SQLPart.table(name)
    try body(&part)
    if rewrites, case .table(let changed) = part { name = changed }
  }

  mutating func table(_ name: inout SQLName) throws {
    var qualified = SQLQualifiedName(name)
    try table(&qualified)
    if rewrites { name = qualified.name }
  }

  // MARK: Expressions

  /// Visits an expression and its operands. A chain of left operands is visited in a loop instead
  /// of recursively, because it can be long.
  mutating func expression(_ expression: inout SQLExpression) throws {
    var chain: [SQLExpression] = []
    var current = expression
    while let left = current.node.leftOperand {
      chain.append(current)
      current = left
    }
    try parts(&current.node)
    try passToBody(&current)
    while var next = chain.popLast() {
      if rewrites { next.node.replaceLeftOperand(by: current) }
      try partsExceptLeftOperand(&next.node)
      try passToBody(&next)
      current = next
    }
    if rewrites { expression = current }
  }

  private mutating func passToBody(_ expression: inout SQLExpression) throws {
    var part = SQLPart.expression(expression)
    try body(&part)
    if rewrites, case .expression(let changed) = part { expression = changed }
  }

  private mutating func partsExceptLeftOperand(_ node: inout SQLExpression.Node) throws {
    switch node {
    case .binary(let left, let operation, var right):
      try expression(&right)
      if rewrites { node = .binary(left, operation, right) }
    case .like(let left, var like):
      try expression(&like.pattern)
      try optional(&like.escape)
      if rewrites { node = .like(left, like) }
    case .between(let left, let isNegated, var low, var high):
      try expression(&low)
      try expression(&high)
      if rewrites { node = .between(left, isNegated: isNegated, low: low, high: high) }
    case .in(let left, let isNegated, var set):
      try inSet(&set)
      if rewrites { node = .in(left, isNegated: isNegated, set) }
    default: break
    }
  }

  private mutating func inSet(_ set: inout SQLInSet) throws {
    switch set {
    case .list(var values):
      try expressions(&values)
      if rewrites { set = .list(values) }
    case .select(var query):
      try select(&query)
      if rewrites { set = .select(query) }
    case .table(var name):
      try table(&name)
      if rewrites { set = .table(name) }
    case .function(let name, var arguments):
      try expressions(&arguments)
      if rewrites { set = .function(name, arguments) }
    }
  }

  private mutating func parts(_ node: inout SQLExpression.Node) throws {
    switch node {
    case .literal, .parameter, .column, .qualifiedColumn: break
    case .unary(let operation, var value):
      try expression(&value)
      if rewrites { node = .unary(operation, value) }
    case .cast(var value, let type):
      try expression(&value)
      if rewrites { node = .cast(value, type) }
    case .parenthesized(var value):
      try expression(&value)
      if rewrites { node = .parenthesized(value) }
    case .row(var values):
      try expressions(&values)
      if rewrites { node = .row(values) }
    default: try forms(&node)
    }
  }

  private mutating func forms(_ node: inout SQLExpression.Node) throws {
    switch node {
    case .case(var value):
      try optional(&value.base)
      try each(&value.branches) { (walker, branch) throws in
        try walker.expression(&branch.condition)
        try walker.expression(&branch.result)
      }
      try optional(&value.otherwise)
      if rewrites { node = .case(value) }
    case .call(var call):
      try self.call(&call)
      if rewrites { node = .call(call) }
    case .exists(var query):
      try select(&query)
      if rewrites { node = .exists(query) }
    case .subquery(var query):
      try select(&query)
      if rewrites { node = .subquery(query) }
    case .raise(var raise):
      try optional(&raise.message)
      if rewrites { node = .raise(raise) }
    default: break
    }
  }

  private mutating func call(_ call: inout SQLFunctionCall) throws {
    if var arguments = call.arguments {
      try expressions(&arguments)
      if rewrites { call.arguments = arguments }
    }
    try orderTerms(&call.orderBy)
    try optional(&call.withinGroup)
    try optional(&call.filter)
    if case .window(var window) = call.over {
      try self.window(&window)
      if rewrites { call.over = .window(window) }
    }
  }

  mutating func window(_ window: inout SQLWindow) throws {
    try expressions(&window.partitionBy)
    try orderTerms(&window.orderBy)
    guard var frame = window.frame else { return }
    try bound(&frame.start)
    if var end = frame.end {
      try bound(&end)
      frame.end = end
    }
    if rewrites { window.frame = frame }
  }

  private mutating func bound(_ bound: inout SQLFrame.Bound) throws {
    switch bound {
    case .preceding(var count):
      try expression(&count)
      if rewrites { bound = .preceding(count) }
    case .following(var count):
      try expression(&count)
      if rewrites { bound = .following(count) }
    default: break
    }
  }

  mutating func orderTerms(_ terms: inout [SQLOrderTerm]) throws {
    try each(&terms) { (walker, term) throws in try walker.expression(&term.expression) }
  }
}

extension SQLExpression.Node {
  fileprivate mutating func replaceLeftOperand(by value: SQLExpression) {
    switch self {
    case .binary(_, let operation, let right): self = .binary(value, operation, right)
    case .like(_, let like): self = .like(value, like)
    case .between(_, let isNegated, let low, let high):
      self = .between(value, isNegated: isNegated, low: low, high: high)
    case .in(_, let isNegated, let set): self = .in(value, isNegated: isNegated, set)
    case .isNull: self = .isNull(value)
    case .notNull(_, let isOneWord): self = .notNull(value, isOneWord: isOneWord)
    case .collate(_, let names): self = .collate(value, names)
    default: break
    }
  }
}
