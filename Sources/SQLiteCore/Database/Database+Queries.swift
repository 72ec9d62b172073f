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
    try result(of: scope(of: sql), deadline: nil) { try $0.executeChange(sql) }
  }

  /// As ``executeChange(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func executeChange(_ sql: SQL) async throws -> Change {
    try await perform(scope(of: sql), deadline: nil) { try $0.executeChange(sql) }
  }

  /// Runs one statement that changes the database, with values for its parameters.
  ///
  /// - Parameters:
  ///   - sql: A single statement; each `i?` takes a text as an identifier.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Returns: The change.
  /// - Throws: ``SQLiteError``.
  @discardableResult
  public func executeChange(_ sql: SQL, withArgs arguments: [(any Bindable)?]) throws -> Change {
    try executeChange(sql.withArgs(arguments))
  }

  /// As ``executeChange(_:withArgs:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func executeChange(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) async throws -> Change {
    try await executeChange(sql.withArgs(arguments))
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

  /// Returns all rows of a query. A statement that writes (RETURNING) runs as a transaction.
  ///
  ///     let rows = try database.executeQuery("SELECT * FROM city WHERE name = \(name)")
  ///
  /// - Parameter sql: A single statement.
  /// - Throws: ``SQLiteError``.
  public func executeQuery(_ sql: SQL) throws -> [Row] {
    var rows: [Row] = []
    try query(sql) { rows = try $0.executeQuery(sql) }
    return rows
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
    try executeQuery(sql.withArgs(arguments))
  }

  /// As ``executeQuery(_:withArgs:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func executeQuery(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) async throws -> [Row] {
    try await executeQuery(sql.withArgs(arguments))
  }

  /// Returns SQLite's words for a code (`sqlite3_errstr`).
  ///
  /// - Parameter code: The code.
  public static func errorMessage(for code: ResultCode) -> String { code.message }

  /// Runs a body that makes a single SELECT: that is a snapshot of its own, without a transaction.
  package func select<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try unsafe keepingResult { memory, isMade in
      try select { (connection: Connection) -> Void in
        unsafe forget(memory, &isMade)
        unsafe memory.initialize(to: try body(connection))
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
  package dynamic func select(_ body: (Connection) throws -> Void) throws {
    try perform(.query, deadline: nil) {
      try body($0)
      return .commit
    }
  }

  /// Runs a query on a snapshot, or as a write if its statement writes. Without a result, since handing a tuple on
  /// by generic calls would copy it each time.
  @usableFromInline dynamic func query(_ sql: SQL, _ body: (Connection) throws -> Void) throws {
    var isDone = false
    try select { isDone = try $0.query(sql, body) }
    if !isDone { try write { try body($0) } }
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
  /// The scope of a statement that changes the database: outside any transaction, unless layers above write into each
  /// that changes rows.
  private func scope(of sql: SQL) -> Access.Scope {
    guard !shared.commits.isEmpty, let word = SQLScanner.firstWord(sql.text),
      ["insert", "update", "delete", "replace", "with"].contains(word)
    else { return .bare }
    return .write(.immediate)
  }
}
