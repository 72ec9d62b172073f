import ExactText

/// An object that is being read.
struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let reader: ValueReader

  var codingPath: [any CodingKey] { reader.codingPath }

  var allKeys: [Key] {
    var keys: [Key] = []
    keys.reserveCapacity(Int(reader.state.document.tokens[reader.token].count))
    reader.state.forEachMember(of: reader.token) { member in
      if let key = Key(stringValue: reader.state.convertedKey(of: member)) { keys.append(key) }
    }
    return keys
  }

  func contains(_ key: Key) -> Bool {
    reader.state.member(key.stringValue, of: reader.token) != nil
  }

  /// The value of a key.
  @inline(__always) private func value(_ key: Key) throws -> ValueReader {
    guard let member = reader.state.member(key.stringValue, of: reader.token) else {
      throw missing(key)
    }
    return ValueReader(state: reader.state, token: member)
  }

  /// The value of a key, unless there is none.
  @inline(__always) private func present(_ key: Key) -> ValueReader? {
    guard let member = reader.state.member(key.stringValue, of: reader.token) else { return nil }
    let value = ValueReader(state: reader.state, token: member)
    return value.isNull ? nil : value
  }

  @inline(never) private func missing(_ key: Key) -> DecodingError {
    .keyNotFound(
      key,
      DecodingError.Context(
        codingPath: codingPath,
        debugDescription: "the object has no member “\(key.stringValue)”"))
  }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key).bool() }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(key).string() }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key).double() }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key).float() }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try value(key).integer(as: type)
  }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try value(key).integer(as: type)
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try value(key).integer(as: type)
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try value(key).integer(as: type)
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try value(key).integer(as: type)
  }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try value(key).integer(as: type)
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try value(key).integer(as: type)
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try value(key).integer(as: type)
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try value(key).integer(as: type)
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try value(key).integer(as: type)
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try value(key).integer(as: type)
  }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try value(key).integer(as: type)
  }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try value(key).read(type)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try present(key)?.bool()
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try present(key)?.string()
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try present(key)?.double()
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try present(key)?.integer(as: type)
  }
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try present(key)?.read(type)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try value(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try value(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    guard let member = reader.state.member("super", of: reader.token) else {
      throw DecodingError.keyNotFound(
        PathKey("super"),
        DecodingError.Context(
          codingPath: codingPath, debugDescription: "the object has no member “super”"))
    }
    return ValueReader(state: reader.state, token: member)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }
}
