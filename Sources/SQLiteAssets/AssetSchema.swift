import SQLiteCore

/// The tables of a store.
enum AssetSchema {
  /// The layout of tables and folders; another number is another layout.
  private static let format = 1

  /// The triggers, and not this module, make the marks: raw SQL and cascades make them too. A file
  /// name is marked once, and one that a row names again is not removed. A row with a content of its
  /// own has a name too, of a file that is not there, for the sake of its extension.
  private static let script: SQL = """
    CREATE TABLE main.magicdata_asset_store (id TEXT NOT NULL, format INTEGER NOT NULL);
    CREATE TABLE main.magicdata_asset (
      id TEXT NOT NULL PRIMARY KEY,
      file TEXT NOT NULL UNIQUE,
      size INTEGER NOT NULL,
      sha256 BLOB NOT NULL,
      content BLOB
    ) WITHOUT ROWID;
    CREATE TABLE main.magicdata_asset_trash (file TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
    CREATE TRIGGER main.magicdata_asset_deleted AFTER DELETE ON magicdata_asset
    WHEN OLD.content IS NULL
    BEGIN
      INSERT INTO magicdata_asset_trash (file) VALUES (OLD.file) ON CONFLICT DO NOTHING;
    END;
    CREATE TRIGGER main.magicdata_asset_replaced AFTER UPDATE OF file ON magicdata_asset
    WHEN NEW.file IS NOT OLD.file AND OLD.content IS NULL
    BEGIN
      INSERT INTO magicdata_asset_trash (file) VALUES (OLD.file) ON CONFLICT DO NOTHING;
    END;
    """

  /// Makes the tables if they are missing, and returns the identity of the store.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - found: The identity of a store that has none yet, or nil for a new one.
  static func prepare(_ database: Database, orElse found: AssetID?) throws -> AssetID {
    if let identity = try database.read(identity) { return identity }
    return try database.write { connection in
      // Another process may have been faster.
      if let identity = try identity(in: connection) { return identity }
      try connection.executeMultipleChanges(script)
      let identity = found ?? AssetID()
      try connection.executeChange(
        "INSERT INTO main.magicdata_asset_store (id, format) VALUES (\(identity), \(format))")
      return identity
    }
  }

  /// Gives the content of another store, or of none, the identity of this one.
  static func setIdentity(_ identity: AssetID, _ connection: Connection) throws {
    try connection.transaction {
      guard let found = try self.identity(in: connection) else {
        try connection.executeMultipleChanges(script)
        try connection.executeChange(
          "INSERT INTO main.magicdata_asset_store (id, format) VALUES (\(identity), \(format))")
        return
      }
      guard found != identity else { return }
      try connection.executeChange("UPDATE main.magicdata_asset_store SET id = \(identity)")
    }
  }

  /// The identity of the store, or nil if the tables are missing.
  static func identity(in connection: Connection) throws -> AssetID? {
    let tables = try connection.firstRow(
      "SELECT count(*) FROM main.sqlite_master WHERE name = 'magicdata_asset_store'", as: Int.self)
    guard tables == 1 else { return nil }
    let row = try connection.firstRow(
      "SELECT id, format FROM main.magicdata_asset_store", as: AssetID.self, Int.self)
    guard let (identity, found) = row else { throw AssetError.unknownFormat(0) }
    guard found == format else { throw AssetError.unknownFormat(found) }
    return identity
  }
}
