import ExactText

// Codable's containers have an overload for each of fourteen types. The five that SQLite stores as they are
// have code of their own, made of one generic function that is inlined into each (benchmark `fetch`). The
// others go the way of every other type.
//
// A generic function of a container is `dynamic` where its speed does not matter: the compiler would make a
// copy of it for each of the fourteen.

/// A keyed container that encodes scalars in one way, and sees each nil: the standard library's forms of
/// `encodeIfPresent` drop it.
protocol ScalarKeyedEncoding: KeyedEncodingContainerProtocol {
  /// Encodes a scalar of a property that is not optional.
  func put<Scalar: ScalarValue>(_ scalar: Scalar, _ key: Key) throws
  /// Encodes a scalar, or nil, of an optional property.
  func putOptional<Scalar: ScalarValue & Encodable>(_ scalar: Scalar?, _ key: Key) throws
  /// Encodes any value, or nil, of an optional property.
  func encodeOptional<Source: Encodable>(_ value: Source?, _ key: Key) throws
}

extension ScalarKeyedEncoding {
  @inline(__always) func encode(_ value: Bool, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: String, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: Double, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: Int, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: Int64, forKey key: Key) throws { try put(value, key) }

  @inline(__always) func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    try putOptional(value, key)
  }

  func encodeIfPresent<Source: Encodable>(_ value: Source?, forKey key: Key) throws {
    try encodeOptional(value, key)
  }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value, key) }
}

/// A keyed container that decodes optional properties in one way: the standard library's forms of
/// `decodeIfPresent` take a property without a column for nil.
protocol OptionalKeyedDecoding: KeyedDecodingContainerProtocol {
  /// Decodes a value, or NULL as nil.
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

/// A keyed container that decodes scalars in one way.
protocol ScalarKeyedDecoding: OptionalKeyedDecoding {
  /// Decodes a scalar.
  func take<Scalar: ScalarValue & Decodable>(_ type: Scalar.Type, _ key: Key) throws -> Scalar
  /// Decodes a scalar, or NULL as nil.
  func takeOptional<Scalar: ScalarValue & Decodable>(
    _ type: Scalar.Type, _ key: Key
  ) throws -> Scalar?
}

extension ScalarKeyedDecoding {
  @inline(__always) func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try take(type, key)
  }

  @inline(__always) func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try takeOptional(type, key)
  }
}

/// A container that encodes one scalar in one way.
protocol ScalarEncoding: SingleValueEncodingContainer {
  func put(_ scalar: some ScalarValue) throws
}

extension ScalarEncoding {
  func encode(_ value: Bool) throws { try put(value) }
  func encode(_ value: String) throws { try put(value) }
  func encode(_ value: Double) throws { try put(value) }
  func encode(_ value: Int) throws { try put(value) }
  func encode(_ value: Int64) throws { try put(value) }
}

/// A container that decodes one scalar in one way.
protocol ScalarDecoding: SingleValueDecodingContainer {
  func take<Scalar: ScalarValue>(_ type: Scalar.Type) throws -> Scalar
}

extension ScalarDecoding {
  func decode(_ type: Bool.Type) throws -> Bool { try take(type) }
  func decode(_ type: String.Type) throws -> String { try take(type) }
  func decode(_ type: Double.Type) throws -> Double { try take(type) }
  func decode(_ type: Int.Type) throws -> Int { try take(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try take(type) }
}

/// A keyed container that has an encoder for the nested value of each key.
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

/// An array that has an encoder for its next element.
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

/// A keyed container that has a decoder for the nested value of each key.
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
