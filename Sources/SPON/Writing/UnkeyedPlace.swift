import ExactText

/// An array that is being written.
struct UnkeyedPlace: UnkeyedEncodingContainer {
  let place: EncodingPlace

  var codingPath: [any CodingKey] { place.codingPath }

  var count: Int { place.isInnermost ? place.output.frames[place.index].count : 0 }

  /// The key of the element that was begun last.
  private var key: PathKey { PathKey(index: max(0, count - 1)) }

  mutating func encodeNil() throws {
    try place.beginElement()
    place.output.text.appendNull()
  }

  mutating func encode(_ value: Bool) throws {
    try place.beginElement()
    place.output.text.append(value, isMember: false)
  }

  mutating func encode(_ value: String) throws {
    try place.beginElement()
    place.output.text.append(value, isMember: false)
  }

  mutating func encode(_ value: Double) throws {
    try place.element { try place.encode(value, isMember: false) }
  }

  mutating func encode(_ value: Float) throws {
    try place.element { try place.encode(value, isMember: false) }
  }

  private func encode(integer value: some FixedWidthInteger) throws {
    try place.beginElement()
    place.output.text.append(value, isMember: false)
  }

  mutating func encode(_ value: Int) throws { try encode(integer: value) }
  mutating func encode(_ value: Int8) throws { try encode(integer: value) }
  mutating func encode(_ value: Int16) throws { try encode(integer: value) }
  mutating func encode(_ value: Int32) throws { try encode(integer: value) }
  mutating func encode(_ value: Int64) throws { try encode(integer: value) }
  mutating func encode(_ value: Int128) throws { try encode(integer: value) }
  mutating func encode(_ value: UInt) throws { try encode(integer: value) }
  mutating func encode(_ value: UInt8) throws { try encode(integer: value) }
  mutating func encode(_ value: UInt16) throws { try encode(integer: value) }
  mutating func encode(_ value: UInt32) throws { try encode(integer: value) }
  mutating func encode(_ value: UInt64) throws { try encode(integer: value) }
  mutating func encode(_ value: UInt128) throws { try encode(integer: value) }

  mutating func encode<T: Encodable>(_ value: T) throws {
    try place.element { try place.encode(value, isMember: false, key: key) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    piece().container(keyedBy: keyType)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    piece().unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder { piece() }

  private func piece() -> EncodingPlace {
    do {
      try place.beginElement()
    } catch {
      place.output.state.fail(error)
    }
    return place.output.addPiece(key, of: place.index, isMember: false)
  }
}
