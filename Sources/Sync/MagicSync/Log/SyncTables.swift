import MagicHistory
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
        time INTEGER NOT NULL, device TEXT NOT NULL, batch INTEGER, isApplied INTEGER NOT NULL,
        rows BLOB NOT NULL, effect BLOB, PRIMARY KEY (time, device));
      CREATE INDEX IF NOT EXISTS main.magicdata_sync_log_batch
        ON magicdata_sync_log (device, batch);
      -- The batches of this device.
      CREATE TABLE IF NOT EXISTS main.magicdata_sync_batch (
        number INTEGER PRIMARY KEY, clock INTEGER NOT NULL, vector BLOB NOT NULL,
        isWritten INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS main.magicdata_sync_device (
        device TEXT PRIMARY KEY, name TEXT NOT NULL, received INTEGER NOT NULL,
        clock INTEGER NOT NULL, vector BLOB NOT NULL, lastBatch INTEGER) WITHOUT ROWID;
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
    // The row that has taken the place of another one may have been replaced, too.
    while found != key,
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
    guard case .text(let text)? = try value(key, connection) else { return nil }
    return text
  }

  static func number(_ key: String, _ connection: Connection) throws -> Int64? {
    guard case .integer(let number)? = try value(key, connection) else { return nil }
    return number
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
    let rows: [UInt8]
    let effect: [UInt8]?

    /// The changes that other devices have to make.
    func patch() throws -> Patch { try Patch(content: rows) }

    /// The changes that the entry made in this store.
    func change() throws -> Patch { try Patch(content: effect ?? rows) }
  }

  /// Inserts an entry of this device, which is applied already.
  static func insertOwn(_ entry: SyncEntry, _ connection: Connection) throws {
    try connection.executeChange(
      """
      INSERT INTO main.magicdata_sync_log (time, device, isApplied, rows)
      VALUES (\(entry.id.time.bits), \(entry.id.device), 1, \(entry.rows))
      """)
  }

  /// Inserts an entry of another device. Does nothing if the log contains it.
  static func insert(_ entry: SyncEntry, batch: Int64, _ connection: Connection) throws {
    try connection.executeChange(
      """
      INSERT INTO main.magicdata_sync_log (time, device, batch, isApplied, rows)
      VALUES (\(entry.id.time.bits), \(entry.id.device), \(batch), 0, \(entry.rows))
      ON CONFLICT DO NOTHING
      """)
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
      SELECT time, device, rows, effect FROM main.magicdata_sync_log WHERE \(condition)
      ORDER BY \(order)
      """)
    while size < limit, try statement.step() {
      let id = EntryID(
        time: SyncTime(bits: statement.integer(at: 0)), device: try statement.text(at: 1))
      let effect = statement.isNull(at: 3) ? nil : statement.blob(at: 3)
      let rows = statement.blob(at: 2)
      size += rows.count + (effect?.count ?? 0)
      found.append(Stored(id: id, rows: rows, effect: effect))
    }
    return found
  }

  /// Records whether an entry is applied, and its effect if that differs from its rows.
  static func mark(
    _ id: EntryID, isApplied: Bool, effect: [UInt8]?, _ connection: Connection
  ) throws {
    try connection.executeChange(
      """
      UPDATE main.magicdata_sync_log
      SET isApplied = \(isApplied), effect = \(effect.map { Value.blob($0) } ?? .null)
      WHERE time = \(id.time.bits) AND device = \(id.device)
      """)
  }
}
