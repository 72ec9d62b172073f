import SQLiteAssets
import SQLiteCore
import SQLiteObjects

extension Sync {
  /// Returns the conflicts that you haven't acknowledged, in the order of the transactions that
  /// caused them.
  ///
  ///     for conflict in try await sync.conflicts() {
  ///       if await asksUser(about: conflict) { try await sync.restore(conflict) }
  ///     }
  ///
  /// - Returns: The conflicts.
  /// - Throws: `SQLiteError` if the store can't be read; `MagicError.closed` if it was closed.
  /// - Complexity: O(*n*), where *n* is the size of all conflicts.
  public func conflicts() async throws -> [SyncConflict] {
    try await magic.database.reportingClosedStore {
      try await magic.database.read { try SyncConflict.all($0) }
    }
  }

  /// Closes conflicts in this store, in one transaction. Other devices keep them.
  ///
  /// A conflict stays acknowledged if a later pass applies its transaction again and finds the same
  /// conflict. If the other device's values have changed by then, it is a new conflict. The store
  /// no longer keeps the contents of lost assets after this call.
  ///
  /// - Parameter conflicts: The conflicts, which ``conflicts()`` returned.
  /// - Throws: `SQLiteError` if the store can't be written; `MagicError.closed` if it was closed.
  /// - Complexity: O(*n*), where *n* is the size of the conflicts that you pass and of all open
  ///   conflicts that contain assets.
  public func acknowledge(_ conflicts: [SyncConflict]) async throws {
    try await writeConflicts { connection, assets in
      for conflict in conflicts { try conflict.acknowledge(connection) }
      try SyncConflict.holdFiles(assets, connection)
    }
  }

  /// Makes the lost edit of a conflict again, as a new transaction of this device, and acknowledges
  /// the conflict.
  ///
  /// The other devices receive the transaction like any other one.
  ///
  /// - For ``SyncConflict/Kind/value``, ``SyncConflict/Kind/sameKey``,
  ///   ``SyncConflict/Kind/uniqueValue``, ``SyncConflict/Kind/constraint`` and
  ///   ``SyncConflict/Kind/reference``, the row gets its lost values. A link of a list gets its lost
  ///   position, or the nearest free one.
  /// - For ``SyncConflict/Kind/changeOfRemoved``, ``SyncConflict/Kind/removalOfChanged`` and
  ///   ``SyncConflict/Kind/row``, the row is inserted again with its lost values and its assets. If
  ///   the row exists again, it only gets the lost values. Links that the removal has
  ///   deleted as well are separate conflicts, and only if another device had changed them.
  /// - For ``SyncConflict/Kind/removal``, the row is removed again, and the delete rules apply.
  ///
  /// - Parameter conflict: The conflict, which ``conflicts()`` returned.
  /// - Throws: ``SyncError/notRestorable(_:)`` with the reason, for example that the row doesn't
  ///   exist or that another row has its unique value; `SQLiteError` if the store can't be written;
  ///   `AssetError` if an asset row is invalid; `MagicError.closed` if the store was closed. Nothing
  ///   is changed in these cases, and the conflict remains.
  public func restore(_ conflict: SyncConflict) async throws {
    let tables = tables
    try await writeConflicts { connection, assets in
      try ConflictRestoration(conflict, tables, connection).run()
      try conflict.acknowledge(connection)
      try SyncConflict.holdFiles(assets, connection)
    }
  }

  private func writeConflicts(
    _ body: @escaping @Sendable (Connection, AssetStore) throws -> Void
  ) async throws {
    let (database, assets) = (magic.database, magic.assets)
    try await database.reportingClosedStore {
      try await database.writeSeparately { try body($0, assets) }
    }
  }
}

extension SyncConflict {
  /// The holder of the files that open conflicts need. Histories use positive numbers, and entries
  /// of the log odd negative ones.
  private static let holder = AssetHolder(session: nil, number: -2)

  fileprivate func acknowledge(_ connection: Connection) throws {
    try connection.executeChange(
      """
      INSERT INTO main.magicdata_sync_acknowledged (time, device, content)
      VALUES (\(id.entry.time.bits), \(id.entry.device), \(content)) ON CONFLICT DO NOTHING
      """)
  }

  /// Holds the asset files that open conflicts need, and releases those that none needs any more.
  /// Call it in each transaction that changes the conflicts.
  ///
  /// - Parameters:
  ///   - assets: The store of the files.
  ///   - connection: The writer connection.
  ///   - received: The files that the transaction has received.
  static func holdFiles(
    _ assets: AssetStore, _ connection: Connection, _ received: ReceivedAssets? = nil
  ) throws {
    let files = try all(connection, withAssets: true).reduce(into: Set<String>()) {
      $0.formUnion($1.assetFiles)
    }
    try received?.keep(files, in: connection)
    // The release marks the files for removal, but held files aren't removed.
    try assets.release(holder, in: connection)
    try assets.hold(files, for: holder, in: connection)
  }

  /// The names of the files of the assets that the conflict needs.
  private var assetFiles: Set<String> {
    var rows = assets
    if isAsset { rows += [lost, row] }
    return Set(
      rows.compactMap { row in
        guard case .text(let file)? = row["file"], row["content"] ?? .null == .null else {
          return nil
        }
        return file
      })
  }
}

/// Makes the lost edit of a conflict again.
private struct ConflictRestoration {
  private let conflict: SyncConflict
  private let connection: Connection
  private let table: SyncTable
  private let schema: SyncSchema
  private let rows: SyncRows

  init(_ conflict: SyncConflict, _ tables: SyncedTables, _ connection: Connection) throws {
    self.conflict = conflict
    self.connection = connection
    schema = SyncSchema(connection, tables)
    rows = SyncRows(connection)
    guard let table = try schema.table(conflict.table) else {
      throw SyncError.notRestorable("the table “\(conflict.table)” no longer exists")
    }
    self.table = table
    for column in Set(conflict.lost.keys).union(conflict.row.keys).sorted()
    where !table.columns.contains(column) {
      throw SyncError.notRestorable(
        "the column “\(column)” of “\(table.name)” no longer exists")
    }
  }

  func run() throws {
    do {
      try connection.savepoint { try perform() }
    } catch let error as SQLiteError where error.code.primary == .constraint {
      throw SyncError.notRestorable(error.message)
    }
    // The foreign keys of this library's tables are checked at the end of a transaction.
    if connection.hasDeferredViolations {
      throw SyncError.notRestorable("a row that “\(table.name)” references was removed")
    }
  }

  private func perform() throws {
    for asset in conflict.assets { try insertAsset(asset) }
    let (lost, row) = (try translated(conflict.lost), try translated(conflict.row))
    switch conflict.kind {
    case .value where table.isList && lost["position"] != nil: try move(row, to: lost["position"])
    case .value, .sameKey, .uniqueValue, .reference, .constraint: try update(lost)
    case .changeOfRemoved, .removalOfChanged, .row: try insert(row.merging(lost) { $1 })
    case .removal:
      guard try rows.current(table, conflict.key) != nil else { return }
      try rows.delete(table, conflict.key)
    }
  }

  private func update(_ values: [String: Value]) throws {
    guard try rows.current(table, conflict.key) != nil else {
      throw SyncError.notRestorable("the row of “\(table.name)” no longer exists")
    }
    try rows.update(table, conflict.key, values.filter { !table.keys.contains($0.key) })
    if conflict.isAsset { try notifyOwners() }
  }

  private func insert(_ values: [String: Value]) throws {
    guard !conflict.isAsset else {
      throw SyncError.notRestorable("the object of the asset no longer exists")
    }
    var values = values
    let key = table.keys.map { values[$0] ?? .null }
    if table.isList {
      if try rows.current(table, key) != nil {
        values["position"] = .integer(try rows.freePosition(table, key))
      }
    } else if try rows.current(table, key) != nil {
      let lost = conflict.lost.filter { !table.keys.contains($0.key) }
      guard conflict.kind != .row || lost.isEmpty else {
        throw SyncError.notRestorable("“\(table.name)” has another row with the same key")
      }
      return try update(try translated(lost))
    }
    try rows.insert(table, values)
  }

  /// Moves a link of a list to a position or, if that is taken, to the next free one.
  private func move(_ link: [String: Value], to position: Value?) throws {
    guard let owner = link["owner"], let target = link["target"], let position,
      case .integer(let now)? = conflict.key.last,
      let place = try rows.nearestPosition(table, owner, target, now)
    else { throw SyncError.notRestorable("the link of “\(table.name)” no longer exists") }
    guard position != .integer(place) else { return }
    try rows.delete(table, [owner, .integer(place)])
    var moved = link
    moved["position"] = position
    if try rows.current(table, [owner, position]) != nil {
      moved["position"] = .integer(try rows.freePosition(table, [owner, position]))
    }
    try rows.insert(table, moved)
  }

  private func insertAsset(_ values: [String: Value]) throws {
    guard let assets = try schema.table("magicdata_asset"), let id = values["id"] else { return }
    if try rows.current(assets, [id]) == nil {
      try rows.insert(assets, values)
    } else {
      try rows.update(assets, [id], values.filter { $0.key != "id" })
    }
  }

  /// Writes the id of a replaced asset to its object again, so that observers of the object are
  /// notified.
  private func notifyOwners() throws {
    let owners = try connection.rows(
      """
      SELECT DISTINCT tbl_name FROM main.sqlite_schema
      WHERE type = 'trigger' AND sql LIKE '%DELETE FROM magicdata_asset WHERE id = OLD.%'
      """, as: String.self)
    for owner in try owners.compactMap({ try schema.table($0) }) {
      for column in owner.columns {
        try connection.executeChange(
          """
          UPDATE main.\(identifier: owner.name) SET \(identifier: column) = \(identifier: column)
          WHERE \(identifier: column) = \(conflict.key[0])
          """)
      }
    }
  }

  /// Returns values that reference the rows that have taken the place of others.
  private func translated(_ values: [String: Value]) throws -> [String: Value] {
    var values = values
    for key in table.foreignKeys where key.columns.count == 1 {
      guard let value = values[key.columns[0]],
        let target = try SyncTables.alias(of: value, in: key.referencedTable, connection)
      else { continue }
      values[key.columns[0]] = target
    }
    return values
  }
}
