public import SQLiteCore

/// A change of the schema, or of the rows in it, that is made once in the life of a database.
///
///     let migrations = [
///       Migration("mayors are leaders", .renameColumn("mayor", to: "leader", in: "City")),
///       Migration(
///         "names without blanks",
///         .transform("City") { row in ["name": try row.get("name", as: String.self).trimmed] }),
///     ]
///     try database.migrate(migrations)
///
/// The list is the history of the program's schema: a program adds to its end and changes nothing
/// before. Each migration is one transaction, foreign keys are checked before it commits, and its
/// name is kept in the database.
public struct Migration: Sendable {
  /// What the migration is known by for ever.
  public let name: String
  /// What is done, in order.
  public let steps: [Step]

  /// Describes a migration.
  ///
  /// - Parameters:
  ///   - name: What the migration is known by for ever; unique in its list.
  ///   - steps: What is done, in order.
  public init(_ name: String, _ steps: [Step]) {
    self.name = name
    self.steps = steps
  }

  /// Describes a migration.
  ///
  /// - Parameters:
  ///   - name: What the migration is known by for ever; unique in its list.
  ///   - steps: What is done, in order.
  public init(_ name: String, _ steps: Step...) {
    self.init(name, steps)
  }

  /// One change.
  public struct Step: Sendable, CustomStringConvertible {
    /// The change in words, as a plan shows it.
    public let description: String
    let run: @Sendable (Connection) throws -> Void

    package init(
      description: String, run: @escaping @Sendable (Connection) throws -> Void
    ) {
      self.description = description
      self.run = run
    }
  }
}

extension Migration.Step {
  /// Gives a table another name; references of other tables follow.
  ///
  /// - Parameters:
  ///   - name: The table's name until now.
  ///   - newName: Its new name.
  public static func renameTable(_ name: String, to newName: String) -> Self {
    sql("ALTER TABLE \(identifier: name) RENAME TO \(identifier: newName)")
  }

  /// Gives a column another name; indexes, triggers and views follow.
  ///
  /// - Parameters:
  ///   - name: The column's name until now.
  ///   - newName: Its new name.
  ///   - table: Its table.
  public static func renameColumn(
    _ name: String, to newName: String, in table: String
  ) -> Self {
    sql(
      "ALTER TABLE \(identifier: table) RENAME COLUMN \(identifier: name) TO \(identifier: newName)"
    )
  }

  /// Removes a column with what is in it. SQLite refuses one that is a key, unique or indexed.
  ///
  /// - Parameters:
  ///   - name: The column.
  ///   - table: Its table.
  public static func dropColumn(_ name: String, in table: String) -> Self {
    sql("ALTER TABLE \(identifier: table) DROP COLUMN \(identifier: name)")
  }

  /// Removes a table with all its rows.
  ///
  /// It is refused as long as another table has a column that leads there, whatever its delete rule: no
  /// row of another table goes with it.
  ///
  /// - Parameter name: The table.
  public static func dropTable(_ name: String) -> Self {
    let sql: SQL = "DROP TABLE \(identifier: name)"
    return Self(description: sql.text) { connection in
      try connection.refuseReferrers(of: name)
      try connection.executeChange(sql)
    }
  }

  /// Adds a column.
  ///
  /// - Parameters:
  ///   - column: The column. One that is not optional needs a default.
  ///   - table: Its table.
  public static func addColumn(_ column: ColumnDefinition, in table: String) -> Self {
    Self(description: "ALTER TABLE “\(table)” ADD COLUMN “\(column.name)”") { connection in
      try connection.executeChange(
        "ALTER TABLE \(identifier: table) ADD COLUMN \(column.sql)")
    }
  }

  /// Runs one statement.
  ///
  /// - Parameter sql: Any statement that may run in a transaction.
  public static func sql(_ sql: SQL) -> Self {
    Self(description: sql.text) { try $0.executeChange(sql) }
  }

  /// Changes the rows of a table one by one.
  ///
  /// - Parameters:
  ///   - table: The table; it must have rowids.
  ///   - change: Takes a row as it is and returns the columns that change, nil for NULL. What it
  ///     throws undoes the migration.
  public static func transform(
    _ table: String, _ change: @escaping @Sendable (Row) throws -> [String: (any Bindable)?]
  ) -> Self {
    Self(description: "change each row of “\(table)”") { connection in
      let rowID = try connection.rowIDName(of: table)
      // The rows first, since a row that changes may be met again.
      let ids = try connection.rows(
        "SELECT \(identifier: rowID) FROM \(identifier: table)", as: Int64.self)
      for id in ids {
        guard
          let row = try connection.firstRow(
            "SELECT * FROM \(identifier: table) WHERE \(identifier: rowID) = \(id)")
        else { continue }
        let changes = try change(row)
        guard !changes.isEmpty else { continue }
        let assignments = try changes.sorted { $0.key < $1.key }.map { column, value -> SQL in
          "\(identifier: column) = \(try value?.databaseValue ?? .null)"
        }
        try connection.executeChange(
          "UPDATE \(identifier: table) SET \(SQL(joining: assignments, separator: ", ")) WHERE \(identifier: rowID) = \(id)"
        )
      }
    }
  }
}

extension Connection {
  /// The name of the rowid that no column of the table has taken.
  fileprivate func rowIDName(of table: String) throws -> String {
    let columns = try columnNames(of: table)
    guard let name = ["rowid", "_rowid_", "oid"].first(where: { !columns.contains($0) }) else {
      throw SQLiteError(.misuse, "all names of the rowid are columns of “\(table)”")
    }
    return name
  }
}
