package import SQLiteCore

extension Value {
  /// The real that stores a `type`, or the integer if a `Double` holds it exactly.
  package func real(for type: Any.Type) throws(SQLiteError) -> Double {
    switch self {
    case .real, .integer: return try Double(databaseValue: self)
    default: throw mismatch(expected: type)
    }
  }

  /// The integer that stores a `type`, or the real if it is whole.
  package func integer(for type: Any.Type) throws(SQLiteError) -> Int64 {
    switch self {
    case .integer(let integer): return integer
    case .real(let real):
      guard let integer = Int64(exactly: real) else {
        throw SQLiteError(.mismatch, "the stored real is not a whole number of 64 bits")
      }
      return integer
    default: throw mismatch(expected: type)
    }
  }
}
