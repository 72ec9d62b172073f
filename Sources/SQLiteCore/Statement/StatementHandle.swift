import CSQLite

/// The owner of one `sqlite3_stmt` pointer, and what is known of it until it is prepared anew.
@safe package final class StatementHandle {
  /// Nil once the access is over: SQLite takes a null statement for one without rows.
  private(set) var pointer: OpaquePointer?
  /// The SQL as it was given.
  package let sql: String
  /// The number of the highest parameter (`sqlite3_bind_parameter_count`).
  package let parameterCount: Int
  /// Says whether the statement writes nothing (`sqlite3_stmt_readonly`).
  let isReadOnly: Bool
  /// The word by which it begins or ends a transaction or a savepoint, if it does.
  let control: SQLScanner.Control?
  /// Says whether it is a SELECT that writes nothing, in any of its forms.
  private(set) lazy var isPlainQuery = isReadOnly && SQLScanner.isSelect(sql)

  /// Says whether a ``Statement`` is using the handle.
  var isCheckedOut = false
  /// Says whether the cache has the handle, so that it outlives its use.
  var isCached = false
  /// Says whether rows may still come, so that a reset has something to do.
  var isRunning = false
  /// Says whether parameters were given values, NULL included, since the statement was checked out.
  var isBound = false
  /// Says whether a transaction was open when the present run began.
  var beganInTransaction = false

  /// Says whether it changes the schema, or the rowids of all tables.
  let changesSchema: Bool
  /// Where the recorded changes of the present run begin.
  var recorded: Recorded?
  /// The cache's count of uses when this one was last used.
  var lastUse: UInt64 = 0

  private var columns: ColumnNames?
  private var columnsPrepared: Int32 = -1

  /// Takes over a pointer that `sqlite3_prepare_v3` made.
  init(pointer: OpaquePointer, sql: String) {
    unsafe self.pointer = unsafe pointer
    self.sql = sql
    parameterCount = unsafe Int(sqlite3_bind_parameter_count(pointer))
    isReadOnly = unsafe sqlite3_stmt_readonly(pointer) != 0
    let word = SQLScanner.firstWord(sql)
    control = word.flatMap(SQLScanner.Control.init)
    changesSchema = word.map { ["create", "drop", "alter", "vacuum"].contains($0) } ?? false
  }

  deinit {
    unsafe sqlite3_finalize(pointer)
  }

  /// The number of columns in a row; it may grow when SQLite prepares the statement anew.
  package var columnCount: Int { unsafe Int(sqlite3_column_count(pointer)) }

  /// How often SQLite has prepared the statement anew because the schema changed.
  var preparedAnew: Int32 {
    isOrphan ? 0 : unsafe sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
  }

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

  /// Ends the run; its result repeats the error of the last step and is not news.
  func reset() {
    unsafe sqlite3_reset(pointer)
    isRunning = false
  }

  /// Says whether the access it came from has ended, so that its user may not touch SQLite any more.
  var isOrphan: Bool { unsafe pointer == nil }

  /// Finalizes the statement while its user still has it, since the access has ended.
  func orphan() {
    if isCheckedOut { finalize() }
  }

  /// Ends the statement for good (`sqlite3_finalize`).
  ///
  /// On the thread of the access, and before the connection is closed: whoever still has the handle
  /// must have nothing left to do with SQLite when it goes.
  func finalize() {
    unsafe sqlite3_finalize(pointer)
    unsafe pointer = nil
    isRunning = false
  }

  /// Makes all parameters NULL.
  func clearBindings() {
    // Unlike most of its kind it does not take a null pointer.
    guard unsafe pointer != nil else { return }
    unsafe sqlite3_clear_bindings(pointer)
  }

  /// The name of a parameter with its prefix, or nil if it has a number only.
  func parameterName(_ index: Int) -> String? {
    guard let name = unsafe sqlite3_bind_parameter_name(pointer, Int32(index)) else { return nil }
    return unsafe String(cString: name)
  }

  /// The number of a parameter named with its prefix, or nil if there is none.
  func parameterIndex(_ name: String) -> Int? {
    let index = unsafe sqlite3_bind_parameter_index(pointer, name)
    return index == 0 ? nil : Int(index)
  }
}
