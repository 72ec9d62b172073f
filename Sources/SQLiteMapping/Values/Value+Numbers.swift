package import SQLiteCore

extension Value {
  /// Returns the stored real, or the stored integer if a `Double` represents it exactly.
  ///
  /// - Parameter type: The type that the value is converted to, for the error message.
  /// - Throws: `SQLiteError` with `range` if a `Double` cannot represent the integer exactly, and
  ///   with `mismatch` for any other value.
  package func real(for type: Any.Type) throws(SQLiteError) -> Double {
    switch self {
    case .real, .integer: return try Double(databaseValue: self)
    default: throw mismatch(expected: type)
    }
  }

  /// Returns the stored integer, or the stored real as an integer if it is a whole number.
  ///
  /// - Parameter type: The type that the value is converted to, for the error message.
  /// - Throws: `SQLiteError` with `mismatch` for any other value.
  package func integer(for type: Any.Type) throws(SQLiteError) -> Int64 {
    switch self {
    case .integer(let integer): return integer
    case .real(let real):
      guard let integer = Int64(exactly: real) else {
        throw SQLiteError(.mismatch, "the stored real is not a 64-bit integer")
      }
      return integer
    default: throw mismatch(expected: type)
    }
  }
}
