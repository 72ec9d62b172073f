extension Database {
  /// Runs a statement that changes the database, and blocks the thread.
  ///
  ///     try database.executeChange("UPDATE city SET name = \(name) WHERE id = \(id)")
  ///
  /// The statement commits by itself, unless you call this method inside a `write`.
  ///
  /// - Parameter sql: A single statement. Rows that it returns are discarded.
  /// - Returns: The number of changed rows and the last inserted rowid.
  /// - Throws: ``SQLiteError`` if the statement fails, SQLite can't store a value, or the access
  ///   can't begin or is interrupted; with ``ResultCode/range`` if a parameter has no value, or
  ///   ``ResultCode/misuse`` inside a read or if `sql` doesn't contain exactly one statement.
  @discardableResult
  public func executeChange(_ sql: SQL) throws -> Change {
    try result(of: scope(of: sql), deadline: nil) { try $0.executeChange(sql) }
  }

  /// Runs a statement that changes the database, and suspends the task meanwhile. The statement
  /// commits by itself.
  ///
  /// - Parameter sql: A single statement. Rows that it returns are discarded.
  /// - Returns: The number of changed rows and the last inserted rowid.
  /// - Throws: ``SQLiteError`` if the statement fails, SQLite can't store a value, or the access
  ///   can't begin or is interrupted; with ``ResultCode/range`` if a parameter has no value, or
  ///   ``ResultCode/misuse`` if `sql` doesn't contain exactly one statement; `CancellationError` if
  ///   the task was cancelled.
  @discardableResult
  public func executeChange(_ sql: SQL) async throws -> Change {
    try await perform(scope(of: sql), deadline: nil) { try $0.executeChange(sql) }
  }

  /// Runs a statement that changes the database, with values for its parameters. Blocks the thread.
  ///
  /// Each `?` or `?1` is bound to a value. Each `i?` is replaced by a text argument as a quoted
  /// identifier.
  ///
  /// - Parameters:
  ///   - sql: A single statement without interpolated values.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Returns: The number of changed rows and the last inserted rowid.
  /// - Throws: ``SQLiteError`` if the statement fails, SQLite can't store a value, or the access
  ///   can't begin or is interrupted; with ``ResultCode/range`` if the number of arguments is
  ///   wrong, ``ResultCode/mismatch`` if the argument for an `i?` isn't text, or
  ///   ``ResultCode/misuse`` inside a read or if `sql` also contains interpolated values.
  @discardableResult
  public func executeChange(_ sql: SQL, withArgs arguments: [(any Bindable)?]) throws -> Change {
    try executeChange(sql.withArgs(arguments))
  }

  /// Runs a statement that changes the database, with values for its parameters. Suspends the task
  /// meanwhile.
  ///
  /// Each `?` or `?1` is bound to a value. Each `i?` is replaced by a text argument as a quoted
  /// identifier.
  ///
  /// - Parameters:
  ///   - sql: A single statement without interpolated values.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Returns: The number of changed rows and the last inserted rowid.
  /// - Throws: ``SQLiteError`` if the statement fails, SQLite can't store a value, or the access
  ///   can't begin or is interrupted; with ``ResultCode/range`` if the number of arguments is
  ///   wrong, ``ResultCode/mismatch`` if the argument for an `i?` isn't text, or
  ///   ``ResultCode/misuse`` if `sql` also contains interpolated values; `CancellationError` if the
  ///   task was cancelled.
  @discardableResult
  public func executeChange(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) async throws -> Change {
    try await executeChange(sql.withArgs(arguments))
  }

  /// Runs several statements atomically: in a new transaction, or in a savepoint if called inside a
  /// write. Blocks the thread.
  ///
  /// - Parameter script: Statements separated by semicolons, without parameters.
  /// - Throws: ``SQLiteError`` if the access can't begin or is interrupted, or if the commit or a
  ///   statement fails, with the failed statement in its `sql` property; with ``ResultCode/range``
  ///   if a statement has a parameter, or ``ResultCode/misuse`` inside a read or if the script has
  ///   interpolated values. All changes are then rolled back.
  public func executeMultipleChanges(_ script: SQL) throws {
    try write { try $0.executeMultipleChanges(script) }
  }

  /// Runs several statements atomically, in one transaction. Suspends the task meanwhile.
  ///
  /// - Parameter script: Statements separated by semicolons, without parameters.
  /// - Throws: ``SQLiteError`` if the access can't begin or is interrupted, or if the commit or a
  ///   statement fails, with the failed statement in its `sql` property; with ``ResultCode/range``
  ///   if a statement has a parameter, or ``ResultCode/misuse`` if the script has interpolated
  ///   values; `CancellationError` if the task was cancelled. All changes are then rolled back.
  public func executeMultipleChanges(_ script: SQL) async throws {
    try await write { try $0.executeMultipleChanges(script) }
  }

  /// Returns all rows of a query. Blocks the thread.
  ///
  ///     let rows = try database.executeQuery("SELECT * FROM city WHERE name = \(name)")
  ///
  /// A query reads one snapshot. A statement that writes and returns rows, with RETURNING, runs in
  /// a transaction.
  ///
  /// - Parameter sql: A single statement.
  /// - Throws: ``SQLiteError`` if the statement fails, SQLite can't store a value, or the access
  ///   can't begin or is interrupted; with ``ResultCode/range`` if a parameter has no value, or
  ///   ``ResultCode/misuse`` if the statement writes inside a read or if `sql` doesn't contain
  ///   exactly one statement.
  public func executeQuery(_ sql: SQL) throws -> [Row] {
    var rows: [Row] = []
    try query(sql) { rows = try $0.executeQuery(sql) }
    return rows
  }

  /// Returns all rows of a query. Suspends the task meanwhile.
  ///
  /// A query reads one snapshot. A statement that writes and returns rows, with RETURNING, runs in
  /// a transaction.
  ///
  /// - Parameter sql: A single statement.
  /// - Throws: ``SQLiteError`` if the statement fails, SQLite can't store a value, or the access
  ///   can't begin or is interrupted; with ``ResultCode/range`` if a parameter has no value, or
  ///   ``ResultCode/misuse`` if `sql` doesn't contain exactly one statement; `CancellationError` if
  ///   the task was cancelled.
  public func executeQuery(_ sql: SQL) async throws -> [Row] {
    try await query(sql) { try $0.executeQuery(sql) }
  }

  /// Returns all rows of a query, with values for its parameters. Blocks the thread.
  ///
  /// Each `?` or `?1` is bound to a value. Each `i?` is replaced by a text argument as a quoted
  /// identifier.
  ///
  /// - Parameters:
  ///   - sql: A single statement without interpolated values.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Throws: ``SQLiteError`` if the statement fails, SQLite can't store a value, or the access
  ///   can't begin or is interrupted; with ``ResultCode/range`` if the number of arguments is
  ///   wrong, ``ResultCode/mismatch`` if the argument for an `i?` isn't text, or
  ///   ``ResultCode/misuse`` if the statement writes inside a read or if `sql` also contains
  ///   interpolated values.
  public func executeQuery(_ sql: SQL, withArgs arguments: [(any Bindable)?]) throws -> [Row] {
    try executeQuery(sql.withArgs(arguments))
  }

  /// Returns all rows of a query, with values for its parameters. Suspends the task meanwhile.
  ///
  /// Each `?` or `?1` is bound to a value. Each `i?` is replaced by a text argument as a quoted
  /// identifier.
  ///
  /// - Parameters:
  ///   - sql: A single statement without interpolated values.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Throws: ``SQLiteError`` if the statement fails, SQLite can't store a value, or the access
  ///   can't begin or is interrupted; with ``ResultCode/range`` if the number of arguments is
  ///   wrong, ``ResultCode/mismatch`` if the argument for an `i?` isn't text, or
  ///   ``ResultCode/misuse`` if `sql` also contains interpolated values; `CancellationError` if the
  ///   task was cancelled.
  public func executeQuery(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) async throws -> [Row] {
    try await executeQuery(sql.withArgs(arguments))
  }

  /// Returns SQLite's English description of a result code (`sqlite3_errstr`).
  ///
  /// - Parameter code: A primary or extended result code.
  public static func errorMessage(for code: ResultCode) -> String { code.message }

  /// Returns the result of a closure that executes a single SELECT on a snapshot. The access begins
  /// no transaction, because a single SELECT always reads one snapshot.
  package func select<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try unsafe withResultStorage { memory, isInitialized in
      try select { (connection: Connection) -> Void in
        unsafe forget(memory, &isInitialized)
        unsafe memory.initialize(to: try body(connection))
        isInitialized = true
      }
    }
  }

  /// Returns the result of a closure that executes a single SELECT on a snapshot, and suspends the
  /// task meanwhile. The closure may run twice, as with ``readBriefly(deadline:_:)``.
  package dynamic func select<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await performBriefly(.query, deadline: nil, body)
  }

  /// Runs a closure that executes a single SELECT. The function returns nothing, because passing a
  /// result through generic calls requires its type metadata each time (benchmark `point`).
  package dynamic func select(_ body: (Connection) throws -> Void) throws {
    try perform(.query, deadline: nil) {
      try body($0)
      return .commit
    }
  }

  /// Runs a query on a snapshot, or in a write if its statement writes. The function returns
  /// nothing, because passing a tuple through generic calls would copy it each time.
  @usableFromInline dynamic func query(_ sql: SQL, _ body: (Connection) throws -> Void) throws {
    var isDone = false
    try select { isDone = try $0.query(sql, body) }
    if !isDone { try write { try body($0) } }
  }

  /// Runs a query on a snapshot, or in a write if its statement writes. Suspends the task
  /// meanwhile. `body` may run twice, as with ``readBriefly(deadline:_:)``.
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
  /// Returns the scope in which a statement that changes the database runs: a write transaction if
  /// the statement may change rows and higher layers run ``CommitBodies`` in each transaction that
  /// does; otherwise no transaction.
  private func scope(of sql: SQL) -> Access.Scope {
    guard !shared.commits.isEmpty, let word = SQLScanner.firstWord(sql.text),
      ["insert", "update", "delete", "replace", "with"].contains(word)
    else { return .bare }
    return .write(.immediate)
  }
}
