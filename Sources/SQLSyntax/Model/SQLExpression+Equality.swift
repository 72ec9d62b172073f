// A chain such as `a + b + c` nests its left sides up to a thousand levels deep. Equality and hashing
// go down the left sides by a loop, since recursion would need more stack than a thread may have.

extension SQLExpression.Node: Hashable {
  /// Returns whether both nodes say the same.
  public static func == (left: Self, right: Self) -> Bool {
    var left = left
    var right = right
    while true {
      guard left.equalsBesideLeftSide(right) else { return false }
      guard let leftSide = left.leftSide, let rightSide = right.leftSide else { return true }
      left = leftSide.node
      right = rightSide.node
    }
  }

  /// Adds what the node says to `hasher`.
  public func hash(into hasher: inout Hasher) {
    var node = self
    while true {
      node.hashBesideLeftSide(into: &hasher)
      guard let leftSide = node.leftSide else { return }
      node = leftSide.node
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
}

extension SQLExpression.Node {
  private func equalsBesideLeftSide(_ other: Self) -> Bool {
    switch (self, other) {
    case (.binary(_, let operation, let value), .binary(_, let otherOperation, let otherValue)):
      operation == otherOperation && value == otherValue
    case (.like(_, let like), .like(_, let other)): like == other
    case (.between(_, let negated, let low, let high), .between(_, let other, let a, let b)):
      negated == other && low == a && high == b
    case (.in(_, let negated, let set), .in(_, let other, let otherSet)):
      negated == other && set == otherSet
    case (.isNull, .isNull): true
    case (.notNull(_, let isOneWord), .notNull(_, let other)): isOneWord == other
    case (.collate(_, let names), .collate(_, let others)): names == others
    case (.unary(let operation, let value), .unary(let other, let otherValue)):
      operation == other && value == otherValue
    default: equalsLeaf(other)
    }
  }

  private func equalsLeaf(_ other: Self) -> Bool {
    switch (self, other) {
    case (.literal(let value), .literal(let other)): value == other
    case (.parameter(let text), .parameter(let other)): text == other
    case (.column(let name), .column(let other)): name == other
    case (.qualifiedColumn(let a, let b, let c), .qualifiedColumn(let d, let e, let f)):
      a == d && b == e && c == f
    default: equalsPart(other)
    }
  }

  private func equalsPart(_ other: Self) -> Bool {
    switch (self, other) {
    case (.cast(let value, let type), .cast(let other, let otherType)):
      value == other && type == otherType
    case (.case(let value), .case(let other)): value == other
    case (.call(let call), .call(let other)): call == other
    case (.exists(let query), .exists(let other)): query == other
    case (.subquery(let query), .subquery(let other)): query == other
    case (.row(let values), .row(let others)): values == others
    case (.parenthesized(let value), .parenthesized(let other)): value == other
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
    case .unary(let operation, let value): hasher.combine(9, operation, value)
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
    case .cast(let value, let type): hasher.combine(15, value, type)
    case .case(let value): hasher.combine(16, value)
    case .call(let call): hasher.combine(17, call)
    case .exists(let query): hasher.combine(18, query)
    case .subquery(let query): hasher.combine(19, query)
    case .row(let values): hasher.combine(20, values)
    case .parenthesized(let value): hasher.combine(21, value)
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
