import CSQLite

/// SQL of many statements, in the form in which SQLite takes them one after the other.
struct Script {
  /// UTF-8 with a NUL at its end, so that SQLite need not copy what is left for each statement.
  fileprivate let characters: [CChar]
  /// Where the next statement begins.
  fileprivate(set) var offset = 0

  /// Takes a text that has passed ``Connection/checkText(_:)``.
  init(_ sql: String) {
    characters = sql.utf8.map { CChar(bitPattern: $0) } + [0]
  }
}

extension Connection {
  /// Throws if `sql` is no text for SQLite, and prepares for what it names.
  func checkText(_ sql: String) throws(SQLiteError) {
    if sql.utf8.contains(0) { throw SQLiteError(.misuse, "the SQL contains a NUL", sql: sql) }
    guard sql.utf8.count < Int32.max else { throw SQLiteError(.tooBig) }
    // The function of ListModule must be known before SQL that names it compiles.
    if !hasListModule, SQLScanner.mentionsList(sql) { try registerListModule() }
  }

  func registerListModule() throws(SQLiteError) {
    guard !hasListModule else { return }
    try handle.check(unsafe ListModule.register(on: handle.pointer))
    hasListModule = true
  }

  /// Returns the only statement in `sql`, not cached.
  func transientStatement(_ sql: String) throws(SQLiteError) -> Statement? {
    try checkText(sql)
    var script = Script(sql)
    return try nextStatement(of: &script)
  }

  /// Returns the next statement of a script, not cached, or nil at its end.
  func nextStatement(of script: inout Script) throws(SQLiteError) -> Statement? {
    try checkAccess()
    let (offset, count) = (script.offset, script.characters.count - 1 - script.offset)
    let characters = script.characters
    let (handle, end) = try unsafe characters.withUnsafeBufferPointer {
      buffer throws(SQLiteError) -> (StatementHandle?, Int) in
      guard let start = buffer.baseAddress else { return (nil, 0) }
      return try unsafe prepare(start + offset, count: count, wholeText: nil, flags: 0)
    }
    script.offset += end
    guard let handle else { return nil }
    use(handle, cached: false)
    return Statement(handle, of: self)
  }

  /// Compiles the first statement in `count` characters and a NUL (`sqlite3_prepare_v3`).
  ///
  /// - Parameter wholeText: The text under which the statement is known, or nil for its own part.
  /// - Returns: The statement, or nil if there are only blanks and comments, and where it ends.
  func prepare(
    _ start: UnsafePointer<CChar>, count: Int, wholeText: String?, flags: UInt32
  ) throws(SQLiteError) -> (StatementHandle?, Int) {
    func text(upTo end: Int) -> String {
      if let wholeText { return wholeText }
      return unsafe start.withMemoryRebound(to: UInt8.self, capacity: end) {
        unsafe String(decoding: UnsafeBufferPointer(start: $0, count: end), as: UTF8.self)
      }
    }
    var pointer: OpaquePointer?
    var tail: UnsafePointer<CChar>?
    var code = unsafe sqlite3_prepare_v3(
      handle.pointer, start, Int32(count + 1), flags, &pointer, &tail)
    if code == SQLITE_ERROR, handle.saysMissing {
      try readSchema()
      code = unsafe sqlite3_prepare_v3(
        handle.pointer, start, Int32(count + 1), flags, &pointer, &tail)
    }
    guard code == SQLITE_OK else { throw failure(code, sql: text(upTo: count)) }
    guard let pointer = unsafe pointer else { return (nil, count) }
    let end = unsafe tail.map { unsafe min(count, $0 - start) } ?? count
    return unsafe (StatementHandle(pointer: pointer, sql: text(upTo: end)), end)
  }

  /// Reads the schema's table, and throws what is in the way.
  ///
  /// SQLite says that a table is missing also if it could not read the file to see whether somebody
  /// has made it since.
  private func readSchema() throws(SQLiteError) {
    let sql = "SELECT 1 FROM main.sqlite_master LIMIT 1"
    handle.authorizer?.isSuspended = true
    defer { handle.authorizer?.isSuspended = false }
    var pointer: OpaquePointer?
    defer { unsafe sqlite3_finalize(pointer) }
    var code = unsafe sqlite3_prepare_v2(handle.pointer, sql, -1, &pointer, nil)
    if code == SQLITE_OK { code = unsafe sqlite3_step(pointer) }
    guard code == SQLITE_ROW || code == SQLITE_DONE else { throw failure(code, sql: sql) }
  }
}
