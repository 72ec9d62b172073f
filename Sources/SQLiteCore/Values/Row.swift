/// A copy of a row of a result, with access to its values by index and by column name.
public struct Row: Sendable {
  let columns: ColumnNames
  /// The values, in the order of the columns.
  public let values: [Value]

  /// The names of the columns. Several columns may have the same name.
  public var columnNames: [String] { columns.names }

  /// The number of columns.
  public var count: Int { values.count }

  /// The column at an index, or nil if there is no such column.
  ///
  /// - Parameter index: The column's index, from 0.
  public subscript(_ index: Int) -> Column? {
    values.indices.contains(index) ? Column(value: values[index]) : nil
  }

  /// The first column with a name, or nil if there is no such column. A column that stores NULL is
  /// not nil.
  ///
  /// - Parameter name: The name of the column. The case of ASCII letters doesn't matter, as in
  ///   SQLite.
  public subscript(_ name: String) -> Column? {
    columns.position(of: name).map { Column(value: values[$0]) }
  }

  /// Returns the value of a column as a Swift type, without a lossy conversion.
  ///
  /// - Parameters:
  ///   - index: The column's index, from 0.
  ///   - type: The type to read.
  /// - Throws: ``SQLiteError`` if the column does not exist, or if the type can't represent the
  ///   stored value exactly. The message names the column and the reason.
  public func get<Result: ColumnValue>(
    _ index: Int, as type: Result.Type = Result.self
  ) throws(SQLiteError) -> Result {
    guard values.indices.contains(index) else {
      throw SQLiteError(.range, "there is no column \(index); the row has \(count)")
    }
    do {
      return try Result(databaseValue: values[index])
    } catch {
      throw SQLiteError(error.code, "column “\(columnNames[index])”: \(error.message)")
    }
  }

  /// Returns the value of a column as a Swift type, without a lossy conversion.
  ///
  /// - Parameters:
  ///   - name: The name of the column. If several columns have this name, the first one is read.
  ///   - type: The type to read.
  /// - Throws: ``SQLiteError`` if the column does not exist, or if the type can't represent the
  ///   stored value exactly. The message names the column and the reason.
  public func get<Result: ColumnValue>(
    _ name: String, as type: Result.Type = Result.self
  ) throws(SQLiteError) -> Result {
    guard let index = columns.position(of: name) else {
      let known = columnNames.joined(separator: ", ")
      throw SQLiteError(.range, "there is no column “\(name)”; the row has \(known)")
    }
    return try get(index, as: type)
  }
}

extension Row: Equatable {
  /// Returns whether two rows have the same column names and values in the same order.
  public static func == (left: Row, right: Row) -> Bool {
    left.count == right.count
      && (left.columns === right.columns
        || zip(left.columns.names, right.columns.names).allSatisfy(sameBytes))
      && left.values == right.values
  }
}

extension Row: CustomStringConvertible {
  /// The column names and the storage classes of the values. The values are omitted, because they
  /// may be private.
  public var description: String {
    let columns = zip(columnNames, values).map { "\($0): \($1.storageClass)" }
    return "Row(\(columns.joined(separator: ", ")))"
  }
}
