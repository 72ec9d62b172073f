import CSQLite

/// How a checkpoint deals with readers and writers (`sqlite3_wal_checkpoint_v2`).
public enum CheckpointMode: Sendable {
  /// Copies what can be copied without waiting.
  case passive
  /// Waits for writers and for readers of old snapshots, then copies everything.
  case full
  /// As full, and the next write begins the log anew.
  case restart
  /// As restart, and the log is cut to nothing.
  case truncate

  fileprivate var code: Int32 {
    switch self {
    case .passive: SQLITE_CHECKPOINT_PASSIVE
    case .full: SQLITE_CHECKPOINT_FULL
    case .restart: SQLITE_CHECKPOINT_RESTART
    case .truncate: SQLITE_CHECKPOINT_TRUNCATE
    }
  }
}

/// The result of a checkpoint.
public struct CheckpointResult: Hashable, Sendable {
  /// The pages in the log, or nil if the database has none.
  public let logPages: Int?
  /// The pages of the log that are in the database file now, or nil if there is no log.
  public let checkpointedPages: Int?
}

extension Database {
  /// Copies the write-ahead log into the database file.
  ///
  /// SQLite does so by itself whenever the log has a thousand pages.
  ///
  /// - Parameter mode: How to deal with readers and writers.
  /// - Returns: The result.
  /// - Throws: ``SQLiteError`` with ``ResultCode/busy`` if others kept their locks for longer than
  ///   the busy timeout.
  @discardableResult
  public func checkpoint(_ mode: CheckpointMode = .passive) throws -> CheckpointResult {
    try withoutTransaction { try $0.checkpoint(mode) }
  }

  /// As ``checkpoint(_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func checkpoint(_ mode: CheckpointMode = .passive) async throws -> CheckpointResult {
    try await withoutTransaction { try $0.checkpoint(mode) }
  }
}

extension Connection {
  fileprivate func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> CheckpointResult {
    try checkIsIdle()
    try require(.files)
    var log: Int32 = -1
    var done: Int32 = -1
    let code = unsafe sqlite3_wal_checkpoint_v2(handle.pointer, "main", mode.code, &log, &done)
    if code != SQLITE_OK { throw failure(code, sql: "a checkpoint") }
    return CheckpointResult(
      logPages: log < 0 ? nil : Int(log), checkpointedPages: done < 0 ? nil : Int(done))
  }

  /// Throws if a transaction is open, for what cannot be done inside one.
  func checkIsIdle() throws(SQLiteError) {
    guard handle.isAutocommit else {
      throw SQLiteError(.misuse, "this cannot be done inside a transaction")
    }
  }
}
