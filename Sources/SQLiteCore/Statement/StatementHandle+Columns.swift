import CSQLite

// What the mapping layer reads of a row and binds to parameters. It cannot hold a ``Statement``,
// which is ~Copyable, so that it holds the handle while the statement lives.
//
// `sqlite3_column_value` calls its result unprotected: it may be read only where no other thread
// uses the connection. Ours are opened without mutexes and used by one thread at a time, where
// SQLite makes no such distinction. One look-up then serves the type and the content.
extension StatementHandle {
  /// The storage class of a column (`sqlite3_column_type`).
  package func storageClass(at column: Int32) -> String {
    switch unsafe sqlite3_column_type(pointer, column) {
    case SQLITE_INTEGER: "INTEGER"
    case SQLITE_FLOAT: "REAL"
    case SQLITE_TEXT: "TEXT"
    case SQLITE_BLOB: "BLOB"
    default: "NULL"
    }
  }

  /// Says whether a column holds NULL; true for one that does not exist.
  package func isNull(at column: Int32) -> Bool {
    unsafe sqlite3_column_type(pointer, column) == SQLITE_NULL
  }

  /// The integer in a column, or nil if it stores something else.
  package func integer(at column: Int32) -> Int64? {
    let value = unsafe sqlite3_column_value(pointer, column)
    guard unsafe sqlite3_value_type(value) == SQLITE_INTEGER else { return nil }
    return unsafe sqlite3_value_int64(value)
  }

  /// The real in a column, or nil if it stores something else.
  package func real(at column: Int32) -> Double? {
    let value = unsafe sqlite3_column_value(pointer, column)
    guard unsafe sqlite3_value_type(value) == SQLITE_FLOAT else { return nil }
    return unsafe sqlite3_value_double(value)
  }

  /// The text in a column, or nil if it stores something else, or invalid UTF-8.
  package func text(at column: Int32) -> String? {
    let value = unsafe sqlite3_column_value(pointer, column)
    guard unsafe sqlite3_value_type(value) == SQLITE_TEXT else { return nil }
    // First the text, then its size: asking for the text may convert the value.
    guard let start = unsafe sqlite3_value_text(value) else { return nil }
    return unsafe SQLiteCore.text(copying: start, count: Int(sqlite3_value_bytes(value)))
  }

  /// Lends the bytes of a blob, or of a text as UTF-8, unless a column stores something else.
  ///
  /// Not generic, which would cost as much as copying a short blob.
  package func lendBytes(at column: Int32, ofText isText: Bool, _ body: (RawSpan) -> Void) {
    guard let bytes = unsafe storedBytes(at: column, ofText: isText) else { return }
    unsafe body(bytes.bytes)
  }

  /// Lends the bytes of a blob, or of a text as UTF-8; nil if a column stores something else.
  ///
  /// - Parameters:
  ///   - column: The column's index, from 0.
  ///   - isText: Whether a text is wanted, or else a blob.
  ///   - body: Reads the bytes; they are gone when it returns.
  package func withBytes<Result>(
    at column: Int32, ofText isText: Bool, _ body: (RawSpan) throws -> Result
  ) rethrows -> Result? {
    guard let bytes = unsafe storedBytes(at: column, ofText: isText) else { return nil }
    return try unsafe body(bytes.bytes)
  }

  /// SQLite's bytes of a blob, or of a text as UTF-8; nil if a column stores something else.
  @unsafe @inline(__always) private func storedBytes(
    at column: Int32, ofText isText: Bool
  ) -> UnsafeRawBufferPointer? {
    let value = unsafe sqlite3_column_value(pointer, column)
    guard unsafe sqlite3_value_type(value) == (isText ? SQLITE_TEXT : SQLITE_BLOB) else {
      return nil
    }
    // A text in UTF-16 becomes UTF-8 now: asked for its size later, it would move.
    let start =
      unsafe isText ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
    let count = unsafe Int(sqlite3_value_bytes(value))
    return unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
  }

  /// What a column stores, as it is stored.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` if a text is not valid UTF-8.
  package func value(at column: Int32) throws(SQLiteError) -> Value {
    switch unsafe sqlite3_column_type(pointer, column) {
    case SQLITE_INTEGER: return unsafe .integer(sqlite3_column_int64(pointer, column))
    case SQLITE_FLOAT: return unsafe .real(sqlite3_column_double(pointer, column))
    case SQLITE_TEXT:
      guard let text = text(at: column) else {
        throw SQLiteError(.mismatch, "the stored text is not valid UTF-8", sql: sql)
      }
      return .text(text)
    case SQLITE_BLOB:
      let start = unsafe sqlite3_column_blob(pointer, column)
      return unsafe .blob(copiedBytes(start, count: Int(sqlite3_column_bytes(pointer, column))))
    default: return .null
    }
  }
}
