/// Binds one value: a single one as it is, one with containers as JSON.
///
/// Two words, so that it needs no memory of its own as `any Encoder`.
struct ColumnEncoder: Encoder {
  let row: EncodedRow
  let parameter: Int32

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    row.isNested = true
    return KeyedEncodingContainer(NestingKeyedContainer(error: NestingSignal()))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    row.isNested = true
    return NestingUnkeyedContainer(error: NestingSignal())
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    row.isNested = false
    return self
  }
}

extension ColumnEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { row.bindNil(at: parameter) }
  func encode(_ value: Bool) throws { try row.bind(value, at: parameter) }
  func encode(_ value: String) throws { try row.bind(value, at: parameter) }
  func encode(_ value: Double) throws { try row.bind(value, at: parameter) }
  func encode(_ value: Float) throws { try row.bind(Double(value), at: parameter) }
  func encode(_ value: Int) throws { try row.bind(value, at: parameter) }
  func encode(_ value: Int8) throws { try row.bind(value, at: parameter) }
  func encode(_ value: Int16) throws { try row.bind(value, at: parameter) }
  func encode(_ value: Int32) throws { try row.bind(value, at: parameter) }
  func encode(_ value: Int64) throws { try row.bind(value, at: parameter) }
  func encode(_ value: UInt) throws { try row.bind(value, at: parameter) }
  func encode(_ value: UInt8) throws { try row.bind(value, at: parameter) }
  func encode(_ value: UInt16) throws { try row.bind(value, at: parameter) }
  func encode(_ value: UInt32) throws { try row.bind(value, at: parameter) }
  func encode(_ value: UInt64) throws { try row.bind(value, at: parameter) }
  func encode(_ value: some Encodable) throws { try row.bind(any: value, at: parameter) }
}

/// The whole row as a single value: one that encodes the properties.
struct WholeRowContainer: SingleValueEncodingContainer {
  let encoder: any Encoder
  let error: any Error

  var codingPath: [any CodingKey] { encoder.codingPath }
  func encodeNil() throws { throw error }
  func encode(_ value: some Encodable) throws {
    if value is any LosslessStringConvertible { throw error }
    try value.encode(to: encoder)
  }
}
