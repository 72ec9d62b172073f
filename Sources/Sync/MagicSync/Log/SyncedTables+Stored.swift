package import SQLiteCore

// The choice of tables is stored, so that a process that doesn't know the types, such as the tool,
// syncs the same ones.
extension SyncedTables {
  private static let key = "tables"

  /// Returns the tables of the last ``Sync`` of this store, or nil if there was none.
  static func stored(_ connection: Connection) throws -> SyncedTables? {
    guard try SyncTables.exist(connection),
      let content = try SyncTables.content(key, connection)
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
  /// Returns what the last ``Sync`` of a store has chosen, or nil if the store has never been
  /// synced. Blocks the thread.
  package static func storedChoice(
    in database: Database
  ) throws -> (name: String, deviceName: String, retention: Duration)? {
    try database.read { connection in
      guard try SyncTables.exist(connection), let name = try SyncTables.text("name", connection)
      else { return nil }
      let days = try SyncTables.number("retention", connection) ?? SyncLimits().days
      return (
        name, try SyncTables.text("deviceName", connection) ?? "",
        .seconds(min(max(1, days), .max / 86_400) * 86_400)
      )
    }
  }

  /// Returns the descriptions of the problems of the store's last exchange. Blocks the thread.
  package static func storedProblems(in database: Database) throws -> [String] {
    try database.read { try SyncTables.problems($0) }
  }

  /// Stores the problems of an exchange, so that the tool can list them.
  ///
  /// - Parameters:
  ///   - problems: The problems.
  ///   - last: The last report of this process. Nothing is read if it has the same problems.
  func storeProblems(_ problems: [SyncProblem], unlessIn last: SyncReport?) async throws {
    guard last?.problems != problems else { return }
    let texts = problems.map(\.description)
    guard try await magic.database.read({ try SyncTables.problems($0) }) != texts else { return }
    try await magic.database.writeSeparately { try SyncTables.setProblems(texts, $0) }
  }

  /// Stores which tables are synced, the names, the retention, and whether the files are encrypted.
  ///
  /// - Throws: ``SyncError/cipherMissing`` if an earlier ``Sync`` of this store had a cipher.
  func storeChoice() async throws {
    let (tables, isEncrypted) = (tables, format.cipher != nil)
    let (name, deviceName, days) = (name, deviceName, limits.days)
    try await magic.database.writeSeparately { connection in
      try SyncTables.setEncryption(isEncrypted, connection)
      try tables.store(connection)
      try SyncTables.set("name", .text(name), connection)
      try SyncTables.set("deviceName", .text(deviceName), connection)
      try SyncTables.set("retention", .integer(days), connection)
    }
  }
}

extension SyncTables {
  private static let encryption = "isEncrypted"
  private static let problems = "problems"

  fileprivate static func problems(_ connection: Connection) throws -> [String] {
    var reader = ByteReader(try content(problems, connection) ?? [0])
    return try (0..<reader.count()).map { _ in try reader.text() }
  }

  fileprivate static func setProblems(_ texts: [String], _ connection: Connection) throws {
    var writer = ByteWriter()
    writer.append(Int64(texts.count))
    for text in texts { writer.append(text) }
    try set(problems, .blob(writer.bytes), connection)
  }

  /// Records whether a ``Sync`` of this store encrypts its files.
  ///
  /// - Throws: ``SyncError/cipherMissing`` if an earlier one did, and this one doesn't.
  fileprivate static func setEncryption(_ isEncrypted: Bool, _ connection: Connection) throws {
    let wasEncrypted = try number(encryption, connection) == 1
    guard isEncrypted || !wasEncrypted else { throw SyncError.cipherMissing }
    try set(encryption, .integer(isEncrypted ? 1 : 0), connection)
  }
}
