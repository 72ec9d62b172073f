import Essentials
public import SQLiteCore

/// The form in which a property with several parts (a structure, an array, a dictionary) is stored
/// in its column.
public enum NestedStrategy: Sendable {
  /// JSON text with sorted keys, which SQLite's JSON functions can read. This is the default. In
  /// the JSON, dates are UTC text like ``DateStrategy/text``, and `Data` is base64.
  case text
  /// The JSON of ``text``, stored as a BLOB of its UTF-8 bytes.
  case blob
  /// The value that a custom coder returns, in a column that is declared as BLOB.
  case coder(any NestedCoder)
}

/// An encoder for values with several parts that are stored in one column, and the matching
/// decoder.
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
  /// Encodes the value of a property.
  ///
  /// - Parameter value: The value of the property.
  /// - Returns: The value to store in the column.
  /// - Throws: An error if the value cannot be encoded. The write then fails with this error.
  func encode(_ value: some Encodable) throws -> Value

  /// Decodes a stored value.
  ///
  /// The decoder that the result is created from must remain valid after this method returns,
  /// because the result may keep it and use it later.
  ///
  /// - Parameters:
  ///   - type: The type of the result.
  ///   - value: The stored value of the column.
  /// - Returns: The decoded value of the property.
  /// - Throws: An error if the stored value cannot be decoded. The read then fails with this error.
  func decode<Result: Decodable>(_ type: Result.Type, from value: Value) throws -> Result
}

extension NestedStrategy {
  /// The type of a column that stores nested values.
  var columnType: ColumnType {
    switch self {
    case .text: .text
    case .blob, .coder: .blob
    }
  }

  /// Returns the stored form of a nested value.
  ///
  /// - Throws: `EncodingError`, or an error from the coder or from the value's `encode(to:)`.
  func stored(_ value: some Encodable) throws -> Value {
    if case .coder(let coder) = self { return try coder.encode(value) }
    let json = try NestedJSON.data(of: value)
    return columnType == .text
      ? .text(String(decoding: json, as: UTF8.self)) : .blob(json.byteArray)
  }

  /// Returns a decoder of a stored nested value.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` if JSON is expected and the stored
  ///   value has another storage class, or an error from the JSON decoder or the custom coder.
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
