import SQLiteCore
import SQLiteMapping

/// The triggers that let an asset go when its object goes, or when the object gets another, by whatever
/// SQL.
struct AssetTriggers {
  private let connection: Connection

  init(_ connection: Connection) {
    self.connection = connection
  }

  /// Makes the triggers of a column, unless they are there.
  func make(_ name: String, of table: String) throws {
    let column: SQL = "\(identifier: name)"
    try connection.executeChange(
      """
      CREATE TRIGGER IF NOT EXISTS \(identifier: "\(table)_\(name)_delete")
      AFTER DELETE ON \(identifier: table) WHEN OLD.\(column) IS NOT NULL
      BEGIN DELETE FROM magicdata_asset WHERE id = OLD.\(column); END
      """)
    try connection.executeChange(
      """
      CREATE TRIGGER IF NOT EXISTS \(identifier: "\(table)_\(name)_update")
      AFTER UPDATE OF \(column) ON \(identifier: table)
      WHEN OLD.\(column) IS NOT NULL AND OLD.\(column) IS NOT NEW.\(column)
      BEGIN DELETE FROM magicdata_asset WHERE id = OLD.\(column); END
      """)
  }

  /// Removes the triggers of a column.
  func remove(_ name: String, of table: String) throws {
    for event in ["delete", "update"] {
      try connection.executeChange(
        "DROP TRIGGER IF EXISTS \(identifier: "\(table)_\(name)_\(event)")")
    }
  }

  /// The columns that have such triggers.
  func columns(of table: String) throws -> [String] {
    let triggers = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = \(table) COLLATE NOCASE",
      as: String.self)
    let names = Set(triggers.map(asciiLowercased))
    return try connection.columns(of: table).map(\.name).filter { column in
      ["delete", "update"].allSatisfy {
        names.contains(asciiLowercased("\(table)_\(column)_\($0)"))
      }
    }
  }
}
