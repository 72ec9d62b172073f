public import SQLiteCore
import Synchronization

extension AssetStore {
  /// Deletes an asset, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - connection: As for `put(_:extension:in:)`.
  /// - Returns: Whether there was such an asset.
  /// - Throws: `SQLiteError`.
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

// The files of deleted and replaced assets.
extension AssetStore {
  /// Removes the files of deleted and replaced assets, as far as no reader can still see them.
  ///
  /// Opening a store does this, and so does each commit of this database that deletes or replaces assets,
  /// by whatever SQL. A file that a reader of this database still needs is removed when that has ended; one
  /// that a reader of another process needs, with the next commit of this database, with the next opening,
  /// or by this call. The readers of a cluster are not known: there a file is kept for `leaderTimeout` after its
  /// mark was seen by one of these.
  ///
  /// - Throws: ``AssetError`` or `SQLiteError`. Files that were not removed now are removed another time.
  public func removeDeletedFiles() throws {
    try outsideTransaction { connection in
      try settleLeftoversNow(in: connection)
      try collect(in: connection)
    }
  }

  /// As ``removeDeletedFiles()``, without blocking the task.
  nonisolated(nonsending) public func removeDeletedFiles() async throws {
    try await worker.run { try self.removeDeletedFiles() }
  }

  /// Runs `body` with the connection that writes, and throws inside a transaction.
  func outsideTransaction<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try database.withoutTransaction { connection in
      guard connection.isAutocommit else {
        throw SQLiteError(.misuse, "files cannot be removed inside a transaction")
      }
      return try body(connection)
    }
  }

  /// How many files are removed by one transaction.
  private var limit: Int { 500 }

  /// Removes the marked files that no reader needs.
  ///
  /// - Parameter connection: The connection that writes, outside any transaction.
  func collect(in connection: Connection) throws {
    var marked: SQL = "SELECT file FROM main.magicdata_asset_trash WHERE file IS NOT NULL"
    let isRemote = database.server != nil
    if let server = database.server {
      guard let old = try noteMarks(olderThan: server.patience, in: connection) else { return }
      marked = old
    }
    while true {
      let marks = try connection.rows("\(marked) LIMIT \(limit)", as: Value.self)
      guard !marks.isEmpty else { return }
      guard try isRemote || hasNoOlderReader(connection) else { return holdBack(in: connection) }
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

  /// Notes the marks that are new. A server does not report its readers, so a file is removed some time after its
  /// mark was first seen.
  ///
  /// - Parameters:
  ///   - age: This time.
  ///   - connection: The connection that writes, outside any transaction.
  /// - Returns: A query for the files whose marks are old enough, or nil if there are no marks.
  private func noteMarks(olderThan age: Duration, in connection: Connection) throws -> SQL? {
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

  /// Tries again when the reads of this database that run now have ended; if none runs, and so
  /// somebody else reads, after the next commit.
  ///
  /// - Parameter connection: The connection that writes, outside any transaction.
  func holdBack(in connection: Connection) {
    guard !isHeldBack.exchange(true, ordering: .relaxed) else { return }
    let retry: @Sendable (Connection) -> Void = { [weak self] connection in
      guard let self else { return }
      isHeldBack.store(false, ordering: .relaxed)
      try? collect(in: connection)
    }
    guard !database.afterPresentReads(retry) else { return }
    connection.afterCommit(retry)
    connection.afterRollback { [weak self] connection in
      // An access that fails drops what waits for a commit.
      guard let self, isHeldBack.exchange(false, ordering: .relaxed) else { return }
      holdBack(in: connection)
    }
  }

  private func remove(_ marks: [Value], in connection: Connection) throws {
    // A row that names the file again, written by hand or by an undo, keeps it.
    let unnamed = try connection.rows(
      """
      SELECT file FROM main.magicdata_asset_trash WHERE file IN \(marks)
        AND file NOT IN (SELECT file FROM main.magicdata_asset) AND NOT \(AssetSchema.isHeld("file", connection))
      """, as: Value.self)
    var hasRemoved = false
    for case .text(let text) in unnamed {
      // Any other text names no file of a store.
      guard let name = AssetFileName(text) else { continue }
      do {
        if try folder.remove(name) { hasRemoved = true }
      } catch AssetError.notRegularFile {
        // A folder that somebody put there is not the store's, and must not hold up the others.
      }
    }
    // A mark must not go for good before its file has.
    if hasRemoved, database.mayHaveOthers { try folder.files.sync() }
    try connection.executeChange("DELETE FROM main.magicdata_asset_trash WHERE file IN \(marks)")
  }

  /// Whether no reader, in any process, sees the database as it was before this call.
  ///
  /// A checkpoint copies the log only as far as no reader needs the older pages. So if all of it is in
  /// the database file, every reader sees all of it. Without a log a commit has waited for the readers.
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
