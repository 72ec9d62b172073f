package import SQLiteCore

extension Connection {
  /// Refuses to remove a table that others lead to: its removal would delete their rows, or set to NULL
  /// what they lead to, and their type could not be written any more.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - belongings: Tables that go with it.
  ///   - name: Names columns of another table for the message.
  /// - Throws: ``SQLiteError`` with ``ResultCode/foreignKeyConstraint``, which names the columns that lead to
  ///   the table and says how many rows do.
  package func refuseReferrers(
    of table: String, besides belongings: [String] = [],
    naming name: (_ table: String, _ columns: [String]) throws -> String = {
      "“\($1.joined(separator: ", "))” of “\($0)”"
    }
  ) throws {
    let own = Set((belongings + [table]).map(asciiLowercased))
    var words: [String] = []
    for other in try existingTables() where !own.contains(asciiLowercased(other)) {
      for key in try foreignKeys(of: other)
      where asciiLowercased(key.referencedTable) == asciiLowercased(table) {
        let isThere = SQL(
          joining: key.columns.map { "\(identifier: $0) IS NOT NULL" }, separator: " AND ")
        let count =
          try firstRow("SELECT count(*) FROM \(identifier: other) WHERE \(isThere)", as: Int.self)
          ?? 0
        let rows = count == 1 ? "1 row" : "\(count) rows"
        words.append("\(try name(other, key.columns)) leads to it in \(rows)")
      }
    }
    guard words.isEmpty else {
      throw SQLiteError(
        .foreignKeyConstraint,
        "“\(table)” cannot be removed: \(words.joined(separator: "; ")). Remove what leads to it first."
      )
    }
  }
}
