import CSQLite

/// A connection for the C baseline. Only calls SQLite's functions and checks their result codes.
@safe final class CConnection {
  private let pointer: OpaquePointer

  /// Opens the database at `path` with the settings that all engines use.
  ///
  /// - Parameter isDurable: Whether each commit waits for the disk.
  convenience init(path: String, isDurable: Bool = false) throws {
    try self.init(path: path, settings: Pragmas.script(isDurable: isDurable))
    try Pragmas.check(isDurable: isDurable, text)
  }

  /// Opens the database at `path` without a mutex, like GRDB. Only one thread may use the
  /// connection at a time.
  init(path: String, settings: String) throws {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let opened = unsafe opened else {
      unsafe sqlite3_close_v2(opened)
      throw Failure("\(path) cannot be opened: code \(code)")
    }
    unsafe pointer = opened
    try execute(settings)
  }

  deinit {
    unsafe sqlite3_close_v2(pointer)
  }

  func execute(_ sql: String) throws {
    try check(unsafe sqlite3_exec(pointer, sql, nil, nil, nil))
  }

  /// Compiles `sql`. The caller must finalize the statement.
  @unsafe func prepare(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    try check(unsafe sqlite3_prepare_v2(pointer, sql, -1, &statement, nil))
    guard let statement = unsafe statement else { throw Failure("nothing to prepare in: \(sql)") }
    return unsafe statement
  }

  /// Steps to the next row. Returns false if there are no more rows.
  @unsafe func step(_ statement: OpaquePointer) throws -> Bool {
    let code = unsafe sqlite3_step(statement)
    if code == SQLITE_ROW { return true }
    guard code == SQLITE_DONE else { throw failure(code) }
    return false
  }

  func check(_ code: Int32) throws {
    guard code == SQLITE_OK else { throw failure(code) }
  }

  private func failure(_ code: Int32) -> Failure {
    Failure("SQLite code \(code): \(unsafe String(cString: sqlite3_errmsg(pointer)))")
  }

  private func text(_ query: String) throws -> String? {
    let statement = try unsafe prepare(query)
    defer { unsafe sqlite3_finalize(statement) }
    guard try unsafe step(statement), let text = unsafe sqlite3_column_text(statement, 0) else {
      return nil
    }
    return unsafe String(cString: text)
  }
}
