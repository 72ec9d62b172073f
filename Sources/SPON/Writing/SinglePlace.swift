/// A place that takes one value.
struct SinglePlace: SingleValueEncodingContainer {
  let place: EncodingPlace

  var codingPath: [any CodingKey] { place.codingPath }

  private var isMember: Bool { place.output.frames[place.index].isMember }

  /// Checks that nothing was written here yet.
  private func begin() throws {
    guard place.isInnermost else { throw place.outOfTurn() }
    guard place.output.frames[place.index].kind == .empty else {
      throw EncodingError.invalidValue(
        (), place.output.context("the value is encoded in two kinds, or twice"))
    }
    place.output.frames[place.index].kind = .scalar
  }

  mutating func encodeNil() throws {
    try begin()
    place.output.text.appendNull()
  }

  mutating func encode(_ value: Bool) throws {
    try begin()
    place.output.text.append(value, isMember: isMember)
  }

  mutating func encode(_ value: String) throws {
    try begin()
    place.output.text.append(value, isMember: isMember)
  }

  mutating func encode(_ value: Double) throws {
    try begin()
    try place.encode(value, isMember: isMember)
  }

  mutating func encode(_ value: Float) throws {
    try begin()
    try place.encode(value, isMember: isMember)
  }

  private func encode(integer value: some FixedWidthInteger) throws {
    try begin()
    place.output.text.append(value, isMember: isMember)
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
    try begin()
    try place.encodeHere(value)
  }
}
