import SQLiteCore
import SQLiteMapping

/// The stored forms of the values of properties.
enum ValueCoding {
  private static let defaults = MappingStrategies()

  /// The stored form of a value: SQLite's own if there is one, else that of the value's encoding, which may be JSON.
  static func stored<Value: Encodable>(_ value: Value) throws -> SQLiteCore.Value {
    if case .stored(let plain)? = PlainForm.form(of: value) { return plain }
    return try defaults.stored(value)
  }

  /// The value of a stored form.
  static func value<Value: Decodable>(
    _ type: Value.Type, from stored: SQLiteCore.Value
  ) throws -> Value {
    try PlainForm.value(type, from: stored) ?? defaults.value(type, of: stored)
  }
}

/// The conversions of the types that SQLite stores as they are, without a dynamic cast.
enum PlainForm {
  /// The form of a value of a plain type, or nil if the type is not plain.
  static func form<Value>(of value: Value) -> CellValue.Form? {
    if Value.self == String.self { return .stored(.text(same(value, String.self))) }
    if Value.self == Int.self { return .stored(.integer(Int64(same(value, Int.self)))) }
    if Value.self == Double.self {
      let real = same(value, Double.self)
      // A NaN is kept as it is, and refused when it is saved.
      return real.isNaN ? nil : .stored(.real(real))
    }
    if Value.self == Bool.self { return .stored(.integer(same(value, Bool.self) ? 1 : 0)) }
    if Value.self == Int64.self { return .stored(.integer(same(value, Int64.self))) }
    return nil
  }

  /// The value of a plain type, or nil if the type is not plain, or stored otherwise.
  static func value<Value>(_ type: Value.Type, from stored: SQLiteCore.Value) -> Value? {
    switch stored {
    case .text(let text):
      return type == String.self ? same(text, type) : nil
    case .integer(let integer):
      if type == Int.self { return Int(exactly: integer).map { same($0, type) } }
      if type == Int64.self { return same(integer, type) }
      if type == Bool.self, integer == 0 || integer == 1 { return same(integer == 1, type) }
      if type == Double.self { return Double(exactly: integer).map { same($0, type) } }
      return nil
    case .real(let real):
      return type == Double.self ? same(real, type) : nil
    case .blob, .null:
      return nil
    }
  }

  /// The same value under the other of two names of one type.
  ///
  /// Only called where both types were found to be equal, so that the bits are what they were.
  private static func same<From, To>(_ value: From, _ type: To.Type) -> To {
    assert(From.self == To.self)
    return unsafe unsafeBitCast(value, to: type)
  }
}
