import SQLiteCore

/// An encoder that is passed to `encode(to:)` of one value and writes its properties into a row.
///
/// It consists of two words, so it needs no allocation as `any Encoder`. If a type keeps it, it
/// throws after its row has ended.
struct RowEncoder: Encoder {
  let content: EncodedRow
  /// The number of the row that the encoder is valid for.
  let row: Int

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Throws if the row has ended.
  fileprivate func check() throws {
    if content.mark.row != row { throw SQLiteError.expiredEncoder }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    guard content.mark.row == row else {
      return TreeEncoder(throwing: SQLiteError.expiredEncoder).container(keyedBy: type)
    }
    return content.container(keyedBy: type)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    TreeEncoder(throwing: SQLiteError.notARow).unkeyedContainer()
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    WholeRowContainer(encoder: self)
  }
}

/// The single-value container of a row. It accepts only a value that encodes properties.
private struct WholeRowContainer: SingleValueEncodingContainer {
  let encoder: RowEncoder

  var codingPath: [any CodingKey] { [] }
  func encodeNil() throws { throw SQLiteError.notARow }

  dynamic func encode(_ value: some Encodable) throws {
    try encoder.check()
    if value is any LosslessStringConvertible { throw SQLiteError.notARow }
    try value.encode(to: encoder)
  }
}

extension SQLiteError {
  /// The error that is thrown if a value encodes a single value or an array instead of properties.
  static var notARow: SQLiteError {
    SQLiteError(
      .misuse, "a row must be encoded as properties with names, not as a single value or an array")
  }
}

/// The properties of a row, accessed by the coding keys of one type. Encoding a property without a
/// parameter throws or, if only some properties are requested, does nothing.
///
/// It is a class, so that the copies that the standard library makes in every call share one
/// object.
final class RowEncodingContainer<Key: CodingKey>: NestingKeyedEncoding {
  let row: EncodedRow
  let slots: KeySlots<Key>
  private let permission: RowPermission

  init(_ row: EncodedRow) {
    self.row = row
    permission = row.permission
    slots = KeySlots { row.parameter(of: $0) ?? KeySlots<Key>.none }
  }

  var codingPath: [any CodingKey] { [] }

  /// Returns the number of the parameter for the property of a key, or 0 if the property is
  /// skipped.
  @inline(__always)
  private func parameter(_ key: Key) throws -> Int32 {
    guard permission.isValid else { throw SQLiteError.expiredEncoder }
    let parameter = slots[key]
    return parameter < 0 ? try row.missing(key) : parameter
  }

  func encodeNil(forKey key: Key) throws {
    let parameter = try parameter(key)
    if parameter > 0 { row.encodeNil(at: parameter) }
  }

  @inline(__always)
  func encodeScalar<Scalar: ScalarValue>(_ scalar: Scalar, _ key: Key) throws {
    let parameter = try parameter(key)
    if parameter > 0 { try row.encode(scalar: scalar, at: parameter) }
  }

  @inline(__always)
  func encodeOptionalScalar<Scalar: ScalarValue & Encodable>(_ scalar: Scalar?, _ key: Key) throws {
    let parameter = try parameter(key)
    guard parameter > 0 else { return }
    if row.handle == nil {
      try row.collect(optional: scalar, at: parameter)
    } else if let scalar {
      try row.encode(scalar: scalar, at: parameter)
    } else {
      row.bindNil(at: parameter)
    }
  }

  @_semantics("optimize.sil.specialize.generic.never")  // As in BorrowedDecodingContainer.
  func encodeOptional<Source: Encodable>(_ value: Source?, _ key: Key) throws {
    let parameter = try parameter(key)
    if parameter > 0 { try row.encode(optional: value, at: parameter) }
  }

  @_semantics("optimize.sil.specialize.generic.never")  // As in BorrowedDecodingContainer.
  func encode<Source: Encodable>(_ value: Source, forKey key: Key) throws {
    let parameter = try parameter(key)
    if parameter > 0 { try row.encode(value, at: parameter) }
  }

  func encoder(forKey key: some CodingKey) -> any Encoder {
    guard permission.isValid else { return TreeEncoder(throwing: SQLiteError.expiredEncoder) }
    return row.treeEncoder(forKey: key)
  }
}

// These methods encode each nil. The standard library's implementations of `encodeIfPresent` drop
// it.
extension RowEncodingContainer {
  @inline(__always) func encode(_ value: Bool, forKey key: Key) throws {
    try encodeScalar(value, key)
  }
  @inline(__always) func encode(_ value: String, forKey key: Key) throws {
    try encodeScalar(value, key)
  }
  @inline(__always) func encode(_ value: Double, forKey key: Key) throws {
    try encodeScalar(value, key)
  }
  @inline(__always) func encode(_ value: Int, forKey key: Key) throws {
    try encodeScalar(value, key)
  }
  @inline(__always) func encode(_ value: Int64, forKey key: Key) throws {
    try encodeScalar(value, key)
  }

  @inline(__always) func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    try encodeOptionalScalar(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    try encodeOptionalScalar(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    try encodeOptionalScalar(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    try encodeOptionalScalar(value, key)
  }
  @inline(__always) func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    try encodeOptionalScalar(value, key)
  }

  func encodeIfPresent<Source: Encodable>(_ value: Source?, forKey key: Key) throws {
    try encodeOptional(value, key)
  }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value, key) }
}
