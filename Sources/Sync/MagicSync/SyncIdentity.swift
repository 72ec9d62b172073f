import Essentials
import MagicHistory
import SQLiteAssets
import SQLiteCore
import SQLiteHistory
import SQLiteMapping
import SQLiteObjects

extension SyncedTables {
  /// Determines the tables of types, and creates those that don't exist.
  ///
  /// - Throws: ``SyncError`` if a reference between a synced and another table is not possible.
  init(
    _ objects: [any MagicObject.Type]?, _ records: [any Record.Type],
    _ migrations: [Migration] = [], of magic: MagicData
  ) async throws {
    let plans = try (objects ?? []).map { try magic.plan($0) }
    var names: Set<String>?
    if objects != nil || !records.isEmpty {
      names = Set(plans.flatMap { $0.claims.map { asciiLowercased($0.table) } })
      for record in records { names?.insert(asciiLowercased(record.tableName)) }
    }
    var keys: [String: String] = [:]
    for plan in plans {
      if let primary = plan.primary, plan.autoIncrementSlot == nil {
        keys[asciiLowercased(plan.table)] = plan.properties[primary].name
      }
    }
    if objects == nil, records.isEmpty,
      let stored = try await magic.database.read({ try SyncedTables.stored($0) })
    {
      (names, keys) = (stored.names, stored.naturalKeys)
    }
    self.init(names: names, naturalKeys: keys)
    let tables = self
    try await migrate(magic, migrations)
    try await magic.database.writeSeparately { connection in
      try magic.prepareTables(plans, connection)
      for record in records { try connection.prepare(record) }
      try tables.checkReferences(connection)
    }
  }

  private func checkReferences(_ connection: Connection) throws {
    for table in try connection.existingTables() where HistoryRecording.holds(table) {
      for key in try connection.foreignKeys(of: table) {
        switch (contains(table), contains(key.referencedTable)) {
        case (true, false):
          throw SyncError.missingType(table: table, references: key.referencedTable)
        case (false, true) where !["CASCADE", "SET NULL"].contains(key.onDelete.uppercased()):
          throw SyncError.restrictingReference(table: table, references: key.referencedTable)
        default: break
        }
      }
    }
  }
}

/// The identity of a device, and the keys that it assigns.
struct SyncIdentity {
  /// The number of low bits of a key that count a device's own rows.
  private static let keyBits: Int64 = 32

  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// Creates the tables of the sync and an identity if they are missing.
  func prepare(
    _ tables: SyncedTables, _ assets: AssetStore
  ) throws -> (id: String, keys: ClosedRange<Int64>) {
    try SyncTables.make(connection)
    try SchemaFit.noticeMigrations(tables, assets, connection)
    if try SyncTables.text("device", connection) == nil {
      try renew()
      try SyncTables.setHadContent(!SyncContent(connection, tables).isEmpty(), connection)
    } else {
      try recordNewTables(tables, assets)
    }
    return try current()
  }

  /// Records the rows of tables that are synced from now on, but weren't before.
  private func recordNewTables(_ tables: SyncedTables, _ assets: AssetStore) throws {
    guard let names = tables.names, let known = try SyncedTables.stored(connection)?.names else {
      return
    }
    let new = SyncedTables(names: names.subtracting(known), naturalKeys: tables.naturalKeys)
    // Tables that reference each other must be in one entry.
    var added: [Patch.Table] = []
    try SyncContent(connection, new).forEachPatch(atMost: .max) { added += $0.tables }
    guard !added.isEmpty else { return }
    let patch = Patch(tables: added)
    let id = EntryID(time: try SyncClock.next(connection), device: try SyncState(connection).device)
    try SyncLog.insert(
      SyncEntry(id: id, base: SyncTables.base(connection), rows: patch.content()),
      isApplied: true, holding: patch.assetFiles, assets, connection)
  }

  func current() throws -> (id: String, keys: ClosedRange<Int64>) {
    let first = try SyncTables.number("firstKey", connection) ?? 1
    return (try SyncState(connection).device, first...(first + (1 << Self.keyBits) - 1))
  }

  /// Gives the store a new identity, which no other device knows.
  func renew() throws {
    let device = UUID().uuidString.lowercased().filter { $0 != "-" }
    try SyncTables.set("device", .text(device), connection)
    let prefix = Int64.random(in: 1..<1 << 30)
    try SyncTables.set("firstKey", .integer(prefix << Self.keyBits), connection)
    for key in ["isAdmitted", "isRemoved", "isCopy", "lastBatch", "lastSnapshot", "cut"] {
      try SyncTables.remove(key, connection)
    }
  }
}
