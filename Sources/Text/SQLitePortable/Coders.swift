public import Essentials
public import SPON
public import SQLiteCore
public import SQLiteMapping

/// Stores values as SPON text.
///
///     strategies.nested = .spon
public struct SPONCoder: NestedCoder {
  /// Writes the values.
  public var encoder: SPONEncoder
  /// Reads the values.
  public var decoder: SPONDecoder

  /// Takes the coders to use.
  ///
  /// - Parameters:
  ///   - encoder: Writes the values.
  ///   - decoder: Reads the values.
  public init(encoder: SPONEncoder = SPONEncoder(), decoder: SPONDecoder = SPONDecoder()) {
    self.encoder = encoder
    self.decoder = decoder
  }

  /// Writes a value as SPON text.
  ///
  /// - Parameter value: What to store.
  /// - Throws: What the encoder throws.
  public func encode(_ value: some Encodable) throws -> Value {
    .text(try encoder.encodeText(value))
  }

  /// Reads a value from SPON text.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - value: What is stored.
  /// - Throws: What the decoder throws.
  public func decode<Result: Decodable>(_ type: Result.Type, from value: Value) throws -> Result {
    try decoder.decode(type, from: String(databaseValue: value))
  }
}

extension NestedStrategy {
  /// As SPON text, which names the type and says of each value what it is.
  public static var spon: NestedStrategy { .coder(SPONCoder()) }
}

/// Stores values as the text that a JSON encoder of yours makes of them.
public struct JSONCoder: NestedCoder {
  private let encoder: JSONEncoder
  private let decoder: JSONDecoder

  /// Takes the coders to use, which must not be changed any more.
  ///
  /// - Parameters:
  ///   - encoder: Writes the values.
  ///   - decoder: Reads the values.
  public init(encoder: JSONEncoder = JSONEncoder(), decoder: JSONDecoder = JSONDecoder()) {
    self.encoder = encoder
    self.decoder = decoder
  }

  /// Writes a value as JSON text.
  ///
  /// - Parameter value: What to store.
  /// - Throws: What the encoder throws, or `EncodingError` if the value is nested more than 512 deep.
  public func encode(_ value: some Encodable) throws -> Value {
    try checkDepth(of: value, userInfo: encoder.userInfo)
    return .text(String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  /// Reads a value from JSON text.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - value: What is stored.
  /// - Throws: What the decoder throws.
  public func decode<Result: Decodable>(_ type: Result.Type, from value: Value) throws -> Result {
    try decoder.decode(type, from: Data(String(databaseValue: value).utf8))
  }
}
