package import SQLiteCore

/// A condition on a row, as a tree that becomes SQL with bound values.
///
/// Conditions mean what they mean in Swift: nil is a value like others to `==` and `!=`, and what is
/// not true is false, so that its negation is true. Texts are compared by their bytes.
///
/// A tree is never deeper than ``FilterDepth/greatest``: ``and(_:_:)``, ``or(_:_:)``, ``not(_:)`` and
/// ``term(_:around:)`` make ``tooDeep`` of what would be. So it is built, written and released without
/// a deep stack.
package indirect enum FilterCondition<Term: Sendable>: Sendable {
  package typealias Operand = FilterOperand<Term>

  case comparison(Operand, FilterComparison, Operand)
  case isIn(Operand, [Operand])
  /// Text that begins with another, by bytes.
  case hasPrefix(Operand, String)
  /// Text that contains another, by bytes.
  case contains(Operand, String)
  /// SQLite's LIKE, with its wildcards and its rule for the case of letters.
  case like(Operand, String)
  /// A condition that the types above have a name for.
  case term(Term)
  /// As `term`, with conditions in it.
  case nested(Term, depth: Int)
  case sql(SQL)
  case negation(FilterCondition, depth: Int)
  /// All of them hold.
  case all(FilterList<Term>)
  /// One of them holds.
  case any(FilterList<Term>)
  /// It was nested too deep.
  case tooDeep

  /// True if both are.
  package static func and(_ left: FilterCondition, _ right: FilterCondition) -> FilterCondition {
    let list: FilterList<Term>
    switch (left, right) {
    case (.all(let one), .all(let other)): list = one.joined(other)
    case (.all(let one), _): list = one.appending(right)
    case (_, .all(let other)): list = other.prepending(left)
    default: list = FilterList(left, right)
    }
    return list.depth > FilterDepth.greatest ? .tooDeep : .all(list)
  }

  /// True if one of them is.
  package static func or(_ left: FilterCondition, _ right: FilterCondition) -> FilterCondition {
    let list: FilterList<Term>
    switch (left, right) {
    case (.any(let one), .any(let other)): list = one.joined(other)
    case (.any(let one), _): list = one.appending(right)
    case (_, .any(let other)): list = other.prepending(left)
    default: list = FilterList(left, right)
    }
    return list.depth > FilterDepth.greatest ? .tooDeep : .any(list)
  }

  /// True if the other is not.
  package static func not(_ operand: FilterCondition) -> FilterCondition {
    let depth = operand.depth + 1
    return depth > FilterDepth.greatest ? .tooDeep : .negation(operand, depth: depth)
  }

  /// A term with a condition in it.
  package static func term(_ term: Term, around inner: FilterCondition) -> FilterCondition {
    let depth = inner.depth + 2
    return depth > FilterDepth.greatest ? .tooDeep : .nested(term, depth: depth)
  }

  /// How many levels are inside one another, this one among them.
  var depth: Int {
    switch self {
    case .comparison(let left, _, let right): max(left.depth, right.depth) + 1
    case .isIn(let operand, _), .hasPrefix(let operand, _), .contains(let operand, _),
      .like(let operand, _):
      operand.depth + 1
    case .term, .sql: 1
    case .nested(_, let depth), .negation(_, let depth): depth
    case .all(let list), .any(let list): list.depth
    case .tooDeep: FilterDepth.greatest
    }
  }
}

/// How deep filters may be nested.
package enum FilterDepth {
  /// SQLite's limit is 1000 levels of an expression, of which each level here takes two at most.
  package static var greatest: Int { 400 }

  /// What a filter throws that was nested too deep.
  static var error: SQLiteError {
    SQLiteError(.tooBig, "a filter is nested more than \(greatest) levels deep")
  }
}

/// How two values are compared.
package enum FilterComparison: Sendable {
  case equal
  case notEqual
  case less
  case lessOrEqual
  case greater
  case greaterOrEqual
}
