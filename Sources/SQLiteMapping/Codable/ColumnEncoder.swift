import SQLiteCore

/// The place where one value of a column goes to.
protocol ColumnSink {
  func put<Scalar: ScalarValue>(_ scalar: Scalar) throws
  func putNil() throws
  func put(any value: some Encodable) throws
  /// Returns whether the value may be encoded, after it is known whether it has containers.
  func begin(isNested: Bool) -> Bool
}

/// Encodes one value: as the single value that it encodes, or as the strategy for nested values does if it
/// has containers.
struct ColumnEncoder<Sink: ColumnSink>: Encoder {
  let sink: Sink

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    nesting().container(keyedBy: type)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { nesting().unkeyedContainer() }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    _ = sink.begin(isNested: false)
    return self
  }

  /// Notes that the value has containers, all of which throw.
  private func nesting() -> TreeEncoder {
    TreeEncoder(
      refusing: sink.begin(isNested: true) ? NestingSignal() : SQLiteError.keptEncoder)
  }
}

extension ColumnEncoder: ScalarEncoding {
  func encodeNil() throws { try sink.putNil() }
  func put(_ scalar: some ScalarValue) throws { try sink.put(scalar) }
  dynamic func encode(_ value: some Encodable) throws { try sink.put(any: value) }
}

/// Thrown by a value that turns out to have containers.
struct NestingSignal: Error {}

/// The parameter of a row that is being bound.
///
/// Three words, so that an encoder of it needs no memory of its own as `any Encoder`. Of one that is kept,
/// everything throws when its row has ended.
struct RowParameter: ColumnSink {
  private let content: EncodedRow
  /// The number of its row.
  private let number: Int
  private let parameter: Int32

  init(_ row: EncodedRow, _ parameter: Int32) {
    content = row
    number = row.mark.row
    self.parameter = parameter
  }

  /// The row of the parameter; throws if it has ended.
  private var row: EncodedRow {
    @inline(__always) get throws {
      if content.mark.row != number { throw SQLiteError.keptEncoder }
      return content
    }
  }

  func begin(isNested: Bool) -> Bool {
    guard let row = try? row else { return false }
    row.isNested = isNested
    return true
  }

  func put<Scalar: ScalarValue>(_ scalar: Scalar) throws {
    try row.encode(scalar: scalar, at: parameter)
  }

  func putNil() throws { try row.bindNil(at: parameter) }
  func put(any value: some Encodable) throws { try row.encode(value, at: parameter) }
}

/// The form in which a value is stored, collected by its encoder.
final class CollectedForm: ColumnSink {
  private let strategies: MappingStrategies
  private var form: StoredForm?
  private var isDone = false

  private init(_ strategies: MappingStrategies) {
    self.strategies = strategies
  }

  /// Returns the stored form of a value of a type without a form of its own.
  ///
  /// - Throws: ``SQLiteError`` if it cannot be stored, or what its encoding throws.
  static func of<Source: Encodable>(
    _ value: Source, _ strategies: MappingStrategies
  ) throws -> StoredForm {
    let collected = CollectedForm(strategies)
    // If the value keeps a part of it, that throws from then on.
    defer { collected.isDone = true }
    do {
      try value.encode(to: ColumnEncoder(sink: collected))
    } catch is NestingSignal {
      collected.form = nil
    }
    var form =
      try collected.form
      ?? StoredForm(type: strategies.nested.columnType, value: strategies.nested.stored(value))
    if let optional = Source.self as? any OptionalValue.Type {
      form.type = Storage(of: optional.wrappedType, strategies).columnType
      form.isOptional = true
    }
    return form
  }

  private func set(_ form: StoredForm) throws {
    if isDone { throw SQLiteError.keptEncoder }
    self.form = form
  }

  func begin(isNested: Bool) -> Bool { !isDone }

  func putNil() throws { try set(StoredForm(type: .blob, isOptional: true, value: .null)) }

  func put<Scalar: ScalarValue>(_ scalar: Scalar) throws {
    try set(
      StoredForm(
        type: Scalar.columnType(strategies.scalars), value: scalar.stored(strategies.scalars)))
  }

  func put(any value: some Encodable) throws { try set(strategies.form(of: value)) }
}
