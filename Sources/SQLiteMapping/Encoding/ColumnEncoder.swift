/// Binds one value: a single one as it is, one with containers as JSON.
///
/// Three words, so that it needs no memory of its own as `any Encoder`. Of one that is kept, everything
/// throws when its row has ended.
struct ColumnEncoder: Encoder {
  private let content: EncodedRow
  /// The number of its row.
  private let number: Int
  private let parameter: Int32

  init(_ row: EncodedRow, parameter: Int32) {
    content = row
    number = row.mark.row
    self.parameter = parameter
  }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// What the parameter is in; throws if the row has ended.
  private var row: EncodedRow {
    @inline(__always) get throws {
      if content.mark.row != number { throw EncodedRow.gone }
      return content
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    nesting().container(keyedBy: type)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { nesting().unkeyedContainer() }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    (try? row)?.isNested = false
    return self
  }

  /// Notes that the value has containers, all of which throw.
  private func nesting() -> NestingEncoder {
    guard let row = try? row else { return NestingEncoder(error: EncodedRow.gone) }
    row.isNested = true
    return NestingEncoder(error: NestingSignal())
  }
}

extension ColumnEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { try row.bindNil(at: parameter) }
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
    try (encoder as? RowEncoder)?.check()
    try (encoder as? ShapeEncoder)?.check()
    if value is any LosslessStringConvertible { throw error }
    try value.encode(to: encoder)
  }
}
