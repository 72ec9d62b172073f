package import SQLiteCore

/// A table that cannot become what a type asks for without losing something.
public struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The table.
  public let table: String
  /// What stands in the way, one sentence for each column.
  public let differences: [String]

  package init(table: String, differences: [String]) {
    self.table = table
    self.differences = differences
  }

  /// The table and what stands in the way.
  public var description: String {
    "The table “\(table)” does not fit its type: \(differences.joined(separator: "; ")). "
      + "Declare defaults or a migration."
  }
}

extension Connection {
  /// Makes the table, or adds the columns and indexes that it lacks and changes its delete rules, in one
  /// savepoint.
  ///
  /// - Parameter table: What the type asks for.
  /// - Throws: ``SchemaError`` if a column is missing that is neither optional nor has a default, and
  ///   the table has rows, or if rows are alike that an index shall tell apart; nothing has changed then.
  package func ensure(_ table: TableDefinition) throws {
    try savepoint {
      let existing = try columnNames(of: table.name)
      if existing.isEmpty {
        try executeChange(table.createSQL())
      } else {
        try grow(table, existing: existing)
        try DeleteRuleChange(table, self).make()
      }
      for index in try missingIndexes(of: table) { try makeIndex(index, on: table.name) }
    }
  }

  /// The names of a table's columns in ASCII lower case, none if there is no such table.
  package func columnNames(of table: String) throws -> Set<String> {
    let names = try rows("SELECT name FROM pragma_table_xinfo(\(table))", as: String.self)
    return Set(names.map(asciiLowercased))
  }

  private func grow(_ table: TableDefinition, existing: Set<String>) throws {
    let missing = table.columns.filter { !existing.contains(asciiLowercased($0.name)) }
    guard !missing.isEmpty else { return }
    let isEmpty = try firstRow("SELECT 1 FROM \(identifier: table.name) LIMIT 1") == nil
    let refused = missing.filter { !$0.isOptional && $0.defaultValue == nil && !isEmpty }
    guard refused.isEmpty else {
      throw SchemaError(
        table: table.name,
        differences: refused.map {
          "“\($0.name)” \($0.type.rawValue) is new, has no default, and there are rows already"
        })
    }
    for column in missing { try executeChange(addition(of: column, to: table.name)) }
  }

  private func addition(
    of column: ColumnDefinition, to table: String
  ) throws(SQLiteError) -> SQL {
    var column = column
    // ALTER TABLE takes neither UNIQUE nor NOT NULL without a default: the one becomes an index, the
    // other a default that no row has.
    column.isUnique = false
    if !column.isOptional, column.defaultValue == nil { column.defaultValue = column.type.zero }
    return "ALTER TABLE \(identifier: table) ADD COLUMN \(try column.sql)"
  }
}

extension ColumnType {
  /// The default by which a NOT NULL column may join an empty table.
  fileprivate var zero: Value {
    switch self {
    case .integer, .numeric, .boolean: .integer(0)
    case .real: .real(0)
    case .text, .date: .text("")
    case .blob, .any: .blob([])
    }
  }
}
