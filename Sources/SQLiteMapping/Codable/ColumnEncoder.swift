import SQLiteCore

/// A value in its stored form, with the type of its column and whether the column is optional.
struct StoredForm {
  var type: ColumnType
  var isOptional = false
  /// Whether the property is a `Date`.
  var isDate = false
  var value: Value
}

/// An encoder that captures what a value encodes into a single-value container. If the value
/// requests another container instead, the strategy for nested values encodes it.
final class ColumnEncoder: Encoder, SingleValueEncodingContainer {
  private let strategies: MappingStrategies
  private var form: StoredForm?
  private var isDone = false

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private init(_ strategies: MappingStrategies) {
    self.strategies = strategies
  }

  /// Returns the stored form of a value that is not a scalar.
  ///
  /// - Throws: ``SQLiteError`` if the value cannot be stored, or an error from its `encode(to:)`.
  static func form<Source: Encodable>(
    of value: Source, _ strategies: MappingStrategies
  ) throws -> StoredForm {
    let encoder = ColumnEncoder(strategies)
    // If the value keeps its encoder, the encoder throws from now on.
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
      form.type = ColumnStorage(of: optional.wrappedType, strategies).columnType
      form.isOptional = true
    }
    return form
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    nesting.container(keyedBy: type)
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { nesting.unkeyedContainer() }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  /// An encoder whose containers throw, which stops the encoding of a value that requests one.
  private var nesting: TreeEncoder {
    TreeEncoder(throwing: isDone ? SQLiteError.expiredEncoder : NestingSignal())
  }

  func encodeNil() throws { try set(StoredForm(type: .blob, isOptional: true, value: .null)) }
  dynamic func encode(_ value: some Encodable) throws { try set(strategies.form(of: value)) }

  private func set(_ form: StoredForm) throws {
    if isDone { throw SQLiteError.expiredEncoder }
    self.form = form
  }
}

/// An error that stops the encoding of a value that has requested a container.
struct NestingSignal: Error {}
