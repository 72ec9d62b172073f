/// A row of a result: its values in order, by index and by name.
public struct Row: Sendable {
  let columns: ColumnNames
  /// The values, in the order of the columns.
  public let values: [Value]

  /// The names of the columns. Several may have one name.
  public var columnNames: [String] { columns.names }

  /// The number of columns.
  public var count: Int { values.count }

  /// The column at an index, or nil if there is none.
  ///
  /// - Parameter index: From 0.
  public subscript(_ index: Int) -> Column? {
    values.indices.contains(index) ? Column(value: values[index]) : nil
  }

  /// The first column of a name, or nil if there is none; a column that holds NULL is not nil.
  ///
  /// - Parameter name: The name by SQLite's rule: the case of ASCII letters does not matter.
  public subscript(_ name: String) -> Column? {
    columns.position(of: name).map { Column(value: values[$0]) }
  }

  /// Reads a column as a Swift type, exactly or not at all.
  ///
  /// - Parameters:
  ///   - index: The column's index, from 0.
  ///   - type: The type to read.
  /// - Throws: ``SQLiteError`` that names the column, what was expected and what was found.
  public func get<Result: ColumnValue>(
    _ index: Int, as type: Result.Type = Result.self
  ) throws(SQLiteError) -> Result {
    guard values.indices.contains(index) else {
      throw SQLiteError(.range, "there is no column \(index): the row has \(count)")
    }
    do {
      return try Result(databaseValue: values[index])
    } catch {
      throw SQLiteError(error.code, "column “\(columnNames[index])”: \(error.message)")
    }
  }

  /// Reads a column as a Swift type, exactly or not at all.
  ///
  /// - Parameters:
  ///   - name: The column's name; the first of several with that name is read.
  ///   - type: The type to read.
  /// - Throws: ``SQLiteError`` that names the column, what was expected and what was found.
  public func get<Result: ColumnValue>(
    _ name: String, as type: Result.Type = Result.self
  ) throws(SQLiteError) -> Result {
    guard let index = columns.position(of: name) else {
      let known = columnNames.joined(separator: ", ")
      throw SQLiteError(.range, "there is no column “\(name)”, only \(known)")
    }
    return try get(index, as: type)
  }
}

extension Row: Equatable {
  /// Returns whether both have the same names and values in the same order.
  public static func == (left: Row, right: Row) -> Bool {
    left.count == right.count
      && (left.columns === right.columns
        || zip(left.columns.names, right.columns.names).allSatisfy(sameBytes))
      && left.values == right.values
  }
}

extension Row: CustomStringConvertible {
  /// The names, the values' storage classes and their sizes; the values may be private.
  public var description: String {
    let columns = zip(columnNames, values).map { "\($0): \($1.storageClass)" }
    return "Row(\(columns.joined(separator: ", ")))"
  }
}
