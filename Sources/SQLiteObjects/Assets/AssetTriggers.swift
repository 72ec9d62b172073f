import SQLiteCore
import SQLiteMapping

/// The triggers of an asset column. They delete the asset when an SQL statement deletes the
/// object's row, or replaces the id in the column with NULL or another id.
struct AssetTriggers {
  private let connection: Connection

  init(_ connection: Connection) {
    self.connection = connection
  }

  private static let events = ["delete", "update"]

  private func name(_ event: String, _ column: String, of table: String) -> String {
    "\(PropertyName.name(column, of: table))_\(event)"
  }

  /// Creates the asset triggers of the column `name` of a table, unless they exist. Removes
  /// triggers with their former names.
  func make(_ name: String, of table: String) throws {
    try removeFormer(name, of: table)
    let column: SQL = "\(identifier: name)"
    try connection.executeChange(
      """
      CREATE TRIGGER IF NOT EXISTS \(identifier: self.name("delete", name, of: table))
      AFTER DELETE ON \(identifier: table) WHEN OLD.\(column) IS NOT NULL
      BEGIN DELETE FROM magicdata_asset WHERE id = OLD.\(column); END
      """)
    try connection.executeChange(
      """
      CREATE TRIGGER IF NOT EXISTS \(identifier: self.name("update", name, of: table))
      AFTER UPDATE OF \(column) ON \(identifier: table)
      WHEN OLD.\(column) IS NOT NULL AND OLD.\(column) IS NOT NEW.\(column)
      BEGIN DELETE FROM magicdata_asset WHERE id = OLD.\(column); END
      """)
  }

  /// Removes the asset triggers of the column `name` of a table, if they exist, whether they have
  /// their current or their former names.
  func remove(_ name: String, of table: String) throws {
    try removeFormer(name, of: table)
    for event in AssetTriggers.events {
      try connection.executeChange(
        "DROP TRIGGER IF EXISTS \(identifier: self.name(event, name, of: table))")
    }
  }

  /// Removes triggers with the names that older versions of this library used. The same names may
  /// be needed for the triggers of another column.
  private func removeFormer(_ name: String, of table: String) throws {
    let present = try triggers(of: table)
    for event in AssetTriggers.events {
      let former = "\(PropertyName.former(name, of: table))_\(event)"
      guard asciiLowercased(former) != asciiLowercased(self.name(event, name, of: table)),
        present.contains(asciiLowercased(former))
      else { continue }
      try connection.executeChange("DROP TRIGGER \(identifier: former)")
    }
  }

  /// Returns the names of a table's triggers in ASCII lower case.
  private func triggers(of table: String) throws -> Set<String> {
    Set(
      try connection.rows(
        "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = \(table) COLLATE NOCASE",
        as: String.self
      ).map(asciiLowercased))
  }

  /// Returns the names of the columns that have both asset triggers, whether these have their
  /// current or their former names.
  func columns(of table: String) throws -> [String] {
    let names = try triggers(of: table)
    return try connection.columns(of: table).map(\.name).filter { column in
      AssetTriggers.events.allSatisfy { event in
        names.contains(asciiLowercased(name(event, column, of: table)))
          || names.contains(
            asciiLowercased("\(PropertyName.former(column, of: table))_\(event)"))
      }
    }
  }
}
