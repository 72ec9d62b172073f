package import SQLiteCore

// The choice of tables is stored, so that a process that doesn't know the types, such as the tool,
// syncs the same ones.
extension SyncedTables {
  private static let key = "tables"

  /// Returns the tables of the last ``Sync`` of this store, or nil if there was none.
  static func stored(_ connection: Connection) throws -> SyncedTables? {
    guard try SyncTables.exist(connection),
      let content = try connection.firstRow(
        "SELECT value FROM main.magicdata_sync WHERE key = \(key)", as: [UInt8].self)
    else { return nil }
    var reader = ByteReader(content)
    var names: Set<String>?
    if try reader.number() != 0 {
      names = []
      for _ in 0..<(try reader.count()) { names?.insert(try reader.text()) }
    }
    var naturalKeys: [String: String] = [:]
    for _ in 0..<(try reader.count()) {
      let table = try reader.text()
      naturalKeys[table] = try reader.text()
    }
    return SyncedTables(names: names, naturalKeys: naturalKeys)
  }

  /// Stores these tables. The tables of the sync must exist.
  func store(_ connection: Connection) throws {
    var writer = ByteWriter()
    writer.append(Int64(names == nil ? 0 : 1))
    if let names {
      writer.append(Int64(names.count))
      for name in names.sorted() { writer.append(name) }
    }
    writer.append(Int64(naturalKeys.count))
    for (table, column) in naturalKeys.sorted(by: { $0.key < $1.key }) {
      writer.append(table)
      writer.append(column)
    }
    try SyncTables.set(Self.key, .blob(writer.bytes), connection)
  }
}

extension Sync {
  /// Returns the names of the last sync of a store and of the device, or nil if the store has never
  /// been synced. Blocks the thread.
  package static func storedNames(in database: Database) throws -> (sync: String, device: String)? {
    try database.read { connection in
      guard try SyncTables.exist(connection), let name = try SyncTables.text("name", connection)
      else { return nil }
      return (name, try SyncTables.text("deviceName", connection) ?? "")
    }
  }

  /// Stores which tables are synced, the names, and that the files are encrypted.
  ///
  /// - Throws: ``SyncError/cipherMissing`` if an earlier ``Sync`` of this store had a cipher.
  func storeChoice() async throws {
    let (tables, isEncrypted, name, deviceName) = (
      tables, format.cipher != nil, name, deviceName
    )
    try await magic.database.withoutTransaction { connection in
      try connection.transaction {
        try SyncTables.setEncryption(isEncrypted, connection)
        try tables.store(connection)
        try SyncTables.set("name", .text(name), connection)
        try SyncTables.set("deviceName", .text(deviceName), connection)
      }
    }
  }
}

extension SyncTables {
  private static let encryption = "isEncrypted"

  /// Records whether a ``Sync`` of this store encrypts its files.
  ///
  /// - Throws: ``SyncError/cipherMissing`` if an earlier one did, and this one doesn't.
  fileprivate static func setEncryption(_ isEncrypted: Bool, _ connection: Connection) throws {
    let wasEncrypted = try number(encryption, connection) == 1
    guard isEncrypted || !wasEncrypted else { throw SyncError.cipherMissing }
    try set(encryption, .integer(isEncrypted ? 1 : 0), connection)
  }
}
