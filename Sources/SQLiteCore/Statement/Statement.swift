import CSQLite

/// A prepared statement, checked out of its connection's cache for one user.
///
///     var insert = try connection.statement("INSERT INTO note (text) VALUES (?1)")
///     for text in texts { try insert.run(text) }
///
/// The statement returns to the cache, reset and unbound, when its scope ends. Two statements with
/// the same SQL are two statements. Parameters are numbered from 1 and columns from 0, as in C.
///
/// Outside a transaction, a statement that writes is committed when its run ends, which may fail after it has returned
/// rows: because of a deferred foreign key, or of the lock of another connection. ``reset()`` throws that error. If the
/// scope of the statement ends between two rows, the later statements of the access throw it, and so does the access.
///
/// A statement must not be kept beyond the access that its connection came from: used later, it
/// throws.
public struct Statement: ~Copyable {
  package let handle: StatementHandle
  let connection: any StatementOwner

  init(_ handle: StatementHandle, of connection: any StatementOwner) {
    self.handle = handle
    self.connection = connection
  }

  deinit {
    connection.takeBack(handle)
  }

  /// The SQL as it was given.
  public var sql: String { handle.sql }

  /// Whether the statement writes nothing (`sqlite3_stmt_readonly`).
  public var isReadOnly: Bool { handle.isReadOnly }

  /// The SQL with the bound values in it, for a log (`sqlite3_expanded_sql`).
  ///
  /// Values may be private: this is the one place that shows them.
  public var expandedSQL: String { handle.expandedSQL }

  /// Runs to the next row (`sqlite3_step`).
  ///
  /// - Returns: True if the statement stands on a row, false at the end.
  /// - Throws: ``SQLiteError``, also if the access has a deadline that has passed, if its task was
  ///   cancelled, or if SQLite has rolled back the transaction around it.
  public mutating func step() throws(SQLiteError) -> Bool {
    if !handle.isRunning { try connection.beginRun(of: handle) }
    let code = handle.step()
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE {
      // The next step would begin anew.
      handle.reset()
      if handle.control != nil, !handle.isOfLibrary { connection.didControlTransaction(handle) }
      return false
    }
    // The schema has changed since the statement was compiled.
    if code == SQLITE_ERROR, try connection.trustsTrigger() {
      handle.reset()
      return try step()
    }
    throw connection.failRun(of: handle, code)
  }

  /// Ends the run, so that values may be bound for the next one (`sqlite3_reset`).
  ///
  /// - Throws: ``SQLiteError`` if the run ends between two rows, outside a transaction, and cannot be committed. Then
  ///   the statement has changed nothing.
  public mutating func reset() throws(SQLiteError) {
    guard handle.isRunning else { return }
    let code = handle.reset()
    if code != SQLITE_OK { throw connection.failRun(of: handle, code) }
  }
}

@available(*, unavailable)
extension Statement: Sendable {}

/// The connection of a statement, as far as the statement knows it.
protocol StatementOwner: AnyObject {
  /// The rows changed since the connection was opened.
  var totalChanges: Int64 { get }

  /// Prepares for the first step of a run, or throws if the statement must not run now.
  func beginRun(of statement: StatementHandle) throws(SQLiteError)

  /// Returns whether the schema is trusted since SQLite has just refused a trigger that uses a virtual table.
  func trustsTrigger() throws(SQLiteError) -> Bool

  /// Ends a run that failed, and returns its error.
  func failRun(of statement: StatementHandle, _ code: Int32) -> SQLiteError

  /// Notes that a statement has begun or ended a transaction.
  func didControlTransaction(_ statement: StatementHandle)

  /// Takes a statement back whose user has gone.
  func takeBack(_ statement: StatementHandle)

  /// Describes the run of a statement that began at a number of changes.
  func change(since totalChanges: Int64) -> Change

  /// Makes `magicdata_list` known.
  func registerListModule() throws(SQLiteError)
}

// MARK: - Parameters

extension Statement {
  /// The highest number of a parameter (`sqlite3_bind_parameter_count`).
  public var parameterCount: Int { handle.parameterCount }

  /// Binds a value to a parameter (`sqlite3_bind_…`).
  ///
  /// - Parameters:
  ///   - value: The value; nil binds NULL.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` for a number without a parameter, or that
  ///   says why the value cannot be stored. A statement between two rows must be reset first.
  @inlinable  // Benchmark `insert`.
  public mutating func bind(_ value: some Bindable, at parameter: Int) throws(SQLiteError) {
    try value.bind(to: &self, at: parameter)
  }

  /// Binds a value to a named parameter.
  ///
  /// - Parameters:
  ///   - value: The value; nil binds NULL.
  ///   - name: The parameter's name, with its prefix (`:name`, `@name`, `$name`) or without.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if there is no such parameter.
  public mutating func bind(_ value: some Bindable, named name: String) throws(SQLiteError) {
    try value.bind(to: &self, at: parameter(named: name))
  }

  /// Binds a stored form to a parameter.
  ///
  /// - Parameters:
  ///   - value: The stored form.
  ///   - parameter: The parameter's number, from 1.
  /// - Throws: ``SQLiteError``.
  public mutating func bind(_ value: Value, at parameter: Int) throws(SQLiteError) {
    try handle.bind(value, at: Int32(clamping: parameter))
  }

  /// Binds NULL (`sqlite3_bind_null`).
  public mutating func bindNull(at parameter: Int) throws(SQLiteError) {
    try handle.bindNull(at: Int32(clamping: parameter))
  }

  /// Binds an integer (`sqlite3_bind_int64`).
  public mutating func bind(_ integer: Int64, at parameter: Int) throws(SQLiteError) {
    try handle.bind(integer, at: Int32(clamping: parameter))
  }

  /// Binds an integer (`sqlite3_bind_int64`).
  public mutating func bind(_ integer: Int, at parameter: Int) throws(SQLiteError) {
    try handle.bind(Int64(integer), at: Int32(clamping: parameter))
  }

  /// Binds a real (`sqlite3_bind_double`); a NaN is refused, since SQLite would store NULL.
  public mutating func bind(_ real: Double, at parameter: Int) throws(SQLiteError) {
    try handle.bind(real, at: Int32(clamping: parameter))
  }

  /// Binds `text` byte for byte, embedded NULs included (`sqlite3_bind_text64`).
  public mutating func bind(_ text: String, at parameter: Int) throws(SQLiteError) {
    try handle.bind(text, at: Int32(clamping: parameter))
  }

  /// Binds bytes; no bytes are an empty blob, not NULL (`sqlite3_bind_blob64`).
  public mutating func bind(_ bytes: [UInt8], at parameter: Int) throws(SQLiteError) {
    try unsafe handle.bind(bytes: bytes.span.bytes, at: Int32(clamping: parameter))
  }

  /// Binds a copy of lent bytes; no bytes are an empty blob, not NULL (`sqlite3_bind_blob64`).
  public mutating func bind(_ bytes: RawSpan, at parameter: Int) throws(SQLiteError) {
    try handle.bind(bytes: bytes, at: Int32(clamping: parameter))
  }

  /// Binds a list to the argument of the table-valued function `magicdata_list`.
  package mutating func bind(list: [Value], at parameter: Int) throws(SQLiteError) {
    try connection.registerListModule()
    try handle.bind(list: list, at: Int32(clamping: parameter))
  }

  /// Makes all parameters NULL (`sqlite3_clear_bindings`).
  public mutating func clearBindings() {
    handle.clearBindings()
    handle.isBound = true
  }

  /// Binds values to the parameters from 1 on.
  ///
  /// - Parameter values: One value for each parameter.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if there are more or fewer.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public mutating func bind<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) {
    try checkCount(bindEach(repeat each values))
  }

  /// Binds values as long as there are parameters, and returns how many values there are.
  @inline(__always) @inlinable mutating func bindEach<each Argument: Bindable>(
    _ values: repeat each Argument
  ) throws(SQLiteError) -> Int {
    let count = parameterCount
    var parameter = 0
    repeat try bind(each values, behind: &parameter, of: count)
    return parameter
  }

  @inline(__always) @inlinable mutating func bind(
    _ value: some Bindable, behind parameter: inout Int, of count: Int
  ) throws(SQLiteError) {
    parameter += 1
    if parameter <= count { try value.bind(to: &self, at: parameter) }
  }

  func parameter(named name: String) throws(SQLiteError) -> Int {
    for candidate in [name, ":\(name)", "@\(name)", "$\(name)"] {
      if let index = handle.parameterIndex(candidate) { return index }
    }
    throw SQLiteError(.range, "there is no parameter named \(name)", sql: sql)
  }

  /// Throws unless all parameters are among the bound ones.
  func checkHasValues(_ bound: Set<Int>) throws(SQLiteError) {
    guard bound.count < handle.parameterCount else { return }
    let missing = (1...handle.parameterCount).filter { !bound.contains($0) }.prefix(10)
    let names = missing.map { handle.parameterName($0) ?? "number \($0)" }
    throw SQLiteError(
      .range, "there is no value for the parameter \(names.joined(separator: ", "))", sql: sql)
  }

  @usableFromInline func checkCount(_ count: Int) throws(SQLiteError) {
    guard count == handle.parameterCount else {
      let parameters = handle.parameterCount
      throw SQLiteError(
        .range,
        "\(parameters) parameter\(parameters == 1 ? "" : "s"), but \(count) value\(count == 1 ? "" : "s")",
        sql: sql)
    }
  }
}
