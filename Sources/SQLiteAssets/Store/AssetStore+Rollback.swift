import SQLiteCore

// What becomes of a content's file at the end of its transaction: a rollback removes it, or the next commit if it was
// synced for a commit that failed. A program that ends before that leaves it to ``AssetStore/recover()``, which removes
// files that no row names.
extension AssetStore {
  /// Runs `change`, by which a row gets a content, which is removed if that fails.
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
