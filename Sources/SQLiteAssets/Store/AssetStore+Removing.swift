import SQLiteCore
import Synchronization
import SystemFiles

extension AssetStore {
  /// Removes the files of deleted and replaced assets, as far as no reader can still see them.
  ///
  /// Opening a store does this, and so does each commit of this database that deletes or replaces
  /// assets, by whatever SQL. What a reader of this database was in the way of then goes when it has
  /// ended; if the reader was another's, with this database's next commit of any kind, with the next
  /// opening, or by this call.
  ///
  /// - Throws: ``AssetError`` or ``SQLiteError``. What was not removed is removed another time.
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

  /// Removes the marked files.
  ///
  /// - Parameter connection: The connection that writes, outside any transaction.
  func collect(in connection: Connection) throws {
    let limit = 500
    while true {
      let marks = try connection.rows(
        "SELECT file FROM main.magicdata_asset_trash LIMIT \(limit)", as: Value.self)
      guard !marks.isEmpty else { return }
      guard try hasNoOlderReader(connection) else { return holdBack(in: connection) }
      try connection.transaction { try remove(marks, in: connection) }
      if marks.count < limit { return }
    }
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
    // A row that names the file again was written by hand, but it is a row.
    let unnamed = try connection.rows(
      """
      SELECT file FROM main.magicdata_asset_trash WHERE file IN \(marks)
        AND file NOT IN (SELECT file FROM main.magicdata_asset)
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
    if hasRemoved, database.path != nil { try folder.files.sync() }
    try connection.executeChange("DELETE FROM main.magicdata_asset_trash WHERE file IN \(marks)")
  }

  /// Whether no reader, in any process, sees the database as it was before this call.
  ///
  /// A checkpoint copies the log only as far as no reader needs the older pages. So if all of it is in
  /// the database file, every reader sees all of it. Without a log a commit has waited for the readers.
  ///
  /// - Parameter connection: A connection outside any transaction.
  func hasNoOlderReader(_ connection: Connection) throws -> Bool {
    let result = try connection.firstRow(
      "PRAGMA main.wal_checkpoint(PASSIVE)", as: Int.self, Int.self, Int.self)
    guard let (busy, log, copied) = result else { return false }
    return busy == 0 && log == copied
  }
}

extension AssetStore {
  /// Settles what closed openers left: a file that a row names is moved to `files`, any other is
  /// removed.
  ///
  /// A file that is marked for removal is moved too, since an older reader may still need it.
  func recover() throws {
    for (opener, left) in try folder.takeAbandoned() {
      // Another opening settles the rest.
      guard try recover(left) else { continue }
      if database.path != nil { try folder.files.sync() }
      try folder.pending.removeFolder(opener)
    }
  }

  /// Settles the files of one closed opener, and returns whether that was all of them.
  private func recover(_ left: Folder) throws -> Bool {
    let names = try left.names().compactMap { AssetFileName($0) }
    guard !names.isEmpty else { return true }
    // Taken after the lock: its opener will not commit any more.
    var known = try known(names)
    var isSettled = true
    if known.count < names.count {
      isSettled = (try? database.write { try endCommitsCutOff(in: $0) }) != nil
      known = try self.known(names)
    }
    for name in names where isSettled || known.contains(name) {
      try settle(name, from: left, isKnown: known.contains(name))
    }
    return isSettled
  }

  private func known(_ names: [AssetFileName]) throws -> Set<AssetFileName> {
    try database.read { connection in
      Set(try names.filter { try isKnown($0, in: connection) })
    }
  }

  /// Undoes for good, by the open transaction, what a failed or killed COMMIT wrote.
  ///
  /// Its frames may be in the log, complete, and yet be seen by nobody as long as a connection keeps the
  /// index of the log: the next connection after that one finds them and takes them for
  /// committed. A commit of our own overwrites them, or shows that they count. Only then can a file
  /// that no row names be removed.
  private func endCommitsCutOff(in connection: Connection) throws {
    // Pages that were changed and changed back are written all the same.
    try connection.executeChange(
      "INSERT INTO main.magicdata_asset_store (id, format) VALUES ('', 0)")
    try connection.executeChange("DELETE FROM main.magicdata_asset_store WHERE id = ''")
  }

  private func settle(
    _ name: AssetFileName, from left: Folder, isKnown: Bool
  ) throws(AssetError) {
    do {
      if isKnown {
        try left.move(name.text, to: folder.files)
      } else {
        try left.remove(name.text)
      }
    } catch .notRegularFile {
      // Somebody has put a folder in the way: that is one asset's trouble and not the store's.
    }
  }

  /// Settles the files of this store whose COMMIT failed or that could not be moved, outside any
  /// commit.
  ///
  /// - Parameter connection: The connection that writes, outside any transaction.
  func settleLeftoversNow(in connection: Connection) throws {
    guard !opener.unsettled.isEmpty else { return }
    try connection.transaction { try endCommitsCutOff(in: connection) }
    try settleLeftovers(in: connection)
  }

  /// Settles the files of this store whose COMMIT failed or that could not be moved, after a commit.
  ///
  /// - Parameter connection: A connection that has just committed, outside any transaction.
  func settleLeftovers(in connection: Connection) throws {
    for name in opener.unsettled {
      if try isKnown(name, in: connection) {
        opener.settle(name)
      } else {
        try opener.remove(unsettled: name)
      }
    }
  }
}
