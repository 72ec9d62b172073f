import Essentials
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
  ///   - type: The type of the values.
  ///   - value: What the column stores.
  /// - Throws: What the decoder throws.
  func decode<Result: Decodable>(_ type: Result.Type, from value: Value) throws -> Result
}

extension NestedStrategy {
  /// The type of a column of such values.
  var columnType: ColumnType {
    switch self {
    case .text: .text
    case .blob, .coder: .blob
    }
  }

  /// Returns the stored form of a value that has containers.
  func stored(_ value: some Encodable) throws -> Value {
    if case .coder(let coder) = self { return try coder.encode(value) }
    let json = try NestedJSON.data(of: value)
    return columnType == .text
      ? .text(String(decoding: json, as: UTF8.self)) : .blob(json.byteArray)
  }

  /// Returns a decoder for a nested value.
  func decoder(of stored: Value) throws -> any Decoder {
    switch (self, stored) {
    case (.coder(let coder), _): return try coder.decode(Passthrough.self, from: stored).decoder
    case (.text, .text(let json)): return try NestedJSON.decoder(of: Data(json.utf8))
    case (.blob, .blob(let json)): return try NestedJSON.decoder(of: Data(json))
    case (.text, _), (.blob, _):
      throw SQLiteError(
        .mismatch, "expected JSON as \(columnType.rawValue), found \(stored.storageClass)")
    }
  }
}
