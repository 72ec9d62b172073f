package import SQLiteCore

extension Connection {
  /// Makes an index that the table of a type lacks.
  ///
  /// - Throws: ``SchemaError`` if it is unique and rows are alike.
  package func makeIndex(_ index: IndexDefinition, on table: String) throws {
    do {
      try make(index, on: table)
    } catch {
      guard error.code == .uniqueConstraint else { throw error }
      throw SchemaError(table: table, differences: [index.violation])
    }
  }

  /// Throws if rows of a table are alike in columns that are unique by their type, and no index of the
  /// table refuses that. Columns that are not there yet are passed over.
  ///
  /// - Throws: ``SchemaError``; ``SQLiteError``.
  /// - Complexity: O(*n* log *n*) for *n* rows, if an index is missing.
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
  /// What stands in the way of the index.
  fileprivate var violation: String {
    "“\(columns.joined(separator: ", "))” \(columns.count == 1 ? "is" : "are") unique by the type, and some rows are alike: "
      + "a migration has to change or remove them"
  }
}
