import SQLiteCore
import SystemFiles

extension AssetStore {
  /// Settles what closed openers left: a file that a row names is moved to `files`, any other is
  /// removed.
  ///
  /// A file that is marked for removal is moved too, since an older reader may still need it.
  func recover() throws {
    for (opener, left) in try folder.takeAbandoned() {
      // Another opening settles the rest.
      guard try recover(left) else { continue }
      if database.mayHaveOthers { try folder.files.sync() }
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
      // Read by the same transaction: at a server another reader may see less.
      let all = try? database.write { connection in
        try endCommitsCutOff(in: connection)
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
        _ = try folder.settle(name, from: left)
      } else {
        try left.remove(name.text)
      }
    } catch .notRegularFile {
      // A folder stands in the way: an error of this one asset, and not of the store.
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
