import CSQLite

/// The owner of an `sqlite3_stmt` pointer. It also caches properties of the statement until SQLite
/// recompiles it.
///
/// Only this class calls `sqlite3_bind_…` and `sqlite3_column_…`. Code that can't store a
/// ``Statement``, which is ~Copyable, stores the handle as long as the statement exists.
@safe package class StatementHandle {
  /// The SQLite statement; nil after the access has ended. Most of SQLite's functions accept a null
  /// statement.
  final var pointer: OpaquePointer?
  /// The SQL text that the statement was prepared from.
  final package let sql: String
  /// The highest parameter number (`sqlite3_bind_parameter_count`).
  final package let parameterCount: Int
  /// Whether the statement writes nothing (`sqlite3_stmt_readonly`).
  final let isReadOnly: Bool
  /// The keyword with which the statement begins or ends a transaction or a savepoint; nil for
  /// other statements.
  final let control: SQLScanner.Control?
  /// Whether the statement is a query (SELECT, VALUES or WITH) that writes nothing.
  final private(set) lazy var isPlainQuery = isReadOnly && SQLScanner.isSelect(sql)

  /// Whether a ``Statement`` is using the handle.
  final var isCheckedOut = false
  /// Whether the cache contains the handle, so that it outlives its current use.
  final var isCached = false
  /// Whether a run has begun and not ended, so that a reset has an effect.
  final var isRunning = false
  /// Whether parameters have been bound, including to NULL, since the statement was checked out.
  final var isBound = false
  /// Whether parameters may still have bindings of an earlier use.
  final var isStale = false
  /// Whether the library uses the statement to control its own transactions.
  final var isLibraryStatement = false
  /// The start of the current run; nil if its duration isn't measured.
  final var began: Moment?
  /// Whether the last measured run was so short that the next one may run on a task's thread.
  final var isShort = false
  /// Whether a transaction was open when the current run began.
  final var beganInTransaction = false

  /// Whether the statement changes the schema, or the rowids of all tables (VACUUM).
  final let changesSchema: Bool
  /// The state of the recording before the current run, if the statement may write and a recorder
  /// exists.
  final var recorded: RecordedRun?
  /// The texts of the literal by which the cache recognizes the statement; nil until the cache
  /// first finds the statement for a literal.
  final var literal: [String]?
  /// The value of the cache's clock, which advances with each use of the cache, when this statement
  /// was last used. The statement with the lowest value is evicted first.
  final var lastUse: UInt64 = 0

  /// Whether a whole row is being bound, whose short values are stored in `bindingBuffer`.
  final var isInRow = false
  /// Whether bindings must be cleared after the use, because they may become invalid or take up
  /// memory: values copied by SQLite, lists, and borrowed bytes.
  final var needsClearing = false
  final var bindingBuffer: BindingBuffer?
  final private var columns: ColumnNames?
  final private var columnsRecompileCount: Int32 = -1

  /// Creates a handle that owns a pointer returned by `sqlite3_prepare_v3`.
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

  /// Whether the statement compiles the SQL of indexes, views and triggers when it runs.
  final var compilesSchema: Bool {
    changesSchema && (SQLScanner.firstWord(sql).map { ["alter", "vacuum"].contains($0) } ?? false)
  }

  deinit {
    unsafe sqlite3_finalize(pointer)
    unsafe bindingBuffer?.release()
  }

  /// Advances to the next row (`sqlite3_step`).
  ///
  /// - Returns: SQLite's result code: `SQLITE_ROW`, `SQLITE_DONE`, or the code of an error.
  func step() -> Int32 { unsafe sqlite3_step(pointer) }

  /// Ends the run, so that values can be bound and the statement can run again (`sqlite3_reset`).
  ///
  /// - Returns: `SQLITE_OK`, or the error of the last step. If the run was between two rows outside
  ///   a transaction, its changes are committed now. If the commit fails, SQLite undoes them, and
  ///   the result is the error of the commit.
  @discardableResult
  func reset() -> Int32 {
    isRunning = false
    let code = unsafe sqlite3_reset(pointer)
    if code != SQLITE_OK { recorded?.reconcile() }
    return code
  }

  /// Whether the statement has been finalized because its access ended.
  final var isOrphan: Bool { unsafe pointer == nil }

  final var orphanError: SQLiteError {
    SQLiteError(.misuse, "a statement was used outside the closure that prepared it", sql: sql)
  }

  /// Finalizes the statement when the access ends while the statement is in use.
  final func orphan() {
    if isCheckedOut { finalize() }
  }

  /// Finalizes the statement (`sqlite3_finalize`).
  ///
  /// This must run on the thread of the access, before the connection is closed. If a user retains
  /// the handle longer, releasing it no longer calls SQLite.
  func finalize() {
    let code = unsafe sqlite3_finalize(pointer)
    unsafe pointer = nil
    isRunning = false
    if code != SQLITE_OK { recorded?.reconcile() }
    recorded = nil
  }

  /// The SQL text with the bound values inserted (`sqlite3_expanded_sql`).
  var expandedSQL: String {
    guard let expanded = unsafe sqlite3_expanded_sql(pointer) else { return sql }
    defer { unsafe sqlite3_free(expanded) }
    return unsafe String(cString: expanded)
  }

  /// The number of columns in a row. It may change when SQLite recompiles the statement.
  package var columnCount: Int { unsafe Int(sqlite3_column_count(pointer)) }

  /// The names of the columns. Read them after the first step, because SQLite detects a schema
  /// change only then.
  package var columnNames: ColumnNames {
    let prepared = recompileCount
    if let columns, columnsRecompileCount == prepared, columns.count == columnCount {
      return columns
    }
    let fresh = ColumnNames(
      (0..<columnCount).map { index in
        unsafe sqlite3_column_name(pointer, Int32(index)).map { unsafe String(cString: $0) } ?? ""
      })
    columns = fresh
    columnsRecompileCount = prepared
    return fresh
  }

  /// Binds a list as the argument of the table-valued function `magicdata_list`
  /// (`sqlite3_bind_pointer`).
  func bind(list: [Value], at parameter: Int32) throws(SQLiteError) {
    needsClearing = true
    let code = unsafe sqlite3_bind_pointer(
      pointer, parameter, ListModule.retained(list), ListModule.pointerType,
      { unsafe ListModule.release($0) })
    try check(code, parameter)
  }
}

// MARK: - Columns

extension StatementHandle {
  /// The number of times that SQLite has recompiled the statement, which it does after a schema
  /// change (`SQLITE_STMTSTATUS_REPREPARE`).
  private var recompileCount: Int32 {
    isOrphan ? 0 : unsafe sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
  }

  /// Returns the content of a column of the current row, valid until the next step. The result is
  /// NULL for a column that does not exist (`sqlite3_column_value`).
  @inline(__always) func column(_ index: Int32) -> ValueView {
    unsafe ValueView(sqlite3_column_value(pointer, index))
  }

  /// Returns the name of a column's storage class.
  package func storageClass(at index: Int32) -> String {
    switch column(index).type {
    case SQLITE_INTEGER: "INTEGER"
    case SQLITE_FLOAT: "REAL"
    case SQLITE_TEXT: "TEXT"
    case SQLITE_BLOB: "BLOB"
    default: "NULL"
    }
  }

  /// Returns whether a column is NULL. The result is true for a column that does not exist.
  package func isNull(at index: Int32) -> Bool { column(index).isNull }

  /// Returns the integer in a column, or nil if the stored value has another storage class.
  package func integer(at index: Int32) -> Int64? { column(index).integer }

  /// Returns the real in a column, or nil if the stored value has another storage class.
  package func real(at index: Int32) -> Double? { column(index).real }

  /// Returns the text in a column, or nil if the stored value has another storage class or is not
  /// valid UTF-8.
  package func text(at index: Int32) -> String? { column(index).text }

  /// Calls `body` with the bytes of a blob or, if `isText` is true, with the UTF-8 bytes of a text.
  /// If the column has another storage class, doesn't call `body`.
  ///
  /// This function isn't generic, because generic code would cost as much as copying a short blob.
  package func withBytes(at index: Int32, ofText isText: Bool, _ body: (RawSpan) -> Void) {
    let column = column(index)
    guard column.type == (isText ? SQLITE_TEXT : SQLITE_BLOB) else { return }
    unsafe body(column.bytes(ofText: isText).bytes)
  }

  /// Returns the bytes of a blob; nil if the column has another storage class. The bytes are valid
  /// until the statement steps, is reset or is finalized, or until SQLite converts the column's
  /// value.
  @unsafe package func blob(at index: Int32) -> UnsafeRawBufferPointer? {
    let column = column(index)
    return column.type == SQLITE_BLOB ? unsafe column.bytes(ofText: false) : nil
  }

  /// Returns the stored value of a column, without conversion.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` if a text is not valid UTF-8.
  package func value(at index: Int32) throws(SQLiteError) -> Value {
    guard let value = column(index).value else {
      throw SQLiteError(.mismatch, "the stored text is not valid UTF-8", sql: sql)
    }
    return value
  }
}
