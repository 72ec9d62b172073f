import SQLiteCore

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

extension ColumnEncoder: ScalarEncoding {
  func encodeNil() throws { try row.bindNil(at: parameter) }
  func encode<Scalar: ScalarValue>(scalar: Scalar) throws { try row.bind(scalar, at: parameter) }
  func encode(_ value: some Encodable) throws { try row.bind(any: value, at: parameter) }
}

/// A stored value, with what it tells of its column.
struct StoredForm {
  var type: ColumnType
  var isOptional = false
  var value: Value
}

extension MappingStrategies {
  /// Returns the stored form of a value.
  ///
  /// - Throws: ``SQLiteError`` if it cannot be stored, or what its encoding throws.
  func form<Source: Encodable>(of value: Source) throws -> StoredForm {
    if let scalar = Source.self as? any ScalarValue.Type, let form = try form(of: value, as: scalar)
    {
      return form
    }
    return try SingleValueEncoder.form(of: value, self)
  }

  private func form<Source, Scalar: ScalarValue>(
    of value: Source, as scalar: Scalar.Type
  ) throws(SQLiteError) -> StoredForm? {
    guard let value = same(value, as: scalar) else { return nil }
    return StoredForm(
      type: scalar.columnType(scalars), isOptional: scalar is any OptionalValue.Type,
      value: try value.stored(scalars))
  }
}

/// Encodes a value of a type without a form of its own: a single one as what it encodes, one with containers
/// as the strategy for nested values says.
final class SingleValueEncoder: Encoder, ScalarEncoding {
  private let strategies: MappingStrategies
  private var form: StoredForm?
  private var isDone = false
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private init(_ strategies: MappingStrategies) {
    self.strategies = strategies
  }

  static func form<Source: Encodable>(
    of value: Source, _ strategies: MappingStrategies
  ) throws -> StoredForm {
    let encoder = SingleValueEncoder(strategies)
    // What the value keeps of it throws from then on.
    defer { encoder.isDone = true }
    do {
      try value.encode(to: encoder)
    } catch is NestingSignal {
      encoder.form = nil
    }
    var form =
      try encoder.form
      ?? StoredForm(type: strategies.nested.columnType, value: strategies.nested.stored(value))
    if let optional = Source.self as? any OptionalValue.Type {
      form.type = Storage(of: optional.wrappedType, strategies).columnType
      form.isOptional = true
    }
    return form
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    NestingEncoder(error: NestingSignal()).container(keyedBy: type)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    NestingEncoder(error: NestingSignal()).unkeyedContainer()
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  private func set(_ form: StoredForm) throws {
    if isDone { throw EncodedRow.gone }
    self.form = form
  }

  func encodeNil() throws { try set(StoredForm(type: .blob, isOptional: true, value: .null)) }

  func encode<Scalar: ScalarValue>(scalar: Scalar) throws {
    try set(
      StoredForm(
        type: Scalar.columnType(strategies.scalars), value: scalar.stored(strategies.scalars)))
  }

  func encode(_ value: some Encodable) throws { try set(strategies.form(of: value)) }
}

/// Thrown by a value that turns out to have containers, so that it is encoded as JSON instead.
struct NestingSignal: Error {}

/// Throws at the first value.
struct NestingEncoder: Encoder, SingleValueEncodingContainer {
  let error: any Error

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(NestingKeyedContainer(error: error))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    NestingUnkeyedContainer(error: error)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
  func encodeNil() throws { throw error }
  func encode(_ value: some Encodable) throws { throw error }
}

/// Throws at the first value.
struct NestingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let error: any Error

  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) throws { throw error }
  func encode(_ value: some Encodable, forKey key: Key) throws { throw error }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    KeyedEncodingContainer(NestingKeyedContainer<NestedKey>(error: error))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    NestingUnkeyedContainer(error: error)
  }

  func superEncoder() -> any Encoder { NestingEncoder(error: error) }
  func superEncoder(forKey key: Key) -> any Encoder { NestingEncoder(error: error) }
}

/// Throws at the first value.
struct NestingUnkeyedContainer: UnkeyedEncodingContainer {
  let error: any Error

  var codingPath: [any CodingKey] { [] }
  var count: Int { 0 }

  func encodeNil() throws { throw error }
  func encode(_ value: some Encodable) throws { throw error }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    KeyedEncodingContainer(NestingKeyedContainer<NestedKey>(error: error))
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { NestingEncoder(error: error) }
}
