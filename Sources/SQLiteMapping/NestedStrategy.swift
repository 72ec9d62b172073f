public import SQLiteCore

/// How a property that is made of several values (a structure, an array, a dictionary) is stored.
public enum NestedStrategy: Sendable {
  /// As JSON text with sorted keys, which SQLite's JSON functions read. Dates in it are text, as in
  /// columns, and `Data` is base64.
  case text
  /// As the same JSON in a blob.
  case blob
  /// As another encoder writes it.
  case coder(any NestedCoder)
}

/// An encoder for values that are stored in one column, and the decoder that reads them back.
///
///     struct PropertyList: NestedCoder {
///       func encode(_ value: some Encodable) throws -> Value {
///         .blob(Array(try PropertyListEncoder().encode(value)))
///       }
///       func decode<Result: Decodable>(_ type: Result.Type, from value: Value) throws -> Result {
///         try PropertyListDecoder().decode(type, from: Data(databaseValue: value))
///       }
///     }
public protocol NestedCoder: Sendable {
  /// Makes what is stored.
  ///
  /// - Parameter value: A property's value.
  /// - Throws: What the encoder throws.
  func encode(_ value: some Encodable) throws -> Value

  /// Reads what is stored. The decoder must live on for as long as the result needs it.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - value: What the column stores.
  /// - Throws: What the decoder throws.
  func decode<Result: Decodable>(_ type: Result.Type, from value: Value) throws -> Result
}

extension NestedStrategy {
  /// What a column of such values prefers to store.
  var columnType: ColumnType {
    switch self {
    case .text: .text
    case .blob, .coder: .blob
    }
  }
}
