import SQLiteCore

/// A reader that encodes values to determine their columns or the value of one column. It caches
/// the columns of coding keys, so it is several times as fast from the second value on.
///
/// A `Codable` type cannot list its properties, so they are collected while a value encodes itself.
/// This includes nil properties if the value encodes them with `encodeIfPresent` or `encodeNil`.
final class ShapeReader {
  /// The name of the only column to read, or nil to read all columns.
  let only: String?
  private let row: EncodedRow

  init(_ strategies: MappingStrategies, only: String? = nil) {
    self.only = only
    row = EncodedRow(collecting: only, strategies: strategies)
  }

  deinit {
    row.close()
    row.mark.recycle()
  }

  /// Returns the columns of a value, in the order in which they were first encoded.
  ///
  /// - Throws: ``SQLiteError`` if the value doesn't encode properties, or if two properties have
  ///   the same column. SQLite ignores case, so `name` and `Name` are the same column.
  func columns(of value: some Encodable) throws -> [ColumnDefinition] {
    try encode(value)
    let columns = try row.collectedColumns()
    guard !columns.isEmpty else { throw SQLiteError.notARow }
    return columns
  }

  /// Returns the stored form of the value that a record encodes for the column ``only``, or NULL if
  /// the record doesn't encode that column.
  func value(in value: some Encodable) throws -> Value {
    try encode(value)
    return row.firstCollected
  }

  private func encode(_ value: some Encodable) throws {
    let encoder = row.begin()
    defer { row.end() }
    try value.encode(to: encoder)
    try row.bindRemaining()
  }
}
