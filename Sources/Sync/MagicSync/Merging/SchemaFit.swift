import MagicHistory
import SQLiteAssets
import SQLiteCore
import SQLiteHistory
import SQLiteMapping
import SQLiteObjects

/// Converts changes that were made with an older schema to the schema of the store.
///
/// Names follow the renames of the migrations that the older schema lacks. Values of dropped columns
/// and tables are skipped. A column that was added since has its default, and NULL in a column that
/// has become NOT NULL is replaced by the column's default. The migration does the same with the
/// rows of the store, so it makes no difference whether a change is applied before it or after it.
///
/// All entries of the log have the schema of the store: received ones are converted before they are
/// inserted, and ``noticeMigrations(_:_:_:)`` converts the others.
struct SchemaFit {
  /// The number of migrations that the older schema has.
  let level: Int64
  /// The number of migrations that the store has run.
  let ownLevel: Int64
  private let renames: [Rename]
  private let schema: SyncSchema
  private let connection: Connection

  private struct Rename {
    let kind: Character
    let name: String
    let newName: String
    let table: String
  }

  /// - Parameters:
  ///   - level: The number of migrations that the author of the changes had run.
  ///   - tables: The synced tables.
  ///   - connection: The connection of the store.
  init(from level: Int64, _ tables: SyncedTables, _ connection: Connection) throws {
    self.level = level
    self.connection = connection
    schema = SyncSchema(connection, tables)
    ownLevel = try Self.level(of: connection)
    var renames: [Rename] = []
    if level < ownLevel,
      let text = try connection.firstRow(
        "SELECT value FROM main.magicdata_meta WHERE key = 'renames'", as: String.self)
    {
      for line in text.split(separator: "\u{1E}") {
        let parts = line.split(separator: "\u{1F}", omittingEmptySubsequences: false)
        guard parts.count == 5, let number = Int64(parts[0]), let kind = parts[1].first,
          number > level
        else { continue }
        renames.append(
          Rename(
            kind: kind, name: asciiLowercased(String(parts[2])), newName: String(parts[3]),
            table: asciiLowercased(String(parts[4]))))
      }
    }
    self.renames = renames
  }

  /// Returns the number of migrations that a store has run.
  static func level(of connection: Connection) throws -> Int64 {
    guard try connection.tableExists("magicdata_meta") else { return 0 }
    return try connection.firstRow(
      "SELECT count(*) FROM main.magicdata_meta WHERE key >= 'migration:' AND key < 'migration;'",
      as: Int64.self) ?? 0
  }

  /// Returns the number of migrations whose schema the log and the conflicts have.
  static func storedLevel(_ connection: Connection) throws -> Int64 {
    try SyncTables.number("level", connection) ?? level(of: connection)
  }

  // MARK: - Names

  /// Returns the current names of a table and of columns.
  func names(_ table: String, _ columns: [String] = []) throws -> (table: String, columns: [String])
  {
    guard !renames.isEmpty else { return (table, columns) }
    var (name, new) = (table, columns)
    for rename in renames {
      let lowercased = asciiLowercased(name)
      switch rename.kind {
      case "t" where lowercased == rename.name: name = rename.newName
      case "p" where lowercased.hasPrefix(rename.name):
        let rest = name.utf8.dropFirst(rename.name.utf8.count)
        name = rename.newName + String(decoding: rest, as: UTF8.self)
      case "c" where lowercased == rename.table:
        new = new.map { asciiLowercased($0) == rename.name ? rename.newName : $0 }
      default: break
      }
    }
    // A change of the migration itself may have the new names already.
    if name != table, try schema.table(name) == nil, try schema.table(table) != nil { name = table }
    guard let known = try schema.table(name) else { return (name, new) }
    let present = Set(known.columns.map(asciiLowercased))
    for index in columns.indices
    where !present.contains(asciiLowercased(new[index]))
      && present.contains(asciiLowercased(columns[index]))
    {
      new[index] = columns[index]
    }
    return (known.name, new)
  }

  // MARK: - Changes

  /// Returns changes in the schema of the store.
  func fit(_ patch: Patch) throws -> Patch {
    var tables: [Patch.Table] = []
    for table in patch.tables {
      if let table = try fit(table) { tables.append(table) }
    }
    guard Set(tables.map { asciiLowercased($0.name) }).count < tables.count else {
      return Patch(tables: tables)
    }
    // A migration has changed the table between the changes of its rows.
    return try Patch.combining(tables.map { Patch(tables: [$0]) })
  }

  private func fit(_ table: Patch.Table) throws -> Patch.Table? {
    guard let names = table.columns else { return nil }
    let new = try self.names(table.name, names)
    guard let known = try schema.table(new.table) else { return nil }
    let isSame = new.columns == known.columns
    if isSame, level == ownLevel { return table }
    let lowercased = new.columns.map(asciiLowercased)
    let places = known.columns.map { lowercased.firstIndex(of: asciiLowercased($0)) }
    let isKey = known.columns.map(known.keys.contains)
    guard zip(isKey, places).allSatisfy({ !$0 || $1 != nil }) else { return nil }
    let isRequired = known.columns.map { column in
      known.notNull.contains(column) && !known.foreignKeys.contains { $0.columns.contains(column) }
    }
    func image(_ values: [Value?]) throws -> [Value?] {
      try known.columns.indices.map { index in
        let value = places[index].flatMap { values[$0] }
        if let value, value != .null || isKey[index] || !isRequired[index] { return value }
        return try schema.defaultValue(of: known.columns[index], in: known)
      }
    }
    let none = [Value?](repeating: nil, count: known.columns.count)
    let rows = try table.rows.compactMap { row -> Patch.Row? in
      let (old, new) = row.values
      switch row.kind {
      case .insert:
        return Patch.Row(.insert, isIndirect: row.isIndirect, old: none, new: try image(new))
      case .delete:
        return Patch.Row(.delete, isIndirect: row.isIndirect, old: try image(old), new: none)
      case .update:
        let before = places.map { $0.flatMap { old[$0] } }
        var after = places.map { $0.flatMap { new[$0] } }
        for index in after.indices where after[index] == .null && isRequired[index] {
          after[index] = try schema.defaultValue(of: known.columns[index], in: known)
        }
        if after.allSatisfy({ $0 == nil }) { return nil }
        return Patch.Row(.update, isIndirect: row.isIndirect, old: before, new: after)
      }
    }
    return Patch.Table(
      name: known.name,
      keyPositions: known.columns.map {
        UInt8(clamping: (known.keys.firstIndex(of: $0) ?? -1) + 1)
      },
      columns: known.columns, rows: rows)
  }

  /// Returns an encoded patch in the schema of the store.
  func fit(_ content: [UInt8]) throws -> [UInt8] {
    try fit(Patch(content: content)).content()
  }

  /// Returns an entry in the schema of the store.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - patch: The decoded changes of the entry, or nil.
  func fit(_ entry: SyncEntry, _ patch: Patch? = nil) throws -> SyncEntry {
    if level == ownLevel, let patch,
      try patch.tables.allSatisfy({ try schema.table($0.name)?.columns == $0.columns })
    {
      return entry
    }
    return SyncEntry(id: entry.id, base: entry.base, rows: try fit(entry.rows))
  }

  private func fit(_ conflict: SyncConflict) throws -> SyncConflict {
    func renamed(_ values: [String: Value]) throws -> [String: Value] {
      let keys = Array(values.keys)
      let new = try names(conflict.table, keys).columns
      return Dictionary(
        zip(new, keys).map { ($0, values[$1] ?? .null) }, uniquingKeysWith: { $1 })
    }
    var fitted = SyncConflict(
      conflict.kind, try names(conflict.table).table, conflict.key,
      lost: try renamed(conflict.lost), kept: try renamed(conflict.kept),
      row: try renamed(conflict.row), message: conflict.message, id: conflict.id)
    fitted.assets = conflict.assets
    return fitted
  }
}

// Converting what the store contains.
extension SchemaFit {
  /// Converts the log and the conflicts if the schema of the store has changed since the last call,
  /// as part of the open transaction.
  ///
  /// If a migration has run while the changes of rows weren't recorded, its changes of rows that the
  /// log contains become an entry of this device. Other rows are the same on all devices, and each
  /// device's migration changes them in the same way.
  ///
  /// - Parameters:
  ///   - tables: The synced tables.
  ///   - assets: The store of the assets, or nil if the changes of the open transaction, which may
  ///     be a migration, are recorded.
  ///   - connection: The writer connection.
  /// - Returns: The conversion of changes that were recorded since the last call, or nil if the
  ///   schema hasn't changed.
  @discardableResult
  static func noticeMigrations(
    _ tables: SyncedTables, _ assets: AssetStore?, _ connection: Connection
  ) throws -> SchemaFit? {
    let isKnown = try connection.firstRow(
      """
      SELECT 1 FROM main.magicdata_sync AS s, pragma_schema_version AS p
      WHERE s.key = 'schema' AND s.value = p.schema_version
      """)
    guard isKnown == nil else { return nil }
    let fit = try SchemaFit(from: storedLevel(connection), tables, connection)
    try fit.convertLog()
    try fit.convertBatches()
    try fit.convertNames()
    try fit.convertChoice()
    if fit.level < fit.ownLevel, let assets { try fit.recordChanges(assets) }
    try SyncTables.set("level", .integer(fit.ownLevel), connection)
    let version = try connection.firstRow("PRAGMA schema_version", as: Int64.self) ?? 0
    try SyncTables.set("schema", .integer(version), connection)
    return fit
  }

  /// Records how the rows of the store differ from those to which the log leads.
  private func recordChanges(_ assets: AssetStore) throws {
    guard let device = try SyncTables.text("device", connection),
      try SyncLog.firstPending(connection) == nil
    else { return }
    let net = try Patch.combining(
      SyncLog.entries(where: "isApplied = 1", atMost: .max, connection).map { try $0.change() })
    let rows = SyncRows(connection)
    let changes = Patch(
      tables: try net.tables.compactMap { table in
        guard let known = try schema.table(table.name), let names = table.columns else {
          return nil
        }
        let none = [Value?](repeating: nil, count: names.count)
        let isKey = names.map(known.keys.contains)
        let changed = try table.rows.compactMap { row -> Patch.Row? in
          let key = table.key(of: row).values
          let (current, new) = (try rows.current(known, key), row.new)
          guard let current else {
            // Only an insertion contains the whole row.
            return row.kind == .insert
              ? Patch.Row(.delete, isIndirect: false, old: new, new: none) : nil
          }
          let values = names.map { current[$0] }
          if row.kind == .delete {
            return Patch.Row(.insert, isIndirect: false, old: none, new: values)
          }
          let differs = names.indices.map { index in
            !isKey[index] && new[index] != nil && new[index] != values[index]
          }
          guard differs.contains(true) else { return nil }
          return Patch.Row(
            .update, isIndirect: false,
            old: names.indices.map { isKey[$0] ? values[$0] : differs[$0] ? new[$0] : nil },
            new: names.indices.map { differs[$0] ? values[$0] : nil })
        }
        guard !changed.isEmpty else { return nil }
        return Patch.Table(
          name: table.name, keyPositions: table.keyPositions, columns: names, rows: changed)
      })
    guard !changes.isEmpty else { return }
    let id = EntryID(time: try SyncClock.next(connection), device: device)
    try SyncLog.insert(
      SyncEntry(id: id, base: SyncTables.base(connection), rows: changes.content()),
      isApplied: true, holding: changes.assetFiles, assets, connection)
  }

  private func convertLog() throws {
    var last = EntryID(time: SyncTime(bits: .min), device: "")
    while true {
      let entries = try SyncLog.entries(
        where: last.isBefore, atMost: 1 << 20, connection)
      guard let end = entries.last else { return }
      last = end.id
      for entry in entries {
        let (rows, effect) = (try fit(entry.rows), try entry.effect.map { try fit($0) })
        guard rows != entry.rows || effect != entry.effect else { continue }
        try connection.executeChange(
          """
          UPDATE main.magicdata_sync_log
          SET rows = \(rows), effect = \(effect.map { Value.blob($0) } ?? .null)
          WHERE time = \(entry.id.time.bits) AND device = \(entry.id.device)
          """)
      }
    }
  }

  /// Gives the batches, which may have to be written again, the level of their entries.
  private func convertBatches() throws {
    guard level != ownLevel else { return }
    for (number, bytes) in try connection.rows(
      "SELECT number, head FROM main.magicdata_sync_batch", as: Int64.self, [UInt8].self)
    {
      var head = try SyncHead(stored: bytes)
      head.level = ownLevel
      try connection.executeChange(
        "UPDATE main.magicdata_sync_batch SET head = \(head.bytes) WHERE number = \(number)")
    }
  }

  /// Converts the conflicts and aliases.
  func convertNames() throws {
    guard !renames.isEmpty else { return }
    for name in ["magicdata_sync_conflict", "magicdata_sync_acknowledged"] {
      let contents = Set(
        try connection.rows("SELECT content FROM main.\(identifier: name)", as: [UInt8].self))
      for content in contents {
        let id = SyncConflict.ID(entry: EntryID(time: .zero, device: ""), number: 0)
        let new = try fit(SyncConflict(content, id: id)).content
        try connection.executeChange(
          "UPDATE main.\(identifier: name) SET content = \(new) WHERE content = \(content)")
      }
    }
    for name in try connection.rows(
      "SELECT DISTINCT name FROM main.magicdata_sync_alias", as: String.self)
    {
      let new = asciiLowercased(try names(name).table)
      guard new != name else { continue }
      try connection.executeChange(
        "UPDATE main.magicdata_sync_alias SET name = \(new) WHERE name = \(name)")
    }
  }

  /// Converts the stored choice of tables.
  private func convertChoice() throws {
    guard !renames.isEmpty, let stored = try SyncedTables.stored(connection) else { return }
    var keys: [String: String] = [:]
    for (table, column) in stored.naturalKeys {
      let new = try names(table, [column])
      keys[asciiLowercased(new.table)] = new.columns[0]
    }
    try SyncedTables(
      names: try stored.names.map { Set(try $0.map { asciiLowercased(try names($0).table) }) },
      naturalKeys: keys
    ).store(connection)
  }
}

// Running migrations.
extension SyncedTables {
  /// Runs migrations, and records their changes of rows if the store is synced already.
  func migrate(_ magic: MagicData, _ migrations: [Migration]) async throws {
    guard !migrations.isEmpty else { return }
    let stored = try await magic.database.read { try SyncedTables.stored($0) }
    let all = stored.map { stored in
      SyncedTables(
        names: names.flatMap { names in stored.names.map { names.union($0) } },
        naturalKeys: naturalKeys)
    }
    let recorder = all.map { SyncRecorder.start(magic.database, magic.assets, $0) }
    defer { withExtendedLifetime(recorder) {} }
    try await magic.migrate(migrations)
  }
}
