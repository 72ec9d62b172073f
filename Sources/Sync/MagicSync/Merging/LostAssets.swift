import SQLiteAssets
import SQLiteCore
import SQLiteHistory

/// The assets of rows that lost against others.
///
/// A conflict contains the rows of the assets with which its edit can be made again. A conflict
/// about an asset that was removed becomes one about the object that it belonged to.
struct LostAssets {
  private let conflicts: [SyncConflict]
  private let changes: [RowMerge.Change]
  private let id: EntryID
  private let schema: SyncSchema
  private let connection: Connection
  private let rows: SyncRows

  init(
    _ conflicts: [SyncConflict], of changes: [RowMerge.Change], before id: EntryID,
    _ schema: SyncSchema, _ connection: Connection
  ) {
    self.conflicts = conflicts
    self.changes = changes
    self.id = id
    self.schema = schema
    self.connection = connection
    rows = SyncRows(connection)
  }

  /// Returns the conflicts with their assets. Removes the rows of assets to which no row refers any
  /// more, as the triggers do.
  func settled() throws -> [SyncConflict] {
    guard !conflicts.isEmpty, let assets = try schema.table("magicdata_asset") else {
      return conflicts
    }
    var settled: [SyncConflict] = []
    for conflict in conflicts {
      if conflict.isAsset, !conflict.row.isEmpty, let owner = try owner(of: conflict) {
        let isKnown = (conflicts + settled).contains {
          $0.table == owner.table && $0.key == owner.key && !$0.row.isEmpty
        }
        if !isKnown { settled.append(owner) }
      } else {
        settled.append(conflict)
      }
    }
    for index in settled.indices where !settled[index].isAsset {
      settled[index].assets = try lostAssets(of: settled[index], assets)
    }
    return settled
  }

  private func lostAssets(
    of conflict: SyncConflict, _ assets: SyncTable
  ) throws -> [[String: Value]] {
    guard let table = try schema.table(conflict.table) else { return [] }
    let columns = try schema.assetColumns(of: table)
    guard !columns.isEmpty else { return [] }
    let current = try rows.current(table, conflict.key)
    var found: [[String: Value]] = []
    for column in columns {
      guard let asset = conflict.lost[column] ?? conflict.row[column], asset != .null,
        asset != current?[column]
      else { continue }
      if let present = try rows.current(assets, [asset]) {
        found.append(present)
        try rows.delete(assets, [asset])
      } else if let removed = try removedAsset(asset, assets) {
        found.append(removed)
      }
    }
    return found
  }

  private func removedAsset(_ asset: Value, _ assets: SyncTable) throws -> [String: Value]? {
    if let own = conflicts.first(where: { $0.isAsset && $0.key == [asset] && !$0.row.isEmpty }) {
      return own.row
    }
    if let own = changes.first(where: {
      $0.table.isAsset && $0.kind == .delete && $0.key == [asset]
    }) {
      return own.old
    }
    return try SyncLog.removedRow(assets, [asset], before: id, connection)
  }

  /// Returns the conflict about the object whose asset was removed, or nil if it isn't known.
  private func owner(of conflict: SyncConflict) throws -> SyncConflict? {
    let asset = conflict.key[0]
    typealias Owner = (table: SyncTable, key: [Value], column: String, values: [String: Value])
    func owner(
      _ table: SyncTable, _ key: [Value], _ values: [String: Value]
    ) throws -> Owner? {
      try schema.assetColumns(of: table).first { values[$0] == asset }.map {
        (table, key, $0, values)
      }
    }
    var found: Owner?
    for change in changes where change.kind != .insert && found == nil {
      found = try owner(change.table, change.key, change.old)
    }
    found =
      try found
      ?? SyncLog.last(before: id, connection) { patched, row in
        guard row.kind != .insert, let table = try schema.table(patched.name) else { return nil }
        return try owner(table, patched.key(of: row).values, patched.old(of: row))
      }
    guard let found else { return nil }
    if let current = try rows.current(found.table, found.key) {
      return SyncConflict(
        .value, found.table.name, found.key, lost: [found.column: asset],
        kept: [found.column: current[found.column] ?? .null])
    }
    guard Set(found.values.keys).isSuperset(of: found.table.columns) else { return nil }
    return SyncConflict(
      conflict.kind, found.table.name, found.key, lost: [found.column: asset], row: found.values)
  }
}
