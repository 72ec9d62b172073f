import SQLiteCore

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

extension ColumnDecoder: ScalarDecoding {
  func decodeNil() -> Bool { source.isNull }
  func take<Scalar: ScalarValue>(_ type: Scalar.Type) throws -> Scalar { try source.take(type) }

  dynamic func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    try source.decode(type)
  }
}

/// A column of the row that is being read.
///
/// Three words, so that a decoder of it needs no memory of its own as `any Decoder`. One that is kept
/// throws when its row has ended.
struct RowColumn: ColumnSource {
  private let content: DecodedRow
  /// The number of its row.
  private let number: Int
  private let column: Int32

  init(_ row: DecodedRow, _ column: Int32) {
    content = row
    number = row.mark.row
    self.column = column
  }

  /// The row of the column; throws if it has ended.
  private var row: DecodedRow {
    @inline(__always) get throws {
      if content.mark.row != number { throw DecodedRow.gone }
      return content
    }
  }

  var codingPath: [any CodingKey] { (try? row)?.path(to: column) ?? [] }

  func check() throws { _ = try row }

  // It cannot throw, but the next call does.
  var isNull: Bool { (try? row)?.handle.isNull(at: column) ?? false }

  func take<Scalar: ScalarValue>(_ type: Scalar.Type) throws -> Scalar {
    try row.scalar(type, at: column)
  }

  func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    try row.value(type, at: column)
  }

  func nested() throws -> any Decoder {
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

/// A stored value outside of a row, such as an operand or what a cell holds.
struct StoredColumn: ColumnSource {
  let value: Value
  let strategies: MappingStrategies

  var codingPath: [any CodingKey] { [] }
  func check() {}
  var isNull: Bool { value.isNull }

  func take<Scalar: ScalarValue>(_ type: Scalar.Type) throws -> Scalar {
    try type.value(of: value, strategies.scalars)
  }

  func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    try strategies.value(type, of: value)
  }

  func nested() throws -> any Decoder { try strategies.nested.decoder(of: value) }
}
