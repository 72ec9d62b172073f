import ExactText

// Codable's containers have an overload for each of fourteen types. Those of one container are made of one
// generic function, which is inlined into each of them: it is not specialized otherwise (benchmark `fetch`).

/// A keyed container that encodes all scalars in one way.
protocol ScalarKeyedEncoding: KeyedEncodingContainerProtocol {
  /// Encodes a scalar of a property that is not optional.
  func put(_ scalar: some ScalarValue, _ key: Key) throws
  /// Encodes a scalar, or nil, of an optional property.
  func putOptional(_ scalar: (some ScalarValue)?, _ key: Key) throws
}

extension ScalarKeyedEncoding {
  @inline(__always) func encode(_ value: Bool, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: String, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: Double, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: Float, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: Int, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: Int8, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: Int16, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: Int32, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: Int64, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: UInt, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: UInt8, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: UInt16, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: UInt32, forKey key: Key) throws { try put(value, key) }
  @inline(__always) func encode(_ value: UInt64, forKey key: Key) throws { try put(value, key) }

  // The standard library's forms of these drop nil before the container sees it.
  @inline(__always) func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    try putOptional(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    try putOptional(value, key)
  }
}

/// A keyed container that decodes all scalars in one way.
protocol ScalarKeyedDecoding: KeyedDecodingContainerProtocol {
  /// Decodes a scalar.
  func take<Scalar: ScalarValue>(_ type: Scalar.Type, _ key: Key) throws -> Scalar
  /// Decodes a scalar, or NULL as nil.
  func takeOptional<Scalar: ScalarValue>(_ type: Scalar.Type, _ key: Key) throws -> Scalar?
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
  @inline(__always) func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try take(type, key)
  }
  @inline(__always) func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try take(type, key)
  }

  // The standard library's forms of these ask for NULL first and decode then.
  @inline(__always) func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try takeOptional(type, key)
  }
  @inline(__always) func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try takeOptional(type, key)
  }
}

/// A container that encodes one scalar in one way.
protocol ScalarEncoding: SingleValueEncodingContainer {
  func put(_ scalar: some ScalarValue) throws
}

extension ScalarEncoding {
  @inline(__always) func encode(_ value: Bool) throws { try put(value) }
  @inline(__always) func encode(_ value: String) throws { try put(value) }
  @inline(__always) func encode(_ value: Double) throws { try put(value) }
  @inline(__always) func encode(_ value: Float) throws { try put(value) }
  @inline(__always) func encode(_ value: Int) throws { try put(value) }
  @inline(__always) func encode(_ value: Int8) throws { try put(value) }
  @inline(__always) func encode(_ value: Int16) throws { try put(value) }
  @inline(__always) func encode(_ value: Int32) throws { try put(value) }
  @inline(__always) func encode(_ value: Int64) throws { try put(value) }
  @inline(__always) func encode(_ value: UInt) throws { try put(value) }
  @inline(__always) func encode(_ value: UInt8) throws { try put(value) }
  @inline(__always) func encode(_ value: UInt16) throws { try put(value) }
  @inline(__always) func encode(_ value: UInt32) throws { try put(value) }
  @inline(__always) func encode(_ value: UInt64) throws { try put(value) }
}

/// A container that decodes one scalar in one way.
protocol ScalarDecoding: SingleValueDecodingContainer {
  func take<Scalar: ScalarValue>(_ type: Scalar.Type) throws -> Scalar
}

extension ScalarDecoding {
  @inline(__always) func decode(_ type: Bool.Type) throws -> Bool { try take(type) }
  @inline(__always) func decode(_ type: String.Type) throws -> String { try take(type) }
  @inline(__always) func decode(_ type: Double.Type) throws -> Double { try take(type) }
  @inline(__always) func decode(_ type: Float.Type) throws -> Float { try take(type) }
  @inline(__always) func decode(_ type: Int.Type) throws -> Int { try take(type) }
  @inline(__always) func decode(_ type: Int8.Type) throws -> Int8 { try take(type) }
  @inline(__always) func decode(_ type: Int16.Type) throws -> Int16 { try take(type) }
  @inline(__always) func decode(_ type: Int32.Type) throws -> Int32 { try take(type) }
  @inline(__always) func decode(_ type: Int64.Type) throws -> Int64 { try take(type) }
  @inline(__always) func decode(_ type: UInt.Type) throws -> UInt { try take(type) }
  @inline(__always) func decode(_ type: UInt8.Type) throws -> UInt8 { try take(type) }
  @inline(__always) func decode(_ type: UInt16.Type) throws -> UInt16 { try take(type) }
  @inline(__always) func decode(_ type: UInt32.Type) throws -> UInt32 { try take(type) }
  @inline(__always) func decode(_ type: UInt64.Type) throws -> UInt64 { try take(type) }
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
