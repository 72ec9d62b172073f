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
  /// - Parameters:
  ///   - value: A value.
  ///   - strategies: How values are stored.
  ///   - only: The only column to look at, which is several times cheaper, or nil for all.
  /// - Throws: ``SQLiteError`` if it is not made of properties with names, or if two of them have
  ///   one column by SQLite's rule, which takes `name` and `Name` for one.
  package init(
    _ value: some Encodable, strategies: MappingStrategies, only: String? = nil
  ) throws {
    let row = EncodedRow(collecting: only, strategies: strategies)
    defer {
      row.close()
      row.mark.giveBack()
    }
    do {
      let encoder = row.begin()
      defer { row.end() }
      try value.encode(to: encoder)
      try row.bindRest()
    }
    (columns, values) = try row.collection()
    guard only != nil || !columns.isEmpty else { throw SQLiteError.notARow }
  }

  /// Returns the stored form of the value in a column; NULL if it has none.
  package func value(in column: String) -> Value {
    columns.firstIndex { isSameName($0.name, column) }.map { values[$0] } ?? .null
  }
}
