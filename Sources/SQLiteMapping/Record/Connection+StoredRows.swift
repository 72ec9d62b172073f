package import SQLiteCore

/// The records that rows were decoded as, and the names of the properties that were decoded from
/// each column.
package struct StoredRecords<Record> {
  /// The records. A row that could not be decoded has an error instead.
  package var records: [Result<Record, any Error>] = []
  /// The name of the property that was decoded from each column, or nil for an unused column.
  package var properties: [String?] = []
}

extension Connection {
  /// Decodes rows that are not in the database, such as the rows before a change, as if a query had
  /// returned them.
  ///
  /// - Parameters:
  ///   - type: The type of the records.
  ///   - columns: The names of the columns.
  ///   - rows: The values of each row, in the order of `columns`.
  /// - Returns: The records, with an error for each row that cannot be decoded as the type.
  /// - Throws: `SQLiteError` if a statement fails.
  package func records<Value: Record>(
    of type: Value.Type, columns: [String], rows: some Sequence<[SQLiteCore.Value]>
  ) throws -> StoredRecords<Value> {
    var result = StoredRecords<Value>()
    let list = columns.enumerated().map { "?\($0 + 1) AS \(SQL("\(identifier: $1)").text)" }
    var statement = try statement(
      SQL(unchecked: "SELECT \(list.joined(separator: ", "))"))
    var reader: RowReader?
    for row in rows {
      try statement.reset()
      for (index, value) in row.enumerated() { try statement.bind(value, at: index + 1) }
      guard try statement.step() else { continue }
      let present = reader ?? RowReader(statement, as: type, strategies: type.strategies)
      reader = present
      result.records.append(Result { try present.row(as: type) })
    }
    result.properties = columns.indices.map { reader?.content.property(ofColumn: Int32($0)) }
    return result
  }
}
