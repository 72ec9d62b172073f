import SQLiteCore
import SystemFiles

extension AssetStore {
  /// Recovers the files in the pending folders of closed stores: moves a file to `files` if a row
  /// references it, and removes it otherwise.
  ///
  /// A file that is marked for removal is moved as well, because an older reader may still need it.
  func recover() throws {
    for (pendingFolder, left) in try folder.lockAbandoned() {
      // If some files can't be processed now, another opening of the store does it.
      guard try recover(left) else { continue }
      if database.mayHaveOthers { try folder.files.sync() }
      try folder.pending.removeFolder(pendingFolder)
    }
  }

  /// Moves the referenced files of one abandoned pending folder to `files`, and removes the others.
  ///
  /// - Parameter left: The pending folder, which is locked.
  /// - Returns: False if the call couldn't determine which files are referenced. Another opening of
  ///   the store retries it.
  private func recover(_ left: Folder) throws -> Bool {
    let names = try left.names().compactMap { AssetFileName($0) }
    guard !names.isEmpty else { return true }
    // The folder is locked, so its opener can't commit any more.
    var known = try known(names)
    var isSettled = true
    if known.count < names.count {
      // Read in the same transaction: on a server, another reader may see an older state.
      let all = try? database.write { connection in
        try resolveInterruptedCommits(in: connection)
        return try self.known(names, in: connection)
      }
      isSettled = all != nil
      known = try all ?? self.known(names)
    }
    for name in names where isSettled || known.contains(name) {
      try settle(name, from: left, isKnown: known.contains(name))
    }
    return isSettled
  }

  func known(_ names: [AssetFileName]) throws -> Set<AssetFileName> {
    try database.read { try known(names, in: $0) }
  }

  private func known(
    _ names: [AssetFileName], in connection: Connection
  ) throws -> Set<AssetFileName> {
    Set(try names.filter { try isKnown($0, in: connection) })
  }

  /// Determines whether commits take effect that SQLite reported as failed, or that the end of
  /// their process interrupted. Writes in the open transaction to do so.
  ///
  /// The frames of such a commit may be complete in the WAL, but invisible while any connection
  /// keeps the WAL index alive. The next connection after that finds the frames and treats them as
  /// committed. A commit of this connection either overwrites them or shows that they are
  /// committed. Only after that is it safe to remove a file that no row references.
  private func resolveInterruptedCommits(in connection: Connection) throws {
    // SQLite writes the changed pages even if the changes cancel out.
    try connection.executeChange(
      "INSERT INTO main.magicdata_asset_store (id, format) VALUES ('', 0)")
    try connection.executeChange("DELETE FROM main.magicdata_asset_store WHERE id = ''")
  }

  private func settle(
    _ name: AssetFileName, from left: Folder, isKnown: Bool
  ) throws(AssetError) {
    do {
      if isKnown {
        _ = try folder.settle(name, from: left)
      } else {
        try left.remove(name.text)
      }
    } catch .notRegularFile {
      // A folder has this name. This is an error of one asset, but not of the store.
    }
  }

  /// Moves or removes the files of this store for which a COMMIT or a move failed, without waiting
  /// for a commit.
  ///
  /// - Parameter connection: The writer connection, outside any transaction.
  func settlePendingFilesNow(in connection: Connection) throws {
    guard !pendingFolder.unsettled.isEmpty else { return }
    try connection.transaction { try resolveInterruptedCommits(in: connection) }
    try settlePendingFiles(in: connection)
  }

  /// After a commit, settles the files that an earlier failed COMMIT or move left pending: moves a
  /// file that a committed row references, and removes any other.
  ///
  /// - Parameter connection: A connection that has just committed, outside any transaction.
  func settlePendingFiles(in connection: Connection) throws {
    for name in pendingFolder.unsettled {
      if try isKnown(name, in: connection) {
        pendingFolder.settle(name)
      } else {
        try pendingFolder.remove(unsettled: name)
      }
    }
  }
}
