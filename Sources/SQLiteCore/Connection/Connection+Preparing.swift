import CSQLite

/// A script of several SQL statements, stored so that SQLite can compile them one after the other
/// without copying the text.
struct Script {
  /// The script as NUL-terminated UTF-8. Without the NUL, SQLite would copy the rest of the text
  /// for each statement.
  fileprivate let characters: ContiguousArray<CChar>
  /// The position of the next statement in `characters`, in bytes.
  fileprivate(set) var offset = 0

  /// Creates a script from a text that ``Connection/checkText(_:)`` has accepted.
  init(_ sql: String) {
    characters = sql.utf8CString
  }
}

extension Connection {
  /// Returns a statement for `sql` with its interpolated values bound. If the cache contains this
  /// statement and it isn't in use, the cached one is returned.
  ///
  ///     var insert = try connection.statement("INSERT INTO note VALUES (?1)")
  ///     try insert.run("Buy milk")
  ///
  /// At the end of its scope, the statement is reset and returned to the cache.
  ///
  /// - Parameter sql: A single SQL statement.
  /// - Throws: ``SQLiteError`` if `sql` doesn't compile or SQLite can't store a value; with
  ///   ``ResultCode/misuse`` if `sql` contains no statement or more than one, or outside the
  ///   closure that received the connection.
  public func statement(_ sql: SQL) throws(SQLiteError) -> Statement {
    if let failure = sql.failure { throw failure.with(sql: sql.text) }
    var statement = Statement(try checkOut(sql), of: self)
    if !sql.pieces.isEmpty { try bind(sql.pieces, to: &statement) }
    return statement
  }

  func checkOut(_ sql: SQL) throws(SQLiteError) -> StatementHandle {
    if !sql.pieces.isEmpty, mayAccess, let handle = cache.checkOutRecent(sql) { return handle }
    return try checkOut(sql.text)
  }

  @inline(never)
  func checkOut(_ sql: String) throws(SQLiteError) -> StatementHandle {
    try checkAccess(sql)
    if let handle = cache.checkOut(sql) { return handle }
    try checkText(sql)
    let (statement, end) = try prepare(sql, flags: UInt32(SQLITE_PREPARE_PERSISTENT))
    guard let statement else {
      throw SQLiteError(.misuse, "the SQL contains no statement", sql: sql)
    }
    guard SQLScanner.isBlank(sql, from: end) else {
      throw SQLiteError(
        .misuse,
        "the SQL contains more than one statement; run them one at a time, or as a script",
        sql: sql, offset: end)
    }
    cache.use(statement, isKept: true)
    return statement
  }

  /// Throws if the text contains a NUL or is too long for SQLite. Registers `magicdata_list` if the
  /// text mentions it.
  @inline(never)
  func checkText(_ sql: String) throws(SQLiteError) {
    if containsNUL(sql) { throw SQLiteError(.misuse, "the SQL contains a NUL character", sql: sql) }
    guard sql.utf8.count < Int32.max else { throw SQLiteError(.tooBig) }
    // The function must be registered before SQL that uses it compiles.
    if !hasListModule, SQLScanner.mentionsList(sql) { try registerListModule() }
  }

  /// Compiles the first statement of `sql` without caching it. Returns nil if `sql` contains no
  /// statement.
  func transientStatement(_ sql: String) throws(SQLiteError) -> Statement? {
    try checkText(sql)
    var script = Script(sql)
    return try nextStatement(of: &script)
  }

  /// Compiles the next statement of a script without caching it. Returns nil at the script's end.
  @inline(never)
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
    cache.use(handle, isKept: false)
    return Statement(handle, of: self)
  }

  /// Compiles the first statement of `sql`.
  ///
  /// - Returns: The statement, or nil if `sql` contains none, and the position in `sql` at which
  ///   the statement ends, in bytes of UTF-8.
  func prepare(
    _ sql: String, flags: UInt32
  ) throws(SQLiteError) -> (statement: StatementHandle?, end: Int) {
    // `withCString` provides a NUL-terminated text, which SQLite doesn't need to copy.
    try unsafe sql.withCString { start in
      Result { () throws(SQLiteError) in
        try unsafe prepare(start, count: sql.utf8.count, wholeText: sql, flags: flags)
      }
    }.get()
  }

  /// Compiles the first statement of a text that is followed by a NUL (`sqlite3_prepare_v3`).
  ///
  /// - Parameters:
  ///   - start: The first character of the text.
  ///   - count: The size of the text in bytes, without the NUL.
  ///   - wholeText: The SQL of the new handle, or nil to use only the statement's part of the text.
  ///   - flags: The flags of `sqlite3_prepare_v3`.
  /// - Returns: The statement, or nil if the text contains only blanks and comments, and the
  ///   position in the text at which the statement ends, in bytes.
  private func prepare(
    _ start: UnsafePointer<CChar>, count: Int, wholeText: String?, flags: UInt32
  ) throws(SQLiteError) -> (statement: StatementHandle?, end: Int) {
    func text(upTo end: Int) -> String {
      if let wholeText { return wholeText }
      return unsafe start.withMemoryRebound(to: UInt8.self, capacity: end) {
        unsafe String(decoding: UnsafeBufferPointer(start: $0, count: end), as: UTF8.self)
      }
    }
    if let session = handle.remote { return try prepare(count, at: session, text) }
    // SQLite's compiler can't be interrupted, and may take long.
    if interruption.place == .task, !interruption.isExempt { throw interruption.giveUp() }
    var pointer: OpaquePointer?
    var tail: UnsafePointer<CChar>?
    var code = unsafe sqlite3_prepare_v3(
      handle.pointer, start, Int32(count + 1), flags, &pointer, &tail)
    if code == SQLITE_ERROR, try mayPrepareAgain() {
      code = unsafe sqlite3_prepare_v3(
        handle.pointer, start, Int32(count + 1), flags, &pointer, &tail)
    }
    guard code == SQLITE_OK else { throw failure(code, sql: text(upTo: count)) }
    guard let pointer = unsafe pointer else { return (nil, count) }
    let end = unsafe tail.map { unsafe min(count, $0 - start) } ?? count
    let statement = unsafe StatementHandle(pointer: pointer, sql: text(upTo: end))
    // Such a statement compiles SQL of the schema when it runs, which may use these functions.
    if statement.compilesSchema { _ = try addFunctions() }
    return (statement, end)
  }

  /// Tries to remove the cause of a compilation error. Returns whether to compile the statement
  /// again.
  private func mayPrepareAgain() throws(SQLiteError) -> Bool {
    // SQLite uses the second message for functions in an index, a CHECK constraint or a generated
    // column.
    if handle.says("no such function: ") || handle.says("unknown function: ") {
      return try addFunctions()
    }
    // SQLite uses the second message if the number of values differs from the columns of the table
    // in a stale schema.
    guard handle.says("no such ") || handle.says("table ") else {
      return try trustSchemaForTrigger()
    }
    try readSchema()
    return true
  }

  /// Compiles the first statement of a text at a server.
  ///
  /// - Parameters:
  ///   - count: The size of the text in bytes.
  ///   - session: The session with the server.
  ///   - text: Returns the first `end` bytes of the text.
  /// - Returns: The statement, or nil if the text contains none, and the position in the text at
  ///   which the statement ends, in bytes.
  private func prepare(
    _ count: Int, at session: any RemoteSession, _ text: (_ end: Int) -> String
  ) throws(SQLiteError) -> (statement: StatementHandle?, end: Int) {
    let sql = text(count)
    // The other limits are applied to the local statements that store the values.
    guard count <= handle.limit(SQLITE_LIMIT_SQL_LENGTH, -1) else {
      throw SQLiteError(.tooBig, "the statement is longer than ConnectionLimit.sqlLength allows")
    }
    do throws(SQLiteError) {
      let (statement, end) = try session.prepare(sql)
      guard let statement else { return (nil, end) }
      return (try RemoteStatementHandle(statement, sql: text(end), on: handle), end)
    } catch {
      handle.remoteFailure = error
      throw failure(error.code.rawValue, sql: sql)
    }
  }

  /// Queries the schema table, only to throw the error if it can't be read.
  ///
  /// If SQLite can't read the file to check for a newer schema, the compilation error says only
  /// that a table is missing. This query reports the actual error.
  private func readSchema() throws(SQLiteError) {
    let sql = "SELECT 1 FROM main.sqlite_master LIMIT 1"
    var code = SQLITE_OK
    try withoutAuthorizer { () throws(SQLiteError) in
      var pointer: OpaquePointer?
      defer { unsafe sqlite3_finalize(pointer) }
      code = unsafe sqlite3_prepare_v2(handle.pointer, sql, -1, &pointer, nil)
      if code == SQLITE_OK { code = unsafe sqlite3_step(pointer) }
    }
    guard code == SQLITE_ROW || code == SQLITE_DONE else { throw failure(code, sql: sql) }
  }
}

extension Connection {
  /// Runs a pragma and returns the first value of its result, or nil if it returns no rows.
  ///
  /// - Parameters:
  ///   - name: The name of the pragma.
  ///   - suffix: The text after the name, such as `=1`. It must not contain text from a user.
  @inline(never)
  package func pragma(_ name: String, _ suffix: String = "") throws(SQLiteError) -> Value? {
    guard var statement = try transientStatement("PRAGMA \(name)\(suffix)"),
      try statement.step()
    else { return nil }
    let value = try statement.value(at: 0)
    while try statement.step() {}
    return value
  }

  /// Runs a pragma that the library needs, even if the access doesn't allow it, and returns the
  /// first value of its result, or nil if it returns no rows.
  func uncheckedPragma(_ name: String) throws(SQLiteError) -> Value? {
    guard let handle = try prepare("PRAGMA \(name)", flags: 0).statement,
      handle.step() == SQLITE_ROW
    else { return nil }
    return try handle.value(at: 0)
  }
}
