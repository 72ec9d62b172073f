/// A source of typed queries: a ``Connection``, or a ``Database``.
///
///     for (name, population) in try connection.rows(
///       "SELECT name, population FROM city", as: String.self, Int?.self) { … }
///     let names = try database.rows("SELECT name FROM city", as: String.self)
public protocol RowSource {
  /// The error of a query.
  associatedtype Failure: Error

  /// Returns what `read` makes of each row of a query.
  ///
  /// - Parameters:
  ///   - sql: A single statement.
  ///   - count: How many columns it must have.
  ///   - read: Reads a row, and counts the columns that it has read.
  /// - Throws: ``SQLiteError``, also if the number of columns differs.
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
  ///   - sql: A single statement with as many columns as there are types.
  ///   - types: The types of the columns, in order.
  /// - Throws: ``SQLiteError``, also if the number of columns differs.
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
  /// Returns what `read` makes of each row of a query.
  ///
  /// - Parameters:
  ///   - sql: A single statement.
  ///   - count: How many columns it must have.
  ///   - read: Reads a row, and counts the columns that it has read.
  /// - Throws: ``SQLiteError``, also if the number of columns differs.
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

  /// Returns what `read` makes of the first row of a query, or nil if there is none.
  ///
  /// - Parameters:
  ///   - sql: A single statement. One that writes is run to its end.
  ///   - count: How many columns it must have.
  ///   - read: Reads a row, and counts the columns that it has read.
  /// - Throws: ``SQLiteError``, also if the number of columns differs.
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

  /// Returns the first row of a query as a tuple, or nil.
  ///
  /// - Parameters:
  ///   - sql: A single statement with as many columns as there are types. One that writes is run to
  ///     its end.
  ///   - types: The types of the columns, in order.
  /// - Throws: ``SQLiteError``, also if the number of columns differs.
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
  /// Returns what `read` makes of each row of a query.
  ///
  /// - Parameters:
  ///   - sql: A single statement.
  ///   - count: How many columns it must have.
  ///   - read: Reads a row, and counts the columns that it has read.
  /// - Throws: ``SQLiteError``, also if the number of columns differs.
  @inlinable  // Benchmark `fetch`.
  public func rows<Row>(
    _ sql: SQL, columns count: Int,
    _ read: (_ row: borrowing Statement, _ column: inout Int) throws(SQLiteError) -> Row
  ) throws -> [Row] {
    var rows: [Row] = []
    try query(sql) { rows = try $0.rows(sql, columns: count, read) }
    return rows
  }

  /// As ``rows(_:as:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func rows<each Element: ColumnValue & Sendable>(
    _ sql: SQL, as types: repeat (each Element).Type
  ) async throws -> [(repeat each Element)] {
    try await query(sql) { try $0.rows(sql, as: repeat (each Element).self) }
  }

  /// As ``rows(_:as:)`` of one column, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func rows<Element: ColumnValue & Sendable>(
    _ sql: SQL, as type: Element.Type
  ) async throws -> [Element] {
    try await query(sql) { try $0.rows(sql, as: Element.self) }
  }
}

extension Statement {
  /// Reads a column and counts it.
  @inline(__always) @inlinable func next<Element: ColumnValue>(
    _ column: inout Int, as type: Element.Type = Element.self
  ) throws(SQLiteError) -> Element {
    let element = try Element.read(from: self, at: column)
    column += 1
    return element
  }

  @usableFromInline func checkColumns(_ count: Int) throws(SQLiteError) {
    guard count == columnCount else {
      throw SQLiteError(.range, "\(columnCount) columns, but \(count) types", sql: sql)
    }
  }
}
