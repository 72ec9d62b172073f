package import SQLiteCore

/// Rows that were read as records, and where their columns went.
package struct StoredRecords<Record> {
  /// The records, or what was wrong with a row.
  package var records: [Result<Record, any Error>] = []
  /// The property that reads each column; nil for a column that none reads.
  package var properties: [String?] = []
}

extension Connection {
  /// Reads rows whose values are known, such as those before a change, as records, as if they came from a query.
  ///
  /// - Parameters:
  ///   - type: The type of the records.
  ///   - columns: The names of the columns.
  ///   - rows: The values of each row.
  /// - Returns: The records; a row that does not fit the type has its error.
  /// - Throws: `SQLiteError`.
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
