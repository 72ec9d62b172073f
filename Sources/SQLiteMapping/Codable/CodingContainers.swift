import ExactText

// Codable's containers have an overload for each of fourteen types. The five types that SQLite
// stores natively have dedicated code: one generic function, which is inlined into each overload
// (benchmark `fetch`). The other types use the same code as any other `Codable` type.
//
// A generic function of a container is `dynamic` where its speed doesn't matter. Otherwise the
// compiler would specialize it for each of the fourteen types.

/// A keyed container that implements all overloads of `decodeIfPresent` with one function. The
/// standard library's implementations would decode a property without a column as nil.
protocol OptionalKeyedDecoding: KeyedDecodingContainerProtocol {
  /// Decodes the value of a key. Returns nil if the property's column contains NULL, or if all
  /// columns of a nested value do. Throws if no column exists, unless the row allows missing
  /// columns (``DecodedRow/allowsMissingColumns``).
  func decodeOptional<Result: Decodable>(_ type: Result.Type, _ key: Key) throws -> Result?
}

extension OptionalKeyedDecoding {
  func decodeIfPresent<Result: Decodable>(
    _ type: Result.Type, forKey key: Key
  ) throws -> Result? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try decodeOptional(type, key)
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try decodeOptional(type, key)
  }
}

/// A keyed container that provides an encoder for the nested value of each key.
protocol NestingKeyedEncoding: KeyedEncodingContainerProtocol {
  func encoder(forKey key: some CodingKey) -> any Encoder
}

extension NestingKeyedEncoding {
  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(forKey: key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder(forKey: PathKey("super")) }
  func superEncoder(forKey key: Key) -> any Encoder { encoder(forKey: key) }
}

/// An unkeyed container that provides an encoder for its next element.
protocol NestingUnkeyedEncoding: UnkeyedEncodingContainer {
  func nextEncoder() -> any Encoder
}

extension NestingUnkeyedEncoding {
  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    nextEncoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nextEncoder().unkeyedContainer() }
  func superEncoder() -> any Encoder { nextEncoder() }
}

/// A keyed container that provides a decoder for the nested value of each key.
protocol NestingKeyedDecoding: KeyedDecodingContainerProtocol {
  func decoder(forKey key: some CodingKey) throws -> any Decoder
}

extension NestingKeyedDecoding {
  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try decoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(forKey: key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(forKey: PathKey("super")) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(forKey: key) }
}
