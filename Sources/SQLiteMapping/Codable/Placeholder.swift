import Essentials
import ExactText
import SQLiteCore

/// Made-up values, from which the columns of a type are determined before a real value exists. The
/// type's own `init(from:)` creates the value from made-up content: short scalars such as 1 and
/// `"a"`, nil, and empty collections.
enum Placeholder {
  /// Returns the prototype of a type, or a made-up value if it has none.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if the type's `init(from:)` rejects the
  ///   made-up content, or if no content can be made up for a property.
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
        "\(type) must declare a prototype: no placeholder exists for “\(error.path)” of the type "
          + "\(error.type)")
    } catch {
      throw SQLiteError(
        .misuse,
        "\(type) must declare a prototype: its init(from:) rejects placeholder values: "
          + "\(error)")
    }
  }

  /// An error for a property for which no value could be made up.
  fileprivate struct Refusal: Error {
    let path: String
    let type: String
  }

  /// Returns a made-up value of a type.
  ///
  /// - Throws: ``Refusal`` with the coding path `path` if the type's `init(from:)` throws a
  ///   `DecodingError`, or if the type contains itself endlessly; otherwise any error that
  ///   `init(from:)` throws.
  fileprivate dynamic static func value<Value: Decodable>(
    of type: Value.Type, _ path: [any CodingKey]
  ) throws -> Value {
    if let known = known(type) { return known }
    if let cases = type as? any CaseIterable.Type, let first = first(of: cases) as? Value {
      return first
    }
    let refusal = Refusal(path: path.map(\.stringValue).joined(separator: "."), type: "\(type)")
    // Only a type that contains itself endlessly is nested this deeply.
    guard path.count < 64 else { throw refusal }
    do {
      return try Value(from: PlaceholderDecoder(codingPath: path))
    } catch is DecodingError {
      throw refusal
    }
  }

  /// Returns a made-up value for a scalar type or an optional scalar type. For any other optional
  /// type, the result is a value that is nil. For all other types, there is no result.
  private dynamic static func known<Value>(_ type: Value.Type) -> Value? {
    let scalars: [Any] = [
      1, 0.5, true, "a", Int8(1), Int16(1), Int32(1), Int64(1), UInt(1), UInt8(1), UInt16(1),
      UInt32(1),
      UInt64(1), Float(0.5), Data([1]), [1] as [UInt8], Date(timeIntervalSinceReferenceDate: 0),
      UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)), Decimal(1), Duration.seconds(1),
      URL(string: "a:b") as Any,
    ]
    if let scalar = scalars.lazy.compactMap({ $0 as? Value }).first { return scalar }
    return (type as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) as? Value
  }

  private static func first<Cases: CaseIterable>(of type: Cases.Type) -> Any? {
    type.allCases.first
  }
}

/// A decoder of made-up values.
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

  dynamic func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try Placeholder.value(of: type, codingPath + [PathKey("value")])
  }
}

private struct PlaceholderContainer<Key: CodingKey>: NestingKeyedDecoding {
  let codingPath: [any CodingKey]
  var allKeys: [Key] { [] }

  func decoder(forKey key: some CodingKey) -> any Decoder {
    PlaceholderDecoder(codingPath: codingPath + [key])
  }

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { true }

  dynamic func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try Placeholder.value(of: type, codingPath + [key])
  }
}

/// An empty array. If a type decodes an element anyway, it receives a made-up one.
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

  dynamic mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
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
