import SQLiteCore

extension AssetStore {
  /// Settles what openers left that are no more: a file that a row names is moved into place, and any
  /// other is removed.
  ///
  /// A file that is marked for removal is moved too, since an older reader may still need it.
  func recover() throws {
    for (opener, left) in try folder.takeAbandoned() {
      try recover(left)
      if database.path != nil { try folder.files.sync() }
      try folder.pending.removeFolder(opener)
    }
  }

  private func recover(_ left: Folder) throws {
    let names = try left.names().compactMap { AssetFileName($0) }
    guard !names.isEmpty else { return }
    // One snapshot, taken after the lock: its opener will not commit any more.
    let known = try database.read { connection in
      Set(try names.filter { try isKnown($0, in: connection) })
    }
    for name in names { try settle(name, from: left, isKnown: known.contains(name)) }
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

  /// Does the same for files of this store whose COMMIT failed, or that could not be moved.
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
