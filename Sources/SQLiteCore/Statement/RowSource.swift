/// A type that runs queries with typed results: ``Connection`` and ``Database``.
///
///     for (name, population) in try connection.rows(
///       "SELECT name, population FROM city", as: String.self, Int?.self) { … }
///     let names = try database.rows("SELECT name FROM city", as: String.self)
public protocol RowSource {
  /// The type of the errors that a query throws: ``SQLiteError`` for a ``Connection``, and any
  /// error for a ``Database``.
  associatedtype Failure: Error

  /// Returns the results of calling `read` for each row of a query.
  ///
  /// - Parameters:
  ///   - sql: A single statement.
  ///   - count: The number of columns that the statement must have.
  ///   - read: A closure that reads a row. It increments `column` after each column that it has
  ///     read, so that errors can name the column.
  /// - Throws: ``SQLiteError`` if the query fails, or if it returns a row and the number of columns
  ///   isn't `count`; also the error of `read`.
  func rows<Row>(
    _ sql: SQL, columns count: Int,
    _ read: (_ row: borrowing Statement, _ column: inout Int) throws(SQLiteError) -> Row
  ) throws(Failure) -> [Row]
}

extension RowSource {
  /// Returns all rows of a query as tuples.
  ///
  ///     for (name, population) in try connection.rows(
  ///       "SELECT name, population FROM city", as: String.self, Int?.self) { … }
  ///
  /// - Parameters:
  ///   - sql: A single statement with one column for each type.
  ///   - types: The types of the columns, in order.
  /// - Throws: ``SQLiteError`` if the query fails, if a value can't be read as its type, or if the
  ///   query returns a row and the number of columns isn't the number of types.
  @inlinable  // Benchmark `fetch`.
  public func rows<each Element: ColumnValue>(
    _ sql: SQL, as types: repeat (each Element).Type
  ) throws(Failure) -> [(repeat each Element)] {
    var count = 0
    for _ in repeat each types { count += 1 }
    return try rows(sql, columns: count) { row, column throws(SQLiteError) in
      (repeat try row.next(&column, as: (each Element).self))
    }
  }
}

extension Connection: RowSource {
  /// Returns the results of calling `read` for each row of a query.
  ///
  /// - Parameters:
  ///   - sql: A single statement.
  ///   - count: The number of columns that the statement must have.
  ///   - read: A closure that reads a row. It increments `column` after each column that it has
  ///     read, so that errors can name the column.
  /// - Throws: ``SQLiteError`` if the query fails, or if it returns a row and the number of columns
  ///   isn't `count`; also the error of `read`.
  @inlinable  // Benchmark `fetch`.
  public func rows<Row>(
    _ sql: SQL, columns count: Int,
    _ read: (_ row: borrowing Statement, _ column: inout Int) throws(SQLiteError) -> Row
  ) throws(SQLiteError) -> [Row] {
    var statement = try boundStatement(sql)
    var rows: [Row] = []
    while try statement.step() {
      if rows.isEmpty { try statement.checkColumns(count) }
      var column = 0
      do throws(SQLiteError) {
        rows.append(try read(statement, &column))
      } catch {
        throw statement.named(error, at: column)
      }
    }
    return rows
  }

  /// Returns the result of calling `read` for the first row of a query, or nil if the query returns
  /// no rows.
  ///
  /// - Parameters:
  ///   - sql: A single statement. If it writes, it runs to completion, even after the first row.
  ///   - count: The number of columns that the statement must have.
  ///   - read: A closure that reads a row. It increments `column` after each column that it has
  ///     read, so that errors can name the column.
  /// - Throws: ``SQLiteError`` if the query fails, or if it returns a row and the number of columns
  ///   isn't `count`; also the error of `read`.
  @inlinable  // Benchmark `point`.
  public func firstRow<Row>(
    _ sql: SQL, columns count: Int,
    _ read: (_ row: borrowing Statement, _ column: inout Int) throws(SQLiteError) -> Row
  ) throws(SQLiteError) -> Row? {
    var statement = try boundStatement(sql)
    guard try statement.step() else { return nil }
    try statement.checkColumns(count)
    var column = 0
    let row: Row
    do throws(SQLiteError) {
      row = try read(statement, &column)
    } catch {
      throw statement.named(error, at: column)
    }
    try statement.finish()
    return row
  }

  /// Returns the first row of a query as a tuple, or nil if the query returns no rows.
  ///
  /// - Parameters:
  ///   - sql: A single statement with one column for each type. If it writes, it runs to
  ///     completion, even after the first row.
  ///   - types: The types of the columns, in order.
  /// - Throws: ``SQLiteError`` if the query fails, if a value can't be read as its type, or if the
  ///   query returns a row and the number of columns isn't the number of types.
  @inlinable  // Benchmark `point`.
  public func firstRow<each Element: ColumnValue>(
    _ sql: SQL, as types: repeat (each Element).Type
  ) throws(SQLiteError) -> (repeat each Element)? {
    var count = 0
    for _ in repeat each types { count += 1 }
    return try firstRow(sql, columns: count) { row, column throws(SQLiteError) in
      (repeat try row.next(&column, as: (each Element).self))
    }
  }
}

extension Database: RowSource {
  /// Returns the results of calling `read` for each row of a query.
  ///
  /// - Parameters:
  ///   - sql: A single statement.
  ///   - count: The number of columns that the statement must have.
  ///   - read: A closure that reads a row. It increments `column` after each column that it has
  ///     read, so that errors can name the column.
  /// - Throws: ``SQLiteError`` if the query fails, or if it returns a row and the number of columns
  ///   isn't `count`; also the error of `read`.
  @inlinable  // Benchmark `fetch`.
  public func rows<Row>(
    _ sql: SQL, columns count: Int,
    _ read: (_ row: borrowing Statement, _ column: inout Int) throws(SQLiteError) -> Row
  ) throws -> [Row] {
    var rows: [Row] = []
    try query(sql) { rows = try $0.rows(sql, columns: count, read) }
    return rows
  }

  /// Returns all rows of a query as tuples, without blocking the calling thread.
  ///
  /// - Parameters:
  ///   - sql: A single statement with one column for each type.
  ///   - types: The types of the columns, in order.
  /// - Throws: The errors of the blocking ``rows(_:as:)``, and `CancellationError` if the task is
  ///   cancelled.
  public func rows<each Element: ColumnValue>(
    _ sql: SQL, as types: repeat (each Element).Type
  ) async throws -> sending [(repeat each Element)] {
    try await query(sql) { Handoff(try $0.rows(sql, as: repeat (each Element).self)) }.take()
  }

  /// Returns the values of a query with one column, without blocking the calling thread.
  ///
  /// - Parameters:
  ///   - sql: A single statement with one column.
  ///   - type: The type of the column.
  /// - Throws: The errors of the blocking ``rows(_:as:)``, and `CancellationError` if the task is
  ///   cancelled.
  public func rows<Element: ColumnValue>(
    _ sql: SQL, as type: Element.Type
  ) async throws -> sending [Element] {
    try await query(sql) { Handoff(try $0.rows(sql, as: Element.self)) }.take()
  }
}

extension Statement {
  /// Reads the column at index `column` and increments the index.
  @inline(__always) @inlinable func next<Element: ColumnValue>(
    _ column: inout Int, as type: Element.Type = Element.self
  ) throws(SQLiteError) -> Element {
    let element = try Element.read(from: self, at: column)
    column += 1
    return element
  }

  @usableFromInline func checkColumns(_ count: Int) throws(SQLiteError) {
    guard count == columnCount else {
      throw SQLiteError(
        .range, "the result has \(columnCount) columns, but the tuple has \(count) types", sql: sql)
    }
  }
}
