import MagicHistory
import SQLiteAssets
import SQLiteCore
import SQLiteHistory

/// The tables in which a store keeps the state of its sync. Their names begin with `magicdata_`, so
/// that patches, histories and other devices never contain their rows.
enum SyncTables {
  static func exist(_ connection: Connection) throws -> Bool {
    try connection.tableExists("magicdata_sync")
  }

  static func make(_ connection: Connection) throws {
    try connection.executeMultipleChanges(
      """
      CREATE TABLE IF NOT EXISTS main.magicdata_sync (
        key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
      -- `effect` contains what the entry changed in this store if that differs from `rows`.
      CREATE TABLE IF NOT EXISTS main.magicdata_sync_log (
        number INTEGER PRIMARY KEY, time INTEGER NOT NULL, device TEXT NOT NULL, batch INTEGER,
        isApplied INTEGER NOT NULL, base BLOB NOT NULL, rows BLOB NOT NULL, effect BLOB,
        UNIQUE (time, device));
      CREATE INDEX IF NOT EXISTS main.magicdata_sync_log_batch
        ON magicdata_sync_log (device, batch);
      CREATE INDEX IF NOT EXISTS main.magicdata_sync_log_pending
        ON magicdata_sync_log (time, device) WHERE isApplied = 0;
      -- The batches of this device. `head` contains everything but the entries.
      CREATE TABLE IF NOT EXISTS main.magicdata_sync_batch (
        number INTEGER PRIMARY KEY, head BLOB NOT NULL, isWritten INTEGER NOT NULL);
      -- The other devices. `head` contains their last batch without its entries. `day` counts the
      -- days on which this store was synced until then.
      CREATE TABLE IF NOT EXISTS main.magicdata_sync_device (
        device TEXT PRIMARY KEY, name TEXT NOT NULL, received INTEGER NOT NULL,
        clock INTEGER NOT NULL, head BLOB NOT NULL, day INTEGER NOT NULL,
        isRemoved INTEGER NOT NULL, isAnnounced INTEGER NOT NULL) WITHOUT ROWID;
      -- The key of the row that has taken the place of another one. `device` is empty if it holds
      -- for the entries of all devices.
      CREATE TABLE IF NOT EXISTS main.magicdata_sync_alias (
        name TEXT NOT NULL, device TEXT NOT NULL, key INTEGER NOT NULL, target INTEGER NOT NULL,
        time INTEGER NOT NULL, author TEXT NOT NULL,
        PRIMARY KEY (name, device, key)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS main.magicdata_sync_conflict (
        time INTEGER NOT NULL, device TEXT NOT NULL, number INTEGER NOT NULL, content BLOB NOT NULL,
        PRIMARY KEY (time, device, number)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS main.magicdata_sync_acknowledged (
        time INTEGER NOT NULL, device TEXT NOT NULL, content BLOB NOT NULL,
        PRIMARY KEY (time, device, content)) WITHOUT ROWID;
      """)
  }

  /// Returns the key of the row that has taken the place of another one, or nil if none has.
  static func alias(of key: Value, in table: String, _ connection: Connection) throws -> Value? {
    guard case .integer(var number) = key else { return nil }
    var found: Value?
    var passed: Set<Int64> = []
    // The row that has taken the place of another one may have been replaced, too.
    while passed.insert(number).inserted,
      let target = try connection.firstRow(
        """
        SELECT target FROM main.magicdata_sync_alias
        WHERE name = \(asciiLowercased(table)) AND device = '' AND key = \(number)
        """, as: Int64.self)
    {
      (number, found) = (target, .integer(target))
    }
    return found
  }

  static func text(_ key: String, _ connection: Connection) throws -> String? {
    guard let value = try value(key, connection) else { return nil }
    guard case .text(let text) = value else { throw corrupt(key) }
    return text
  }

  static func number(_ key: String, _ connection: Connection) throws -> Int64? {
    guard let value = try value(key, connection) else { return nil }
    guard case .integer(let number) = value else { throw corrupt(key) }
    return try SyncNumber.checked(number)
  }

  /// Returns the number of the last batch that this device knows, by device.
  static func base(_ connection: Connection) throws -> [String: Int64] {
    guard let content = try content("base", connection) else { return [:] }
    var reader = ByteReader(content)
    return try reader.map()
  }

  static func content(_ key: String, _ connection: Connection) throws -> [UInt8]? {
    guard let value = try value(key, connection) else { return nil }
    guard case .blob(let content) = value else { throw corrupt(key) }
    return content
  }

  /// Returns whether the device that began the sync had content before.
  static func hadContent(_ connection: Connection) throws -> Bool {
    try number("hadContent", connection) == 1
  }

  static func setHadContent(_ hadContent: Bool, _ connection: Connection) throws {
    try set("hadContent", .integer(hadContent ? 1 : 0), connection)
  }

  /// Records a former identity of this device, whose files nobody needs.
  static func addFormer(_ device: String, _ connection: Connection) throws {
    try set("former \(device)", .integer(1), connection)
  }

  static func formerDevices(_ connection: Connection) throws -> Set<String> {
    Set(
      try connection.rows(
        "SELECT substr(key, 8) FROM main.magicdata_sync WHERE key LIKE 'former %'",
        as: String.self))
  }

  static func remove(_ key: String, _ connection: Connection) throws {
    try connection.executeChange("DELETE FROM main.magicdata_sync WHERE key = \(key)")
  }

  private static func corrupt(_ key: String) -> SQLiteError {
    SQLiteError(.corrupt, "“\(key)” in the tables of the sync is corrupt")
  }

  private static func value(_ key: String, _ connection: Connection) throws -> Value? {
    try connection.firstRow(
      "SELECT value FROM main.magicdata_sync WHERE key = \(key)", as: Value.self)
  }

  static func set(_ key: String, _ value: Value, _ connection: Connection) throws {
    try connection.executeChange(
      """
      INSERT INTO main.magicdata_sync VALUES (\(key), \(value))
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
      """)
  }
}

/// The clock of a device, which is stored with its changes.
enum SyncClock {
  /// Returns the next time, and stores it.
  static func next(_ connection: Connection) throws -> SyncTime {
    let time = SyncTime(after: try current(connection))
    try SyncTables.set("clock", .integer(time.bits), connection)
    return time
  }

  static func current(_ connection: Connection) throws -> SyncTime {
    SyncTime(bits: try SyncTables.number("clock", connection) ?? 0)
  }

  /// Makes all later times of this device later than a received one.
  static func advance(to time: SyncTime, _ connection: Connection) throws {
    if try current(connection) < time {
      try SyncTables.set("clock", .integer(time.bits), connection)
    }
  }
}

extension EntryID {
  /// The SQL condition that an entry of the log comes after this one.
  var isBefore: SQL { "(time, device) > (\(time.bits), \(device))" }
}

/// The log of entries, in the order that all devices share.
enum SyncLog {
  /// An entry of the log.
  struct Stored {
    let id: EntryID
    let batch: Int64?
    let rows: [UInt8]
    let effect: [UInt8]?
    let base: [UInt8]

    /// The entry as others get it.
    func entry() throws -> SyncEntry {
      var reader = ByteReader(base)
      return SyncEntry(id: id, base: try reader.map(), rows: rows)
    }

    var size: Int { rows.count + (effect?.count ?? 0) }

    /// The changes that other devices have to make.
    func patch() throws -> Patch { try Patch(content: rows) }

    /// The changes that the entry made in this store.
    func change() throws -> Patch { try Patch(content: effect ?? rows) }
  }

  /// Inserts an entry. If the log contains it, only sets its batch.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - batch: The number of its batch, or nil if it belongs to none yet.
  ///   - isApplied: Whether the entry's changes are in the store.
  ///   - effect: The changes in the store, if they differ from those of the entry.
  ///   - files: The files of the assets in the changes.
  ///   - assets: The assets of the store.
  ///   - connection: The connection.
  static func insert(
    _ entry: SyncEntry, batch: Int64? = nil, isApplied: Bool, effect: [UInt8]? = nil,
    holding files: Set<String>, _ assets: AssetStore, _ connection: Connection
  ) throws {
    var base = ByteWriter()
    base.append(entry.base)
    let change = try connection.executeChange(
      """
      INSERT INTO main.magicdata_sync_log (time, device, batch, isApplied, base, rows, effect)
      VALUES (\(entry.id.time.bits), \(entry.id.device), \(batch), \(isApplied), \(base.bytes),
        \(entry.rows), \(effect.map { Value.blob($0) } ?? .null))
      ON CONFLICT (time, device) DO UPDATE SET batch = excluded.batch WHERE batch IS NULL
      """)
    guard change.rows > 0 else { return }
    try hold(files, for: entry.id, assets, connection)
  }

  /// Keeps files of assets as long as the log contains an entry, so that undoing it finds them.
  private static func hold(
    _ files: Set<String>, for id: EntryID, _ assets: AssetStore, _ connection: Connection
  ) throws {
    guard !files.isEmpty,
      let number = try connection.firstRow(
        """
        SELECT number FROM main.magicdata_sync_log
        WHERE time = \(id.time.bits) AND device = \(id.device)
        """, as: Int64.self)
    else { return }
    try assets.hold(files, for: holder(number), in: connection)
  }

  /// The holder of an entry's files. The numbers are odd and negative, so that they differ from
  /// those of a history's steps.
  private static func holder(_ number: Int64) -> AssetHolder {
    // A damaged table may contain any number.
    AssetHolder(session: nil, number: -2 &* number &- 1)
  }

  /// Deletes the entries that match a condition.
  static func delete(
    where condition: SQL, _ assets: AssetStore, _ connection: Connection
  ) throws {
    let numbers = try connection.rows(
      "SELECT number FROM main.magicdata_sync_log WHERE \(condition)", as: Int64.self)
    for number in numbers { try assets.release(holder(number), in: connection) }
    try connection.executeChange("DELETE FROM main.magicdata_sync_log WHERE \(condition)")
  }

  /// Calls `body` with all entries, in their order, in groups of about `limit` bytes.
  static func forEachGroup(
    atMost limit: Int, _ connection: Connection, _ body: ([Stored]) throws -> Void
  ) throws {
    var records: [Stored] = []
    var size = 0
    var statement = try connection.statement(
      "SELECT \(columns) FROM main.magicdata_sync_log WHERE isApplied = 1 ORDER BY time, device")
    while try statement.step() {
      let record = try stored(statement)
      size += record.size
      records.append(record)
      guard size >= limit else { continue }
      try body(records)
      (records, size) = ([], 0)
    }
    if !records.isEmpty { try body(records) }
  }

  private static let columns: SQL = "time, device, batch, rows, effect, base"

  private static func stored(_ statement: borrowing Statement) throws(SQLiteError) -> Stored {
    // A value of another type would be converted, and then not be found again.
    guard case .integer(let time) = try statement.value(at: 0),
      case .text(let device) = try statement.value(at: 1)
    else { throw SQLiteError(.corrupt, "an entry in the log of the sync is corrupt") }
    return Stored(
      id: EntryID(time: SyncTime(bits: try SyncNumber.checked(time)), device: device),
      batch: statement.isNull(at: 2) ? nil : statement.integer(at: 2),
      rows: statement.blob(at: 3), effect: statement.isNull(at: 4) ? nil : statement.blob(at: 4),
      base: statement.blob(at: 5))
  }

  /// Returns the keys of the rows of assets that entries have changed.
  ///
  /// - Parameters:
  ///   - first: The position from which entries count, or nil for all entries.
  ///   - connection: The connection.
  static func assetKeys(from first: EntryID?, _ connection: Connection) throws -> Set<Value> {
    let name: SQL = "CAST('magicdata_asset' AS BLOB)"
    let place: SQL? = first.map { "(time, device) >= (\($0.time.bits), \($0.device))" }
    var keys: Set<Value> = []
    var statement = try connection.statement(
      """
      SELECT \(columns) FROM main.magicdata_sync_log
      WHERE (instr(rows, \(name)) > 0 OR instr(effect, \(name)) > 0)
        AND \(place ?? "1")
      """)
    while try statement.step() {
      let entry = try stored(statement)
      keys.formUnion(try entry.patch().assetRows.keys)
      if entry.effect != nil { keys.formUnion(try entry.change().assetRows.keys) }
    }
    return keys
  }

  /// Returns the first entry that is not applied, or nil if there is none.
  static func firstPending(_ connection: Connection) throws -> EntryID? {
    try connection.firstRow(
      """
      SELECT time, device FROM main.magicdata_sync_log WHERE isApplied = 0
      ORDER BY time, device LIMIT 1
      """, as: Int64.self, String.self
    ).map { EntryID(time: SyncTime(bits: $0), device: $1) }
  }

  /// Returns consecutive entries from a position, up to about `limit` bytes.
  ///
  /// - Parameters:
  ///   - condition: The condition of the entries.
  ///   - isDescending: Whether the last entry is first.
  ///   - limit: The size in bytes after which no further entry is added.
  static func entries(
    where condition: SQL, isDescending: Bool = false, atMost limit: Int, _ connection: Connection
  ) throws -> [Stored] {
    var found: [Stored] = []
    var size = 0
    let order: SQL = isDescending ? "time DESC, device DESC" : "time, device"
    var statement = try connection.statement(
      """
      SELECT \(columns) FROM main.magicdata_sync_log WHERE \(condition)
      ORDER BY \(order)
      """)
    while size < limit, try statement.step() {
      let entry = try stored(statement)
      size += entry.size
      found.append(entry)
    }
    return found
  }

  /// Records whether an entry is applied, and its effect if that differs from its rows.
  static func mark(
    _ id: EntryID, isApplied: Bool, effect: Patch?, _ assets: AssetStore, _ connection: Connection
  ) throws {
    if let effect { try hold(effect.assetFiles, for: id, assets, connection) }
    try connection.executeChange(
      """
      UPDATE main.magicdata_sync_log
      SET isApplied = \(isApplied), effect = \(try effect.map { .blob(try $0.content()) } ?? Value.null)
      WHERE time = \(id.time.bits) AND device = \(id.device)
      """)
  }
}
