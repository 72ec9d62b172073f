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

extension ColumnEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { try sink.putNil() }
  func encode(_ value: Bool) throws { try sink.put(value) }
  func encode(_ value: String) throws { try sink.put(value) }
  func encode(_ value: Double) throws { try sink.put(value) }
  func encode(_ value: Int) throws { try sink.put(value) }
  func encode(_ value: Int64) throws { try sink.put(value) }
  dynamic func encode(_ value: some Encodable) throws { try sink.put(any: value) }
}

/// Thrown by a value that turns out to have containers.
struct NestingSignal: Error {}
