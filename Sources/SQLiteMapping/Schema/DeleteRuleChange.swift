package import SQLiteCore

/// Gives columns of a table that is there other delete rules: in the table's text, since `ALTER TABLE`
/// cannot, and a table that others refer to cannot be dropped without what its deletion does to them.
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
  /// - Throws: ``SchemaError`` if the table's text is not understood; ``SQLiteError``.
  /// - Complexity: O(1), whatever the number of rows.
  func make() throws {
    guard !columns.isEmpty else { return }
    let isDone = try connection.rewriteTable(table.name) { text in
      columns.allSatisfy { column in
        column.reference.map { text.setDeleteRule(column.name, $0.onDelete) } ?? true
      }
    }
    guard try isDone && DeleteRuleChange(table, connection).columns.isEmpty else {
      throw SchemaError(
        table: table.name,
        differences: columns.map {
          "“\($0.name)” has another delete rule, and the table's SQL is not understood"
        })
    }
  }
}

extension Connection {
  /// Says whether a table that is there has other delete rules than its definition.
  package func hasOtherDeleteRules(than table: TableDefinition) throws(SQLiteError) -> Bool {
    try !DeleteRuleChange(table, self).columns.isEmpty
  }
}
