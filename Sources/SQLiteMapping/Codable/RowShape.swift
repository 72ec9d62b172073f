package import SQLiteCore

/// The columns of a type, and what one value of it stores in them.
///
/// A `Decodable` type cannot be asked for its properties; a value that encodes itself shows them,
/// those that are nil too, as long as it encodes them by `encodeIfPresent` or `encodeNil`.
package struct RowShape {
  /// The columns, in the order in which they were encoded first.
  package let columns: [ColumnDefinition]
  /// The stored form of the value in each column.
  package let values: [Value]

  /// Encodes `value`.
  ///
  /// - Throws: ``SQLiteError`` if it is not made of properties with names, or if two of them have
  ///   one column by SQLite's rule, which takes `name` and `Name` for one.
  package init(_ value: some Encodable, strategies: MappingStrategies) throws {
    (columns, values) = try ShapeReader(strategies).read(value)
    guard !columns.isEmpty else { throw SQLiteError.notARow }
  }

  /// Returns the stored form of the value in a column; NULL if it has none.
  package func value(in column: String) -> Value {
    columns.firstIndex { isSameName($0.name, column) }.map { values[$0] } ?? .null
  }
}

/// Reads the columns of values, or one of them: several times as fast, and most so from the second value on.
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

  /// Encodes a value, and returns the columns that it has, with the stored form of each.
  func read(_ value: some Encodable) throws -> (columns: [ColumnDefinition], values: [Value]) {
    try encode(value)
    return try row.collection()
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
