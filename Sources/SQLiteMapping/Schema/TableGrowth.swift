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

/// Everything that a table lacks of its definition and that can be added to it without losing anything.
package struct TableGrowth {
  /// Whether there is no table. Then it lacks nothing else.
  package private(set) var isMissing = false
  /// The columns that the table lacks.
  package private(set) var columns: [ColumnDefinition] = []
  /// The indexes that the table lacks.
  package private(set) var indexes: [IndexDefinition] = []
  /// The columns with another delete rule.
  package private(set) var deleteRules: [ColumnDefinition] = []

  /// Whether the table lacks nothing.
  package var isEmpty: Bool {
    !isMissing && columns.isEmpty && indexes.isEmpty && deleteRules.isEmpty
  }

  fileprivate init(_ table: TableDefinition, _ connection: Connection) throws {
    let existing = try connection.columnNames(of: table.name)
    guard !existing.isEmpty else {
      isMissing = true
      return
    }
    columns = table.columns.filter { !existing.contains(asciiLowercased($0.name)) }
    indexes = try connection.missingIndexes(of: table)
    deleteRules = try DeleteRuleChange(table, connection).columns
  }
}

extension Connection {
  /// Returns what the table of a definition lacks, which ``ensure(_:)`` adds.
  package func growth(of table: TableDefinition) throws -> TableGrowth {
    try TableGrowth(table, self)
  }

  /// Makes the table, or adds the columns and indexes that it lacks and changes its delete rules, in one
  /// savepoint.
  ///
  /// - Parameter table: The table as the type asks for it.
  /// - Throws: ``SchemaError`` if a column is missing that is neither optional nor has a default, and
  ///   the table has rows, or if rows are alike that an index shall tell apart; nothing has changed then.
  package func ensure(_ table: TableDefinition) throws {
    try savepoint {
      let growth = try growth(of: table)
      if growth.isMissing {
        try executeChange(table.createSQL())
      } else {
        try add(growth.columns, to: table.name)
        try DeleteRuleChange(table, self).make()
      }
      // UNIQUE columns of a new table have their indexes already.
      let indexes = growth.isMissing ? try missingIndexes(of: table) : growth.indexes
      for index in indexes { try makeIndex(index, on: table.name) }
    }
  }

  /// The names of a table's columns in ASCII lower case, none if there is no such table.
  package func columnNames(of table: String) throws -> Set<String> {
    let names = try rows("SELECT name FROM pragma_table_xinfo(\(table))", as: String.self)
    return Set(names.map(asciiLowercased))
  }

  private func add(_ columns: [ColumnDefinition], to table: String) throws {
    guard !columns.isEmpty else { return }
    let isEmpty = try firstRow("SELECT 1 FROM \(identifier: table) LIMIT 1") == nil
    let refused = columns.filter { !$0.isOptional && $0.defaultValue == nil && !isEmpty }
    guard refused.isEmpty else {
      throw SchemaError(
        table: table,
        differences: refused.map {
          "“\($0.name)” \($0.type.rawValue) is new, has no default, and there are rows already"
        })
    }
    for column in columns { try executeChange(addition(of: column, to: table)) }
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
