import ExactText

/// The parameters of a statement, by the coding keys of one type. Properties without a parameter are an error, or
/// are passed over by a statement for the primary key only.
///
/// A class, since the standard library copies its containers at every call.
final class RowEncodingContainer<Key: CodingKey>: ScalarKeyedEncoding {
  let row: EncodedRow
  let slots: KeySlots<Key>
  private let ticket: RowTicket

  init(_ row: EncodedRow) {
    self.row = row
    ticket = row.ticket
    slots = KeySlots { row.parameter(of: $0) ?? KeySlots<Key>.none }
  }

  var codingPath: [any CodingKey] { [] }

  /// The parameter of a property; 0 if it is passed over.
  @inline(__always)
  private func parameter(_ key: Key) throws -> Int32 {
    guard ticket.isValid else { throw EncodedRow.gone }
    let parameter = slots[key]
    return parameter < 0 ? try row.missing(key) : parameter
  }

  func encodeNil(forKey key: Key) throws {
    let parameter = try parameter(key)
    if parameter > 0 { row.bindNil(at: parameter) }
  }

  @inline(__always)
  func encode<Scalar: ScalarValue>(scalar: Scalar?, isOptional: Bool, forKey key: Key) throws {
    let parameter = try parameter(key)
    guard parameter > 0 else { return }
    if let scalar { try row.bind(scalar, at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encode(_ value: some Encodable, forKey key: Key) throws {
    let parameter = try parameter(key)
    if parameter > 0 { try row.bind(any: value, at: parameter) }
  }

  func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
    guard let value else { return try encodeNil(forKey: key) }
    try encode(value, forKey: key)
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
