package import SQLiteCore

/// What a filter compares. A term is whatever the types above have names for.
package indirect enum FilterOperand<Term: Sendable>: Sendable {
  /// A column, which may be NULL.
  case column(Term)
  /// Something that is never NULL.
  case known(Term)
  case value(Value)
  case calculation(FilterOperand, FilterArithmetic, FilterOperand, depth: Int)
  /// It was nested too deep.
  case tooDeep

  /// Calculates. What would be deeper than ``FilterDepth/greatest`` becomes ``tooDeep``: numbers are not
  /// joined in another order, since sums of reals, and of integers that overflow, depend on it.
  package static func arithmetic(
    _ left: FilterOperand, _ arithmetic: FilterArithmetic, _ right: FilterOperand
  ) -> FilterOperand {
    let depth = max(left.depth, right.depth) + 1
    return depth > FilterDepth.greatest
      ? .tooDeep : .calculation(left, arithmetic, right, depth: depth)
  }

  /// How many levels are inside one another, this one among them.
  var depth: Int {
    switch self {
    case .column, .known, .value: 1
    case .calculation(_, _, _, let depth): depth
    case .tooDeep: FilterDepth.greatest
    }
  }
}

/// What two numbers are made into one by.
package enum FilterArithmetic: String, Sendable {
  case sum = "+"
  case difference = "-"
  case product = "*"
  case quotient = "/"
  case remainder = "%"

  /// Whether it is a sum or a difference, which bind less than the others.
  var isSum: Bool { self == .sum || self == .difference }
}
