import SQLiteCore

// The file of new content depends on the outcome of its transaction. A rollback removes it. If the
// file was synced for a COMMIT that failed, the next commit decides. If the process ends before
// that, ``AssetStore/recover()`` removes the file unless a row references it.
extension AssetStore {
  /// Runs `change`, which stores content in a row. Removes the content if `change` throws.
  func adopt(
    _ content: Content, in connection: Connection, _ change: () throws -> Void
  ) throws {
    do {
      try change()
    } catch {
      opener.abandon(content.file)
      throw error
    }
    if content.bytes == nil {
      let (opener, file) = (opener, content.file)
      opener.adopt(file, isSynced: content.isSynced)
      connection.beforeCommit { _ in try opener.sync() }
      connection.afterCommit { _ in opener.settle(file) }
      connection.afterRollback { _ in opener.discard(file) }
    }
    if !opener.unsettled.isEmpty { scheduleUpkeep(in: connection) }
  }
}
