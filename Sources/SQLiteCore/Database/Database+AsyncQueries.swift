extension Database {
  /// As the blocking ``executeChange(_:withArgs:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - sql: A single statement; each `i?` takes a text as an identifier.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Returns: What changed.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  @discardableResult
  public func executeChange(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) async throws -> Change {
    let values = try stored(arguments)
    return try await withoutTransaction { try $0.executeChange(sql, withArgs: values) }
  }

  /// As the blocking ``executeMultipleChanges(_:)``, suspending the task.
  ///
  /// - Parameter script: Statements separated by semicolons, without parameters.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func executeMultipleChanges(_ script: SQL) async throws {
    try await write { try $0.executeMultipleChanges(script) }
  }

  /// As the blocking ``executeQuery(_:withArgs:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - sql: A single statement; each `i?` takes a text as an identifier.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func executeQuery(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) async throws -> [Row] {
    let values = try stored(arguments)
    let rows = try await read { connection -> [Row]? in
      let statement = try connection.statement(sql, withArgs: values)
      return statement.isReadOnly ? try connection.executeQuery(sql, withArgs: values) : nil
    }
    if let rows { return rows }
    return try await write { try $0.executeQuery(sql, withArgs: values) }
  }

  /// As the blocking ``firstRow(_:)``, suspending the task.
  ///
  /// - Parameter sql: A single statement.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func firstRow(_ sql: SQL) async throws -> Row? {
    try await query(sql) { try $0.firstRow(sql) }
  }

  /// As the blocking ``rows(_:as:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - sql: A single statement with as many columns as there are types.
  ///   - types: The types of the columns, in order.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func rows<each Element: ColumnValue & Sendable>(
    _ sql: SQL, as types: repeat (each Element).Type
  ) async throws -> [(repeat each Element)] {
    try await query(sql) { try $0.rows(sql, as: repeat (each Element).self) }
  }

  /// As the blocking ``firstRow(_:as:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - sql: A single statement with as many columns as there are types.
  ///   - types: The types of the columns, in order.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func firstRow<each Element: ColumnValue & Sendable>(
    _ sql: SQL, as types: repeat (each Element).Type
  ) async throws -> (repeat each Element)? {
    try await query(sql) { try $0.firstRow(sql, as: repeat (each Element).self) }
  }

  /// As the blocking ``rows(_:as:)`` of one column, suspending the task.
  ///
  /// - Parameters:
  ///   - sql: A single statement with one column.
  ///   - type: The type of the column.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func rows<Element: ColumnValue & Sendable>(
    _ sql: SQL, as type: Element.Type
  ) async throws -> [Element] {
    try await query(sql) { try $0.rows(sql, as: Element.self) }
  }

  /// As the blocking ``firstRow(_:as:)`` of one column, suspending the task.
  ///
  /// - Parameters:
  ///   - sql: A single statement with one column.
  ///   - type: The type of the column.
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  public func firstRow<Element: ColumnValue & Sendable>(
    _ sql: SQL, as type: Element.Type
  ) async throws -> Element? {
    try await query(sql) { try $0.firstRow(sql, as: Element.self) }
  }

  /// The values as they are stored, which may cross threads.
  private func stored(_ arguments: [(any Bindable)?]) throws(SQLiteError) -> [Value?] {
    var values: [Value?] = []
    for argument in arguments { values.append(try argument?.databaseValue) }
    return values
  }
}
