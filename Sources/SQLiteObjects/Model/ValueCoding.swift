import SQLiteCore
import SQLiteMapping

/// The stored forms of the values of properties.
enum ValueCoding {
  private static let defaults = MappingStrategies()

  /// The stored form: SQLite's own where there is one, what a single value encodes, else JSON.
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
