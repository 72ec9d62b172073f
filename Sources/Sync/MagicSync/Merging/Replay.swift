import MagicHistory
import SQLiteAssets
import SQLiteCore
import SQLiteHistory

/// Applies entries of other devices to a store, in the order that all devices share.
///
/// If an entry precedes some that are applied, those are undone first and applied again after it
/// (Terry et al., “Managing Update Conflicts in Bayou”, 1995).
struct Replay {
  /// The size in bytes up to which entries are combined and applied together.
  private static let groupSize = 1 << 20

  let connection: Connection
  let tables: SyncedTables
  let assets: AssetStore

  /// Applies all entries of the log that aren't applied.
  ///
  /// - Returns: The number of entries that were applied for the first time or again.
  func run() throws -> Int {
    guard let first = try SyncLog.firstPending(connection) else { return 0 }
    try undo("\(first.isBefore)")
    return try redo()
  }

  /// Undoes the applied entries that match a condition, which must hold for all entries after the
  /// first that it holds for.
  func undo(_ condition: SQL) throws {
    while true {
      let entries = try SyncLog.entries(
        where: "\(condition) AND isApplied = 1", isDescending: true, atMost: Replay.groupSize,
        connection)
      guard let oldest = entries.last else { break }
      let changes = try Patch.combining(entries.reversed().map { try $0.change() })
      try applyChanges(changes.inverted)
      try connection.executeChange(
        """
        UPDATE main.magicdata_sync_log SET isApplied = 0, effect = NULL
        WHERE isApplied = 1 AND (time, device) >= (\(oldest.id.time.bits), \(oldest.id.device))
        """)
    }
    for table in ["magicdata_sync_conflict", "magicdata_sync_alias"] {
      let device: SQL = table == "magicdata_sync_alias" ? "author" : "device"
      let renamed = SQL(
        unchecked:
          "(time, \(device.text)) IN (SELECT time, device FROM main.magicdata_sync_log WHERE isApplied = 0)"
      )
      try connection.executeChange("DELETE FROM main.\(identifier: table) WHERE \(renamed)")
    }
  }

  /// Gives the entries of this device that no other one knows later times than everything that was
  /// received, and undoes them.
  func delayOwnEntries(of device: String) throws {
    let own: SQL = "device = \(device) AND batch IS NULL"
    let times = try connection.rows(
      "SELECT time FROM main.magicdata_sync_log WHERE \(own) ORDER BY time", as: Int64.self)
    guard let first = times.first else { return }
    try undo("(time, device) >= (\(first), \(device))")
    let base = try SyncTables.content("base", connection) ?? []
    for time in times {
      try connection.executeChange(
        """
        UPDATE main.magicdata_sync_log
        SET time = \(try SyncClock.next(connection).bits), base = \(base)
        WHERE time = \(time) AND device = \(device)
        """)
    }
  }

  /// Applies the entries one by one. Applying several together could hide a conflict that another
  /// device finds, for example if the second one deletes the row with which the first one conflicts.
  private func redo() throws -> Int {
    var count = 0
    while true {
      let entries = try SyncLog.entries(
        where: "isApplied = 0", atMost: Replay.groupSize, connection)
      guard !entries.isEmpty else { return count }
      count += entries.count
      for entry in entries { try redo(entry) }
    }
  }

  private func redo(_ entry: SyncLog.Stored) throws {
    let patch = try entry.patch()
    if try apply(patch) {
      try SyncLog.mark(entry.id, isApplied: true, effect: nil, assets, connection)
      return try insert(SyncLog.removedInsertions(patch, of: entry, connection), of: entry.id)
    }
    let merge = try RowMerge(entry.id, SyncSchema(connection, tables), connection)
    var effect = Patch()
    // The first attempt finds out what changes. It is rolled back, and its changes are applied like
    // any others, which updates the full-text indexes, too.
    try connection.savepoint {
      let (_, rows) = try connection.recordingRows {
        try connection.withoutTriggersAndForeignKeys { try merge.apply(patch) }
      }
      effect = try Patch(rows.netRows { !$0.isShadow && HistoryRecording.holds($0.table) })
      return TransactionOutcome.rollback
    }
    try applyChanges(effect)
    try SyncLog.mark(entry.id, isApplied: true, effect: effect, assets, connection)
    for alias in merge.aliases {
      try connection.executeChange(
        """
        INSERT INTO main.magicdata_sync_alias
        VALUES (\(alias.table), '', \(alias.key), \(alias.target), \(entry.id.time.bits), \(entry.id.device))
        ON CONFLICT DO NOTHING
        """)
    }
    var conflicts = merge.conflicts
    let named = Set(conflicts.map { [.text($0.table)] + $0.key })
    conflicts += try SyncLog.removedInsertions(patch, of: entry, connection).filter {
      !named.contains([.text($0.table)] + $0.key)
    }
    try insert(conflicts, of: entry.id)
  }

  private func insert(_ conflicts: [SyncConflict], of id: EntryID) throws {
    for (number, conflict) in conflicts.enumerated() {
      try connection.executeChange(
        """
        INSERT INTO main.magicdata_sync_conflict
        VALUES (\(id.time.bits), \(id.device), \(number), \(conflict.content))
        """)
    }
  }

  /// Applies a patch to rows with the expected values.
  ///
  /// - Returns: False if a row has other values, even those of the patch, or if a constraint is
  ///   violated. Nothing has changed then.
  private func apply(_ patch: Patch) throws -> Bool {
    var isExact = true
    do {
      try connection.savepoint {
        isExact = try HistoryRecording.apply(patch, connection, nil).skippedCount == 0
        return isExact ? TransactionOutcome.commit : .rollback
      }
      return isExact
    } catch is PatchError {
      return false
    } catch let error as SQLiteError where error.code.primary == .constraint {
      return false
    }
  }

  /// Applies changes that are known to fit, except for columns that a migration has dropped since.
  private func applyChanges(_ patch: Patch) throws {
    func resolve(_ conflict: PatchConflict) -> PatchResolution {
      [.notFound, .constraint].contains(conflict.kind) ? .omit : .replace
    }
    do {
      try connection.savepoint {
        _ = try HistoryRecording.apply(
          patch, connection, checksForeignKeys: false, resolve)
      }
    } catch let error as PatchError {
      guard case .schema = error.reason else { throw error }
      _ = try HistoryRecording.apply(
        fitted(patch), connection, checksForeignKeys: false, resolve)
    }
  }

  /// Returns the part of a patch whose tables and columns exist.
  private func fitted(_ patch: Patch) throws -> Patch {
    Patch(
      tables: try patch.tables.compactMap { table in
        guard let names = table.columns else { return nil }
        let present = Set(try connection.columns(of: table.name).map { asciiLowercased($0.name) })
        let places = names.indices.filter { present.contains(asciiLowercased(names[$0])) }
        guard table.keyColumns.allSatisfy(places.contains) else { return nil }
        return Patch.Table(
          name: table.name, keyPositions: places.map { table.keyPositions[$0] },
          columns: places.map { names[$0] },
          rows: table.rows.compactMap { row in
            let (old, new) = row.values
            let (before, after) = (places.map { old[$0] }, places.map { new[$0] })
            if row.kind == .update, after.allSatisfy({ $0 == nil }) { return nil }
            return Patch.Row(row.kind, isIndirect: row.isIndirect, old: before, new: after)
          })
      })
  }
}
