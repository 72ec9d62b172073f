import ExactText
import SQLiteCore

/// The columns of a row, by the coding keys of one type.
///
/// A class, since the standard library copies its containers at every call.
final class RowDecodingContainer<Key: CodingKey>: ScalarKeyedDecoding {
  let row: DecodedRow
  let slots: KeySlots<Key>
  private let ticket: RowTicket

  init(_ row: DecodedRow) {
    self.row = row
    ticket = row.ticket
    slots = KeySlots { row.column(of: $0) ?? KeySlots<Key>.none }
  }

  var codingPath: [any CodingKey] { row.codingPath }

  /// Throws if the row has ended.
  @inline(__always)
  private func check() throws {
    guard ticket.isValid else { throw DecodedRow.gone }
  }

  var allKeys: [Key] {
    // It cannot throw, but what is asked for next does.
    guard ticket.isValid else { return [] }
    return row.ownColumns.compactMap { column in
      let name = row.columns.names[Int(column)].utf8.dropFirst(row.prefix.utf8.count)
      return Key(stringValue: String(Substring(name)))
    }
  }

  func contains(_ key: Key) -> Bool {
    ticket.isValid && (slots[key] >= 0 || row.child(of: key) != nil)
  }

  /// The column of a property.
  @inline(__always)
  func column(_ key: Key) throws -> Int32 {
    try check()
    let column = slots[key]
    if column < 0 { throw row.missing(key) }
    return column
  }

  func decodeNil(forKey key: Key) throws -> Bool {
    try check()
    if slots[key] < 0, let child = row.child(of: key) { return child.isNull }
    return try row.handle.isNull(at: column(key))
  }

  @inline(__always)
  func decode<Scalar: ScalarValue>(scalar type: Scalar.Type, forKey key: Key) throws -> Scalar {
    try row.scalar(type, at: column(key))
  }

  @inline(__always)
  func decodeIfPresent<Scalar: ScalarValue>(
    scalar type: Scalar.Type, forKey key: Key
  ) throws -> Scalar? {
    try row.scalarIfPresent(type, at: column(key))
  }

  func decode<Result: Decodable>(_ type: Result.Type, forKey key: Key) throws -> Result {
    try check()
    let column = slots[key]
    if column >= 0 { return try row.value(type, at: column) }
    guard let child = row.child(of: key) else { throw row.missing(key) }
    return try child.decoder.value(as: type)
  }

  func decodeIfPresent<Result: Decodable>(
    _ type: Result.Type, forKey key: Key
  ) throws -> Result? {
    try check()
    let column = slots[key]
    if column >= 0 {
      return row.handle.isNull(at: column) ? nil : try row.value(type, at: column)
    }
    guard let child = row.child(of: key) else { throw row.missing(key) }
    return child.isNull ? nil : try child.decoder.value(as: type)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try superDecoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try superDecoder(forKey: key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(forKey: PathKey("super")) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(forKey: key) }

  private func decoder(forKey key: some CodingKey) throws -> any Decoder {
    try check()
    if let column = row.column(of: key) { return ColumnDecoder(row, column: column) }
    guard let child = row.child(of: key) else { throw row.missing(key) }
    return child.decoder
  }
}
