import SQLiteCore
import SQLiteMapping

/// The triggers that delete an asset when its object is deleted, or gets another asset, by any SQL.
struct AssetTriggers {
  private let connection: Connection

  init(_ connection: Connection) {
    self.connection = connection
  }

  private static let events = ["delete", "update"]

  private func name(_ event: String, _ column: String, of table: String) -> String {
    "\(PropertyName.name(column, of: table))_\(event)"
  }

  /// Makes the triggers of a column, unless they are there.
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

  /// Removes the triggers of a column.
  func remove(_ name: String, of table: String) throws {
    try removeFormer(name, of: table)
    for event in AssetTriggers.events {
      try connection.executeChange(
        "DROP TRIGGER IF EXISTS \(identifier: self.name(event, name, of: table))")
    }
  }

  /// Removes the triggers of older versions of this library, whose names those of another column may have,
  /// too.
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

  /// The names of a table's triggers in small letters.
  private func triggers(of table: String) throws -> Set<String> {
    Set(
      try connection.rows(
        "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = \(table) COLLATE NOCASE",
        as: String.self
      ).map(asciiLowercased))
  }

  /// The columns that have such triggers.
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
