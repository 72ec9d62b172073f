extension Connection {
  /// Runs one statement that changes the database.
  ///
  ///     try connection.executeChange("UPDATE city SET name = \(name) WHERE id = \(id)")
  ///
  /// - Parameter sql: A single statement. Rows that it returns are passed over.
  /// - Returns: The change.
  /// - Throws: ``SQLiteError``; then the statement has changed nothing.
  @discardableResult
  @inline(never)
  public func executeChange(_ sql: SQL) throws(SQLiteError) -> Change {
    if let failure = sql.failure { throw failure.with(sql: sql.text) }
    var statement = Statement(try checkOut(sql), of: self)
    // The handle keeps the short texts and bytes of a row: SQLite would allocate memory for each (benchmark `insert`).
    statement.handle.beginRow()
    guard let index = try bind(sql.pieces, to: &statement, lends: handle.remote == nil),
      case .value(.blob(let bytes)) = sql.pieces[index].parameter
    else { return try statement.runToEnd() }
    return try unsafe bytes.withUnsafeBytes { bytes in
      Result { () throws(SQLiteError) in
        try unsafe statement.handle.bind(lent: bytes, at: Int32(clamping: index + 1))
        return try statement.runToEnd()
      }
    }.get()
  }

  /// Runs one statement that changes the database, with values for its parameters.
  ///
  /// `?` and `?1` take a value each; `i?` takes a text that is put in as a quoted identifier.
  ///
  /// - Parameters:
  ///   - sql: A single statement.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Returns: The change.
  /// - Throws: ``SQLiteError``; then the statement has changed nothing.
  @discardableResult
  public func executeChange(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) throws(SQLiteError) -> Change {
    try executeChange(sql.withArgs(arguments))
  }

  /// Runs one statement that changes the database, with values for its named parameters.
  ///
  /// - Parameters:
  ///   - sql: A single statement with parameters such as `:name`, `@name` or `$name`.
  ///   - arguments: A value for each name, with or without its prefix; nil is NULL.
  /// - Returns: The change.
  /// - Throws: ``SQLiteError``; then the statement has changed nothing.
  @discardableResult
  public func executeChange(
    _ sql: SQL, withArgs arguments: [String: (any Bindable)?]
  ) throws(SQLiteError) -> Change {
    var statement = try statement(sql, withArgs: arguments)
    return try statement.runToEnd()
  }

  /// Runs several statements in one transaction: all or none of them take effect.
  ///
  /// - Parameter script: Statements separated by semicolons, without parameters.
  /// - Throws: ``SQLiteError`` that holds the failed statement.
  public func executeMultipleChanges(_ script: SQL) throws {
    if let failure = script.failure { throw failure.with(sql: script.text) }
    guard script.pieces.isEmpty else {
      throw SQLiteError(.misuse, "a script of several statements takes no values", sql: script.text)
    }
    try transaction {
      try checkText(script.text)
      var script = Script(script.text)
      while var statement = try nextStatement(of: &script) {
        try statement.checkCount(0)
        _ = try statement.runToEnd()
      }
    }
  }

  /// Runs statements in order in one transaction: all or none of them take effect.
  ///
  /// - Parameter statements: Single statements.
  /// - Throws: ``SQLiteError`` that names the failed statement's index in the list.
  public func executeMultipleChanges(_ statements: [SQL]) throws {
    try transaction {
      for (index, sql) in statements.enumerated() {
        do throws(SQLiteError) {
          try executeChange(sql)
        } catch {
          throw SQLiteError(
            error.code, "statement \(index): \(error.message)", sql: error.sql, offset: error.offset
          )
        }
      }
    }
  }

  /// Returns all rows of a query.
  ///
  ///     let rows = try connection.executeQuery("SELECT * FROM city WHERE name = \(name)")
  ///
  /// - Parameter sql: A single statement, one with RETURNING included.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n*) in time and memory; ``forEachRow(_:_:)`` needs the memory of one row.
  public func executeQuery(_ sql: SQL) throws(SQLiteError) -> [Row] {
    var statement = try boundStatement(sql)
    return try statement.allRows()
  }

  /// Returns all rows of a query with values for its parameters.
  ///
  /// - Parameters:
  ///   - sql: A single statement.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Throws: ``SQLiteError``.
  public func executeQuery(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) throws(SQLiteError) -> [Row] {
    try executeQuery(sql.withArgs(arguments))
  }

  /// Returns all rows of a query with values for its named parameters.
  ///
  /// - Parameters:
  ///   - sql: A single statement.
  ///   - arguments: A value for each name, with or without its prefix; nil is NULL.
  /// - Throws: ``SQLiteError``.
  public func executeQuery(
    _ sql: SQL, withArgs arguments: [String: (any Bindable)?]
  ) throws(SQLiteError) -> [Row] {
    var statement = try statement(sql, withArgs: arguments)
    return try statement.allRows()
  }

  /// Returns the first row of a query, or nil.
  ///
  /// - Parameter sql: A single statement. One that writes is run to its end.
  /// - Throws: ``SQLiteError``.
  public func firstRow(_ sql: SQL) throws(SQLiteError) -> Row? {
    var statement = try boundStatement(sql)
    guard try statement.step() else { return nil }
    let row = try statement.row()
    try statement.finish()
    return row
  }

  /// Lends the rows of a query one by one, in the memory of one row.
  ///
  /// - Parameters:
  ///   - sql: A single statement.
  ///   - body: Reads the columns of the row that the statement stands on. An error of it ends the
  ///     query.
  /// - Throws: ``SQLiteError``, or the error of `body`.
  public func forEachRow(_ sql: SQL, _ body: (borrowing Statement) throws -> Void) throws {
    var statement = try boundStatement(sql)
    while try statement.step() { try body(statement) }
  }

  /// Runs a query, or returns false if its statement writes.
  ///
  /// A SELECT is a transaction of its own, on one snapshot: it is spared BEGIN and COMMIT. Others,
  /// such as pragmas, behave differently in a transaction, and get one.
  func query(_ sql: SQL, _ body: (Connection) throws -> Void) throws -> Bool {
    if let failure = sql.failure { throw failure.with(sql: sql.text) }
    let handle = try checkOut(sql)
    let (isReadOnly, isPlainQuery) = (handle.isReadOnly, handle.isPlainQuery)
    takeBack(handle)
    guard isReadOnly else { return false }
    if isPlainQuery || state.isInsideScope {
      try body(self)
    } else {
      try runTransaction(.deferred) {
        try body(self)
        return .commit
      }
    }
    return true
  }
}
