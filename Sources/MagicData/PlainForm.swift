import SQLiteCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The conversions of the types that SQLite stores as they are, without a dynamic cast.
enum PlainForm {
  /// The form of a value of a plain type, or nil if the type is not plain.
  static func form<Value>(of value: Value) -> CellContent.Form? {
    if Value.self == String.self { return .stored(.text(same(value))) }
    if Value.self == Int.self { return .stored(.integer(Int64(same(value) as Int))) }
    if Value.self == Double.self {
      let real: Double = same(value)
      // A NaN is kept as it is, and refused when it shall be stored.
      return real.isNaN ? nil : .stored(.real(real))
    }
    if Value.self == Bool.self { return .stored(.integer(same(value) as Bool ? 1 : 0)) }
    if Value.self == Int64.self { return .stored(.integer(same(value))) }
    return nil
  }

  /// The value of a plain type, or nil if the type is not plain.
  static func value<Value>(_ type: Value.Type, from stored: SQLiteCore.Value) -> Value? {
    switch stored {
    case .text(let text):
      return Value.self == String.self ? same(text) : nil
    case .integer(let integer):
      if Value.self == Int.self { return Int(exactly: integer).map { same($0) } }
      if Value.self == Int64.self { return same(integer) }
      if Value.self == Bool.self, integer == 0 || integer == 1 { return same(integer == 1) }
      if Value.self == Double.self { return Double(exactly: integer).map { same($0) } }
      return nil
    case .real(let real):
      return Value.self == Double.self ? same(real) : nil
    case .blob, .null:
      return nil
    }
  }

  /// The same value under the other of two names of one type.
  ///
  /// Only called where both types were found to be equal, so that the bits are what they were.
  private static func same<From, To>(_ value: From) -> To {
    assert(From.self == To.self)
    return unsafe unsafeBitCast(value, to: To.self)
  }
}
