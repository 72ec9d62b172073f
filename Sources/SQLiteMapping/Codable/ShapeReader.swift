import SQLiteCore

/// Reads the columns of values, or the stored form in one of them: several times as fast from the second value on.
///
/// A `Decodable` type cannot be asked for its properties; a value that encodes itself shows them,
/// those that are nil too, as long as it encodes them by `encodeIfPresent` or `encodeNil`.
final class ShapeReader {
  /// The only column that is read, or nil for all.
  let only: String?
  private let row: EncodedRow

  init(_ strategies: MappingStrategies, only: String? = nil) {
    self.only = only
    row = EncodedRow(collecting: only, strategies: strategies)
  }

  deinit {
    row.close()
    row.mark.giveBack()
  }

  /// Returns the columns of a value, in the order in which they were encoded first.
  ///
  /// - Throws: ``SQLiteError`` if the value is not made of properties with names, or if two of them have
  ///   one column by SQLite's rule, which takes `name` and `Name` for one.
  func columns(of value: some Encodable) throws -> [ColumnDefinition] {
    try encode(value)
    let columns = try row.collectedColumns()
    guard !columns.isEmpty else { throw SQLiteError.notARow }
    return columns
  }

  /// Returns the stored form of a value in the only column; NULL if it has none.
  func value(in value: some Encodable) throws -> Value {
    try encode(value)
    return row.firstCollected
  }

  private func encode(_ value: some Encodable) throws {
    let encoder = row.begin()
    defer { row.end() }
    try value.encode(to: encoder)
    try row.bindRest()
  }
}
