import SQLiteCore
public import SQLiteMapping

// A step for objects changes several tables: it also updates link tables, assets and the entries in
// `magicdata_meta`.
extension Migration.Step {
  /// Renames the table of a type of objects, and the tables of its links.
  ///
  /// - Parameters:
  ///   - table: The current name of the table. It is the name of the type, unless the type declares
  ///     a `tableName`.
  ///   - newName: The new name of the table.
  /// - Returns: A step for a migration.
  public static func renameObjects(_ table: String, to newName: String) -> Self {
    let links = SchemaRename.prefix(
      PropertyName.name("", of: table), to: PropertyName.name("", of: newName))
    return Self(
      description: "rename the objects “\(table)” to “\(newName)”",
      renaming: [.table(table, to: newName), links]
    ) {
      try ObjectTables($0).rename(table, to: newName)
    }
  }

  /// Renames a property of a type of objects, whether it is stored in a column or as links.
  ///
  /// - Parameters:
  ///   - property: The current name of the property.
  ///   - newName: The new name of the property.
  ///   - table: The name of the type's table.
  /// - Returns: A step for a migration.
  public static func renameProperty(
    _ property: String, to newName: String, of table: String
  ) -> Self {
    let links = SchemaRename.table(
      PropertyName.name(property, of: table), to: PropertyName.name(newName, of: table))
    return Self(
      description: "rename “\(property)” of the objects “\(table)” to “\(newName)”",
      renaming: [.column(property, of: table, to: newName), links]
    ) {
      try ObjectTables($0).renameProperty(property, to: newName, of: table)
    }
  }

  /// Removes a property of a type of objects, with its values, its links and the files of its
  /// assets.
  ///
  /// Related objects aren't removed. The migration throws for the primary value, because SQLite
  /// can't drop the column of a key.
  ///
  /// - Parameters:
  ///   - property: The name of the property.
  ///   - table: The name of the type's table.
  /// - Returns: A step for a migration.
  public static func dropProperty(_ property: String, of table: String) -> Self {
    Self(description: "remove “\(property)” of the objects “\(table)”") {
      try ObjectTables($0).dropProperty(property, of: table)
    }
  }

  /// Makes the column of a property NOT NULL.
  ///
  /// Use it for a property that is no longer optional, or for a relation in a table from an older
  /// version of this library, which allowed NULL in every relation. If removing the target of the
  /// relation set it to nil before, the relation now prevents the removal, unless the type declares
  /// another delete rule.
  ///
  /// If rows have no value, the migration throws `SchemaError`. The error contains the number of
  /// these rows and identifies the first ten.
  ///
  /// - Parameters:
  ///   - property: The name of the property. A collection of objects always has a value, and an
  ///     asset may always be without content, so the migration throws for both.
  ///   - table: The name of the type's table.
  /// - Returns: A step for a migration.
  public static func makeRequired(_ property: String, of table: String) -> Self {
    Self(description: "require “\(property)” of the objects “\(table)”", changing: table) {
      try ObjectTables($0).require(property, of: table)
    }
  }

  /// Allows NULL in the column of a property that has become optional.
  ///
  /// If the property is a relation that prevented the removal of its target, the removal now sets
  /// it to nil, unless the type declares another delete rule.
  ///
  /// - Parameters:
  ///   - property: The name of the property.
  ///   - table: The name of the type's table.
  /// - Returns: A step for a migration.
  public static func makeOptional(_ property: String, of table: String) -> Self {
    Self(description: "let “\(property)” of the objects “\(table)” be nil", changing: table) {
      try ObjectTables($0).relax(property, of: table)
    }
  }

  /// Removes all objects of a type, with their links and the files of their assets, and the tables
  /// of the type.
  ///
  /// The migration throws while other types have properties that reference this type, whatever
  /// their delete rules, so that no object of another type is removed or changed. The error
  /// contains the names of these properties and the number of their references. Remove them first
  /// with ``dropProperty(_:of:)``.
  ///
  /// - Parameter table: The name of the type's table.
  /// - Returns: A step for a migration.
  public static func dropObjects(_ table: String) -> Self {
    Self(description: "remove the objects “\(table)”") { try ObjectTables($0).drop(table) }
  }
}

/// The schema changes that the migration steps make to the tables of objects, and to the link
/// tables, indexes and triggers that ``ObjectSchema`` has created for them.
struct ObjectTables {
  private let connection: Connection

  init(_ connection: Connection) {
    self.connection = connection
  }

  func rename(_ table: String, to newName: String) throws {
    let links = try links(of: table)
    try renaming(table, to: newName) {
      try connection.executeChange(
        "ALTER TABLE \(identifier: table) RENAME TO \(identifier: newName)")
    }
    for (link, property) in links {
      try renameLink(link, to: PropertyName.name(property, of: newName))
    }
    try connection.executeChange("DELETE FROM magicdata_meta WHERE key = \("table:\(newName)")")
    try connection.executeChange(
      "UPDATE magicdata_meta SET key = \("table:\(newName)") WHERE key = \("table:\(table)")")
  }

  func renameProperty(_ property: String, to newName: String, of table: String) throws {
    if let link = try link(property, of: table) {
      return try renameLink(link, to: PropertyName.name(newName, of: table))
    }
    try renaming(table, to: table, property, newName) {
      try connection.executeChange(
        "ALTER TABLE \(identifier: table) RENAME COLUMN \(identifier: property) TO \(identifier: newName)"
      )
    }
  }

  func dropProperty(_ property: String, of table: String) throws {
    if let link = try link(property, of: table) {
      try connection.executeChange("DROP TABLE \(identifier: link)")
      return
    }
    if try AssetTriggers(connection).columns(of: table).contains(where: { isSameName($0, property) }
    ) {
      // The triggers delete the assets.
      try connection.executeChange(
        "UPDATE \(identifier: table) SET \(identifier: property) = NULL")
      try AssetTriggers(connection).remove(property, of: table)
    }
    try SearchTable.remove(of: table, connection)
    for index in try connection.existingIndexes(of: table) where index.isExplicit {
      guard index.columns.contains(where: { $0.map { isSameName($0, property) } ?? false }) else {
        continue
      }
      try connection.executeChange("DROP INDEX \(identifier: index.name)")
    }
    try connection.executeChange(
      "ALTER TABLE \(identifier: table) DROP COLUMN \(identifier: property)")
  }

  func drop(_ table: String) throws {
    let own = try links(of: table)
    try connection.checkNotReferenced(of: table, excluding: own.map(\.table)) { other, columns in
      let property = try property(forLinkTable: other) ?? (other, columns.joined(separator: ", "))
      return "“\(property.name)” of “\(property.table)”"
    }
    try SearchTable.remove(of: table, connection)
    // DELETE runs the triggers, which delete the assets. DROP TABLE doesn't.
    try connection.executeChange("DELETE FROM \(identifier: table)")
    for (link, _) in own {
      try connection.executeChange("DROP TABLE \(identifier: link)")
    }
    try connection.executeChange("DROP TABLE \(identifier: table)")
    try connection.executeChange("DELETE FROM magicdata_meta WHERE key = \("table:\(table)")")
  }

  /// Makes the column of a property NOT NULL.
  func require(_ property: String, of table: String) throws {
    let column = try column(property, of: table)
    if column.isNotNull { return }
    guard
      try !AssetTriggers(connection).columns(of: table).contains(where: { isSameName($0, property) }
      )
    else {
      throw SchemaError(
        table: table,
        differences: ["“\(column.name)” is an asset, which is always optional"])
    }
    if let rows = try connection.rowsWithoutValue(column.name, of: table) {
      throw SchemaError(table: table, differences: ["“\(column.name)” has no value in \(rows)"])
    }
    try rewrite(column.name, of: table, isNotNull: true, from: .nullify, to: .restrict)
  }

  /// Allows NULL in the column of a property.
  func relax(_ property: String, of table: String) throws {
    let column = try column(property, of: table)
    guard column.isNotNull else { return }
    try rewrite(column.name, of: table, isNotNull: false, from: .restrict, to: .nullify)
  }

  private func rewrite(
    _ column: String, of table: String, isNotNull: Bool, from rule: DeleteRule,
    to newRule: DeleteRule
  ) throws {
    let hasRule = try connection.foreignKeys(of: table).contains { key in
      key.columns.count == 1 && isSameName(key.columns[0], column) && key.onDelete == rule.rawValue
    }
    let isDone = try connection.rewriteTable(table) { text in
      text.setNotNull(column, isNotNull) && (!hasRule || text.setDeleteRule(column, newRule))
    }
    guard try isDone && self.column(column, of: table).isNotNull == isNotNull else {
      throw SchemaError(
        table: table, differences: ["the SQL that declares “\(column)” cannot be parsed"])
    }
  }

  private func column(_ property: String, of table: String) throws -> SchemaColumn {
    guard
      let column = try connection.columns(of: table).first(where: { isSameName($0.name, property) })
    else {
      throw SQLiteError(.notFound, "the table “\(table)” has no column “\(property)”")
    }
    return column
  }

  /// Returns the names of the link tables of a type, each with the name of its property.
  private func links(of table: String) throws -> [(table: String, property: String)] {
    let parts: Set = ["owner", "target", "position", "key"]
    return try connection.rows(
      """
      SELECT t.name FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS k
      WHERE t.type = 'table' AND k."from" = 'owner' AND k."table" = \(table) COLLATE NOCASE
      """, as: String.self
    ).filter { try connection.columnNames(of: $0).isSubset(of: parts) }
      .compactMap { name in
        // The current naming scheme, then that of older versions of this library.
        for start in [PropertyName.name("", of: table), PropertyName.former("", of: table)]
        where asciiLowercased(name).hasPrefix(asciiLowercased(start)) {
          return (name, String(name.unicodeScalars.dropFirst(start.unicodeScalars.count)))
        }
        return nil
      }
  }

  /// Returns the name of the property that a link table belongs to, and the name of the table of
  /// the property's type. Returns nil if the table isn't a link table.
  func property(forLinkTable name: String) throws -> (table: String, name: String)? {
    for key in try connection.foreignKeys(of: name) where key.columns == ["owner"] {
      let owner = key.referencedTable
      if let link = try links(of: owner).first(where: { isSameName($0.table, name) }) {
        return (owner, link.property)
      }
    }
    return nil
  }

  private func link(_ property: String, of table: String) throws -> String? {
    try links(of: table).first { isSameName($0.property, property) }?.table
  }

  /// Renames a link table and the indexes that are named after it.
  func renameLink(_ link: String, to newName: String) throws {
    try renaming(link, to: newName) {
      try connection.executeChange(
        "ALTER TABLE \(identifier: link) RENAME TO \(identifier: newName)")
    }
  }

  /// Calls `rename`, which renames a table or a column. Then renames the indexes and asset triggers
  /// that are named after it. Also removes the full-text index, which the first use of the type
  /// creates again.
  private func renaming(
    _ table: String, to newTable: String, _ column: String? = nil, _ newColumn: String? = nil,
    _ rename: () throws -> Void
  ) throws {
    func newName(_ name: String) -> String {
      if let column, let newColumn, isSameName(name, column) { return newColumn }
      return name
    }
    let indexes = try connection.existingIndexes(of: table).filter { $0.isNamed(after: table) }
    let assets = try AssetTriggers(connection).columns(of: table)
    for asset in assets { try AssetTriggers(connection).remove(asset, of: table) }
    // The first use of the type creates it again.
    try SearchTable.remove(of: table, connection)
    try rename()
    for index in indexes {
      let columns = index.columns.compactMap { $0.map(newName) }
      var renamed = IndexDefinition(columns, isUnique: index.isUnique)
      for (column, collation) in zip(columns, index.collations) where collation != "BINARY" {
        renamed.collations[column] = collation
      }
      try connection.executeChange("DROP INDEX \(identifier: index.name)")
      try connection.make(renamed, on: newTable)
    }
    for asset in assets {
      try AssetTriggers(connection).make(newName(asset), of: newTable)
    }
  }
}

extension TableIndex {
  /// Returns whether the name of the index is derived from its columns, by the current rule or by
  /// that of versions before 2026.
  fileprivate func isNamed(after table: String) -> Bool {
    let columns = columns.compactMap { $0 }
    guard isExplicit, !isPartial, columns.count == self.columns.count else { return false }
    let names = [
      IndexDefinition(columns).name(on: table), "\(table)_\(columns.joined(separator: "_"))",
    ]
    return names.contains { isSameName($0, name) }
  }
}
