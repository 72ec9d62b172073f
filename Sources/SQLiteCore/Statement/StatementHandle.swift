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
  final private(set) var isStale = false
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
  final private var isInRow = false
  /// Whether values are bound that do not stay as they are, or cost memory, until others are bound: those that
  /// SQLite has copied, lists, and what is lent.
  final private var hasPassing = false
  final private var room: BindingRoom?
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

// MARK: - Parameters

extension StatementHandle {
  /// Binds NULL (`sqlite3_bind_null`).
  @inline(__always) package func bindNull(at parameter: Int32) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_null(pointer, parameter), parameter)
  }

  /// Binds an integer (`sqlite3_bind_int64`).
  @inline(__always) package func bind(_ integer: Int64, at parameter: Int32) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_int64(pointer, parameter, integer), parameter)
  }

  /// Binds a real (`sqlite3_bind_double`); a NaN is refused, since SQLite would store NULL.
  @inline(__always) package func bind(_ real: Double, at parameter: Int32) throws(SQLiteError) {
    if real.isNaN { throw Double.refusalOfNaN }
    try check(unsafe sqlite3_bind_double(pointer, parameter, real), parameter)
  }

  /// Begins a row: every parameter is bound before the next run, those that have no value to NULL.
  ///
  /// The short texts and blobs of the row are copied into memory of the handle's own. SQLite would allocate
  /// and free memory for each, which takes longer than the rest of binding it (benchmark `insert`).
  package func beginRow() {
    isInRow = true
    unsafe room?.clear()
  }

  /// Copies bytes of a row to where they stay until the next row; nil if they are for SQLite to copy.
  @unsafe @inline(__always) private func kept(
    _ bytes: UnsafeRawBufferPointer
  ) -> UnsafeRawPointer? {
    guard isInRow else { return nil }
    if unsafe room == nil { unsafe room = BindingRoom() }
    return unsafe room?.copy(bytes)
  }

  /// Binds text byte for byte, embedded NULs included (`sqlite3_bind_text64`).
  package func bind(_ text: String, at parameter: Int32) throws(SQLiteError) {
    var text = text
    let code = text.withUTF8 { bytes in
      unsafe bind(UnsafeRawBufferPointer(bytes), asText: true, to: parameter)
    }
    try check(code, parameter)
  }

  @unsafe @inline(__always) private func bind(
    _ bytes: UnsafeRawBufferPointer, asText isText: Bool, to parameter: Int32
  ) -> Int32 {
    let count = UInt64(bytes.count)
    if let start = unsafe kept(bytes) {
      return unsafe bind(kept: start, count, asText: isText, to: parameter)
    }
    hasPassing = true
    // A null pointer would bind NULL.
    let start = unsafe bytes.baseAddress ?? emptyBytes
    return unsafe isText
      ? csqlite_bind_text(pointer, parameter, start, count)
      : csqlite_bind_blob(pointer, parameter, start, count)
  }

  /// Binds bytes that stay where they are: without a destructor SQLite takes that for granted.
  @unsafe @inline(__always) private func bind(
    kept start: UnsafeRawPointer, _ count: UInt64, asText isText: Bool, to parameter: Int32
  ) -> Int32 {
    unsafe isText
      ? sqlite3_bind_text64(
        pointer, parameter, start.assumingMemoryBound(to: CChar.self), count, nil,
        UInt8(SQLITE_UTF8))
      : sqlite3_bind_blob64(pointer, parameter, start, count, nil)
  }

  /// Binds bytes as a blob, or as a text whose UTF-8 they are. No bytes are an empty blob or text, not
  /// NULL.
  package func bind(
    bytes: RawSpan, asText isText: Bool = false, at parameter: Int32
  ) throws(SQLiteError) {
    let code = unsafe bytes.withUnsafeBytes { unsafe bind($0, asText: isText, to: parameter) }
    try check(code, parameter)
  }

  /// Binds a blob that SQLite reads where it is: it must outlive the run. Copying 1 MiB takes 1,000,000 instructions
  /// (benchmark `blob`).
  @unsafe final func bind(
    lent bytes: UnsafeRawBufferPointer, at parameter: Int32
  ) throws(SQLiteError) {
    hasPassing = true
    // A null pointer would bind NULL.
    let start = unsafe bytes.baseAddress ?? emptyBytes
    try check(
      unsafe bind(kept: start, UInt64(bytes.count), asText: false, to: parameter), parameter)
  }

  /// Whether bytes are worth lending rather than copying them.
  static func isLong(_ count: Int) -> Bool { unsafe count > BindingRoom.longest }

  /// Lends the address of a variable to a function that asks for a pointer of `type`
  /// (`sqlite3_bind_pointer`).
  func bind(
    pointerTo variable: UnsafeMutableRawPointer, ofType type: StaticString, at parameter: Int32
  ) {
    hasPassing = true
    let name = unsafe UnsafeRawPointer(type.utf8Start).assumingMemoryBound(to: CChar.self)
    _ = unsafe sqlite3_bind_pointer(pointer, parameter, variable, name, nil)
  }

  /// Binds a stored form.
  package func bind(_ value: Value, at parameter: Int32) throws(SQLiteError) {
    switch value {
    case .null: try bindNull(at: parameter)
    case .integer(let integer): try bind(integer, at: parameter)
    case .real(let real): try bind(real, at: parameter)
    case .text(let text): try bind(text, at: parameter)
    case .blob(let bytes): try unsafe bind(bytes: bytes.span.bytes, at: parameter)
    }
  }

  /// Makes all parameters NULL (`sqlite3_clear_bindings`).
  func clearBindings() {
    isInRow = false
    isStale = false
    hasPassing = false
    // Unlike most of its kind it does not take a null pointer.
    guard unsafe pointer != nil else { return }
    unsafe sqlite3_clear_bindings(pointer)
  }

  /// Ends a use that has bound values. Those that are short stay until the next one, which mostly binds all
  /// parameters anew; a use that does not must call ``clearBindings()`` first.
  func endUse() {
    isBound = false
    isInRow = false
    if hasPassing { clearBindings() } else { isStale = true }
  }

  /// The number of a parameter named with its prefix, or nil if there is none.
  func parameterIndex(_ name: String) -> Int? {
    let index = unsafe sqlite3_bind_parameter_index(pointer, name)
    return index == 0 ? nil : Int(index)
  }

  /// The name of a parameter with its prefix, or nil (`sqlite3_bind_parameter_name`).
  func parameterName(_ index: Int) -> String? {
    guard let name = unsafe sqlite3_bind_parameter_name(pointer, Int32(clamping: index)) else {
      return nil
    }
    return unsafe String(cString: name)
  }

  @inline(__always) private func check(_ code: Int32, _ parameter: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw refusal(code, parameter) }
    isBound = true
  }

  @inline(never) private func refusal(_ code: Int32, _ parameter: Int32) -> SQLiteError {
    guard !isOrphan else { return orphanError }
    return switch code {
    case SQLITE_RANGE:
      SQLiteError(
        .range, "parameter \(parameter) does not exist: there are \(parameterCount)", sql: sql)
    case SQLITE_MISUSE:
      SQLiteError(.misuse, "the statement must be reset before values are bound", sql: sql)
    default: SQLiteError(ResultCode(rawValue: code), sql: sql)
    }
  }
}

/// Memory for the short texts and blobs of the rows that a statement binds, one row after the other.
///
/// Proof: the memory is freed by the handle when the statement is finalized, so that what SQLite has been lent
/// is there as long as it is bound. It is written again by the next row, which binds every parameter before the
/// statement runs, or by one of a later use, before which the parameters are cleared unless it binds them all too;
/// until then SQLite does not look at what is bound.
@unsafe private struct BindingRoom {
  private let start: UnsafeMutableRawPointer
  private var count = 0

  private static let capacity = 4_096
  /// Longer values are worth an allocation, and would fill the room.
  static let longest = 512

  init() {
    unsafe start = .allocate(byteCount: Self.capacity, alignment: 8)
  }

  /// Copies bytes, or returns nil if they are too many.
  @inline(__always) mutating func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    let from = unsafe count
    let next = from + bytes.count
    guard unsafe bytes.count <= Self.longest, unsafe next <= Self.capacity else { return nil }
    if let source = bytes.baseAddress {
      unsafe (start + from).copyMemory(from: source, byteCount: bytes.count)
    }
    unsafe count = next
    return unsafe UnsafeRawPointer(start) + from
  }

  mutating func clear() { unsafe count = 0 }

  func release() { unsafe start.deallocate() }
}
