import SQLiteCore
import SQLiteMapping

/// Changes of the tables of objects, with the names that ``SchemaWriter`` gives to what belongs to them.
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
    if try AssetTriggers(connection).columns(of: table).contains(where: { isSame($0, property) }) {
      // The triggers let the assets go.
      try connection.executeChange(
        "UPDATE \(identifier: table) SET \(identifier: property) = NULL")
      try AssetTriggers(connection).remove(property, of: table)
    }
    for index in try connection.existingIndexes(of: table) where index.isExplicit {
      guard index.columns.contains(where: { $0.map { isSame($0, property) } ?? false }) else {
        continue
      }
      try connection.executeChange("DROP INDEX \(identifier: index.name)")
    }
    try connection.executeChange(
      "ALTER TABLE \(identifier: table) DROP COLUMN \(identifier: property)")
  }

  func drop(_ table: String) throws {
    let own = try links(of: table)
    try connection.refuseReferrers(of: table, besides: own.map(\.table)) { other, columns in
      let property = try property(ofLinks: other) ?? (other, columns.joined(separator: ", "))
      return "“\(property.name)” of “\(property.table)”"
    }
    // By rows, so that the triggers let the assets go.
    try connection.executeChange("DELETE FROM \(identifier: table)")
    for (link, _) in own {
      try connection.executeChange("DROP TABLE \(identifier: link)")
    }
    try connection.executeChange("DROP TABLE \(identifier: table)")
    try connection.executeChange("DELETE FROM magicdata_meta WHERE key = \("table:\(table)")")
  }

  /// Lets a property refuse to have no value.
  func require(_ property: String, of table: String) throws {
    let column = try column(property, of: table)
    if column.isNotNull { return }
    if let rows = try connection.rowsWithoutValue(column.name, of: table) {
      throw SchemaError(table: table, differences: ["“\(column.name)” has no value in \(rows)"])
    }
    try rewrite(column.name, of: table, isNotNull: true, from: .nullify, to: .restrict)
  }

  /// Lets a property have no value.
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
      key.columns.count == 1 && isSame(key.columns[0], column) && key.onDelete == rule.rawValue
    }
    let isDone = try connection.rewriteTable(table) { text in
      text.setNotNull(column, isNotNull) && (!hasRule || text.setDeleteRule(column, newRule))
    }
    guard try isDone && self.column(column, of: table).isNotNull == isNotNull else {
      throw SchemaError(
        table: table, differences: ["its SQL is not understood, which declares “\(column)”"])
    }
  }

  private func column(_ property: String, of table: String) throws -> TableColumn {
    guard let column = try connection.columns(of: table).first(where: { isSame($0.name, property) })
    else {
      throw SQLiteError(.notFound, "“\(table)” has no column for a property “\(property)”")
    }
    return column
  }

  /// The link tables of a type's properties, with the properties' names.
  private func links(of table: String) throws -> [(table: String, property: String)] {
    let parts: Set = ["owner", "target", "position", "key"]
    return try connection.rows(
      """
      SELECT t.name FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS k
      WHERE t.type = 'table' AND k."from" = 'owner' AND k."table" = \(table) COLLATE NOCASE
      """, as: String.self
    ).filter { try connection.columnNames(of: $0).isSubset(of: parts) }
      .compactMap { name in
        // Its own name, or the one that programs of before gave it.
        for start in [PropertyName.name("", of: table), PropertyName.former("", of: table)]
        where asciiLowercased(name).hasPrefix(asciiLowercased(start)) {
          return (name, String(name.unicodeScalars.dropFirst(start.unicodeScalars.count)))
        }
        return nil
      }
  }

  /// The property whose links a table holds, with its type's table.
  private func property(ofLinks name: String) throws -> (table: String, name: String)? {
    for key in try connection.foreignKeys(of: name) where key.columns == ["owner"] {
      let owner = key.referencedTable
      if let link = try links(of: owner).first(where: { isSame($0.table, name) }) {
        return (owner, link.property)
      }
    }
    return nil
  }

  private func link(_ property: String, of table: String) throws -> String? {
    try links(of: table).first { isSame($0.property, property) }?.table
  }

  /// Gives a link table another name, and what is named after it.
  func renameLink(_ link: String, to newName: String) throws {
    try renaming(link, to: newName) {
      try connection.executeChange(
        "ALTER TABLE \(identifier: link) RENAME TO \(identifier: newName)")
    }
  }

  /// Renames a table or a column, and what is named after it: indexes and triggers.
  private func renaming(
    _ table: String, to newTable: String, _ column: String? = nil, _ newColumn: String? = nil,
    _ rename: () throws -> Void
  ) throws {
    func newName(_ name: String) -> String {
      if let column, let newColumn, isSame(name, column) { return newColumn }
      return name
    }
    let indexes = try connection.existingIndexes(of: table).filter { $0.isNamed(after: table) }
    let assets = try AssetTriggers(connection).columns(of: table)
    for asset in assets { try AssetTriggers(connection).remove(asset, of: table) }
    try rename()
    for index in indexes {
      let columns = index.columns.compactMap { $0.map(newName) }
      try connection.executeChange("DROP INDEX \(identifier: index.name)")
      try connection.make(IndexDefinition(columns, isUnique: index.isUnique), on: newTable)
    }
    for asset in assets {
      try AssetTriggers(connection).make(newName(asset), of: newTable)
    }
  }

  private func isSame(_ one: String, _ other: String) -> Bool {
    asciiLowercased(one) == asciiLowercased(other)
  }
}

extension TableIndex {
  /// Says whether it has the name that an index of its columns gets, or got until 2026.
  fileprivate func isNamed(after table: String) -> Bool {
    let columns = columns.compactMap { $0 }
    guard isExplicit, !isPartial, columns.count == self.columns.count else { return false }
    let names = [
      IndexDefinition(columns).name(on: table), "\(table)_\(columns.joined(separator: "_"))",
    ]
    return names.contains { asciiLowercased($0) == asciiLowercased(name) }
  }
}
