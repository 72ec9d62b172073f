import ExactText
import SQLiteCore

/// Notes each property that is encoded.
struct ShapeContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let shape: ShapeEncoder
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) throws {
    guard try shape.isWanted(key) else { return }
    try shape.add(key, .blob, isOptional: true, .null)
  }

  func encode<Source: Encodable>(_ value: Source, forKey key: Key) throws {
    guard try shape.isWanted(key) else { return }
    try refuseTwoNils(Source.self, key)
    let form = try columnForm(of: value, forKey: key)
    try shape.add(key, form.type, isOptional: form.isOptional, form.value)
  }

  func encodeIfPresent<Source: Encodable>(_ value: Source?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  private func add<Source: Encodable>(optional value: Source?, forKey key: Key) throws {
    guard try shape.isWanted(key) else { return }
    try refuseTwoNils(Source?.self, key)
    let form =
      try value.map { try columnForm(of: $0, forKey: key) }
      ?? ColumnForm(of: Source.self, strategies: shape.strategies)
    try shape.add(key, form.type, isOptional: true, form.value)
  }

  private func refuseTwoNils(_ type: Any.Type, _ key: Key) throws {
    guard isOptionalOfOptional(type) else { return }
    throw SQLiteError(
      .mismatch,
      "“\(key.stringValue)” is an optional of an optional, and NULL is only one nil")
  }

  private func columnForm(of value: some Encodable, forKey key: Key) throws -> ColumnForm {
    do {
      return try ColumnForm(value, strategies: shape.strategies)
    } catch let error as SQLiteError {
      throw SQLiteError(error.code, "“\(key.stringValue)”: \(error.message)")
    }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    shape.treeEncoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    shape.treeEncoder(forKey: key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { shape.treeEncoder(forKey: PathKey("super")) }
  func superEncoder(forKey key: Key) -> any Encoder { shape.treeEncoder(forKey: key) }
}

// The standard library's forms of these drop nil before the container sees it.
extension ShapeContainer {
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }

  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    try add(optional: value, forKey: key)
  }
}
