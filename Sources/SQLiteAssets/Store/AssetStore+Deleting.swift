public import SQLiteCore
import Synchronization

extension AssetStore {
  /// Deletes an asset, as part of the open transaction. The file is removed after the commit, when
  /// no reader can see the asset any more.
  ///
  /// - Parameters:
  ///   - id: The id of the asset.
  ///   - connection: A connection inside `write`. Inside `withoutTransaction`, the call runs in its
  ///     own transaction.
  /// - Returns: Whether the asset existed.
  /// - Throws: `SQLiteError` if the row can't be deleted, or if the open transaction was begun with
  ///   SQL.
  @discardableResult
  public func delete(_ id: AssetID, in connection: Connection) throws -> Bool {
    try inTransaction(connection) {
      let change = try connection.executeChange(
        "DELETE FROM main.magicdata_asset WHERE id = \(id)")
      if change.rows > 0 { scheduleUpkeep(in: connection) }
      return change.rows > 0
    }
  }
}

// Removal of the files of deleted and replaced assets.
extension AssetStore {
  /// Removes the files of deleted and replaced assets that no reader can see any more. Blocks the
  /// thread.
  ///
  /// You rarely need to call this. The store does the same when it is opened, and after each commit
  /// of this database that deletes or replaces assets, by any SQL. If a reader of this database
  /// still needs a file, the file is removed when that reader ends. If a reader of another process
  /// needs it, the file is removed after a later commit of this database, at the next opening, or
  /// by this call. A cluster doesn't report its readers. In a cluster, a file is therefore removed
  /// when `leaderTimeout` has passed since a store first saw that the file is marked for removal.
  ///
  /// - Throws: ``AssetError`` or `SQLiteError` if a file can't be removed, which is then removed
  ///   later; `SQLiteError` if a transaction is open on the writer connection.
  public func removeDeletedFiles() throws {
    try outsideTransaction { connection in
      try settlePendingFilesNow(in: connection)
      try collect(in: connection)
    }
  }

  /// Removes the files of deleted and replaced assets that no reader can see any more. Suspends the
  /// task meanwhile.
  ///
  /// You rarely need to call this: opening a store, and commits that delete or replace assets, do
  /// the same.
  ///
  /// - Throws: ``AssetError`` or `SQLiteError` if a file can't be removed; `CancellationError` if
  ///   the task was cancelled. The remaining files are then removed later.
  nonisolated(nonsending) public func removeDeletedFiles() async throws {
    try await worker.run { try self.removeDeletedFiles() }
  }

  /// Runs `body` with the writer connection. Throws if a transaction is open on it.
  func outsideTransaction<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try database.withoutTransaction { connection in
      guard connection.isAutocommit else {
        throw SQLiteError(
          .misuse, "files cannot be removed inside a transaction; remove them after it")
      }
      return try body(connection)
    }
  }

  /// The maximum number of files that one transaction removes.
  private var limit: Int { 500 }

  /// Removes the files that are marked for removal. If a reader may still need them, removes none
  /// and schedules another attempt.
  ///
  /// - Parameter connection: The writer connection, outside any transaction.
  func collect(in connection: Connection) throws {
    var marked: SQL = "SELECT file FROM main.magicdata_asset_trash WHERE file IS NOT NULL"
    let isRemote = database.server != nil
    if let server = database.server {
      guard let old = try recordMarks(olderThan: server.patience, in: connection) else { return }
      marked = old
    }
    while true {
      let marks = try connection.rows("\(marked) LIMIT \(limit)", as: Value.self)
      guard !marks.isEmpty else { return }
      guard try isRemote || hasNoOlderReader(connection) else {
        return scheduleRetry(in: connection)
      }
      try connection.transaction {
        try remove(marks, in: connection)
        if isRemote {
          try connection.executeChange(
            "DELETE FROM main.magicdata_asset_seen WHERE file IN \(marks)")
        }
      }
      if marks.count < limit { return }
    }
  }

  /// Records when each mark for removal was first seen. A server doesn't report its readers, so a
  /// file is removed only when its mark has a minimum age.
  ///
  /// - Parameters:
  ///   - age: The minimum age of a mark.
  ///   - connection: The writer connection, outside any transaction.
  /// - Returns: A query for the files with marks that are old enough, or nil if no file is marked.
  private func recordMarks(olderThan age: Duration, in connection: Connection) throws -> SQL? {
    let now: SQL = "CAST(strftime('%s', 'now') AS INTEGER)"
    guard try connection.firstRow("SELECT 1 FROM main.magicdata_asset_trash LIMIT 1") != nil else {
      return nil
    }
    if try !connection.tableExists("magicdata_asset_seen") {
      try connection.executeChange(
        """
        CREATE TABLE IF NOT EXISTS main.magicdata_asset_seen (
          file TEXT NOT NULL PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID
        """)
    }
    let unseen: SQL =
      "FROM main.magicdata_asset_trash WHERE file NOT IN (SELECT file FROM main.magicdata_asset_seen)"
    if try connection.firstRow("SELECT 1 \(unseen) LIMIT 1") != nil {
      try connection.executeChange(
        "INSERT INTO main.magicdata_asset_seen (file, since) SELECT file, \(now) \(unseen)")
    }
    return
      "SELECT file FROM main.magicdata_asset_seen WHERE since <= \(now) - \(age.components.seconds)"
  }

  /// Schedules another attempt to remove marked files, which runs when the current reads of this
  /// `Database` have ended. If no read is running, the reader that needs the files belongs to
  /// another `Database` or process, and the attempt runs after the next commit.
  ///
  /// - Parameter connection: The writer connection, outside any transaction.
  func scheduleRetry(in connection: Connection) {
    guard !isRetryScheduled.exchange(true, ordering: .relaxed) else { return }
    let retry: @Sendable (Connection) -> Void = { [weak self] connection in
      guard let self else { return }
      isRetryScheduled.store(false, ordering: .relaxed)
      try? collect(in: connection)
    }
    guard !database.afterCurrentReads(retry) else { return }
    connection.afterCommit(retry)
    connection.afterRollback { [weak self] connection in
      // If an access fails, actions that wait for its commit are dropped.
      guard let self, isRetryScheduled.exchange(false, ordering: .relaxed) else { return }
      scheduleRetry(in: connection)
    }
  }

  private func remove(_ marks: [Value], in connection: Connection) throws {
    // Keep a file that a row references again, after an undo or by manual SQL.
    let unnamed = try connection.rows(
      """
      SELECT file FROM main.magicdata_asset_trash WHERE file IN \(marks)
        AND file NOT IN (SELECT file FROM main.magicdata_asset) AND NOT \(AssetSchema.isHeld("file", connection))
      """, as: Value.self)
    var hasRemoved = false
    for case .text(let text) in unnamed {
      // Other text isn't the name of a store's file.
      guard let name = AssetFileName(text) else { continue }
      do {
        if try folder.remove(name) { hasRemoved = true }
      } catch AssetError.notRegularFile {
        // The store hasn't created a folder of this name. Continue with the other files.
      }
    }
    // The removal must be durable before the marks are deleted.
    if hasRemoved, database.mayHaveOthers { try folder.files.sync() }
    try connection.executeChange("DELETE FROM main.magicdata_asset_trash WHERE file IN \(marks)")
  }

  /// Returns whether no reader in any process sees an older state of the database; false for a
  /// server, which doesn't report its readers.
  ///
  /// A passive checkpoint copies only frames of the WAL that all readers see. If it has copied the
  /// whole WAL, every reader sees the current state. Without a WAL, a commit waits for all readers.
  ///
  /// - Parameter connection: A connection outside any transaction.
  func hasNoOlderReader(_ connection: Connection) throws -> Bool {
    guard database.server == nil else { return false }
    let result = try connection.firstRow(
      "PRAGMA main.wal_checkpoint(PASSIVE)", as: Int.self, Int.self, Int.self)
    guard let (busy, log, copied) = result else { return false }
    return busy == 0 && log == copied
  }
}
