import CSQLite

// What a column stores, exactly: an error for another storage class; `exact…` also for NULL, for
// which `stored…` gives nil. One look-up serves the question and the answer.
extension Statement {
  @usableFromInline func exactInteger(
    at column: Int, as type: Any.Type
  ) throws(SQLiteError) -> Int64 {
    let content = unsafe content(of: column)
    guard unsafe sqlite3_value_type(content) == SQLITE_INTEGER else {
      throw try mismatch(at: column, expected: type)
    }
    return unsafe sqlite3_value_int64(content)
  }

  @usableFromInline func storedInteger(
    at column: Int, as type: Any.Type
  ) throws(SQLiteError) -> Int64? {
    let content = unsafe content(of: column)
    let storage = unsafe sqlite3_value_type(content)
    if storage == SQLITE_INTEGER { return unsafe sqlite3_value_int64(content) }
    if storage == SQLITE_NULL { return nil }
    throw try mismatch(at: column, expected: type)
  }

  /// A REAL, or an INTEGER that a Double holds exactly.
  @usableFromInline func exactReal(at column: Int) throws(SQLiteError) -> Double {
    let content = unsafe content(of: column)
    guard unsafe sqlite3_value_type(content) == SQLITE_FLOAT else {
      return try real(instead: column)
    }
    return unsafe sqlite3_value_double(content)
  }

  @inline(never) private func real(instead column: Int) throws(SQLiteError) -> Double {
    try Double(databaseValue: value(at: column))
  }

  /// A REAL, or an INTEGER that a Double holds exactly.
  @usableFromInline func storedReal(at column: Int) throws(SQLiteError) -> Double? {
    let content = unsafe content(of: column)
    let storage = unsafe sqlite3_value_type(content)
    if storage == SQLITE_FLOAT { return unsafe sqlite3_value_double(content) }
    if storage == SQLITE_NULL { return nil }
    return try real(instead: column)
  }

  @usableFromInline func exactText(at column: Int) throws(SQLiteError) -> String {
    let content = unsafe content(of: column)
    guard unsafe sqlite3_value_type(content) == SQLITE_TEXT else {
      throw try mismatch(at: column, expected: String.self)
    }
    return try unsafe text(in: content, of: column)
  }

  @usableFromInline func storedText(at column: Int) throws(SQLiteError) -> String? {
    let content = unsafe content(of: column)
    let storage = unsafe sqlite3_value_type(content)
    if storage == SQLITE_NULL { return nil }
    guard storage == SQLITE_TEXT else { throw try mismatch(at: column, expected: String.self) }
    return try unsafe text(in: content, of: column)
  }

  /// The text of a number or a blob. A copy is converted: the row's own value would become a text,
  /// and bytes of it that are lent would move.
  @unsafe func text(
    converting content: OpaquePointer?, of column: Int
  ) throws(SQLiteError) -> String {
    let copy = unsafe sqlite3_value_dup(content)
    defer { unsafe sqlite3_value_free(copy) }
    return try unsafe text(in: copy, of: column)
  }

  @unsafe @inline(__always) func text(
    in content: OpaquePointer?, of column: Int
  ) throws(SQLiteError) -> String {
    // First the text, then its size: asking for the text may convert the value.
    guard let start = unsafe sqlite3_value_text(content) else {
      throw SQLiteError(.outOfMemory, sql: sql)
    }
    let count = unsafe Int(sqlite3_value_bytes(content))
    guard let text = unsafe SQLiteCore.text(copying: start, count: count) else {
      throw invalidText(at: column)
    }
    return text
  }

  @usableFromInline func storedBytes(at column: Int) throws(SQLiteError) -> [UInt8]? {
    let content = unsafe content(of: column)
    let storage = unsafe sqlite3_value_type(content)
    if storage == SQLITE_NULL { return nil }
    guard storage == SQLITE_BLOB else { throw try mismatch(at: column, expected: [UInt8].self) }
    let start = unsafe sqlite3_value_blob(content)
    return unsafe copiedBytes(start, count: Int(sqlite3_value_bytes(content)))
  }

  /// Lends the bytes of a BLOB, without a copy. A closure around a span would cost another call.
  @unsafe package func withExactBytes(
    at column: Int, expected type: Any.Type, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(SQLiteError) {
    let content = unsafe content(of: column)
    guard unsafe sqlite3_value_type(content) == SQLITE_BLOB else {
      throw try mismatch(at: column, expected: type)
    }
    let start = unsafe sqlite3_value_blob(content)
    let count = unsafe Int(sqlite3_value_bytes(content))
    unsafe body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  /// The error for an integer that a type cannot hold.
  @usableFromInline func excess(
    _ integer: Int64, at column: Int, of type: Any.Type
  ) -> SQLiteError {
    SQLiteError(
      .range, "column \(column): the stored integer \(integer) does not fit \(type)", sql: sql)
  }
}
