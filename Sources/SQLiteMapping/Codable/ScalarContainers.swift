// The overloads for single types that Codable's containers have, each made of one generic function: a container
// implements that, and the compiler makes the overloads of it.

/// A keyed container that encodes all scalars in one way.
protocol ScalarKeyedEncoding: KeyedEncodingContainerProtocol {
  /// Encodes a scalar, or nil, which `isOptional` allows.
  func encode<Scalar: ScalarValue>(scalar: Scalar?, isOptional: Bool, forKey key: Key) throws
}

extension ScalarKeyedEncoding {
  @inline(__always) func encode(_ value: Bool, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }
  @inline(__always) func encode(_ value: String, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }
  @inline(__always) func encode(_ value: Double, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }
  @inline(__always) func encode(_ value: Float, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }
  @inline(__always) func encode(_ value: Int, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }
  @inline(__always) func encode(_ value: Int8, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }
  @inline(__always) func encode(_ value: Int16, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }
  @inline(__always) func encode(_ value: Int32, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }
  @inline(__always) func encode(_ value: Int64, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }
  @inline(__always) func encode(_ value: UInt, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }
  @inline(__always) func encode(_ value: UInt8, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }
  @inline(__always) func encode(_ value: UInt16, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }
  @inline(__always) func encode(_ value: UInt32, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }
  @inline(__always) func encode(_ value: UInt64, forKey key: Key) throws {
    try encode(scalar: value, isOptional: false, forKey: key)
  }

  // The standard library's forms of these drop nil before the container sees it.
  @inline(__always) func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
  @inline(__always) func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
  @inline(__always) func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
  @inline(__always) func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
  @inline(__always) func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
  @inline(__always) func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
  @inline(__always) func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
  @inline(__always) func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
  @inline(__always) func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    try encode(scalar: value, isOptional: true, forKey: key)
  }
}

/// A keyed container that decodes all scalars in one way.
protocol ScalarKeyedDecoding: KeyedDecodingContainerProtocol {
  func decode<Scalar: ScalarValue>(scalar type: Scalar.Type, forKey key: Key) throws -> Scalar
  func decodeIfPresent<Scalar: ScalarValue>(
    scalar type: Scalar.Type, forKey key: Key
  ) throws -> Scalar?
}

extension ScalarKeyedDecoding {
  @inline(__always) func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try decode(scalar: type, forKey: key)
  }
  @inline(__always) func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try decode(scalar: type, forKey: key)
  }
  @inline(__always) func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try decode(scalar: type, forKey: key)
  }
  @inline(__always) func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try decode(scalar: type, forKey: key)
  }
  @inline(__always) func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try decode(scalar: type, forKey: key)
  }
  @inline(__always) func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try decode(scalar: type, forKey: key)
  }
  @inline(__always) func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try decode(scalar: type, forKey: key)
  }
  @inline(__always) func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try decode(scalar: type, forKey: key)
  }
  @inline(__always) func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try decode(scalar: type, forKey: key)
  }
  @inline(__always) func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try decode(scalar: type, forKey: key)
  }
  @inline(__always) func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try decode(scalar: type, forKey: key)
  }
  @inline(__always) func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try decode(scalar: type, forKey: key)
  }
  @inline(__always) func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try decode(scalar: type, forKey: key)
  }
  @inline(__always) func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try decode(scalar: type, forKey: key)
  }

  // The standard library's forms of these ask for NULL first and decode then.
  @inline(__always) func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
  @inline(__always) func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
  @inline(__always) func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
  @inline(__always) func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
  @inline(__always) func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
  @inline(__always) func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
  @inline(__always) func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
  @inline(__always) func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
  @inline(__always) func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
  @inline(__always) func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try decodeIfPresent(scalar: type, forKey: key)
  }
}

/// A container that encodes one scalar in one way.
protocol ScalarEncoding: SingleValueEncodingContainer {
  func encode<Scalar: ScalarValue>(scalar: Scalar) throws
}

extension ScalarEncoding {
  @inline(__always) func encode(_ value: Bool) throws { try encode(scalar: value) }
  @inline(__always) func encode(_ value: String) throws { try encode(scalar: value) }
  @inline(__always) func encode(_ value: Double) throws { try encode(scalar: value) }
  @inline(__always) func encode(_ value: Float) throws { try encode(scalar: value) }
  @inline(__always) func encode(_ value: Int) throws { try encode(scalar: value) }
  @inline(__always) func encode(_ value: Int8) throws { try encode(scalar: value) }
  @inline(__always) func encode(_ value: Int16) throws { try encode(scalar: value) }
  @inline(__always) func encode(_ value: Int32) throws { try encode(scalar: value) }
  @inline(__always) func encode(_ value: Int64) throws { try encode(scalar: value) }
  @inline(__always) func encode(_ value: UInt) throws { try encode(scalar: value) }
  @inline(__always) func encode(_ value: UInt8) throws { try encode(scalar: value) }
  @inline(__always) func encode(_ value: UInt16) throws { try encode(scalar: value) }
  @inline(__always) func encode(_ value: UInt32) throws { try encode(scalar: value) }
  @inline(__always) func encode(_ value: UInt64) throws { try encode(scalar: value) }
}

/// A container that decodes one scalar in one way.
protocol ScalarDecoding: SingleValueDecodingContainer {
  func decode<Scalar: ScalarValue>(scalar type: Scalar.Type) throws -> Scalar
}

extension ScalarDecoding {
  @inline(__always) func decode(_ type: Bool.Type) throws -> Bool { try decode(scalar: type) }
  @inline(__always) func decode(_ type: String.Type) throws -> String { try decode(scalar: type) }
  @inline(__always) func decode(_ type: Double.Type) throws -> Double { try decode(scalar: type) }
  @inline(__always) func decode(_ type: Float.Type) throws -> Float { try decode(scalar: type) }
  @inline(__always) func decode(_ type: Int.Type) throws -> Int { try decode(scalar: type) }
  @inline(__always) func decode(_ type: Int8.Type) throws -> Int8 { try decode(scalar: type) }
  @inline(__always) func decode(_ type: Int16.Type) throws -> Int16 { try decode(scalar: type) }
  @inline(__always) func decode(_ type: Int32.Type) throws -> Int32 { try decode(scalar: type) }
  @inline(__always) func decode(_ type: Int64.Type) throws -> Int64 { try decode(scalar: type) }
  @inline(__always) func decode(_ type: UInt.Type) throws -> UInt { try decode(scalar: type) }
  @inline(__always) func decode(_ type: UInt8.Type) throws -> UInt8 { try decode(scalar: type) }
  @inline(__always) func decode(_ type: UInt16.Type) throws -> UInt16 { try decode(scalar: type) }
  @inline(__always) func decode(_ type: UInt32.Type) throws -> UInt32 { try decode(scalar: type) }
  @inline(__always) func decode(_ type: UInt64.Type) throws -> UInt64 { try decode(scalar: type) }
}
