import ExactText
import SQLiteCore

/// Made-up values: what a type's `init(from:)` makes of zeros, short texts, nil and empty collections.
enum Placeholder {
  /// The type's prototype, or else a value of it that is made up.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if the type refuses what was made up.
  static func example(of type: any Record.Type) throws(SQLiteError) -> any Record {
    func open<Value: Record>(_ type: Value.Type) throws(SQLiteError) -> any Record {
      try value(of: type)
    }
    return try open(type)
  }

  private static func value<Value: Record>(of type: Value.Type) throws(SQLiteError) -> Value {
    if let prototype = type.prototype { return prototype }
    do {
      return try Value(from: PlaceholderDecoder())
    } catch let error as Refusal {
      throw SQLiteError(
        .misuse,
        "\(type) has no prototype, and none can be made up: “\(error.path)” is a \(error.type)")
    } catch {
      throw SQLiteError(
        .misuse, "\(type) has no prototype, and its init(from:) refuses what was made up: \(error)")
    }
  }

  /// A property of which no value could be made.
  fileprivate struct Refusal: Error {
    let path: String
    let type: String
  }

  /// Makes a value up.
  fileprivate static func value<Value: Decodable>(
    of type: Value.Type, _ path: [any CodingKey]
  ) throws -> Value {
    if let known = Examples.values(of: type)().first { return known }
    if let cases = type as? any CaseIterable.Type, let first = first(of: cases) as? Value {
      return first
    }
    let refusal = Refusal(path: path.map(\.stringValue).joined(separator: "."), type: "\(type)")
    // No type of finite size is that deep; one that makes itself over and over is.
    guard path.count < 64 else { throw refusal }
    do {
      return try Value(from: PlaceholderDecoder(codingPath: path))
    } catch is DecodingError {
      throw refusal
    }
  }

  private static func first<Cases: CaseIterable>(of type: Cases.Type) -> Any? {
    type.allCases.first
  }
}

/// Answers whatever it is asked.
private struct PlaceholderDecoder: Decoder, SingleValueDecodingContainer {
  var codingPath: [any CodingKey] = []
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(PlaceholderContainer(codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer {
    PlaceholderElements(codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { true }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try Placeholder.value(of: type, codingPath + [PathKey("value")])
  }
}

private struct PlaceholderContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let codingPath: [any CodingKey]
  var allKeys: [Key] { [] }

  private func decoder(_ key: any CodingKey) -> PlaceholderDecoder {
    PlaceholderDecoder(codingPath: codingPath + [key])
  }

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { true }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try Placeholder.value(of: type, codingPath + [key])
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedDecodingContainer<NestedKey> {
    decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
    decoder(key).unkeyedContainer()
  }

  func superDecoder() -> any Decoder { decoder(PathKey("super")) }
  func superDecoder(forKey key: Key) -> any Decoder { decoder(key) }
}

/// No elements; one that is asked for all the same is made up.
private struct PlaceholderElements: UnkeyedDecodingContainer {
  let codingPath: [any CodingKey]
  var count: Int? { 0 }
  var isAtEnd: Bool { true }
  private(set) var currentIndex = 0

  init(codingPath: [any CodingKey]) {
    self.codingPath = codingPath
  }

  private mutating func next() -> PlaceholderDecoder {
    currentIndex += 1
    return PlaceholderDecoder(codingPath: codingPath + [PathKey(index: currentIndex - 1)])
  }

  mutating func decodeNil() -> Bool { true }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try Placeholder.value(of: type, next().codingPath)
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedDecodingContainer<NestedKey> {
    next().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
    next().unkeyedContainer()
  }

  mutating func superDecoder() -> any Decoder { next() }
}

/// Asks a `Decodable` type what it would read from a column, without a value: its `init(from:)` runs
/// until it asks for the first thing.
struct DecodingProbe: Decoder, SingleValueDecodingContainer {
  private struct Answer: Error {
    let type: ColumnType
  }

  private let strategies: MappingStrategies
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// What a column of `type` prefers to store; a blob, which takes anything, if it does not say.
  static func columnType(
    of type: any Decodable.Type, strategies: MappingStrategies
  ) -> ColumnType {
    do {
      _ = try type.init(from: DecodingProbe(strategies: strategies))
      return .blob
    } catch let answer as Answer {
      return answer.type
    } catch {
      return .blob
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw Answer(type: strategies.nested.columnType)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw Answer(type: strategies.nested.columnType)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { false }

  func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    throw Answer(type: Storage(of: type, strategies).columnType)
  }
}
