public import Essentials
public import SQLiteCore
public import SQLiteMapping

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
  /// - Throws: What the encoder throws.
  public func encode(_ value: some Encodable) throws -> Value {
    .text(String(decoding: try encoder.encode(value), as: UTF8.self))
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
