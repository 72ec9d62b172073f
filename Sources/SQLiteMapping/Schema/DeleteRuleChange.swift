package import SQLiteCore

/// Gives columns of a table that is there other delete rules. `ALTER TABLE` cannot, and with foreign
/// keys on a table that others refer to cannot be dropped without what its deletion does to them.
struct DeleteRuleChange {
  private let connection: Connection
  private let table: TableDefinition
  /// The columns whose rules differ.
  let columns: [ColumnDefinition]

  /// Compares the rules of a table with those of its definition.
  ///
  /// Columns without a foreign key to the table that the definition says are left alone.
  init(_ table: TableDefinition, _ connection: Connection) throws(SQLiteError) {
    self.table = table
    self.connection = connection
    guard table.columns.contains(where: { $0.reference != nil }) else {
      columns = []
      return
    }
    let present = try connection.foreignKeys(of: table.name)
    columns = table.columns.filter { column in
      guard let reference = column.reference else { return false }
      return present.contains { key in
        key.columns.map(asciiLowercased) == [asciiLowercased(column.name)]
          && asciiLowercased(key.referencedTable) == asciiLowercased(reference.table)
          && key.onDelete != reference.onDelete.rawValue
      }
    }
  }

  /// Changes the rules, as part of the open transaction.
  ///
  /// - Throws: ``SchemaError`` if a table that others refer to has to be made anew; ``SQLiteError``, also
  ///   if a view or a trigger of another table names one of the columns.
  /// - Complexity: O(*n*) for *n* rows.
  func make() throws {
    guard !columns.isEmpty else { return }
    let attached = try removeAttached()
    if try columns.allSatisfy({ try isReplaceable($0) }) {
      for column in columns { try replace(column) }
    } else {
      try remakeTable()
    }
    for sql in attached { try connection.executeChange(SQL(unchecked: sql)) }
  }

  /// Removes the indexes and triggers of the table, and returns what makes them again.
  private func removeAttached() throws -> [String] {
    let found = try connection.rows(
      """
      SELECT type, name, sql FROM sqlite_schema
      WHERE tbl_name = \(table.name) COLLATE NOCASE AND type IN ('index', 'trigger') AND sql IS NOT NULL
      """, as: String.self, String.self, String.self)
    for (type, name, _) in found {
      try connection.executeChange(
        type == "index" ? "DROP INDEX \(identifier: name)" : "DROP TRIGGER \(identifier: name)")
    }
    return found.map { $0.2 }
  }

  /// Says whether a column can give way to another one: ALTER TABLE adds references only without a
  /// value, and removes no column that is part of a key.
  private func isReplaceable(_ column: ColumnDefinition) throws(SQLiteError) -> Bool {
    let name = asciiLowercased(column.name)
    let isFree = try connection.columns(of: table.name).contains { found in
      asciiLowercased(found.name) == name && !found.isNotNull && found.defaultSQL == nil
        && found.primaryKeyPosition == 0
    }
    let isUnique = try connection.existingIndexes(of: table.name).contains { index in
      index.columns.contains { $0.map(asciiLowercased) == name }
    }
    return isFree && !isUnique
  }

  private func replace(_ column: ColumnDefinition) throws {
    var new = column
    new.name = "magicdata_new_\(column.name)"
    new.isOptional = true
    let (name, old): (SQL, SQL) = ("\(identifier: table.name)", "\(identifier: column.name)")
    try connection.executeChange("ALTER TABLE \(name) ADD COLUMN \(new.sql)")
    try connection.executeChange("UPDATE \(name) SET \(identifier: new.name) = \(old)")
    try connection.executeChange("ALTER TABLE \(name) DROP COLUMN \(old)")
    try connection.executeChange(
      "ALTER TABLE \(name) RENAME COLUMN \(identifier: new.name) TO \(old)")
  }

  /// Copies the rows to a table of the same definition, which takes the place of this one.
  private func remakeTable() throws {
    let present = try connection.columns(of: table.name)
    let names = present.map(\.name)
    let known = Set(table.columns.map { asciiLowercased($0.name) } + table.rowIDNames)
    let others = try connection.rows(
      """
      SELECT DISTINCT t.name FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS k
      WHERE t.type = 'table' AND k."table" = \(table.name) COLLATE NOCASE
      """, as: String.self)
    guard others.isEmpty, names.allSatisfy({ known.contains(asciiLowercased($0)) }) else {
      throw SchemaError(
        table: table.name,
        differences: columns.map { column in
          "“\(column.name)” has another delete rule, which cannot be changed"
            + (others.isEmpty
              ? " as long as there are columns of others"
              : " as long as “\(others[0])” refers to the table")
        })
    }
    var new = table
    new.name = "magicdata_new_\(table.name)"
    let list = SQL(identifiers: names)
    try connection.executeChange(new.createSQL(ifNotExists: false))
    try connection.executeChange(
      "INSERT INTO \(identifier: new.name) (\(list)) SELECT \(list) FROM \(identifier: table.name)")
    if case .autoIncrement = table.key {
      try connection.executeChange(
        """
        INSERT INTO sqlite_sequence (name, seq)
        SELECT \(new.name), seq FROM sqlite_sequence WHERE name = \(table.name) COLLATE NOCASE
        """)
      try connection.executeChange(
        """
        DELETE FROM sqlite_sequence WHERE name = \(new.name) AND rowid NOT IN
        (SELECT rowid FROM sqlite_sequence WHERE name = \(new.name) ORDER BY seq DESC LIMIT 1)
        """)
    }
    try connection.executeChange("DROP TABLE \(identifier: table.name)")
    // Else SQLite would look for the table in all views before it is there again.
    _ = try connection.pragma("legacy_alter_table", "=1")
    defer { _ = try? connection.pragma("legacy_alter_table", "=0") }
    try connection.executeChange(
      "ALTER TABLE \(identifier: new.name) RENAME TO \(identifier: table.name)")
  }
}

extension TableDefinition {
  /// The column of the rowid, in ASCII lower case, if there is one.
  fileprivate var rowIDNames: [String] {
    switch key {
    case .autoIncrement(let name), .rowID(let name): [asciiLowercased(name)]
    case .columns, .withoutRowID, .declared: []
    }
  }
}

extension Connection {
  /// Says whether a table that is there has other delete rules than its definition.
  package func hasOtherDeleteRules(than table: TableDefinition) throws(SQLiteError) -> Bool {
    try !DeleteRuleChange(table, self).columns.isEmpty
  }
}
