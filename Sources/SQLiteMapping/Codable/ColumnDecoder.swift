import SQLiteCore

/// The rows of a statement. The ``ColumnDecoder`` of a value uses them to detect that the row of
/// the value has ended, and to name the column of the value in errors.
protocol ColumnRows: AnyObject {
  /// The number of the row that is being read.
  var rowNumber: Int { get }
  func path(to column: Int32) -> [any CodingKey]
  /// Converts a `DecodingError` or an ``SQLiteError`` to an error that names the column. Returns
  /// any other error unchanged.
  func named(_ error: any Error, at column: Int32) -> any Error
}

/// A decoder of a stored value. If a type requests a keyed or an unkeyed container, the decoder
/// returns a container for the nested value that is encoded in the stored value, by default as
/// JSON.
final class ColumnDecoder: Decoder, SingleValueDecodingContainer {
  private let value: Value
  private let strategies: MappingStrategies
  /// The location of the value: the rows of its statement, the number of its row, and the index of
  /// its column. Nil if the value doesn't come from a row.
  private let place: (rows: any ColumnRows, number: Int, column: Int32)?

  init(_ value: Value, _ strategies: MappingStrategies) {
    self.value = value
    self.strategies = strategies
    place = nil
  }

  init(_ value: Value, _ strategies: MappingStrategies, in rows: any ColumnRows, _ column: Int32) {
    self.value = value
    self.strategies = strategies
    place = (rows, rows.rowNumber, column)
  }

  /// Whether the row of the value has ended.
  private var isExpired: Bool { place.map { $0.rows.rowNumber != $0.number } ?? false }

  var codingPath: [any CodingKey] {
    isExpired ? [] : place.map { $0.rows.path(to: $0.column) } ?? []
  }
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

  /// Runs `body` and adds the column to its errors. Throws if the row of the value has ended.
  private func naming<Result>(_ body: () throws -> Result) throws -> Result {
    if isExpired { throw DecodingError.expiredDecoder }
    do {
      return try body()
    } catch {
      throw isExpired ? error : place.map { $0.rows.named(error, at: $0.column) } ?? error
    }
  }
}

extension DecodingError {
  static var expiredDecoder: DecodingError {
    @inline(never) get {
      .dataCorrupted(
        .init(codingPath: [], debugDescription: "a decoder was used after its row was read"))
    }
  }
}
