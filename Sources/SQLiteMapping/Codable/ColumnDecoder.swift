/// The place where the value of one column is found.
protocol ColumnSource {
  var codingPath: [any CodingKey] { get }
  /// Throws if the value is not there any more.
  func check() throws
  var isNull: Bool { get }
  func take<Scalar: ScalarValue>(_ type: Scalar.Type) throws -> Scalar
  func decode<Result: Decodable>(_ type: Result.Type) throws -> Result
  /// Returns a decoder for the nested value that is stored.
  func nested() throws -> any Decoder
}

/// Decodes one column: the value itself, or the JSON in it for a type with containers.
struct ColumnDecoder<Source: ColumnSource>: Decoder {
  let source: Source

  var codingPath: [any CodingKey] { source.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try source.nested().container(keyedBy: type)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try source.nested().unkeyedContainer()
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    try source.check()
    return self
  }
}

extension ColumnDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { source.isNull }
  func decode(_ type: Bool.Type) throws -> Bool { try source.take(type) }
  func decode(_ type: String.Type) throws -> String { try source.take(type) }
  func decode(_ type: Double.Type) throws -> Double { try source.take(type) }
  func decode(_ type: Int.Type) throws -> Int { try source.take(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try source.take(type) }

  dynamic func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    try source.decode(type)
  }
}
