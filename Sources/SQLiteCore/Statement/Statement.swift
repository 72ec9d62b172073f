import CSQLite

/// A prepared statement, checked out of its connection's statement cache.
///
///     var insert = try connection.statement("INSERT INTO note (text) VALUES (?1)")
///     for text in texts { try insert.run(text) }
///
/// When its scope ends, the statement is reset, loses its bindings, and returns to the cache. Two
/// statements with the same SQL are independent. Parameters are numbered from 1 and columns from 0,
/// as in SQLite's C interface.
///
/// Outside a transaction, a statement that writes commits when its run ends. The commit may fail
/// after the statement has returned rows, because of a deferred foreign key or the lock of another
/// connection. ``reset()`` throws that error. If the scope of the statement ends between two rows,
/// the access throws the error, and so do later statements of the access.
///
/// A statement is valid only during the access that its connection belongs to. If you use it later,
/// it throws.
public struct Statement: ~Copyable {
  package let handle: StatementHandle
  let connection: any StatementOwner

  init(_ handle: StatementHandle, of connection: any StatementOwner) {
    self.handle = handle
    self.connection = connection
  }

  deinit {
    connection.checkIn(handle)
  }

  /// The SQL text that the statement was prepared from.
  public var sql: String { handle.sql }

  /// A Boolean value that indicates whether the statement writes nothing (`sqlite3_stmt_readonly`).
  public var isReadOnly: Bool { handle.isReadOnly }

  /// The SQL text with the bound values inserted, for logging (`sqlite3_expanded_sql`).
  ///
  /// Bound values may be private, so consider who can read the log.
  public var expandedSQL: String { handle.expandedSQL }

  /// Runs the statement to its next row (`sqlite3_step`).
  ///
  /// - Returns: True if the statement is at a row, false if it has ended.
  /// - Throws: ``SQLiteError`` if the statement fails, if it has parameters but no values are
  ///   bound, if the deadline of the access has passed, if the task of the access was cancelled, or
  ///   if SQLite has rolled back the enclosing transaction.
  public mutating func step() throws(SQLiteError) -> Bool {
    if !handle.isRunning { try connection.beginRun(of: handle) }
    let code = handle.step()
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE {
      // Without a reset, the next step would run the statement again.
      handle.reset()
      if handle.control != nil, !handle.isLibraryStatement {
        connection.didControlTransaction(handle)
      }
      return false
    }
    // The schema has changed, and SQLite has rejected a trigger when it recompiled the statement.
    if code == SQLITE_ERROR, try connection.trustSchemaForTrigger() {
      handle.reset()
      return try step()
    }
    throw connection.failRun(of: handle, code)
  }

  /// Ends the run, so that you can bind new values (`sqlite3_reset`).
  ///
  /// - Throws: ``SQLiteError`` if the run ends between two rows, outside a transaction, and its
  ///   changes can't be committed. SQLite then undoes the changes.
  public mutating func reset() throws(SQLiteError) {
    guard handle.isRunning else { return }
    let code = handle.reset()
    if code != SQLITE_OK { throw connection.failRun(of: handle, code) }
  }
}

@available(*, unavailable)
extension Statement: Sendable {}

/// The interface of a connection that its statements use.
protocol StatementOwner: AnyObject {
  /// The number of rows inserted, updated or deleted on the connection since it was opened,
  /// including those changed by triggers and foreign key actions.
  var totalChanges: Int64 { get }

  /// Records the start of a run before its first step. Throws if the statement must not run now, or
  /// if it has parameters but no values are bound.
  func beginRun(of statement: StatementHandle) throws(SQLiteError)

  /// Turns on `PRAGMA trusted_schema` if SQLite has just rejected a trigger that uses full-text
  /// search. Returns whether it did.
  func trustSchemaForTrigger() throws(SQLiteError) -> Bool

  /// Resets a statement whose run has failed with the result code `code`, and returns the error to
  /// throw.
  func failRun(of statement: StatementHandle, _ code: Int32) -> SQLiteError

  /// Updates the connection's state after a statement has begun or ended a transaction or a
  /// savepoint.
  func didControlTransaction(_ statement: StatementHandle)

  /// Returns a statement to the cache after its last use.
  func checkIn(_ statement: StatementHandle)

  /// Returns the effect of a run, given the value of ``totalChanges`` before it.
  func change(since totalChanges: Int64) -> Change

  /// Registers the table-valued function `magicdata_list`.
  func registerListModule() throws(SQLiteError)
}

// MARK: - Parameters

extension Statement {
  /// The highest parameter number (`sqlite3_bind_parameter_count`).
  public var parameterCount: Int { handle.parameterCount }

  /// Binds a value to a parameter (`sqlite3_bind_…`).
  ///
  /// - Parameters:
  ///   - value: The value; nil binds NULL.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if the parameter does not exist, with
  ///   ``ResultCode/misuse`` if the statement is between two rows and must be reset first, or the
  ///   error of a value that can't be stored.
  @inlinable  // Benchmark `insert`.
  public mutating func bind(_ value: some Bindable, at parameter: Int) throws(SQLiteError) {
    try value.bind(to: &self, at: parameter)
  }

  /// Binds a value to a named parameter.
  ///
  /// - Parameters:
  ///   - value: The value; nil binds NULL.
  ///   - name: The parameter's name, with or without its prefix (`:name`, `@name`, `$name`).
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if no parameter has this name, with
  ///   ``ResultCode/misuse`` if the statement is between two rows and must be reset first, or the
  ///   error of a value that can't be stored.
  public mutating func bind(_ value: some Bindable, named name: String) throws(SQLiteError) {
    try value.bind(to: &self, at: parameter(named: name))
  }

  /// Binds a database value to a parameter.
  ///
  /// - Parameters:
  ///   - value: The value in one of SQLite's storage classes.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if the parameter does not exist, if the value is NaN, or if the
  ///   statement must be reset first.
  public mutating func bind(_ value: Value, at parameter: Int) throws(SQLiteError) {
    try handle.bind(value, at: Int32(clamping: parameter))
  }

  /// Binds NULL to a parameter (`sqlite3_bind_null`).
  ///
  /// - Parameter parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if the parameter does not exist, or if the statement must be reset
  ///   first.
  public mutating func bindNull(at parameter: Int) throws(SQLiteError) {
    try handle.bindNull(at: Int32(clamping: parameter))
  }

  /// Binds an integer to a parameter (`sqlite3_bind_int64`).
  ///
  /// - Parameters:
  ///   - integer: The integer to bind.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if the parameter does not exist, or if the statement must be reset
  ///   first.
  public mutating func bind(_ integer: Int64, at parameter: Int) throws(SQLiteError) {
    try handle.bind(integer, at: Int32(clamping: parameter))
  }

  /// Binds an integer to a parameter (`sqlite3_bind_int64`).
  ///
  /// - Parameters:
  ///   - integer: The integer to bind.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if the parameter does not exist, or if the statement must be reset
  ///   first.
  public mutating func bind(_ integer: Int, at parameter: Int) throws(SQLiteError) {
    try handle.bind(Int64(integer), at: Int32(clamping: parameter))
  }

  /// Binds a real to a parameter (`sqlite3_bind_double`).
  ///
  /// - Parameters:
  ///   - real: The real to bind.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if the real is NaN, because SQLite would store NULL, if the
  ///   parameter does not exist, or if the statement must be reset first.
  public mutating func bind(_ real: Double, at parameter: Int) throws(SQLiteError) {
    try handle.bind(real, at: Int32(clamping: parameter))
  }

  /// Binds `text` to a parameter byte for byte, including embedded NULs (`sqlite3_bind_text64`).
  ///
  /// - Parameters:
  ///   - text: The text to bind.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if the parameter does not exist, or if the statement must be reset
  ///   first.
  public mutating func bind(_ text: String, at parameter: Int) throws(SQLiteError) {
    try handle.bind(text, at: Int32(clamping: parameter))
  }

  /// Binds bytes to a parameter as a blob (`sqlite3_bind_blob64`). An empty array is an empty blob,
  /// not NULL.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to bind.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if the parameter does not exist, or if the statement must be reset
  ///   first.
  public mutating func bind(_ bytes: [UInt8], at parameter: Int) throws(SQLiteError) {
    try unsafe handle.bind(bytes: bytes.span.bytes, at: Int32(clamping: parameter))
  }

  /// Binds a copy of borrowed bytes to a parameter as a blob (`sqlite3_bind_blob64`). An empty span
  /// is an empty blob, not NULL.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to bind.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` if the parameter does not exist, or if the statement must be reset
  ///   first.
  public mutating func bind(_ bytes: RawSpan, at parameter: Int) throws(SQLiteError) {
    try handle.bind(bytes: bytes, at: Int32(clamping: parameter))
  }

  /// Binds a list as the argument of the table-valued function `magicdata_list`.
  package mutating func bind(list: [Value], at parameter: Int) throws(SQLiteError) {
    try connection.registerListModule()
    try handle.bind(list: list, at: Int32(clamping: parameter))
  }

  /// Sets all parameters to NULL (`sqlite3_clear_bindings`).
  public mutating func clearBindings() {
    handle.clearBindings()
    handle.isBound = true
  }

  /// Binds values to the parameters in order, starting with number 1.
  ///
  /// - Parameter values: One value for each parameter.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if there are more or fewer values than
  ///   parameters, or the error of a value that can't be bound.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public mutating func bind<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) {
    try checkCount(bindEach(repeat each values))
  }

  /// Binds values in order as long as there are parameters. Returns the number of all values,
  /// including those without a parameter.
  @inline(__always) @inlinable mutating func bindEach<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) -> Int {
    let count = parameterCount
    var parameter = 0
    repeat try bind(each values, after: &parameter, of: count)
    return parameter
  }

  @inline(__always) @inlinable mutating func bind(
    _ value: some Bindable, after parameter: inout Int, of count: Int
  ) throws(SQLiteError) {
    parameter += 1
    if parameter <= count { try value.bind(to: &self, at: parameter) }
  }

  func parameter(named name: String) throws(SQLiteError) -> Int {
    for candidate in [name, ":\(name)", "@\(name)", "$\(name)"] {
      if let index = handle.parameterIndex(candidate) { return index }
    }
    throw SQLiteError(.range, "the statement has no parameter named \(name)", sql: sql)
  }

  /// Throws unless `bound` contains the numbers of all parameters.
  func checkHasValues(_ bound: Set<Int>) throws(SQLiteError) {
    guard bound.count < handle.parameterCount else { return }
    let missing = (1...handle.parameterCount).filter { !bound.contains($0) }.prefix(10)
    let names = missing.map { handle.parameterName($0) ?? "number \($0)" }
    throw SQLiteError(
      .range, "no value was given for the parameter \(names.joined(separator: ", "))", sql: sql)
  }

  @usableFromInline func checkCount(_ count: Int) throws(SQLiteError) {
    guard count == handle.parameterCount else {
      let parameters = handle.parameterCount
      throw SQLiteError(
        .range,
        "the statement has \(parameters) parameter\(parameters == 1 ? "" : "s"), but the call "
          + "has \(count) value\(count == 1 ? "" : "s")",
        sql: sql)
    }
  }
}
