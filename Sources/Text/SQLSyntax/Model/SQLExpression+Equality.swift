// A chain such as `a + b + c` nests its left operands up to a thousand levels deep, and parentheses
// nest as well. Equality and hashing therefore use a work list. Recursion could exceed the stack of
// a thread.

extension SQLExpression.Node: Hashable {
  /// Returns whether both nodes have the same content, regardless of their source ranges.
  public static func == (left: Self, right: Self) -> Bool {
    var rest = Pairs()
    guard left.equals(right, &rest) else { return false }
    while let (left, right) = rest.pairs.popLast() {
      guard left.equals(right, &rest) else { return false }
    }
    return true
  }

  /// Adds the content of the node to `hasher`.
  public func hash(into hasher: inout Hasher) {
    var rest = [self]
    while let node = rest.popLast() { node.hash(into: &hasher, &rest) }
  }

  /// The operand before the operator; nil if the node isn't an operator that follows an operand.
  var leftOperand: SQLExpression? {
    switch self {
    case .binary(let value, _, _), .like(let value, _), .between(let value, _, _, _),
      .in(let value, _, _), .isNull(let value), .notNull(let value, _), .collate(let value, _):
      value
    default: nil
    }
  }
}

/// The pairs of expressions that remain to be compared.
private struct Pairs {
  var pairs: [(SQLExpression.Node, SQLExpression.Node)] = []

  mutating func add(_ left: SQLExpression, _ right: SQLExpression) -> Bool {
    pairs.append((left.node, right.node))
    return true
  }

  mutating func add(_ left: SQLExpression?, _ right: SQLExpression?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return add(left, right)
  }

  mutating func add(_ left: [SQLExpression], _ right: [SQLExpression]) -> Bool {
    guard left.count == right.count else { return false }
    for (left, right) in zip(left, right) { pairs.append((left.node, right.node)) }
    return true
  }
}

extension SQLExpression.Node {
  /// Returns whether both nodes are equal except for their operands, and adds the pairs of operands
  /// to `rest`.
  private func equals(_ other: Self, _ rest: inout Pairs) -> Bool {
    switch (self, other) {
    case (.literal(let value), .literal(let other)): value == other
    case (.parameter(let text), .parameter(let other)): text == other
    case (.column(let name), .column(let other)): name == other
    case (.qualifiedColumn(let a, let b, let c), .qualifiedColumn(let d, let e, let f)):
      a == d && b == e && c == f
    case (.unary(let operation, let value), .unary(let other, let otherValue)):
      operation == other && rest.add(value, otherValue)
    case (.parenthesized(let value), .parenthesized(let other)): rest.add(value, other)
    case (.row(let values), .row(let others)): rest.add(values, others)
    case (.cast(let value, let type), .cast(let other, let otherType)):
      type == otherType && rest.add(value, other)
    case (.binary(let a, let operation, let b), .binary(let c, let other, let d)):
      operation == other && rest.add(b, d) && rest.add(a, c)
    default: equalsTest(other, &rest)
    }
  }

  private func equalsTest(_ other: Self, _ rest: inout Pairs) -> Bool {
    switch (self, other) {
    case (.like(let value, let like), .like(let otherValue, let other)):
      like.operator == other.operator && like.isNegated == other.isNegated
        && rest.add(value, otherValue) && rest.add(like.pattern, other.pattern)
        && rest.add(like.escape, other.escape)
    case (.between(let a, let isNegated, let b, let c), .between(let d, let other, let e, let f)):
      isNegated == other && rest.add(a, d) && rest.add(b, e) && rest.add(c, f)
    case (.in(let value, let isNegated, let set), .in(let otherValue, let other, let otherSet)):
      isNegated == other && rest.add(value, otherValue) && set.equals(otherSet, &rest)
    case (.isNull(let value), .isNull(let other)): rest.add(value, other)
    case (.notNull(let value, let isOneWord), .notNull(let otherValue, let other)):
      isOneWord == other && rest.add(value, otherValue)
    case (.collate(let value, let names), .collate(let otherValue, let others)):
      names == others && rest.add(value, otherValue)
    default: equalsForm(other, &rest)
    }
  }

  private func equalsForm(_ other: Self, _ rest: inout Pairs) -> Bool {
    switch (self, other) {
    case (.case(let value), .case(let other)):
      rest.add(value.base, other.base) && rest.add(value.otherwise, other.otherwise)
        && rest.add(value.branches.map(\.condition), other.branches.map(\.condition))
        && rest.add(value.branches.map(\.result), other.branches.map(\.result))
    case (.call(let call), .call(let other)): call.equals(other, &rest)
    case (.exists(let query), .exists(let other)): query == other
    case (.subquery(let query), .subquery(let other)): query == other
    case (.raise(let raise), .raise(let other)): raise == other
    default: false
    }
  }
}

extension SQLInSet {
  fileprivate func equals(_ other: SQLInSet, _ rest: inout Pairs) -> Bool {
    switch (self, other) {
    case (.list(let values), .list(let others)): rest.add(values, others)
    case (.function(let name, let values), .function(let other, let others)):
      name == other && rest.add(values, others)
    default: self == other
    }
  }
}

extension SQLFunctionCall {
  fileprivate func equals(_ other: SQLFunctionCall, _ rest: inout Pairs) -> Bool {
    name == other.name && quantifier == other.quantifier
      && (arguments == nil) == (other.arguments == nil)
      && rest.add(arguments ?? [], other.arguments ?? []) && orderBy == other.orderBy
      && rest.add(withinGroup, other.withinGroup) && rest.add(filter, other.filter)
      && over == other.over
  }
}

// MARK: Hashing

extension SQLExpression.Node {
  /// Adds the node without its operands to `hasher`, and the operands to `rest`.
  private func hash(into hasher: inout Hasher, _ rest: inout [Self]) {
    switch self {
    case .literal(let value): hasher.combine(value)
    case .parameter(let text): hasher.combine(text)
    case .column(let name): hasher.combine(name)
    case .qualifiedColumn(let schema, let table, let column):
      hasher.combine(schema)
      hasher.combine(table)
      hasher.combine(column)
    case .unary(let operation, let value):
      hasher.combine(operation)
      rest.append(value.node)
    case .parenthesized(let value):
      hasher.combine(1)
      rest.append(value.node)
    case .row(let values):
      hasher.combine(values.count)
      for value in values { rest.append(value.node) }
    case .binary(let left, let operation, let right):
      hasher.combine(operation)
      rest.append(right.node)
      rest.append(left.node)
    default: hashTest(into: &hasher, &rest)
    }
  }

  private func hashTest(into hasher: inout Hasher, _ rest: inout [Self]) {
    switch self {
    case .like(let value, let like):
      hasher.combine(like.operator)
      hasher.combine(like.isNegated)
      rest += [value.node, like.pattern.node] + (like.escape.map { [$0.node] } ?? [])
    case .between(let value, let isNegated, let low, let high):
      hasher.combine(isNegated)
      rest += [value.node, low.node, high.node]
    case .in(let value, let isNegated, let set):
      hasher.combine(isNegated)
      rest.append(value.node)
      if case .list(let values) = set {
        rest += values.map(\.node)
      } else {
        hasher.combine(set)
      }
    case .isNull(let value):
      hasher.combine(2)
      rest.append(value.node)
    case .notNull(let value, let isOneWord):
      hasher.combine(isOneWord)
      rest.append(value.node)
    case .collate(let value, let names):
      hasher.combine(names)
      rest.append(value.node)
    default: hashForm(into: &hasher, &rest)
    }
  }

  private func hashForm(into hasher: inout Hasher, _ rest: inout [Self]) {
    switch self {
    case .cast(let value, let type):
      hasher.combine(type)
      rest.append(value.node)
    case .case(let value):
      hasher.combine(value.branches.count)
      rest += [value.base, value.otherwise].compactMap { $0?.node }
      rest += value.branches.flatMap { [$0.condition.node, $0.result.node] }
    case .call(let call):
      hasher.combine(call.name)
      rest += (call.arguments ?? []).map(\.node)
      rest += [call.withinGroup, call.filter].compactMap { $0?.node }
    case .exists(let query): hasher.combine(query)
    case .subquery(let query): hasher.combine(query)
    case .raise(let raise): hasher.combine(raise)
    default: break
    }
  }
}
