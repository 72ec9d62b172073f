import ExactText
import SQLiteCore

/// Binds the properties that a statement has parameters for, and passes over the others: for
/// statements that ask for a value's primary key only.
final class KeyEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let row: EncodedRow
  private let slots: KeySlots<Key>
  private let ticket: RowTicket

  init(_ row: EncodedRow) {
    self.row = row
    ticket = row.ticket
    slots = KeySlots { row.parameter(of: $0) ?? KeySlots<Key>.none }
  }

  var codingPath: [any CodingKey] { [] }

  /// The parameter of a property, unless there is none.
  private func parameter(_ key: Key) throws -> Int32? {
    guard ticket.isValid else { throw EncodedRow.gone }
    let parameter = slots[key]
    return parameter > 0 ? parameter : nil
  }

  func encodeNil(forKey key: Key) throws {
    if let parameter = try parameter(key) { row.bindNil(at: parameter) }
  }

  func encode(_ value: some Encodable, forKey key: Key) throws {
    if let parameter = try parameter(key) { try row.bind(any: value, at: parameter) }
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
    guard row.parameter(of: key) == nil else { return row.treeEncoder(forKey: key) }
    return row.looseEncoder(forKey: key)
  }
}
