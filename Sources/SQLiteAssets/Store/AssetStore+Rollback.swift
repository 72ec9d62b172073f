import SQLiteCore

// The file of new content depends on the outcome of its transaction. A rollback removes it
// (``PendingFolder/discard(_:)``). If the
// file was synced for a COMMIT that failed, the next commit decides. If the process ends before
// that, ``AssetStore/recover()`` removes the file unless a row references it.
extension AssetStore {
  /// Runs `change`, which writes a row that references new content. Removes the content if `change`
  /// throws or the transaction is rolled back.
  func adopt(
    _ content: Content, in connection: Connection, _ change: () throws -> Void
  ) throws {
    do {
      try change()
    } catch {
      pendingFolder.abandon(content.file)
      throw error
    }
    if content.bytes == nil {
      let (pendingFolder, file) = (pendingFolder, content.file)
      pendingFolder.adopt(file, isSynced: content.isSynced)
      connection.beforeCommit { _ in try pendingFolder.sync() }
      connection.afterCommit { _ in pendingFolder.settle(file) }
      connection.afterRollback { _ in pendingFolder.discard(file) }
    }
    if !pendingFolder.unsettled.isEmpty { scheduleUpkeep(in: connection) }
  }
}
