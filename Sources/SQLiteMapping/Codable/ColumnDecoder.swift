import SQLiteCore

/// Reads one column: as a single value what is stored, as a container the JSON in it.
///
/// Three words, so that it needs no memory of its own as `any Decoder`. One that is kept throws when
/// its row has ended.
struct ColumnDecoder: Decoder {
  private let content: DecodedRow
  /// The number of its row.
  private let number: Int
  private let column: Int32

  init(_ row: DecodedRow, column: Int32) {
    content = row
    number = row.mark.row
    self.column = column
  }

  var codingPath: [any CodingKey] { (try? row)?.path(to: column) ?? [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// What the column is in; throws if the row has ended.
  private var row: DecodedRow {
    @inline(__always) get throws {
      if content.mark.row != number { throw DecodedRow.gone }
      return content
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try nested().container(keyedBy: type)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try nested().unkeyedContainer()
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    _ = try row
    return self
  }

  /// A decoder for the nested value in the column.
  private func nested() throws -> any Decoder {
    let row = try self.row
    do {
      return try row.strategies.nested.decoder(of: row.handle.value(at: column))
    } catch let error as DecodingError {
      throw row.error(error, at: column)
    } catch let error as SQLiteError {
      throw row.error(error.message, at: column)
    }
  }
}

extension ColumnDecoder: ScalarDecoding {
  func decodeNil() -> Bool {
    // It cannot throw, but what is asked for next does.
    (try? row)?.handle.isNull(at: column) ?? false
  }

  func decode<Scalar: ScalarValue>(scalar type: Scalar.Type) throws -> Scalar {
    try row.scalar(type, at: column)
  }

  func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    try row.value(type, at: column)
  }
}

/// Reads one stored value: as a single value the value itself, as a container the JSON in it.
struct ValueDecoder: Decoder, ScalarDecoding {
  let value: Value
  let strategies: MappingStrategies

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try strategies.nested.decoder(of: value).container(keyedBy: type)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try strategies.nested.decoder(of: value).unkeyedContainer()
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { value.isNull }

  func decode<Scalar: ScalarValue>(scalar type: Scalar.Type) throws -> Scalar {
    try type.value(of: value, strategies.scalars)
  }

  func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    try strategies.value(type, of: value)
  }
}
