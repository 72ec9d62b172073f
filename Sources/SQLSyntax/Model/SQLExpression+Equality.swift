// A chain such as `a + b + c` nests its left sides up to a thousand levels deep. Equality and hashing
// go down the first operands by a loop, since recursion would need more stack than a thread may
// have. Where they must recurse, each kind has a method of its own: a method for all of them would
// have the variables of all of them on the stack, at each level.

extension SQLExpression.Node: Hashable {
  /// Returns whether both nodes say the same.
  public static func == (left: Self, right: Self) -> Bool {
    var left = left
    var right = right
    while true {
      guard left.equalsBesideLeftSide(right) else { return false }
      guard let next = left.firstOperand, let other = right.firstOperand else { return true }
      left = next.node
      right = other.node
    }
  }

  /// Adds what the node says to `hasher`.
  public func hash(into hasher: inout Hasher) {
    var node = self
    while true {
      node.hashBesideLeftSide(into: &hasher)
      guard let next = node.firstOperand else { return }
      node = next.node
    }
  }

  /// The operand before an operator.
  var leftSide: SQLExpression? {
    switch self {
    case .binary(let value, _, _), .like(let value, _), .between(let value, _, _, _),
      .in(let value, _, _), .isNull(let value), .notNull(let value, _), .collate(let value, _):
      value
    default: nil
    }
  }

  /// The operand before an operator, or the only one.
  private var firstOperand: SQLExpression? {
    switch self {
    case .unary(_, let value), .parenthesized(let value), .cast(let value, _): value
    default: leftSide
    }
  }
}

extension SQLExpression.Node {
  private func equalsBesideLeftSide(_ other: Self) -> Bool {
    switch (self, other) {
    case (.binary, .binary): equalsBinary(other)
    case (.like, .like): equalsLike(other)
    case (.between, .between): equalsBetween(other)
    case (.in, .in): equalsIn(other)
    case (.isNull, .isNull), (.parenthesized, .parenthesized): true
    case (.case, .case): equalsCase(other)
    case (.call, .call): equalsCall(other)
    case (.exists, .exists), (.subquery, .subquery): equalsQuery(other)
    case (.row, .row): equalsRow(other)
    default: equalsLeaf(other)
    }
  }

  @inline(never)
  private func equalsBinary(_ other: Self) -> Bool {
    guard case .binary(_, let operation, let value) = self,
      case .binary(_, let otherOperation, let otherValue) = other
    else { return false }
    return operation == otherOperation && value == otherValue
  }

  @inline(never)
  private func equalsLike(_ other: Self) -> Bool {
    guard case .like(_, let like) = self, case .like(_, let other) = other else { return false }
    return like == other
  }

  @inline(never)
  private func equalsBetween(_ other: Self) -> Bool {
    guard case .between(_, let negated, let low, let high) = self,
      case .between(_, let otherNegated, let otherLow, let otherHigh) = other
    else { return false }
    return negated == otherNegated && low == otherLow && high == otherHigh
  }

  @inline(never)
  private func equalsIn(_ other: Self) -> Bool {
    guard case .in(_, let negated, let set) = self,
      case .in(_, let otherNegated, let otherSet) = other
    else { return false }
    return negated == otherNegated && set == otherSet
  }

  @inline(never)
  private func equalsCase(_ other: Self) -> Bool {
    guard case .case(let value) = self, case .case(let other) = other else { return false }
    return value == other
  }

  @inline(never)
  private func equalsCall(_ other: Self) -> Bool {
    guard case .call(let call) = self, case .call(let other) = other else { return false }
    return call == other
  }

  @inline(never)
  private func equalsQuery(_ other: Self) -> Bool {
    switch (self, other) {
    case (.exists(let query), .exists(let other)), (.subquery(let query), .subquery(let other)):
      query == other
    default: false
    }
  }

  @inline(never)
  private func equalsRow(_ other: Self) -> Bool {
    guard case .row(let values) = self, case .row(let others) = other else { return false }
    return values == others
  }

  private func equalsLeaf(_ other: Self) -> Bool {
    switch (self, other) {
    case (.literal(let value), .literal(let other)): value == other
    case (.parameter(let text), .parameter(let other)): text == other
    case (.column(let name), .column(let other)): name == other
    case (.qualifiedColumn(let a, let b, let c), .qualifiedColumn(let d, let e, let f)):
      a == d && b == e && c == f
    case (.notNull(_, let isOneWord), .notNull(_, let other)): isOneWord == other
    case (.collate(_, let names), .collate(_, let others)): names == others
    case (.unary(let operation, _), .unary(let other, _)): operation == other
    case (.cast(_, let type), .cast(_, let other)): type == other
    case (.raise(let raise), .raise(let other)): raise == other
    default: false
    }
  }

  private func hashBesideLeftSide(into hasher: inout Hasher) {
    switch self {
    case .binary(_, let operation, let value): hasher.combine(1, operation, value)
    case .like(_, let like): hasher.combine(2, like)
    case .between(_, let negated, let low, let high):
      hasher.combine(3, negated)
      hasher.combine(4, low, high)
    case .in(_, let negated, let set): hasher.combine(5, negated, set)
    case .isNull: hasher.combine(6)
    case .notNull(_, let isOneWord): hasher.combine(7, isOneWord)
    case .collate(_, let names): hasher.combine(8, names)
    case .unary(let operation, _): hasher.combine(9, operation)
    default: hashLeaf(into: &hasher)
    }
  }

  private func hashLeaf(into hasher: inout Hasher) {
    switch self {
    case .literal(let value): hasher.combine(10, value)
    case .parameter(let text): hasher.combine(11, text)
    case .column(let name): hasher.combine(12, name)
    case .qualifiedColumn(let schema, let table, let column):
      hasher.combine(13, schema)
      hasher.combine(14, table, column)
    case .cast(_, let type): hasher.combine(15, type)
    case .case(let value): hasher.combine(16, value)
    case .call(let call): hasher.combine(17, call)
    case .exists(let query): hasher.combine(18, query)
    case .subquery(let query): hasher.combine(19, query)
    case .row(let values): hasher.combine(20, values)
    case .parenthesized: hasher.combine(21)
    case .raise(let raise): hasher.combine(22, raise)
    default: break
    }
  }
}

extension Hasher {
  fileprivate mutating func combine(_ kind: Int, _ value: some Hashable) {
    combine(kind)
    combine(value)
  }

  fileprivate mutating func combine(_ kind: Int, _ first: some Hashable, _ second: some Hashable) {
    combine(kind, first)
    combine(second)
  }
}
