import CSQLite

extension Statement {
  /// The number of columns in each row; 0 for a statement that returns no rows
  /// (`sqlite3_column_count`).
  public var columnCount: Int { handle.columnCount }

  /// The names of the columns. If the schema has changed since the statement was prepared, they may
  /// be outdated until the first ``step()``.
  public var columnNames: [String] { handle.columnNames.names }

  /// Returns the content of a column as an integer. SQLite converts other types
  /// (`sqlite3_column_int64`).
  ///
  /// The result is 0 for NULL and for a column that does not exist. To read the stored value
  /// without conversion, use ``value(at:)`` or ``get(_:as:)``.
  ///
  /// - Parameter column: The column's index, from 0.
  public func integer(at column: Int) -> Int64 { self.column(column).convertedInteger }

  /// Returns the content of a column as a real. SQLite converts other types
  /// (`sqlite3_column_double`).
  ///
  /// The result is 0 for NULL and for a column that does not exist.
  ///
  /// - Parameter column: The column's index, from 0.
  public func real(at column: Int) -> Double { self.column(column).convertedReal }

  /// Returns the content of a column as text. SQLite converts numbers (`sqlite3_value_text`).
  ///
  /// The result is empty for NULL and for a column that does not exist. It includes embedded NULs.
  ///
  /// - Parameter column: The column's index, from 0.
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` if the stored text or blob is not valid
  ///   UTF-8, or with ``ResultCode/outOfMemory`` if SQLite lacks the memory to convert a stored
  ///   text.
  public func text(at column: Int) throws(SQLiteError) -> String {
    let content = self.column(column)
    let text: String? =
      switch content.type {
      case SQLITE_NULL: ""
      case SQLITE_TEXT: content.convertedText
      // Convert a copy. Converting in place would turn the row's own value into a text, and move
      // borrowed bytes.
      default: content.withCopy { $0.convertedText }
      }
    guard let text else { throw invalidText(at: column) }
    return text
  }

  /// Returns the bytes of a column: a blob, or the UTF-8 bytes of a text or number
  /// (`sqlite3_value_blob`).
  ///
  /// The result is empty for NULL and for a column that does not exist.
  ///
  /// - Parameter column: The column's index, from 0.
  public func blob(at column: Int) -> [UInt8] {
    withBytes(at: column) { span in
      unsafe span.withUnsafeBytes { unsafe copiedBytes($0.baseAddress, count: $0.count) }
    }
  }

  /// Calls a closure with the bytes of a column: a blob, or the UTF-8 bytes of a text or number.
  /// Blobs and texts are not copied (`sqlite3_value_blob`).
  ///
  /// The span is empty for NULL and for a column that does not exist.
  ///
  /// - Parameters:
  ///   - column: The column's index, from 0.
  ///   - body: A closure that reads the bytes, which are valid only inside the closure.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  public func withBytes<Result>(
    at column: Int, _ body: (RawSpan) throws -> Result
  ) rethrows -> Result {
    let content = self.column(column)
    switch content.type {
    case SQLITE_BLOB: return try unsafe body(content.bytes(ofText: false).bytes)
    case SQLITE_TEXT, SQLITE_NULL: return try unsafe body(content.bytes(ofText: true).bytes)
    // Convert a copy, so that the row's own value doesn't become a text.
    default: return try content.withCopy { try unsafe body($0.bytes(ofText: true).bytes) }
    }
  }

  /// Returns whether a column is NULL. The result is true for a column that does not exist.
  ///
  /// - Parameter column: The column's index, from 0.
  public func isNull(at column: Int) -> Bool { self.column(column).isNull }

  /// Returns the stored value of a column, without conversion. The result is NULL for a column that
  /// does not exist.
  ///
  /// - Parameter column: The column's index, from 0.
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` if a text is not valid UTF-8, or with
  ///   ``ResultCode/outOfMemory`` if SQLite lacks the memory to convert it.
  public func value(at column: Int) throws(SQLiteError) -> Value {
    guard let value = self.column(column).value else { throw invalidText(at: column) }
    return value
  }

  /// Returns the content of a column as a Swift type, without a lossy conversion. A column that
  /// does not exist is read as NULL.
  ///
  /// - Parameters:
  ///   - column: The column's index, from 0.
  ///   - type: The type to read.
  /// - Throws: ``SQLiteError`` if the type can't represent the stored value exactly. The message
  ///   names the column and the reason.
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

  @inline(__always) private func column(_ index: Int) -> ValueView {
    handle.column(Int32(clamping: index))
  }

  /// Returns `error` with the column's name and the statement's SQL added, or unchanged if it
  /// already contains SQL.
  @usableFromInline func named(_ error: SQLiteError, at column: Int) -> SQLiteError {
    guard error.sql == nil else { return error }
    return SQLiteError(error.code, "column \(name(of: column)): \(error.message)", sql: sql)
  }

  @inline(never) private func invalidText(at column: Int) -> SQLiteError {
    self.column(column).lacksText
      ? SQLiteError(.outOfMemory, sql: sql)
      : SQLiteError(.mismatch, "column \(name(of: column)) contains invalid UTF-8", sql: sql)
  }

  private func name(of column: Int) -> String {
    let names = columnNames
    return names.indices.contains(column) ? "“\(names[column])” (\(column))" : "\(column)"
  }
}

// The reads of ``ColumnValue``'s types. They return the content, or throw if the storage class
// differs or the value is NULL. One lookup returns both the storage class and the content.
extension Statement {
  @usableFromInline func exactInteger(
    at column: Int, as type: Any.Type
  ) throws(SQLiteError) -> Int64 {
    guard let integer = self.column(column).integer else {
      throw try mismatch(at: column, expected: type)
    }
    return integer
  }

  /// Reads a REAL, or an INTEGER that a `Double` represents exactly. Throws for any other value.
  @usableFromInline func exactReal(at column: Int) throws(SQLiteError) -> Double {
    guard let real = self.column(column).real else { return try real(instead: column) }
    return real
  }

  @inline(never) private func real(instead column: Int) throws(SQLiteError) -> Double {
    try Double(databaseValue: value(at: column))
  }

  @usableFromInline func exactText(at column: Int) throws(SQLiteError) -> String {
    guard let text = self.column(column).text else { throw try textError(at: column) }
    return text
  }

  @inline(never) private func textError(at column: Int) throws(SQLiteError) -> SQLiteError {
    self.column(column).type == SQLITE_TEXT
      ? invalidText(at: column) : try mismatch(at: column, expected: String.self)
  }

  @usableFromInline func exactBytes(at column: Int) throws(SQLiteError) -> [UInt8] {
    var bytes: [UInt8] = []
    try unsafe withExactBytes(at: column, expected: [UInt8].self) {
      bytes = unsafe copiedBytes($0.baseAddress, count: $0.count)
    }
    return bytes
  }

  /// Calls `body` with the bytes of a BLOB, without copying them. It doesn't pass a span, because
  /// that would require another closure, and therefore another call.
  ///
  /// - Parameters:
  ///   - column: The column's index, from 0.
  ///   - type: The type that the caller reads, for the error message.
  ///   - body: A closure that reads the bytes, which are valid only inside the closure.
  /// - Throws: ``SQLiteError`` if the column doesn't store a BLOB.
  @unsafe package func withExactBytes(
    at column: Int, expected type: Any.Type, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(SQLiteError) {
    let content = self.column(column)
    guard content.type == SQLITE_BLOB else { throw try mismatch(at: column, expected: type) }
    unsafe body(content.bytes(ofText: false))
  }

  /// Returns the error for a column whose stored value can't be read as the expected type.
  @usableFromInline @inline(never)
  func mismatch(at column: Int, expected: Any.Type) throws(SQLiteError) -> SQLiteError {
    let error = try value(at: column).mismatch(expected: expected)
    return SQLiteError(error.code, "column \(name(of: column)): \(error.message)", sql: sql)
  }

  /// Returns the error for an integer that is out of a type's range.
  @usableFromInline func rangeError(
    _ integer: Int64, at column: Int, of type: Any.Type
  ) -> SQLiteError {
    SQLiteError(
      .range, "column \(column): the stored integer does not fit \(type)", sql: sql)
  }
}
