import CSQLite

/// The owner of a `sqlite3` pointer. Its members are thin wrappers around the C functions for
/// connections. If a server hosts the database, they use the server's session instead.
@safe final class ConnectionHandle {
  let pointer: OpaquePointer
  /// The fork count of this process when the connection was opened.
  let forks = ForkCount.atOpening
  /// The registration of the open file (`FilePresence`), kept until the handle is closed.
  var presence: AnyObject?
  /// The server session that runs all statements, or nil. With a session, `pointer` refers to an
  /// empty database that is used only to store the values of parameters and columns.
  var remote: (any RemoteSession)?
  /// The last error of the session, until it is thrown; otherwise nil.
  var remoteFailure: SQLiteError?

  /// Opens a database file (`sqlite3_open_v2`).
  ///
  /// - Parameters:
  ///   - name: An absolute path, `:memory:`, an empty string or a URI.
  ///   - flags: The flags of `sqlite3_open_v2`.
  ///   - vfs: The name of a VFS, or nil for the default one.
  /// - Throws: ``SQLiteError`` if SQLite isn't thread-safe or can't open the file. The handle is
  ///   then closed.
  init(name: String, flags: Int32, vfs: String?) throws(SQLiteError) {
    guard sqlite3_threadsafe() != 0 else {
      throw SQLiteError(
        .misuse,
        "this libsqlite3 is not thread-safe; use one that was compiled with "
          + "SQLITE_THREADSAFE=1 or 2")
    }
    var opened: OpaquePointer?
    let code = unsafe sqlite3_open_v2(name, &opened, flags, vfs)
    guard let opened = unsafe opened else { throw SQLiteError(.outOfMemory) }
    guard code == SQLITE_OK else {
      let message = unsafe sqlite3_errmsg(opened).map { unsafe String(cString: $0) }
      let extended = unsafe sqlite3_extended_errcode(opened)
      let system = unsafe sqlite3_system_errno(opened)
      unsafe sqlite3_close_v2(opened)
      let reason = system == 0 ? "" : ": \(systemMessage(system))"
      throw SQLiteError(
        ResultCode(rawValue: extended == SQLITE_OK ? code : extended),
        "\(name): \(message ?? "cannot open")\(reason)")
    }
    unsafe pointer = unsafe opened
    unsafe sqlite3_extended_result_codes(opened, 1)
  }

  deinit {
    // A forked process must not use its parent's connections, not even to close them.
    guard ForkCount.current == forks else { return }
    // Closing rolls back an open transaction. The objects that the hooks call no longer exist.
    removeHooks()
    remote?.close()
    // `sqlite3_close_v2` defers closing until all statements are finalized.
    unsafe sqlite3_close_v2(pointer)
  }

  /// Removes all hooks, so that the objects that they call can be released.
  func removeHooks() {
    unsafe sqlite3_commit_hook(pointer, nil, nil)
    unsafe sqlite3_rollback_hook(pointer, nil, nil)
    unsafe sqlite3_update_hook(pointer, nil, nil)
    if csqlite_has_preupdate() != 0 { unsafe sqlite3_preupdate_hook(pointer, nil, nil) }
    unsafe sqlite3_trace_v2(pointer, 0, nil, nil)
    unsafe sqlite3_set_authorizer(pointer, nil, nil)
    unsafe sqlite3_progress_handler(pointer, 0, nil, nil)
    unsafe sqlite3_busy_handler(pointer, nil, nil)
  }

  /// Whether no transaction is open (`sqlite3_get_autocommit`).
  var isAutocommit: Bool {
    if let remote { return remote.isAutocommit }
    return unsafe sqlite3_get_autocommit(pointer) != 0
  }

  /// Whether a write transaction is open on the main database (`sqlite3_txn_state`).
  var isWriting: Bool {
    if let remote { return remote.isWriting }
    return unsafe sqlite3_txn_state(pointer, "main") == SQLITE_TXN_WRITE
  }

  /// The rowid of the last inserted row (`sqlite3_last_insert_rowid`).
  var lastInsertedRowID: Int64 {
    get {
      if let remote { return remote.lastInsertedRowID }
      return unsafe sqlite3_last_insert_rowid(pointer)
    }
    set {
      if let remote {
        remote.lastInsertedRowID = newValue
      } else {
        unsafe sqlite3_set_last_insert_rowid(pointer, newValue)
      }
    }
  }

  /// The number of rows that the last INSERT, UPDATE or DELETE changed, not counting rows that
  /// triggers or foreign key actions changed (`sqlite3_changes64`).
  var changes: Int64 {
    if let remote { return remote.changes }
    return unsafe sqlite3_changes64(pointer)
  }

  /// The number of rows that were changed since the connection was opened
  /// (`sqlite3_total_changes64`).
  var totalChanges: Int64 {
    if let remote { return remote.totalChanges }
    return unsafe sqlite3_total_changes64(pointer)
  }

  /// Whether the open transaction violates foreign keys, so that COMMIT would fail
  /// (`sqlite3_db_status`).
  var hasDeferredViolations: Bool {
    var current: Int32 = 0
    var highest: Int32 = 0
    let code = unsafe sqlite3_db_status(
      pointer, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0)
    return code == SQLITE_OK && current != 0
  }

  /// Sets a limit and returns its previous value (`sqlite3_limit`). If `value` is negative, the
  /// limit stays unchanged.
  func limit(_ category: Int32, _ value: Int32) -> Int32 {
    unsafe sqlite3_limit(pointer, category, value)
  }

  /// Turns a `SQLITE_DBCONFIG_…` option on or off.
  func configure(_ option: Int32, _ isOn: Bool) throws(SQLiteError) {
    try check(unsafe csqlite_db_config(pointer, option, isOn ? 1 : 0, nil))
  }

  /// Returns whether a `SQLITE_DBCONFIG_…` option is on.
  func isConfigured(_ option: Int32) throws(SQLiteError) -> Bool {
    var isOn: Int32 = 0
    try check(unsafe csqlite_db_config(pointer, option, -1, &isOn))
    return isOn != 0
  }

  /// Throws the error that SQLite or the server has just reported, unless `code` is `SQLITE_OK`.
  func check(_ code: Int32, sql: String? = nil) throws(SQLiteError) {
    guard code != SQLITE_OK else { return }
    throw error(code, sql: sql)
  }

  /// Returns whether the message of the last error begins with `beginning` (`sqlite3_errmsg`).
  func says(_ beginning: String) -> Bool {
    let message = unsafe sqlite3_errmsg(pointer).map { unsafe String(cString: $0) }
    return message?.hasPrefix(beginning) ?? false
  }

  /// Returns the error of a call that has just failed with `code`: the pending error of the
  /// server's session, or SQLite's.
  func error(_ code: Int32, sql: String? = nil) -> SQLiteError {
    if let failure = remoteFailure {
      remoteFailure = nil
      return sql.map { failure.with(sql: $0) } ?? failure
    }
    // SQLite stores the message of its last call only, so it is used only if its code matches.
    let extended = unsafe sqlite3_extended_errcode(pointer)
    guard extended == code || extended & 0xff == code & 0xff else {
      return SQLiteError(ResultCode(rawValue: code), sql: sql)
    }
    var message = unsafe sqlite3_errmsg(pointer).map { unsafe String(cString: $0) }
    if code & 0xff == SQLITE_IOERR || code & 0xff == SQLITE_CANTOPEN {
      let system = unsafe sqlite3_system_errno(pointer)
      if system != 0 { message = "\(message ?? ""): \(systemMessage(system))" }
    }
    let offset = unsafe Int(csqlite_error_offset(pointer))
    return SQLiteError(
      ResultCode(rawValue: extended), message, sql: sql, offset: offset < 0 ? nil : offset)
  }
}
