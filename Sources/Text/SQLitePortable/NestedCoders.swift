public import Essentials
public import SPON
public import SQLiteCore
public import SQLiteMapping

/// A coder that stores nested values of records as SPON text.
///
///     strategies.nested = .spon
public struct SPONCoder: NestedCoder {
  /// The encoder that writes the values.
  public var encoder: SPONEncoder
  /// The decoder that reads the values.
  public var decoder: SPONDecoder

  /// Creates a coder from an encoder and a decoder.
  ///
  /// - Parameters:
  ///   - encoder: The encoder that writes the values.
  ///   - decoder: The decoder that reads the values.
  public init(encoder: SPONEncoder = SPONEncoder(), decoder: SPONDecoder = SPONDecoder()) {
    self.encoder = encoder
    self.decoder = decoder
  }

  /// Encodes a value as SPON text.
  ///
  /// - Parameter value: The value to store.
  /// - Returns: The text to store in the column.
  /// - Throws: Any error that the encoder throws.
  public func encode(_ value: some Encodable) throws -> Value {
    .text(try encoder.encodeText(value))
  }

  /// Decodes a value from SPON text.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - value: The stored text.
  /// - Returns: The decoded value.
  /// - Throws: Any error that the decoder throws, or `SQLiteError` if `value` isn't text.
  public func decode<Result: Decodable>(_ type: Result.Type, from value: Value) throws -> Result {
    try decoder.decode(type, from: String(databaseValue: value))
  }
}

extension NestedStrategy {
  /// A strategy that stores nested values as SPON text, which contains the type of each value.
  public static var spon: NestedStrategy { .coder(SPONCoder()) }
}

/// A coder that stores nested values as JSON text, written and read by your own encoder and
/// decoder.
public struct JSONCoder: NestedCoder {
  private let encoder: JSONEncoder
  private let decoder: JSONDecoder

  /// Creates a coder from an encoder and a decoder. Don't change them afterwards, because the coder
  /// may use them on any thread.
  ///
  /// - Parameters:
  ///   - encoder: The encoder that writes the values.
  ///   - decoder: The decoder that reads the values.
  public init(encoder: JSONEncoder = JSONEncoder(), decoder: JSONDecoder = JSONDecoder()) {
    self.encoder = encoder
    self.decoder = decoder
  }

  /// Encodes a value as JSON text.
  ///
  /// - Parameter value: The value to store.
  /// - Returns: The text to store in the column.
  /// - Throws: Any error that the encoder throws, or `EncodingError` if the value is nested more
  ///   than 512 levels deep.
  public func encode(_ value: some Encodable) throws -> Value {
    try checkDepth(of: value, userInfo: encoder.userInfo)
    return .text(String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  /// Decodes a value from JSON text.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - value: The stored text.
  /// - Returns: The decoded value.
  /// - Throws: Any error that the decoder throws, or `SQLiteError` if `value` isn't text.
  public func decode<Result: Decodable>(_ type: Result.Type, from value: Value) throws -> Result {
    try decoder.decode(type, from: Data(String(databaseValue: value).utf8))
  }
}
