import SQLiteCore

/// The catalog of the collections of a ``CodableStore``, stored in the table
/// `magicdata_collections`.
struct CollectionCatalog {
  static let name = "magicdata_collections"

  /// The entry of a collection in the catalog.
  struct Entry {
    /// The name of the table that contains the items.
    let table: String
    /// The text that identifies the process and type that computed the keys of the items
    /// (``KeyMaker/kind``), or `none`.
    let keys: String
  }

  let connection: Connection

  func exists() throws -> Bool {
    try connection.tableExists(Self.name)
  }

  func entry(_ name: String) throws -> Entry? {
    guard try exists() else { return nil }
    return try connection.firstRow(
      "SELECT place, keys FROM magicdata_collections WHERE name = \(name)",
      as: String.self, String.self
    ).map { Entry(table: $0, keys: $1) }
  }

  func names() throws -> [String] {
    guard try exists() else { return [] }
    return try connection.rows(
      "SELECT name FROM magicdata_collections ORDER BY name", as: String.self)
  }

  /// Creates the table of the catalog if it doesn't exist.
  func make() throws {
    try connection.executeChange(
      """
      CREATE TABLE IF NOT EXISTS magicdata_collections (
        name TEXT PRIMARY KEY NOT NULL, place TEXT NOT NULL UNIQUE, keys TEXT NOT NULL
      ) WITHOUT ROWID
      """)
  }

  func makeIndex(_ table: String) throws {
    try connection.executeChange(
      "CREATE INDEX IF NOT EXISTS \(identifier: table + " by key") ON \(identifier: table) (key)")
  }

  /// Removes the index on the keys of a table. Call this before all keys change, because updating
  /// the index for each key is slow.
  func removeIndex(_ table: String) throws {
    try connection.removeIndex(table + " by key", ifExists: true)
  }

  /// Creates a collection with an empty table, and returns its entry in the catalog.
  ///
  /// - Parameters:
  ///   - name: The name of the collection.
  ///   - keys: The text that identifies the process and type that compute the keys of the items
  ///     (``KeyMaker/kind``), or `none`.
  ///   - createsIndexLater: Whether the caller fills the table next and creates its index
  ///     afterwards.
  func add(_ name: String, keys: String, createsIndexLater: Bool = false) throws -> Entry {
    try make()
    let table = try freeTable(for: name)
    try connection.executeChange(
      """
      CREATE TABLE \(identifier: table) (
        position INTEGER PRIMARY KEY AUTOINCREMENT, key, item NOT NULL
      )
      """)
    if !createsIndexLater { try makeIndex(table) }
    try connection.executeChange(
      "INSERT INTO magicdata_collections (name, place, keys) VALUES (\(name), \(table), \(keys))")
    return Entry(table: table, keys: keys)
  }

  /// Returns an unused name for the table of a collection. It can't always be the collection's
  /// name, because names of collections may differ only in case and names of tables may not.
  private func freeTable(for name: String) throws -> String {
    let start =
      "items "
      + name.split(separator: "\0", omittingEmptySubsequences: false)
      .joined(separator: "_")
    var table = start
    var number = 2
    while try connection.firstRow(
      "SELECT 1 FROM sqlite_schema WHERE name COLLATE NOCASE IN \([table, table + " by key"])")
      != nil
    {
      table = "\(start) \(number)"
      number += 1
    }
    return table
  }

  func set(keys: String, of name: String) throws {
    try connection.executeChange(
      "UPDATE magicdata_collections SET keys = \(keys) WHERE name = \(name)")
  }

  /// Deletes all collections with their items.
  func removeAll() throws {
    guard try exists() else { return }
    let tables = try connection.rows("SELECT place FROM magicdata_collections", as: String.self)
    for table in tables { try connection.deleteTable(table, ifExists: true) }
    try connection.executeChange("DELETE FROM magicdata_collections")
  }
}
