import MagicData

/// A damage of a store: a value in a column of a table, or a damaged table.
struct Damage: Sendable, CustomStringConvertible {
  enum Place: Sendable {
    case everywhere, first, last
    case row(Int)
  }

  enum Kind: Sendable {
    case value(column: String, sql: String, Place)
    case missing, empty, otherColumns
  }

  let table: String
  let kind: Kind

  var description: String {
    switch kind {
    case .value(let column, let sql, let place): "\(table).\(column) = \(sql) (\(place))"
    case .missing: "\(table) is missing"
    case .empty: "\(table) is empty"
    case .otherColumns: "\(table) has other columns"
    }
  }
}

extension Damage {
  /// The table and the column of a value.
  var column: String? {
    if case .value(let column, _, _) = kind { "\(table).\(column)" } else { nil }
  }

  /// SQL expressions for values that no program with this library has written. `%` is replaced by the
  /// column.
  private static let values = [
    "NULL", "0", "-1", "9223372036854775807", "(-9223372036854775807 - 1)", "9007199254740992",
    "0.5", "9e999", "-9e999", "''", "'garbage'", "printf('%.*c', 50000, 'x')",
    "CAST(X'FF80' AS TEXT)", "X''", "X'0101FF00FFFFFFFFFFFFFFFF'", "zeroblob(40000)",
    "substr(%, 1, length(%) / 2)", "CAST(% AS TEXT)", "CAST(% AS BLOB)",
  ]

  /// The values that every column gets.
  private static let extremes = ["9223372036854775807", "(-9223372036854775807 - 1)"]

  /// Returns all damages of all tables in the schema, so that new tables and columns are included
  /// automatically.
  ///
  /// - Parameter isShort: Whether each column gets only a third of the values, each in one place.
  static func all(of database: Database, isShort: Bool) throws -> [Damage] {
    var number = 0
    return try database.read { connection in
      let tables = try connection.rows(
        """
        SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
        ORDER BY name
        """, as: String.self)
      return try tables.flatMap { table -> [Damage] in
        let columns = try connection.rows(
          "SELECT name FROM pragma_table_info(\(table))", as: String.self)
        let rows =
          try connection.firstRow(
            "SELECT count(*) FROM \(identifier: table)", as: Int.self) ?? 0
        guard rows > 0 || !table.hasPrefix("magicdata_") else {
          throw SQLiteError(.notFound, "\(table) has no row to damage")
        }
        // The rows of this table have different meanings.
        let allPlaces =
          table == "magicdata_sync"
          ? (0..<rows).map { Place.row($0) } : rows == 1 ? [.first] : [.everywhere, .first, .last]
        return columns.flatMap { column in
          values.flatMap { value -> [Damage] in
            number += 1
            if isShort, number % 3 != 0, !extremes.contains(value) { return [] }
            let places =
              isShort && table != "magicdata_sync"
              ? [allPlaces[number / 3 % allPlaces.count]] : allPlaces
            return places.map { Damage(table: table, kind: .value(column: column, sql: value, $0)) }
          }
        } + [.missing, .empty, .otherColumns].map { Damage(table: table, kind: $0) }
      }
    }
  }

  /// Makes the damage.
  ///
  /// - Returns: Whether SQLite allowed the damage. It protects its own tables.
  func make(in database: Database) throws -> Bool {
    try database.withoutTransaction { connection in
      try connection.executeChange("PRAGMA foreign_keys = OFF")
      let name: SQL = "\(identifier: table)"
      do {
        switch kind {
        case .missing: try connection.executeChange("DROP TABLE \(name)")
        case .empty: try connection.executeChange("DELETE FROM \(name)")
        case .otherColumns:
          try connection.executeChange("DROP TABLE \(name)")
          try connection.executeChange("CREATE TABLE \(name) (other TEXT, [columns] INTEGER)")
          try connection.executeChange("INSERT INTO \(name) VALUES ('x', 1)")
        case .value(let column, let value, let place):
          if try set(column, value, place, connection) { return true }
          // Another program's file may have other constraints, so this retries without constraints.
          try connection.executeMultipleChanges(
            """
            CREATE TABLE magicdata_bare AS SELECT * FROM \(name);
            DROP TABLE \(name);
            ALTER TABLE magicdata_bare RENAME TO \(name);
            """)
          return try set(column, value, place, connection)
        }
      } catch is SQLiteError {
        return false
      }
      return true
    }
  }

  private func set(
    _ column: String, _ value: String, _ place: Place, _ connection: Connection
  ) throws -> Bool {
    let quoted = try SQL.escapeIdentifier(column)
    let value = SQL(unchecked: value.replacing("%", with: quoted))
    var keys = try connection.rows(
      "SELECT name FROM pragma_table_info(\(table)) WHERE pk > 0 ORDER BY pk", as: String.self)
    if keys.isEmpty { keys = ["rowid"] }
    let key = SQL(identifiers: keys)
    func condition(_ direction: SQL, offset: Int = 0) -> SQL {
      let order = SQL(joining: keys.map { "\(identifier: $0) \(direction)" }, separator: ", ")
      return """
        WHERE (\(key)) = (
          SELECT \(key) FROM \(identifier: table) ORDER BY \(order) LIMIT 1 OFFSET \(offset))
        """
    }
    let condition: SQL =
      switch place {
      case .everywhere: ""
      case .first: condition("ASC")
      case .last: condition("DESC")
      case .row(let offset): condition("ASC", offset: offset)
      }
    do {
      return try connection.executeChange(
        "UPDATE \(identifier: table) SET \(identifier: column) = \(value) \(condition)"
      ).rows > 0
    } catch {
      guard [.constraint, .mismatch].contains(error.code.primary) else { throw error }
      return false
    }
  }
}
