package import SQLiteCore

import Essentials

/// A rename that a step of a migration makes.
package enum SchemaRename: Sendable {
  case table(String, to: String)
  /// All tables whose names begin with a prefix, such as the link tables of a type.
  case prefix(String, to: String)
  case column(String, of: String, to: String)

  /// The parts of the rename, separated by U+001F.
  fileprivate var text: String {
    switch self {
    case .table(let name, let newName): "t\u{1F}\(name)\u{1F}\(newName)\u{1F}"
    case .prefix(let name, let newName): "p\u{1F}\(name)\u{1F}\(newName)\u{1F}"
    case .column(let name, let table, let newName):
      "c\u{1F}\(name)\u{1F}\(newName)\u{1F}\(table)"
    }
  }
}

/// The table that stores this library's metadata: `magicdata_meta(key, value)`.
///
/// It contains the version of its layout, the UUID of the store, the type to which each table
/// belongs, and the names of the migrations that have run.
package enum MetaTable {
  /// The version of the layout that this version of the library writes.
  package static let formatVersion: Int64 = 1
  /// The table's name.
  static let name = "magicdata_meta"

  /// Returns the UUID of the store, or nil if it has none yet.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/schema`` if a newer version of the library has
  ///   created the store.
  package static func presentUUID(_ connection: Connection) throws(SQLiteError) -> String? {
    var facts: [String: Value] = [:]
    do {
      let rows = try connection.rows(
        "SELECT key, value FROM magicdata_meta WHERE key IN ('format', 'uuid')", as: String.self,
        Value.self)
      for (key, value) in rows { facts[key] = value }
    } catch  where error.isMissingTableOrColumn {
      return nil
    }
    if let version = facts["format"] { try checkFormat(version) }
    guard case .text(let uuid)? = facts["uuid"] else { return nil }
    return uuid
  }

  /// Returns the UUID of the store. Creates the table and the UUID if they are missing.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/schema`` if a newer version of the library has
  ///   created the store.
  package static func storeUUID(_ connection: Connection) throws -> String {
    try connection.executeChange(
      "CREATE TABLE IF NOT EXISTS magicdata_meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
    if try value("format", connection) == nil {
      try set("format", .integer(formatVersion), connection)
    }
    try checkFormat(connection)
    if case .text(let uuid)? = try value("uuid", connection) { return uuid }
    let uuid = UUID().uuidString
    try set("uuid", .text(uuid), connection)
    return uuid
  }

  /// Sets the UUID of a store, for example after the store's content has been replaced. Creates the
  /// metadata table if it is missing.
  package static func setStoreUUID(_ uuid: String, _ connection: Connection) throws {
    guard try storeUUID(connection) != uuid else { return }
    try set("uuid", .text(uuid), connection)
  }

  /// Throws ``SQLiteError`` with ``ResultCode/schema`` if a newer version of the library has
  /// created the table. Does nothing if the table is missing.
  package static func checkFormat(of connection: Connection) throws {
    if try !connection.columnNames(of: name).isEmpty { try checkFormat(connection) }
  }

  /// Throws ``SQLiteError`` with ``ResultCode/schema`` if a newer version of the library has
  /// created the table, which must exist.
  package static func checkFormat(_ connection: Connection) throws(SQLiteError) {
    if let version = try value("format", connection) { try checkFormat(version) }
  }

  private static func checkFormat(_ version: Value) throws(SQLiteError) {
    guard case .integer(let number) = version, number <= formatVersion else {
      throw SQLiteError(
        .schema,
        "the store was created by a newer version of the library (format \(version)); update "
          + "the library")
    }
  }

  /// Returns the names of the migrations that have run, the oldest first.
  static func migrations(_ connection: Connection) throws(SQLiteError) -> [String] {
    let start = "migration:"
    let rows = try connection.rows(
      """
      SELECT substr(key, \(start.utf8.count + 1)) FROM magicdata_meta
      WHERE key >= \(start) AND key < 'migration;' ORDER BY value
      """, as: String.self)
    return rows
  }

  /// Records that a migration has run.
  static func recordMigration(_ migration: String, _ connection: Connection) throws(SQLiteError) {
    let count = try migrations(connection).count
    try set("migration:\(migration)", .integer(Int64(count + 1)), connection)
  }

  /// Records a rename that belongs to the next migration. A sync applies the recorded renames to the
  /// changes of devices that haven't run the migration.
  ///
  /// The text contains the number of the migration, the kind of name, the former name, the new one,
  /// and the table of a column, separated by U+001F and ended by U+001E.
  static func record(_ rename: SchemaRename, _ connection: Connection) throws(SQLiteError) {
    let text = "\(try migrations(connection).count + 1)\u{1F}\(rename.text)\u{1E}"
    try connection.executeChange(
      "INSERT INTO magicdata_meta VALUES ('renames', \(text)) ON CONFLICT (key) DO UPDATE SET value = value || excluded.value"
    )
  }

  /// Records that a table belongs to a type.
  package static func register(
    _ table: String, of type: String, _ connection: Connection
  ) throws(SQLiteError) {
    try set("table:\(table)", .text(type), connection)
  }

  /// Deletes the record that a table belongs to a type.
  static func unregister(_ table: String, _ connection: Connection) throws(SQLiteError) {
    guard try connection.tableExists(name) else { return }
    try connection.executeChange(
      "DELETE FROM magicdata_meta WHERE key = \("table:\(table)") COLLATE NOCASE")
  }

  package static func value(
    _ key: String, _ connection: Connection
  ) throws(SQLiteError) -> Value? {
    try connection.firstRow(
      "SELECT value FROM magicdata_meta WHERE key = \(key)", as: Value.self)
  }

  package static func set(
    _ key: String, _ value: Value, _ connection: Connection
  ) throws(SQLiteError) {
    try connection.executeChange(
      "INSERT INTO magicdata_meta VALUES (\(key), \(value)) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    )
  }
}
