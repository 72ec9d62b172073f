import CSQLite

/// The owner of one `sqlite3_stmt` pointer, and what is known of it until SQLite prepares it anew.
///
/// This is the one place that calls `sqlite3_bind_…` and `sqlite3_column_…`. Layers above that cannot hold
/// a ``Statement``, which is ~Copyable, hold the handle while the statement lives.
@safe package class StatementHandle {
  /// Nil once the access is over: SQLite takes a null statement for one without rows.
  final var pointer: OpaquePointer?
  /// The SQL as it was given.
  final package let sql: String
  /// The number of the highest parameter (`sqlite3_bind_parameter_count`).
  final package let parameterCount: Int
  /// Whether the statement writes nothing (`sqlite3_stmt_readonly`).
  final let isReadOnly: Bool
  /// The word by which it begins or ends a transaction or a savepoint, if it does.
  final let control: SQLScanner.Control?
  /// Whether it is a SELECT that writes nothing, in any of its forms.
  final private(set) lazy var isPlainQuery = isReadOnly && SQLScanner.isSelect(sql)

  /// Whether a ``Statement`` is using the handle.
  final var isCheckedOut = false
  /// Whether the cache has the handle, so that it outlives its use.
  final var isCached = false
  /// Whether rows may still come, so that a reset has something to do.
  final var isRunning = false
  /// Whether parameters were given values, NULL included, since the statement was checked out.
  final var isBound = false
  /// Whether parameters may still have values of a former use.
  final var isStale = false
  /// Whether the library runs it for its own transactions.
  final var isOfLibrary = false
  /// When the present run began, if its time counts.
  final var began: Moment?
  /// Whether the last run whose time counted was so short that a task's thread may do the next one.
  final var isShort = false
  /// Whether a transaction was open when the present run began.
  final var beganInTransaction = false

  /// Whether it changes the schema, or the rowids of all tables.
  final let changesSchema: Bool
  /// Where the recorded changes of the present run begin, if it may write and is recorded.
  final var recorded: RecordedRun?
  /// The texts of a literal by which the cache has found the statement.
  final var literal: [String]?
  /// The cache's count of uses when this one was last used.
  final var lastUse: UInt64 = 0

  /// Whether the bytes that are bound belong to a row that is bound as a whole, and are kept in ``room``.
  final var isInRow = false
  /// Whether values are bound that do not stay as they are, or cost memory, until others are bound: those that
  /// SQLite has copied, lists, and what is lent.
  final var hasPassing = false
  final var room: BindingRoom?
  final private var columns: ColumnNames?
  final private var columnsPrepared: Int32 = -1

  /// Takes over a pointer that `sqlite3_prepare_v3` made.
  convenience init(pointer: OpaquePointer, sql: String) {
    unsafe self.init(
      pointer, sql: sql, parameterCount: Int(sqlite3_bind_parameter_count(pointer)),
      isReadOnly: sqlite3_stmt_readonly(pointer) != 0)
  }

  init(_ pointer: OpaquePointer?, sql: String, parameterCount: Int, isReadOnly: Bool) {
    unsafe self.pointer = unsafe pointer
    self.sql = sql
    self.parameterCount = parameterCount
    self.isReadOnly = isReadOnly
    let word = SQLScanner.firstWord(sql)
    control = word.flatMap(SQLScanner.Control.init)
    changesSchema = word.map { ["create", "drop", "alter", "vacuum"].contains($0) } ?? false
  }

  /// Whether it compiles the SQL of indexes, views and triggers when it runs.
  final var compilesSchema: Bool {
    changesSchema && (SQLScanner.firstWord(sql).map { ["alter", "vacuum"].contains($0) } ?? false)
  }

  deinit {
    unsafe sqlite3_finalize(pointer)
    unsafe room?.release()
  }

  /// Runs to the next row, the end or an error (`sqlite3_step`).
  func step() -> Int32 { unsafe sqlite3_step(pointer) }

  /// Ends the run (`sqlite3_reset`).
  ///
  /// - Returns: The error of the last step again. A run that ends between two rows may also fail here, and then SQLite
  ///   undoes it: outside a transaction it is committed now.
  @discardableResult
  func reset() -> Int32 {
    isRunning = false
    let code = unsafe sqlite3_reset(pointer)
    if code != SQLITE_OK { recorded?.reconcile() }
    return code
  }

  /// Whether the access that it came from has ended, so that its user may not touch SQLite any more.
  final var isOrphan: Bool { unsafe pointer == nil }

  final var orphanError: SQLiteError {
    SQLiteError(.misuse, "a statement was used outside its access", sql: sql)
  }

  /// Finalizes the statement while its user still has it, since the access has ended.
  final func orphan() {
    if isCheckedOut { finalize() }
  }

  /// Ends the statement for good (`sqlite3_finalize`).
  ///
  /// On the thread of the access, and before the connection is closed: a user who still has the handle
  /// has nothing left to do with SQLite when it goes.
  func finalize() {
    let code = unsafe sqlite3_finalize(pointer)
    unsafe pointer = nil
    isRunning = false
    if code != SQLITE_OK { recorded?.reconcile() }
    recorded = nil
  }

  /// The SQL with the bound values in it (`sqlite3_expanded_sql`).
  var expandedSQL: String {
    guard let expanded = unsafe sqlite3_expanded_sql(pointer) else { return sql }
    defer { unsafe sqlite3_free(expanded) }
    return unsafe String(cString: expanded)
  }

  /// The number of columns in a row; it may grow when SQLite prepares the statement anew.
  package var columnCount: Int { unsafe Int(sqlite3_column_count(pointer)) }

  /// The names of the columns. Ask after the first step: only then SQLite notices a new schema.
  package var columnNames: ColumnNames {
    let prepared = preparedAnew
    if let columns, columnsPrepared == prepared, columns.count == columnCount { return columns }
    let fresh = ColumnNames(
      (0..<columnCount).map { index in
        unsafe sqlite3_column_name(pointer, Int32(index)).map { unsafe String(cString: $0) } ?? ""
      })
    columns = fresh
    columnsPrepared = prepared
    return fresh
  }

  /// Binds a list to the argument of the table-valued function `magicdata_list`
  /// (`sqlite3_bind_pointer`).
  func bind(list: [Value], at parameter: Int32) throws(SQLiteError) {
    hasPassing = true
    let code = unsafe sqlite3_bind_pointer(
      pointer, parameter, ListModule.retained(list), ListModule.pointerType,
      { unsafe ListModule.release($0) })
    try check(code, parameter)
  }
}

// MARK: - Columns

extension StatementHandle {
  /// How often SQLite has prepared the statement anew because the schema changed.
  private var preparedAnew: Int32 {
    isOrphan ? 0 : unsafe sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
  }

  /// The content of a column of the row, until the next step; NULL for a column that does not exist
  /// (`sqlite3_column_value`).
  @inline(__always) func column(_ index: Int32) -> ValueView {
    unsafe ValueView(sqlite3_column_value(pointer, index))
  }

  /// The storage class of a column.
  package func storageClass(at index: Int32) -> String {
    switch column(index).type {
    case SQLITE_INTEGER: "INTEGER"
    case SQLITE_FLOAT: "REAL"
    case SQLITE_TEXT: "TEXT"
    case SQLITE_BLOB: "BLOB"
    default: "NULL"
    }
  }

  /// Whether a column holds NULL; true for one that does not exist.
  package func isNull(at index: Int32) -> Bool { column(index).isNull }

  /// The integer in a column, or nil if it stores something else.
  package func integer(at index: Int32) -> Int64? { column(index).integer }

  /// The real in a column, or nil if it stores something else.
  package func real(at index: Int32) -> Double? { column(index).real }

  /// The text in a column, or nil if it stores something else, or invalid UTF-8.
  package func text(at index: Int32) -> String? { column(index).text }

  /// Lends the bytes of a blob, or of a text as UTF-8, unless a column stores something else.
  ///
  /// Not generic, which would cost as much as copying a short blob.
  package func lendBytes(at index: Int32, ofText isText: Bool, _ body: (RawSpan) -> Void) {
    let column = column(index)
    guard column.type == (isText ? SQLITE_TEXT : SQLITE_BLOB) else { return }
    unsafe body(column.bytes(ofText: isText).bytes)
  }

  /// The bytes of a blob, where SQLite has them until its next call; nil if a column stores something else.
  @unsafe package func blob(at index: Int32) -> UnsafeRawBufferPointer? {
    let column = column(index)
    return column.type == SQLITE_BLOB ? unsafe column.bytes(ofText: false) : nil
  }

  /// Returns the content of a column, as it is stored.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` if a text is not valid UTF-8.
  package func value(at index: Int32) throws(SQLiteError) -> Value {
    guard let value = column(index).value else {
      throw SQLiteError(.mismatch, "the stored text is not valid UTF-8", sql: sql)
    }
    return value
  }
}
