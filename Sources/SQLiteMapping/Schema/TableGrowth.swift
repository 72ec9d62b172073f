package import SQLiteCore

/// An error that is thrown if a table cannot be adapted to its type without losing data, or if rows
/// are equal in columns that the type declares as unique.
public struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the table.
  public let table: String
  /// The differences that prevent the table from being adapted, each as one sentence.
  public let differences: [String]

  package init(table: String, differences: [String]) {
    self.table = table
    self.differences = differences
  }

  /// A message with the table and the differences.
  public var description: String {
    "the table “\(table)” does not fit its type: \(differences.joined(separator: "; ")); "
      + "declare defaults, or add a migration"
  }
}

/// The columns and indexes that an existing table lacks compared to its definition, and the delete
/// rules that differ.
package struct TableGrowth {
  /// Whether the table is missing. In this case, the other properties are empty.
  package var isMissing = false
  /// The columns that the table lacks.
  package var columns: [ColumnDefinition] = []
  /// The indexes that the table lacks.
  package var indexes: [IndexDefinition] = []
  /// The columns whose foreign keys have a different ON DELETE action from the one in the
  /// definition.
  package var deleteRules: [ColumnDefinition] = []

  /// Whether the table exists, lacks nothing, and has the delete rules of its definition.
  package var isEmpty: Bool {
    !isMissing && columns.isEmpty && indexes.isEmpty && deleteRules.isEmpty
  }
}

extension Connection {
  /// Returns the columns and indexes that a table lacks compared to its definition, and the delete
  /// rules that differ. ``ensure(_:)`` adds or changes them.
  ///
  /// - Parameters:
  ///   - table: The table that the type requires.
  ///   - existing: The names of the table's existing columns in ASCII lowercase, empty if the table
  ///     is missing. Nil to query them.
  package func growth(
    of table: TableDefinition, with existing: Set<String>? = nil
  ) throws -> TableGrowth {
    let existing = try existing ?? columnNames(of: table.name)
    guard !existing.isEmpty else { return TableGrowth(isMissing: true) }
    return TableGrowth(
      columns: table.columns.filter { !existing.contains(asciiLowercased($0.name)) },
      indexes: try missingIndexes(of: table), deleteRules: try columnsWithOtherRules(table))
  }

  /// Creates the table, or adds missing columns and indexes and changes its delete rules, in one
  /// savepoint.
  ///
  /// - Parameter table: The table that the type requires.
  /// - Throws: ``SchemaError`` if the table has rows and a missing column is neither optional nor
  ///   has a default, if rows are equal in columns that must be unique, or if a delete rule cannot
  ///   be changed because the table's SQL cannot be parsed; ``SQLiteError`` if a statement fails.
  ///   Nothing changes in these cases.
  package func ensure(_ table: TableDefinition) throws {
    try savepoint {
      let growth = try growth(of: table)
      if growth.isMissing {
        try executeChange(table.createSQL())
      } else {
        try add(growth.columns, to: table.name)
        try setDeleteRules(growth.deleteRules, table)
      }
      // UNIQUE columns of a new table have their indexes already.
      let indexes = growth.isMissing ? try missingIndexes(of: table) : growth.indexes
      for index in indexes { try makeIndex(index, on: table.name) }
    }
  }

  /// Returns the names of a table's columns in ASCII lowercase. Empty if the table doesn't exist.
  package func columnNames(of table: String) throws -> Set<String> {
    // SQLite takes five times as long to compile the table-valued function of this pragma
    // (benchmark `open`).
    var row = try statement("PRAGMA table_xinfo(\(identifier: table))")
    var names: Set<String> = []
    while try row.step() { names.insert(asciiLowercased(try row.text(at: 1))) }
    return names
  }

  private func add(_ columns: [ColumnDefinition], to table: String) throws {
    guard !columns.isEmpty else { return }
    let isEmpty = try firstRow("SELECT 1 FROM \(identifier: table) LIMIT 1") == nil
    let refused = columns.filter { !$0.isOptional && $0.defaultValue == nil && !isEmpty }
    guard refused.isEmpty else {
      throw SchemaError(
        table: table,
        differences: refused.map {
          "“\($0.name)” \($0.type.rawValue) is new and has no default, but the table has rows"
        })
    }
    for var column in columns {
      // ALTER TABLE supports neither UNIQUE, nor NOT NULL without a default. UNIQUE becomes an
      // index. NOT NULL gets a default that no row uses.
      column.isUnique = false
      if !column.isOptional, column.defaultValue == nil { column.defaultValue = column.type.zero }
      try executeChange("ALTER TABLE \(identifier: table) ADD COLUMN \(try column.sql)")
    }
  }

  /// Returns the columns of a table whose foreign keys have another delete rule than in its
  /// definition. Ignores columns without a foreign key to the table that the definition names.
  private func columnsWithOtherRules(
    _ table: TableDefinition
  ) throws(SQLiteError) -> [ColumnDefinition] {
    guard table.columns.contains(where: { $0.reference != nil }) else { return [] }
    let present = try foreignKeys(of: table.name)
    return table.columns.filter { column in
      guard let reference = column.reference else { return false }
      return present.contains { key in
        key.columns.map(asciiLowercased) == [asciiLowercased(column.name)]
          && isSameName(key.referencedTable, reference.table)
          && key.onDelete != reference.onDelete.rawValue
      }
    }
  }

  /// Changes the delete rules of columns in the stored SQL of the table, as part of the open
  /// transaction. `ALTER TABLE` cannot change them, and dropping the table to rebuild it would run
  /// the delete rules of tables that reference it.
  ///
  /// - Throws: ``SchemaError`` if the SQL of the table cannot be parsed, or ``SQLiteError`` if a
  ///   statement fails.
  /// - Complexity: O(1), independent of the number of rows.
  private func setDeleteRules(_ columns: [ColumnDefinition], _ table: TableDefinition) throws {
    guard !columns.isEmpty else { return }
    let isDone = try rewriteTable(table.name) { text in
      columns.allSatisfy { column in
        column.reference.map { text.setDeleteRule(column.name, $0.onDelete) } ?? true
      }
    }
    guard try isDone && columnsWithOtherRules(table).isEmpty else {
      throw SchemaError(
        table: table.name,
        differences: columns.map {
          "the delete rule of “\($0.name)” cannot be changed, because the table's SQL cannot be "
            + "parsed"
        })
    }
  }
}

extension ColumnType {
  /// The default of a NOT NULL column that is added to an empty table.
  fileprivate var zero: Value {
    switch self {
    case .integer, .numeric, .boolean: .integer(0)
    case .real: .real(0)
    case .text, .date: .text("")
    case .blob, .any: .blob([])
    }
  }
}

extension Connection {
  /// Creates an index that the table of a type lacks.
  ///
  /// - Throws: ``SchemaError`` if the index is unique and rows are equal in its columns.
  package func makeIndex(_ index: IndexDefinition, on table: String) throws {
    do {
      try make(index, on: table)
    } catch {
      guard error.code == .uniqueConstraint else { throw error }
      throw SchemaError(table: table, differences: [index.violation])
    }
  }

  /// Checks that no rows of a table are equal in columns that the type declares as unique. Skips
  /// unique indexes that already exist, and those with columns that don't exist yet.
  ///
  /// - Throws: ``SchemaError`` if such rows are equal, or ``SQLiteError`` if a query fails.
  /// - Complexity: O(*n* log *n*) for *n* rows if an index is missing.
  package func checkUnique(_ indexes: [IndexDefinition], of table: String) throws {
    let present = try columnNames(of: table)
    guard !present.isEmpty else { return }
    let existing = try existingIndexes(of: table)
    let violations = try indexes.filter { index in
      guard index.isUnique, !existing.contains(where: { index.isFulfilled(by: $0) }),
        index.columns.allSatisfy({ present.contains(asciiLowercased($0)) })
      else { return false }
      let columns = SQL(identifiers: index.columns)
      let known = SQL(
        joining: index.columns.map { "\(identifier: $0) IS NOT NULL" }, separator: " AND ")
      return try firstRow(
        """
        SELECT 1 FROM \(identifier: table) WHERE \(known)
        GROUP BY \(columns) HAVING count(*) > 1 LIMIT 1
        """) != nil
    }
    guard violations.isEmpty else {
      throw SchemaError(table: table, differences: violations.map(\.violation))
    }
  }
}

extension IndexDefinition {
  /// The description of rows that violate the unique index, for an error message.
  fileprivate var violation: String {
    "“\(columns.joined(separator: ", "))” must be unique, but some rows have equal values; "
      + "change or remove them in a migration"
  }
}
