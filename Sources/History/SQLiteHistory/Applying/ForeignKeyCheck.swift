import SQLiteCore

/// A check of the foreign keys of individual rows, for a patch that is applied while SQLite's own
/// checks are disabled.
final class ForeignKeyCheck {
  private let connection: Connection
  private var own: [String: [ForeignKey]] = [:]
  /// The cached foreign keys that reference a table, by the table's name. Each is listed with the
  /// child table that declares it.
  private var incoming: [String: [(child: String, key: ForeignKey)]] = [:]

  init(_ connection: Connection) { self.connection = connection }

  /// The columns of a table that take part in foreign keys.
  struct KeyColumns {
    /// The indexes of the columns that reference other rows.
    fileprivate var own: Set<Int> = []
    /// The indexes of the columns that other rows reference.
    fileprivate var incoming: Set<Int> = []

    /// Returns whether applying a row of a patch may violate a foreign key.
    func mayViolateForeignKey(by row: Patch.Row) -> Bool {
      switch row.kind {
      case .insert: !own.isEmpty
      case .delete: !incoming.isEmpty
      case .update:
        row.new.enumerated().contains { column, value in
          value != nil && (own.contains(column) || incoming.contains(column))
        }
      }
    }
  }

  /// Returns the columns of a table that take part in foreign keys; nil if there are no such
  /// columns.
  func keys(of target: PatchTarget) throws -> KeyColumns? {
    let names = target.columns.map(asciiLowercased)
    func indexes(_ columns: [String]) -> [Int] {
      columns.compactMap { names.firstIndex(of: asciiLowercased($0)) }
    }
    var columns = KeyColumns()
    for key in try keys(of: target.name) { columns.own.formUnion(indexes(key.columns)) }
    for (_, key) in try keys(referencing: target.name) {
      columns.incoming.formUnion(indexes(try parentColumns(key)))
    }
    return columns.own.isEmpty && columns.incoming.isEmpty ? nil : columns
  }

  /// Returns the child table and the parent table of each foreign key that is violated after a row
  /// of the patch has been applied. `current` contains the values of that row in the database, or
  /// nil if it doesn't exist.
  func violations(
    of target: PatchTarget, _ row: Patch.Row, currentRow current: [Value]?
  ) throws -> [(String, String)] {
    var found: [(String, String)] = []
    let names = target.columns.map(asciiLowercased)
    func value(_ column: String, _ values: [Value]) -> Value? {
      names.firstIndex(of: asciiLowercased(column)).map { values[$0] }
    }
    if let current {
      for key in try keys(of: target.name) {
        let values = key.columns.map { value($0, current) ?? .null }
        if values.contains(where: \.isNull) { continue }
        let columns = try parentColumns(key)
        if try !exists(key.referencedTable, columns, values) {
          found.append((target.name, key.referencedTable))
        }
      }
    }
    // Check the old key values, which other rows may still reference.
    let values = row.values
    let before = zip(values.old, values.new).map { $0 ?? $1 ?? .null }
    guard row.kind != .insert else { return found }
    for (child, key) in try keys(referencing: target.name) {
      let columns = try parentColumns(key)
      let gone = columns.map { value($0, before) ?? .null }
      if gone.contains(where: \.isNull) || gone.count != key.columns.count { continue }
      if try exists(target.name, columns, gone) { continue }
      if try exists(child, key.columns, gone) { found.append((child, target.name)) }
    }
    return found
  }

  private func keys(of table: String) throws -> [ForeignKey] {
    if let known = own[table] { return known }
    let keys = try connection.foreignKeys(of: table)
    own[table] = keys
    return keys
  }

  private func keys(referencing table: String) throws -> [(child: String, key: ForeignKey)] {
    if let known = incoming[table] { return known }
    var keys: [(child: String, key: ForeignKey)] = []
    for child in try connection.tables(referringTo: table) + [table] {
      for key in try self.keys(of: child)
      where asciiLowercased(key.referencedTable) == asciiLowercased(table) {
        keys.append((child, key))
      }
    }
    incoming[table] = keys
    return keys
  }

  /// Returns the names of the columns that a foreign key references: the declared ones, or the
  /// primary key of the parent table if none are declared.
  private func parentColumns(_ key: ForeignKey) throws -> [String] {
    guard key.referencedColumns.isEmpty else { return key.referencedColumns }
    return try connection.columns(of: key.referencedTable).filter { $0.primaryKeyPosition > 0 }
      .sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }.map(\.name)
  }

  private func exists(_ table: String, _ columns: [String], _ values: [Value]) throws -> Bool {
    guard !columns.isEmpty else { return false }
    let conditions = zip(columns, values).map { column, value -> SQL in
      "\(identifier: column) = \(value)"
    }
    return try connection.firstRow(
      "SELECT 1 FROM main.\(identifier: table) WHERE \(SQL(joining: conditions, separator: " AND "))"
    )
      != nil
  }
}
