extension Connection {
  /// Runs a statement that changes the database.
  ///
  ///     try connection.executeChange("UPDATE city SET name = \(name) WHERE id = \(id)")
  ///
  /// - Parameter sql: A single statement. Rows that it returns are discarded.
  /// - Returns: The number of changed rows and the last inserted rowid.
  /// - Throws: ``SQLiteError`` if the statement fails or SQLite can't store a value; with
  ///   ``ResultCode/range`` if a parameter has no value, or with ``ResultCode/misuse`` if `sql`
  ///   contains no statement or more than one. The statement's changes are then undone, unless its
  ///   conflict clause is `FAIL`.
  @discardableResult
  @inline(never)
  public func executeChange(_ sql: SQL) throws(SQLiteError) -> Change {
    if let failure = sql.failure { throw failure.with(sql: sql.text) }
    var statement = Statement(try checkOut(sql), of: self)
    // The handle stores the row's short texts and blobs. SQLite would allocate memory for each of
    // them (benchmark `insert`).
    statement.handle.beginRow()
    guard let index = try bind(sql.pieces, to: &statement, skipsLongBlob: handle.remote == nil),
      case .value(.blob(let bytes)) = sql.pieces[index].parameter
    else { return try statement.runToEnd() }
    return try unsafe bytes.withUnsafeBytes { bytes in
      Result { () throws(SQLiteError) in
        try unsafe statement.handle.bind(borrowed: bytes, at: Int32(clamping: index + 1))
        return try statement.runToEnd()
      }
    }.get()
  }

  /// Runs a statement that changes the database, with values for its parameters.
  ///
  /// Each `?` or `?1` is bound to a value. Each `i?` is replaced by a text argument as a quoted
  /// identifier.
  ///
  /// - Parameters:
  ///   - sql: A single statement without interpolated values.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Returns: The number of changed rows and the last inserted rowid.
  /// - Throws: ``SQLiteError`` if the statement fails or SQLite can't store a value, with
  ///   ``ResultCode/range`` if the number of arguments is wrong, with ``ResultCode/mismatch`` if
  ///   the argument for an `i?` isn't text, or with ``ResultCode/misuse`` if `sql` also contains
  ///   interpolated values. The statement's changes are then undone, unless its conflict clause is
  ///   `FAIL`.
  @discardableResult
  public func executeChange(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) throws(SQLiteError) -> Change {
    try executeChange(sql.withArgs(arguments))
  }

  /// Runs a statement that changes the database, with values for its named parameters.
  ///
  /// - Parameters:
  ///   - sql: A single statement with parameters such as `:name`, `@name` or `$name`.
  ///   - arguments: A value for each name, with or without its prefix; nil is NULL.
  /// - Returns: The number of changed rows and the last inserted rowid.
  /// - Throws: ``SQLiteError`` if the statement fails or SQLite can't store a value, with
  ///   ``ResultCode/range`` if a name doesn't exist or is bound twice, or if a parameter has no
  ///   value, or with ``ResultCode/misuse`` if `sql` also contains interpolated values. The
  ///   statement's changes are then undone, unless its conflict clause is `FAIL`.
  @discardableResult
  public func executeChange(
    _ sql: SQL, withArgs arguments: [String: (any Bindable)?]
  ) throws(SQLiteError) -> Change {
    var statement = try statement(sql, withArgs: arguments)
    return try statement.runToEnd()
  }

  /// Runs several statements atomically: in a new transaction, or in a savepoint if a transaction
  /// is already open.
  ///
  /// - Parameter script: Statements separated by semicolons, without parameters.
  /// - Throws: ``SQLiteError`` if the commit or a statement fails, with the failed statement in its
  ///   `sql` property; with ``ResultCode/range`` if a statement has a parameter, or
  ///   ``ResultCode/misuse`` if the script has interpolated values. All changes are then rolled
  ///   back.
  public func executeMultipleChanges(_ script: SQL) throws {
    if let failure = script.failure { throw failure.with(sql: script.text) }
    guard script.pieces.isEmpty else {
      throw SQLiteError(
        .misuse,
        "a script cannot bind values; write them as literals, or run each statement by itself",
        sql: script.text)
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

  /// Runs several statements atomically: in a new transaction, or in a savepoint if a transaction
  /// is already open.
  ///
  /// - Parameter statements: Single statements, in order. They can contain interpolated values.
  /// - Throws: ``SQLiteError`` if a statement fails, with its index in `statements` in the message,
  ///   or if the commit fails. All changes are then rolled back.
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
  /// - Parameter sql: A single statement: a query, or a statement with RETURNING.
  /// - Throws: ``SQLiteError`` if the statement fails or SQLite can't store a value; with
  ///   ``ResultCode/range`` if a parameter has no value, or with ``ResultCode/misuse`` if `sql`
  ///   contains no statement or more than one.
  /// - Complexity: O(*n*) in the number of rows, in time and memory. ``forEachRow(_:_:)`` needs
  ///   memory for only one row.
  public func executeQuery(_ sql: SQL) throws(SQLiteError) -> [Row] {
    var statement = try boundStatement(sql)
    return try statement.allRows()
  }

  /// Returns all rows of a query, with values for its parameters.
  ///
  /// Each `i?` in `sql` is replaced by a text argument as a quoted identifier.
  ///
  /// - Parameters:
  ///   - sql: A single statement without interpolated values.
  ///   - arguments: One value for each parameter, in order; nil is NULL.
  /// - Throws: ``SQLiteError`` if the statement fails or SQLite can't store a value, with
  ///   ``ResultCode/range`` if the number of arguments is wrong, with ``ResultCode/mismatch`` if
  ///   the argument for an `i?` isn't text, or with ``ResultCode/misuse`` if `sql` also contains
  ///   interpolated values.
  public func executeQuery(
    _ sql: SQL, withArgs arguments: [(any Bindable)?]
  ) throws(SQLiteError) -> [Row] {
    try executeQuery(sql.withArgs(arguments))
  }

  /// Returns all rows of a query, with values for its named parameters.
  ///
  /// - Parameters:
  ///   - sql: A single statement with parameters such as `:name`, `@name` or `$name`.
  ///   - arguments: A value for each name, with or without its prefix; nil is NULL.
  /// - Throws: ``SQLiteError`` if the statement fails or SQLite can't store a value, with
  ///   ``ResultCode/range`` if a name doesn't exist or is bound twice, or if a parameter has no
  ///   value, or with ``ResultCode/misuse`` if `sql` also contains interpolated values.
  public func executeQuery(
    _ sql: SQL, withArgs arguments: [String: (any Bindable)?]
  ) throws(SQLiteError) -> [Row] {
    var statement = try statement(sql, withArgs: arguments)
    return try statement.allRows()
  }

  /// Returns the first row of a query, or nil if it has no rows.
  ///
  /// - Parameter sql: A single statement. A statement that writes runs to its end; a query stops
  ///   after the first row.
  /// - Throws: ``SQLiteError`` if the statement fails or SQLite can't store a value; with
  ///   ``ResultCode/range`` if a parameter has no value, or with ``ResultCode/misuse`` if `sql`
  ///   contains no statement or more than one.
  public func firstRow(_ sql: SQL) throws(SQLiteError) -> Row? {
    var statement = try boundStatement(sql)
    guard try statement.step() else { return nil }
    let row = try statement.row()
    try statement.finish()
    return row
  }

  /// Calls `body` for each row of a query, without loading all rows into memory.
  ///
  /// - Parameters:
  ///   - sql: A single statement.
  ///   - body: Receives the statement, positioned at a row. Read the row's columns only inside the
  ///     closure. If the closure throws, the query ends.
  /// - Throws: The error of `body`; ``SQLiteError`` if the statement fails or SQLite can't store a
  ///   value, with ``ResultCode/range`` if a parameter has no value, or with ``ResultCode/misuse``
  ///   if `sql` contains no statement or more than one.
  public func forEachRow(_ sql: SQL, _ body: (borrowing Statement) throws -> Void) throws {
    var statement = try boundStatement(sql)
    while try statement.step() { try body(statement) }
  }

  /// Runs `body`, which executes `sql`, as a read. If the statement writes, returns false without
  /// running `body`; otherwise returns true.
  ///
  /// A single SELECT always reads one snapshot, so it needs no BEGIN and COMMIT. Other statements
  /// that don't write, such as pragmas, behave differently in a transaction, so they run in one.
  func query(_ sql: SQL, _ body: (Connection) throws -> Void) throws -> Bool {
    if let failure = sql.failure { throw failure.with(sql: sql.text) }
    let handle = try checkOut(sql)
    let (isReadOnly, isPlainQuery) = (handle.isReadOnly, handle.isPlainQuery)
    checkIn(handle)
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
