import SQLiteCore

import Essentials

/// Reads one stored value: as a single value what it is, as a container the JSON in it.
struct ValueDecoder: Decoder {
  let value: Value

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try nested().container(keyedBy: type)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try nested().unkeyedContainer()
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  private func nested() throws -> any Decoder {
    guard case .text(let json) = value else {
      throw SQLiteError(.mismatch, "expected JSON as TEXT, but found \(value.storageClass)")
    }
    return try NestedJSON.decoder(of: Data(json.utf8))
  }
}

extension ValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { value.isNull }
  func decode(_ type: Bool.Type) throws -> Bool { try type.init(databaseValue: value) }
  func decode(_ type: String.Type) throws -> String { try type.init(databaseValue: value) }
  func decode(_ type: Double.Type) throws -> Double { try type.init(databaseValue: value) }
  func decode(_ type: Float.Type) throws -> Float { try type.init(databaseValue: value) }
  func decode(_ type: Int.Type) throws -> Int { try type.init(databaseValue: value) }
  func decode(_ type: Int8.Type) throws -> Int8 { try type.init(databaseValue: value) }
  func decode(_ type: Int16.Type) throws -> Int16 { try type.init(databaseValue: value) }
  func decode(_ type: Int32.Type) throws -> Int32 { try type.init(databaseValue: value) }
  func decode(_ type: Int64.Type) throws -> Int64 { try type.init(databaseValue: value) }
  func decode(_ type: UInt.Type) throws -> UInt { try type.init(databaseValue: value) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try type.init(databaseValue: value) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try type.init(databaseValue: value) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try type.init(databaseValue: value) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try type.init(databaseValue: value) }
  func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    try ColumnCoding.value(type, from: value)
  }
}
