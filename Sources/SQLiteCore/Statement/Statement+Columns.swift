import CSQLite

extension Statement {
  /// The number of columns in a row, 0 for a statement that returns none (`sqlite3_column_count`).
  public var columnCount: Int { handle.columnCount }

  /// The names of the columns, known for sure after the first ``step()``.
  public var columnNames: [String] { handle.columnNames.names }

  /// SQLite's integer for a column, which converts what is not one (`sqlite3_column_int64`).
  ///
  /// Zero for NULL and for a column that does not exist. Use ``value(at:)`` or
  /// ``get(_:as:)`` to know what is stored.
  public func integer(at column: Int) -> Int64 { self.column(column).convertedInteger }

  /// SQLite's real for a column, which converts what is not one (`sqlite3_column_double`).
  ///
  /// Zero for NULL and for a column that does not exist.
  public func real(at column: Int) -> Double { self.column(column).convertedReal }

  /// SQLite's text for a column, which converts numbers (`sqlite3_value_text`).
  ///
  /// Empty for NULL and for a column that does not exist. Embedded NULs survive.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` if the stored text is not valid UTF-8.
  public func text(at column: Int) throws(SQLiteError) -> String {
    let content = self.column(column)
    let text: String? =
      switch content.type {
      case SQLITE_NULL: ""
      case SQLITE_TEXT: content.convertedText
      // A copy is converted: the row's own value would become a text, and bytes of it that are lent
      // would move.
      default: content.withCopy { $0.convertedText }
      }
    guard let text else { throw invalidText(at: column) }
    return text
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
    let content = self.column(column)
    switch content.type {
    case SQLITE_BLOB: return try unsafe body(content.bytes(ofText: false).bytes)
    case SQLITE_TEXT, SQLITE_NULL: return try unsafe body(content.bytes(ofText: true).bytes)
    // A copy is converted: the row's own value would become a text.
    default: return try content.withCopy { try unsafe body($0.bytes(ofText: true).bytes) }
    }
  }

  /// Whether a column holds NULL; true for a column that does not exist.
  public func isNull(at column: Int) -> Bool { self.column(column).isNull }

  /// Returns the content of a column, as it is stored; NULL for a column that does not exist.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` if a text is not valid UTF-8.
  public func value(at column: Int) throws(SQLiteError) -> Value {
    guard let value = self.column(column).value else { throw invalidText(at: column) }
    return value
  }

  /// Reads a column as a Swift type, exactly or not at all.
  ///
  /// - Parameters:
  ///   - column: The column's index, from 0.
  ///   - type: The type to read.
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

  @inline(__always) private func column(_ index: Int) -> ValueView {
    handle.column(Int32(clamping: index))
  }

  /// The error with the column's name and the SQL, unless it has them.
  @usableFromInline func named(_ error: SQLiteError, at column: Int) -> SQLiteError {
    guard error.sql == nil else { return error }
    return SQLiteError(error.code, "column \(name(of: column)): \(error.message)", sql: sql)
  }

  @inline(never) private func invalidText(at column: Int) -> SQLiteError {
    self.column(column).lacksText
      ? SQLiteError(.outOfMemory, sql: sql)
      : SQLiteError(.mismatch, "column \(name(of: column)) holds invalid UTF-8", sql: sql)
  }

  private func name(of column: Int) -> String {
    let names = columnNames
    return names.indices.contains(column) ? "“\(names[column])” (\(column))" : "\(column)"
  }
}

// The readings of ``ColumnValue``'s types: the content, or an error for another storage class, NULL included. One
// look-up serves the type and the content.
extension Statement {
  @usableFromInline func exactInteger(
    at column: Int, as type: Any.Type
  ) throws(SQLiteError) -> Int64 {
    guard let integer = self.column(column).integer else {
      throw try mismatch(at: column, expected: type)
    }
    return integer
  }

  /// A REAL, or an INTEGER that a Double holds exactly.
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

  /// Lends the bytes of a BLOB, without a copy. A closure around a span would cost another call.
  @unsafe package func withExactBytes(
    at column: Int, expected type: Any.Type, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(SQLiteError) {
    let content = self.column(column)
    guard content.type == SQLITE_BLOB else { throw try mismatch(at: column, expected: type) }
    unsafe body(content.bytes(ofText: false))
  }

  /// The error for a column that stores something else than a type is read from.
  @usableFromInline @inline(never)
  func mismatch(at column: Int, expected: Any.Type) throws(SQLiteError) -> SQLiteError {
    let error = try value(at: column).mismatch(expected: expected)
    return SQLiteError(error.code, "column \(name(of: column)): \(error.message)", sql: sql)
  }

  /// The error for an integer that a type cannot hold.
  @usableFromInline func excess(
    _ integer: Int64, at column: Int, of type: Any.Type
  ) -> SQLiteError {
    SQLiteError(
      .range, "column \(column): the stored integer \(integer) does not fit \(type)", sql: sql)
  }
}
