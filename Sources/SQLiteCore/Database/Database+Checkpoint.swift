import CSQLite

/// The way in which a checkpoint treats concurrent readers and writers
/// (`sqlite3_wal_checkpoint_v2`).
public enum CheckpointMode: Sendable {
  /// Copies as many pages as possible without waiting for readers and writers.
  case passive
  /// Waits for writers and for readers of older snapshots, and then copies all pages.
  case full
  /// Copies all pages as with ``full``, and then waits until no reader uses the log, so that the
  /// next write reuses the log from its beginning.
  case restart
  /// Copies all pages and waits for readers as with ``restart``, and then truncates the log file to
  /// zero bytes.
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

/// The size of the write-ahead log after a checkpoint, and the part of it that has been copied.
public struct CheckpointResult: Hashable, Sendable {
  /// The number of pages in the log, or nil if the database isn't in WAL mode.
  public let logPages: Int?
  /// The number of the log's pages that have been copied into the database file, or nil if the
  /// database isn't in WAL mode.
  public let checkpointedPages: Int?
}

extension Database {
  /// Copies the write-ahead log into the database file. Blocks the thread.
  ///
  /// SQLite runs a passive checkpoint automatically when a commit makes the log at least a thousand
  /// pages long.
  ///
  /// - Parameter mode: How to treat concurrent readers and writers.
  /// - Returns: The number of pages in the log, and how many of them have been copied.
  /// - Throws: ``SQLiteError``, with ``ResultCode/busy`` if another checkpoint is running or other
  ///   connections hold their locks for longer than the busy timeout, ``ResultCode/misuse`` inside
  ///   a transaction or a read, or ``ResultCode/authorization`` if the database belongs to a
  ///   cluster.
  @discardableResult
  public func checkpoint(_ mode: CheckpointMode = .passive) throws -> CheckpointResult {
    try withoutTransaction { try $0.checkpoint(mode) }
  }

  /// Copies the write-ahead log into the database file, and suspends the task meanwhile.
  ///
  /// - Parameter mode: How to treat concurrent readers and writers.
  /// - Returns: The number of pages in the log, and how many of them have been copied.
  /// - Throws: ``SQLiteError``, with ``ResultCode/busy`` if another checkpoint is running or other
  ///   connections hold their locks for longer than the busy timeout, or
  ///   ``ResultCode/authorization`` if the database belongs to a cluster; `CancellationError` if
  ///   the task was cancelled.
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

  /// Throws ``ResultCode/misuse`` if a transaction is open. Called by operations that can't run
  /// inside one.
  func checkIsIdle() throws(SQLiteError) {
    guard handle.isAutocommit else {
      throw SQLiteError(
        .misuse, "this cannot be done inside a transaction; call it after the transaction")
    }
  }
}
