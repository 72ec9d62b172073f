package import SQLiteCore

/// What a filter compares. A term is whatever the types above have names for.
package indirect enum FilterOperand<Term: Sendable>: Sendable {
  /// A column, which may be NULL.
  case column(Term)
  /// Something that is never NULL.
  case known(Term)
  case value(Value)
  case arithmetic(FilterOperand, FilterArithmetic, FilterOperand)
}

/// What two numbers are made into one by.
package enum FilterArithmetic: String, Sendable {
  case sum = "+"
  case difference = "-"
  case product = "*"
  case quotient = "/"
  case remainder = "%"
}
