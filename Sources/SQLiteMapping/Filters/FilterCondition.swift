package import SQLiteCore

/// A condition on a row, as a tree that becomes SQL with bound values.
///
/// Conditions mean what they mean in Swift: nil is a value like others to `==` and `!=`, and what is
/// not true is false, so that its negation is true. Texts are compared by their bytes.
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
  case sql(SQL)
  case not(FilterCondition)
  case and(FilterCondition, FilterCondition)
  case or(FilterCondition, FilterCondition)
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
