import MagicHistory
import SQLiteAssets
import SQLiteCore
import SQLiteHistory

/// Records the changes of each transaction as an entry of the log, in the same transaction.
enum SyncRecorder {
  /// The key of the mark that the running transaction applies entries of the log, so that its
  /// changes are no new entry. The transaction removes the mark before its end.
  private static let mark = "isApplying"

  static func start(
    _ database: Database, _ assets: AssetStore, _ tables: SyncedTables
  ) -> Registration {
    database.beforeEachCommit(once: "sync") { connection, rows in
      try record(rows, tables, assets, connection)
    }
  }

  /// Runs `body`, whose changes aren't recorded.
  static func applying<Result>(
    _ connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    try SyncTables.set(mark, .integer(1), connection)
    return try body()
  }

  private static func record(
    _ rows: RecordedRows?, _ tables: SyncedTables, _ assets: AssetStore, _ connection: Connection
  ) throws {
    if try SyncTables.number(mark, connection) != nil {
      return try SyncTables.remove(mark, connection)
    }
    guard let rows else { throw SyncError.tooManyRows }
    var patch = try tables.patch(of: rows, connection)
    if let fit = try SchemaFit.noticeMigrations(tables, nil, connection) {
      patch = try fit.fit(patch)
    }
    guard !patch.isEmpty, let device = try SyncTables.text("device", connection) else { return }
    let id = EntryID(time: try SyncClock.next(connection), device: device)
    try SyncLog.insert(
      SyncEntry(id: id, base: SyncTables.base(connection), rows: patch.content()),
      isApplied: true, holding: patch.assetFiles, assets, connection)
  }
}
