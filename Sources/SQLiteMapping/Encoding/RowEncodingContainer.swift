import ExactText

/// The parameters of a statement, by the coding keys of one type.
///
/// A class, since the standard library copies its containers at every call.
final class RowEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let row: EncodedRow
  let slots: KeySlots<Key>
  private let ticket: RowTicket

  init(_ row: EncodedRow) {
    self.row = row
    ticket = row.ticket
    slots = KeySlots { row.parameter(of: $0) ?? KeySlots<Key>.none }
  }

  var codingPath: [any CodingKey] { [] }

  /// The parameter of a property.
  @inline(__always)
  func parameter(_ key: Key) throws -> Int32 {
    guard ticket.isValid else { throw EncodedRow.gone }
    let parameter = slots[key]
    if parameter < 0 { throw row.unknown(key) }
    return parameter
  }

  func encodeNil(forKey key: Key) throws { try row.bindNil(at: parameter(key)) }

  func encode(_ value: Bool, forKey key: Key) throws {
    try row.bind(value, at: parameter(key))
  }

  func encode(_ value: String, forKey key: Key) throws {
    try row.bind(value, at: parameter(key))
  }

  func encode(_ value: Double, forKey key: Key) throws {
    try row.bind(value, at: parameter(key))
  }

  func encode(_ value: Float, forKey key: Key) throws {
    try row.bind(Double(value), at: parameter(key))
  }

  func encode(_ value: Int, forKey key: Key) throws {
    try row.bind(value, at: parameter(key))
  }

  func encode(_ value: Int8, forKey key: Key) throws {
    try row.bind(value, at: parameter(key))
  }

  func encode(_ value: Int16, forKey key: Key) throws {
    try row.bind(value, at: parameter(key))
  }

  func encode(_ value: Int32, forKey key: Key) throws {
    try row.bind(value, at: parameter(key))
  }

  func encode(_ value: Int64, forKey key: Key) throws {
    try row.bind(value, at: parameter(key))
  }

  func encode(_ value: UInt, forKey key: Key) throws {
    try row.bind(value, at: parameter(key))
  }

  func encode(_ value: UInt8, forKey key: Key) throws {
    try row.bind(value, at: parameter(key))
  }

  func encode(_ value: UInt16, forKey key: Key) throws {
    try row.bind(value, at: parameter(key))
  }

  func encode(_ value: UInt32, forKey key: Key) throws {
    try row.bind(value, at: parameter(key))
  }

  func encode(_ value: UInt64, forKey key: Key) throws {
    try row.bind(value, at: parameter(key))
  }

  func encode(_ value: some Encodable, forKey key: Key) throws {
    try row.bind(any: value, at: parameter(key))
  }

  func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(any: value, at: parameter) } else { row.bindNil(at: parameter) }
  }

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

  private func encoder(forKey key: some CodingKey) -> any Encoder {
    guard ticket.isValid else { return NestingEncoder(error: EncodedRow.gone) }
    return row.treeEncoder(forKey: key)
  }
}
