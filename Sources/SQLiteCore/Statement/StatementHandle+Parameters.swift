import CSQLite

extension StatementHandle {
  /// Binds NULL (`sqlite3_bind_null`).
  package func bindNull(at parameter: Int32) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_null(pointer, parameter))
  }

  /// Binds an integer (`sqlite3_bind_int64`).
  package func bind(_ integer: Int64, at parameter: Int32) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_int64(pointer, parameter, integer))
  }

  /// Binds a real (`sqlite3_bind_double`); a NaN is refused, since SQLite would store NULL.
  package func bind(_ real: Double, at parameter: Int32) throws(SQLiteError) {
    if real.isNaN { _ = try real.databaseValue }
    try check(unsafe sqlite3_bind_double(pointer, parameter, real))
  }

  /// Binds text byte for byte (`sqlite3_bind_text64`).
  package func bind(_ text: String, at parameter: Int32) throws(SQLiteError) {
    var text = text
    let code = text.withUTF8 { bytes in
      unsafe csqlite_bind_text(
        pointer, parameter,
        bytes.baseAddress.map { unsafe UnsafeRawPointer($0) } ?? emptyBytes, UInt64(bytes.count))
    }
    try check(code)
  }

  /// Binds bytes as a blob, or as a text that they are the UTF-8 of; none of them are not NULL.
  package func bind(
    bytes: RawSpan, asText isText: Bool = false, at parameter: Int32
  ) throws(SQLiteError) {
    let code = unsafe bytes.withUnsafeBytes { buffer in
      // A null pointer would bind NULL.
      let start = unsafe buffer.baseAddress ?? emptyBytes
      let count = UInt64(buffer.count)
      return unsafe isText
        ? csqlite_bind_text(pointer, parameter, start, count)
        : csqlite_bind_blob(pointer, parameter, start, count)
    }
    try check(code)
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

  private func check(_ code: Int32) throws(SQLiteError) {
    guard code != SQLITE_OK else {
      isBound = true
      return
    }
    throw SQLiteError(ResultCode(rawValue: code), sql: sql)
  }
}
