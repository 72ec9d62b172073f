import ExactText

/// An object that is being written.
struct KeyedPlace<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let place: EncodingPlace

  var codingPath: [any CodingKey] { place.codingPath }

  mutating func encodeNil(forKey key: Key) throws {
    try place.beginMember(key)
    place.output.text.appendNull()
  }

  mutating func encode(_ value: Bool, forKey key: Key) throws {
    try place.beginMember(key)
    place.output.text.append(value, isMember: true)
  }

  mutating func encode(_ value: String, forKey key: Key) throws {
    try place.beginMember(key)
    place.output.text.append(value, isMember: true)
  }

  mutating func encode(_ value: Double, forKey key: Key) throws {
    try place.member(key) { try place.encode(value, isMember: true) }
  }

  mutating func encode(_ value: Float, forKey key: Key) throws {
    try place.member(key) { try place.encode(value, isMember: true) }
  }

  private func encode(integer value: some FixedWidthInteger, forKey key: Key) throws {
    try place.beginMember(key)
    place.output.text.append(value, isMember: true)
  }

  mutating func encode(_ value: Int, forKey key: Key) throws {
    try encode(integer: value, forKey: key)
  }
  mutating func encode(_ value: Int8, forKey key: Key) throws {
    try encode(integer: value, forKey: key)
  }
  mutating func encode(_ value: Int16, forKey key: Key) throws {
    try encode(integer: value, forKey: key)
  }
  mutating func encode(_ value: Int32, forKey key: Key) throws {
    try encode(integer: value, forKey: key)
  }
  mutating func encode(_ value: Int64, forKey key: Key) throws {
    try encode(integer: value, forKey: key)
  }
  mutating func encode(_ value: Int128, forKey key: Key) throws {
    try encode(integer: value, forKey: key)
  }
  mutating func encode(_ value: UInt, forKey key: Key) throws {
    try encode(integer: value, forKey: key)
  }
  mutating func encode(_ value: UInt8, forKey key: Key) throws {
    try encode(integer: value, forKey: key)
  }
  mutating func encode(_ value: UInt16, forKey key: Key) throws {
    try encode(integer: value, forKey: key)
  }
  mutating func encode(_ value: UInt32, forKey key: Key) throws {
    try encode(integer: value, forKey: key)
  }
  mutating func encode(_ value: UInt64, forKey key: Key) throws {
    try encode(integer: value, forKey: key)
  }
  mutating func encode(_ value: UInt128, forKey key: Key) throws {
    try encode(integer: value, forKey: key)
  }

  mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try place.member(key) { try place.encode(value, isMember: true, key: key) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    piece(key).container(keyedBy: keyType)
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    piece(key).unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder { piece(PathKey("super")) }

  mutating func superEncoder(forKey key: Key) -> any Encoder { piece(key) }

  private func piece(_ key: some CodingKey) -> EncodingPlace {
    do {
      try place.beginMember(key)
    } catch {
      place.output.state.fail(error)
    }
    return place.output.addPiece(key, of: place.index, isMember: true)
  }
}
