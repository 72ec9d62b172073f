extension Database {
  /// Runs one statement that changes the database, outside any transaction of ours.
  ///
  ///     try database.executeChange("UPDATE city SET name = \(name) WHERE id = \(id)")
  ///
  /// The statement is a transaction of its own, unless this is called inside a `write`.
  ///
  /// - Parameter sql: A single statement.
  /// - Returns: The change.
  /// - Throws: ``SQLiteError``.
  @discardableResult
  public func executeChange(_ sql: SQL) throws -> Change {
    guard needsTransaction(sql) else {
      return try withoutTransaction { try $0.executeChange(sql) }
    }
    return try write { try $0.executeChange(sql) }
  }

  /// As ``executeChange(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func executeChange(_ sql: SQL) async throws -> Change {
    guard needsTransaction(sql) else {
      return try await withoutTransaction { try $0.executeChange(sql) }
    }
    return try await write { try $0.executeChange(sql) }
  }

  /// Runs one statement that changes the database, with values for its parameters.
  ///
  /// - Parameters:
  ///   - sql: A single statement; each `i?` takes a text as an identifier.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Returns: The change.
  /// - Throws: ``SQLiteError``.
  @discardableResult
  public func executeChange(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) throws -> Change {
    guard needsTransaction(sql) else {
      return try withoutTransaction { try $0.executeChange(sql, withArgs: arguments) }
    }
    return try write { try $0.executeChange(sql, withArgs: arguments) }
  }

  /// As ``executeChange(_:withArgs:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func executeChange(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) async throws -> Change {
    let values = try stored(arguments)
    guard needsTransaction(sql) else {
      return try await withoutTransaction { try $0.executeChange(sql, withArgs: values) }
    }
    return try await write { try $0.executeChange(sql, withArgs: values) }
  }

  /// Runs several statements in one transaction: all or none of them take effect.
  ///
  /// - Parameter script: Statements separated by semicolons, without parameters.
  /// - Throws: ``SQLiteError`` that holds the failed statement.
  public func executeMultipleChanges(_ script: SQL) throws {
    try write { try $0.executeMultipleChanges(script) }
  }

  /// As ``executeMultipleChanges(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func executeMultipleChanges(_ script: SQL) async throws {
    try await write { try $0.executeMultipleChanges(script) }
  }

  /// Runs statements in a transaction, all of them or none, blocking the thread.
  ///
  /// - Parameter statements: Single statements, with their values.
  /// - Throws: ``SQLiteError`` that names the index of the statement which failed, from 0; nothing has
  ///   changed then.
  public func executeMultipleChanges(_ statements: [SQL]) throws {
    try write { try $0.executeMultipleChanges(statements) }
  }

  /// As ``executeMultipleChanges(_:)-([SQL])``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func executeMultipleChanges(_ statements: [SQL]) async throws {
    try await write { try $0.executeMultipleChanges(statements) }
  }

  /// Returns all rows of a query. A statement that writes (RETURNING) runs as a transaction.
  ///
  ///     let rows = try database.executeQuery("SELECT * FROM city WHERE name = \(name)")
  ///
  /// - Parameter sql: A single statement.
  /// - Throws: ``SQLiteError``.
  public func executeQuery(_ sql: SQL) throws -> [Row] {
    try query(sql) { try $0.executeQuery(sql) }
  }

  /// As ``executeQuery(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func executeQuery(_ sql: SQL) async throws -> [Row] {
    try await query(sql) { try $0.executeQuery(sql) }
  }

  /// Returns all rows of a query with values for its parameters.
  ///
  /// - Parameters:
  ///   - sql: A single statement; each `i?` takes a text as an identifier.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Throws: ``SQLiteError``.
  public func executeQuery(_ sql: SQL, withArgs arguments: [(any Bindable)?]) throws -> [Row] {
    let rows = try read { connection -> [Row]? in
      let statement = try connection.statement(sql, withArgs: arguments)
      return statement.isReadOnly ? try connection.executeQuery(sql, withArgs: arguments) : nil
    }
    return try rows ?? write { try $0.executeQuery(sql, withArgs: arguments) }
  }

  /// As ``executeQuery(_:withArgs:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func executeQuery(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) async throws -> [Row] {
    let values = try stored(arguments)
    let rows = try await readBriefly { connection -> [Row]? in
      let statement = try connection.statement(sql, withArgs: values)
      return statement.isReadOnly ? try connection.executeQuery(sql, withArgs: values) : nil
    }
    if let rows { return rows }
    return try await write { try $0.executeQuery(sql, withArgs: values) }
  }

  /// Returns the first row of a query, or nil.
  ///
  /// - Parameter sql: A single statement.
  /// - Throws: ``SQLiteError``.
  public func firstRow(_ sql: SQL) throws -> Row? {
    try query(sql) { try $0.firstRow(sql) }
  }

  /// As ``firstRow(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func firstRow(_ sql: SQL) async throws -> Row? {
    try await query(sql) { try $0.firstRow(sql) }
  }

  /// The values as they are stored, which may cross threads.
  private func stored(_ arguments: [(any Bindable)?]) throws(SQLiteError) -> [Value?] {
    var values: [Value?] = []
    for argument in arguments { values.append(try argument?.databaseValue) }
    return values
  }

  /// Runs a body that makes a single SELECT: that is a snapshot of its own, without a transaction.
  package func select<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try unsafe keepingResult { memory, isMade in
      try runQuery {
        unsafe forget(memory, &isMade)
        unsafe memory.initialize(to: try body($0))
        isMade = true
      }
    }
  }

  /// As ``select(_:)``, without blocking the task: `body` may run twice, as that of ``readBriefly(deadline:_:)``.
  package dynamic func select<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await performBriefly(.query, deadline: nil, body)
  }

  /// As ``select(_:)`` without a result: handing one on by generic calls costs metadata at each (benchmark
  /// `point`).
  package func select(_ body: (Connection) throws -> Void) throws {
    try runQuery(body)
  }

  /// Runs a query on a snapshot, or as a write if its statement writes.
  @usableFromInline package func query<Result>(
    _ sql: SQL, _ body: (Connection) throws -> Result
  ) throws -> Result {
    try unsafe keepingResult { memory, isMade in
      try query(sql) { (connection: Connection) -> Void in
        unsafe forget(memory, &isMade)
        unsafe memory.initialize(to: try body(connection))
        isMade = true
      }
    }
  }

  /// As ``query(_:_:)`` without a result: handing a tuple on by generic calls would copy it each time.
  @usableFromInline dynamic func query(_ sql: SQL, _ body: (Connection) throws -> Void) throws {
    var isDone = false
    try runQuery { isDone = try $0.query(sql, body) }
    if isDone { return }
    try runWrite(.immediate, deadline: nil) {
      try body($0)
      return .commit
    }
  }

  /// As ``query(_:_:)``, without blocking the task: `body` may run twice, as that of ``readBriefly(deadline:_:)``.
  package dynamic func query<Result: Sendable>(
    _ sql: SQL, _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let result: Result? = try await performBriefly(.query, deadline: nil) { connection in
      var result: Result?
      let isDone = try connection.query(sql) { result = .some(try body($0)) }
      return isDone ? result : nil
    }
    if let result { return result }
    return try await write { try body($0) }
  }
}

extension Database {
  /// Whether a statement outside any transaction needs one, since layers above write into each that changes rows.
  private func needsTransaction(_ sql: SQL) -> Bool {
    guard !shared.commits.isEmpty, let word = SQLScanner.firstWord(sql.text) else { return false }
    return ["insert", "update", "delete", "replace", "with"].contains(word)
  }
}
