import SQLiteCore

/// A stored value, and the type of a column for it.
struct StoredForm {
  var type: ColumnType
  var isOptional = false
  var value: Value
}

/// Encodes one value: as the single value that it encodes, or as the strategy for nested values does if it
/// has containers.
final class ColumnEncoder: Encoder, SingleValueEncodingContainer {
  private let strategies: MappingStrategies
  private var form: StoredForm?
  private var isDone = false

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private init(_ strategies: MappingStrategies) {
    self.strategies = strategies
  }

  /// Returns the stored form of a value of a type without a form of its own.
  ///
  /// - Throws: ``SQLiteError`` if it cannot be stored, or what its encoding throws.
  static func form<Source: Encodable>(
    of value: Source, _ strategies: MappingStrategies
  ) throws -> StoredForm {
    let encoder = ColumnEncoder(strategies)
    // If the value keeps its encoder, that throws from then on.
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
    nesting.container(keyedBy: type)
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { nesting.unkeyedContainer() }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  /// Containers of nested values, all of which throw.
  private var nesting: TreeEncoder {
    TreeEncoder(refusing: isDone ? SQLiteError.keptEncoder : NestingSignal())
  }

  func encodeNil() throws { try set(StoredForm(type: .blob, isOptional: true, value: .null)) }
  dynamic func encode(_ value: some Encodable) throws { try set(strategies.form(of: value)) }

  private func set(_ form: StoredForm) throws {
    if isDone { throw SQLiteError.keptEncoder }
    self.form = form
  }
}

/// Thrown by a value that turns out to have containers.
struct NestingSignal: Error {}
