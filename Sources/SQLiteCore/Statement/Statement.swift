import CSQLite

/// A prepared statement, checked out of its connection's cache for one user.
///
///     var insert = try connection.statement("INSERT INTO note (text) VALUES (?1)")
///     for text in texts { try insert.run(text) }
///
/// The statement returns to the cache, reset and unbound, when its scope ends. Two statements with
/// the same SQL are two statements. Parameters are numbered from 1 and columns from 0, as in C.
///
/// A statement must not be kept beyond the access that its connection came from: used later, it
/// throws.
@safe public struct Statement: ~Copyable {
  package let handle: StatementHandle
  let connection: Connection
  private var pointer: OpaquePointer? { unsafe handle.pointer }

  init(_ handle: StatementHandle, of connection: Connection) {
    self.handle = handle
    self.connection = connection
  }

  deinit {
    connection.takeBack(handle)
  }

  /// The SQL as it was given.
  public var sql: String { handle.sql }

  /// Says whether the statement writes nothing (`sqlite3_stmt_readonly`).
  public var isReadOnly: Bool { handle.isReadOnly }

  /// The SQL with the bound values in it, for a log (`sqlite3_expanded_sql`).
  ///
  /// Values may be private: this is the one place that shows them.
  public var expandedSQL: String {
    guard let expanded = unsafe sqlite3_expanded_sql(pointer) else { return sql }
    defer { unsafe sqlite3_free(expanded) }
    return unsafe String(cString: expanded)
  }

  /// Runs to the next row (`sqlite3_step`).
  ///
  /// - Returns: True if the statement stands on a row, false at the end.
  /// - Throws: ``SQLiteError``, also if the access has a deadline that has passed, if its task was
  ///   cancelled, or if SQLite has rolled back the transaction around it.
  public mutating func step() throws(SQLiteError) -> Bool {
    if !handle.isRunning { try begin() }
    let code = unsafe sqlite3_step(pointer)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE {
      // The next step would begin anew.
      handle.reset()
      if handle.control != nil { connection.didControlTransaction(handle) }
      return false
    }
    throw fail(code)
  }

  /// Ends the run, so that values may be bound for the next one (`sqlite3_reset`).
  public mutating func reset() {
    handle.reset()
  }

  private func begin() throws(SQLiteError) {
    try connection.checkMayRun(handle)
    guard handle.isBound || handle.parameterCount == 0 else {
      throw SQLiteError(
        .range, "no values were bound to the \(handle.parameterCount) parameters", sql: sql)
    }
    if handle.control != nil { try connection.willControlTransaction(handle) }
    if let recorder = connection.handle.recorder {
      handle.beginRecording(recorder, of: connection)
    }
    if !handle.isReadOnly, handle.control == nil { connection.hasWritten = true }
    handle.beganInTransaction = !connection.isAutocommit
    handle.isRunning = true
    connection.statementCount += 1
  }

  private func fail(_ code: Int32) -> SQLiteError {
    let error = connection.failure(
      code, sql: handle.sql, inTransaction: handle.beganInTransaction && handle.control == nil)
    handle.reset()
    if let recorder = connection.handle.recorder {
      handle.dropRecorded(recorder, of: connection)
    }
    return error
  }
}

@available(*, unavailable)
extension Statement: Sendable {}

extension Statement {
  /// The number of columns in a row, 0 for a statement that returns none (`sqlite3_column_count`).
  public var columnCount: Int { handle.columnCount }

  /// The names of the columns, known for sure after the first ``step()``.
  public var columnNames: [String] { handle.columnNames.names }

  /// The highest number of a parameter (`sqlite3_bind_parameter_count`).
  public var parameterCount: Int { handle.parameterCount }

  /// SQLite's integer for a column, which converts what is not one (`sqlite3_column_int64`).
  ///
  /// Zero for NULL and for a column that does not exist. Use ``value(at:)`` or
  /// ``get(_:as:)`` to know what is stored.
  public func integer(at column: Int) -> Int64 {
    unsafe sqlite3_column_int64(pointer, Int32(clamping: column))
  }

  /// SQLite's real for a column, which converts what is not one (`sqlite3_column_double`).
  ///
  /// Zero for NULL and for a column that does not exist.
  public func real(at column: Int) -> Double {
    unsafe sqlite3_column_double(pointer, Int32(clamping: column))
  }

  /// SQLite's text for a column, which converts numbers (`sqlite3_value_text`).
  ///
  /// Empty for NULL and for a column that does not exist. Embedded NULs survive.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` if the stored text is not valid UTF-8.
  public func text(at column: Int) throws(SQLiteError) -> String {
    let content = unsafe content(of: column)
    return switch unsafe sqlite3_value_type(content) {
    case SQLITE_TEXT: try unsafe text(in: content, of: column)
    case SQLITE_NULL: ""
    default: try unsafe text(converting: content, of: column)
    }
  }

  /// SQLite's bytes for a column: a blob, or the UTF-8 of a text (`sqlite3_value_blob`).
  ///
  /// Empty for NULL and for a column that does not exist.
  public func blob(at column: Int) -> [UInt8] {
    withBytes(at: column) { span in
      unsafe span.withUnsafeBytes { unsafe copiedBytes($0.baseAddress, count: $0.count) }
    }
  }

  /// Lends the bytes of a blob, or the UTF-8 of a text, without a copy (`sqlite3_value_blob`).
  ///
  /// None are lent for NULL and for a column that does not exist.
  ///
  /// - Parameters:
  ///   - column: The column's index, from 0.
  ///   - body: Reads the bytes; they are gone when it returns.
  public func withBytes<Result>(
    at column: Int, _ body: (RawSpan) throws -> Result
  ) rethrows -> Result {
    let content = unsafe content(of: column)
    let storage = unsafe sqlite3_value_type(content)
    // The bytes of a text are made UTF-8 with an end now: that later, they would move.
    if storage == SQLITE_TEXT { return try unsafe lend(sqlite3_value_text(content), content, body) }
    if storage == SQLITE_BLOB { return try unsafe lend(sqlite3_value_blob(content), content, body) }
    // Converting the number itself would make a text of it.
    let copy = unsafe storage == SQLITE_NULL ? nil : sqlite3_value_dup(content)
    defer { unsafe sqlite3_value_free(copy) }
    return try unsafe lend(sqlite3_value_text(copy), copy, body)
  }

  /// Says whether a column holds NULL; true for a column that does not exist.
  public func isNull(at column: Int) -> Bool {
    unsafe sqlite3_column_type(pointer, Int32(clamping: column)) == SQLITE_NULL
  }

  /// What a column stores, as it is stored; NULL for a column that does not exist.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` if a text is not valid UTF-8.
  public func value(at column: Int) throws(SQLiteError) -> Value {
    let content = unsafe content(of: column)
    return switch unsafe sqlite3_value_type(content) {
    case SQLITE_INTEGER: .integer(unsafe sqlite3_value_int64(content))
    case SQLITE_FLOAT: .real(unsafe sqlite3_value_double(content))
    case SQLITE_TEXT: .text(try text(at: column))
    case SQLITE_BLOB: .blob(blob(at: column))
    default: .null
    }
  }

  /// Reads a column as a Swift type, exactly or not at all.
  ///
  /// - Parameters:
  ///   - column: The column's index, from 0.
  ///   - type: What to read.
  /// - Throws: ``SQLiteError`` that names the column, what was expected and what was found.
  @inlinable  // Benchmark `fetch`.
  public func get<Result: ColumnValue>(
    _ column: Int, as type: Result.Type = Result.self
  ) throws(SQLiteError) -> Result {
    do {
      return try Result.read(from: self, at: column)
    } catch {
      throw named(error, at: column)
    }
  }

  @unsafe @inline(__always) private func lend<Result>(
    _ start: UnsafeRawPointer?, _ content: OpaquePointer?, _ body: (RawSpan) throws -> Result
  ) rethrows -> Result {
    let count = unsafe start == nil ? 0 : Int(sqlite3_value_bytes(content))
    return try unsafe body(UnsafeRawBufferPointer(start: start, count: count).bytes)
  }

  /// The content of a column, for several questions at the price of one (`sqlite3_column_value`).
  ///
  /// It may be asked by one thread at a time and until the next step, as all of a statement.
  @unsafe func content(of column: Int) -> OpaquePointer? {
    unsafe sqlite3_column_value(pointer, Int32(clamping: column))
  }

  /// The error with the column's name and the SQL, unless it has them.
  @usableFromInline func named(_ error: SQLiteError, at column: Int) -> SQLiteError {
    guard error.sql == nil else { return error }
    return SQLiteError(error.code, "column \(name(of: column)): \(error.message)", sql: sql)
  }

  /// The error for a column that stores something else than a type is read from.
  @usableFromInline @inline(never)
  func mismatch(at column: Int, expected: Any.Type) throws(SQLiteError) -> SQLiteError {
    let error = try value(at: column).mismatch(expected: expected)
    return SQLiteError(error.code, "column \(name(of: column)): \(error.message)", sql: sql)
  }

  func invalidText(at column: Int) -> SQLiteError {
    SQLiteError(.mismatch, "column \(name(of: column)) holds invalid UTF-8", sql: sql)
  }

  private func name(of column: Int) -> String {
    let names = columnNames
    return names.indices.contains(column) ? "“\(names[column])” (\(column))" : "\(column)"
  }
}
