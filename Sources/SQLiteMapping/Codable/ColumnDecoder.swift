import SQLiteCore

/// Decodes a stored value: the value itself, or the nested value in it for a type with containers.
final class ColumnDecoder: Decoder, SingleValueDecodingContainer {
  private let value: Value
  private let strategies: MappingStrategies
  /// The column of the value, which errors name; nil outside of rows.
  private let place: (row: DecodedRow, number: Int, column: Int32)?

  init(_ value: Value, _ strategies: MappingStrategies) {
    self.value = value
    self.strategies = strategies
    place = nil
  }

  init(_ row: DecodedRow, _ column: Int32) throws(RowDecodingError) {
    do {
      value = try row.handle.value(at: column)
    } catch {
      throw row.error(error.message, at: column)
    }
    strategies = row.strategies
    place = (row, row.mark.row, column)
  }

  /// The row, unless the decoder was kept after its row was read.
  private var row: DecodedRow? {
    place.flatMap { $0.row.mark.row == $0.number ? $0.row : nil }
  }

  var codingPath: [any CodingKey] { place.flatMap { row?.path(to: $0.column) } ?? [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try naming { try strategies.nested.decoder(of: value) }.container(keyedBy: type)
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try naming { try strategies.nested.decoder(of: value) }.unkeyedContainer()
  }
  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    try naming { self }
  }

  func decodeNil() -> Bool { value.isNull }
  dynamic func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    try naming { try strategies.value(type, of: value) }
  }

  /// Runs `body`, whose errors name the column; throws if the row has ended.
  private func naming<Result>(_ body: () throws -> Result) throws -> Result {
    if place != nil, row == nil { throw DecodedRow.gone }
    do {
      return try body()
    } catch let error as DecodingError {
      throw row?.error(error, at: place?.column) ?? error
    } catch let error as SQLiteError {
      throw row?.error(error.message, at: place?.column) ?? error
    }
  }
}
