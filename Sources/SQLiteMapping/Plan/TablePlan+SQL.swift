package import SQLiteCore

// All SQL of a type. Names are quoted, and values are parameters: an INSERT has one for each given column of
// each row, in order; statements that find a row by its key have those of the key last.
extension TablePlan {
  /// The action of an INSERT for a row that is there already.
  package enum Conflict: Sendable {
    /// It fails.
    case fail
    /// It gives the row that has the same values in `columns` the new values of `changed`, or leaves it as
    /// it is if there are none.
    case update(on: [String], changed: [String])
  }

  /// Returns a column with the table's name before it.
  package func qualified(_ column: String) -> SQL { "\(identifier: name).\(identifier: column)" }

  /// Returns a query of columns, without a condition.
  package func select(_ columns: SQL) -> SQL { "SELECT \(columns) FROM \(identifier: name)" }

  /// Returns the query for the row with a key.
  package func selectByKey(_ columns: SQL = "*") -> SQL { "\(select(columns)) WHERE \(isKey)" }

  /// Returns the query for the rows that have a value in a column.
  package func select(_ columns: SQL, by column: String) -> SQL {
    "\(select(columns)) WHERE \(identifier: column) = ?"
  }

  /// Returns the statement that deletes the row with a key.
  package func deleteByKey() -> SQL { "DELETE FROM \(identifier: name) WHERE \(isKey)" }

  /// Returns the statement that deletes rows.
  package func delete(where condition: SQL?) -> SQL {
    var sql: SQL = "DELETE FROM \(identifier: name)"
    sql.append(condition: condition)
    return sql
  }

  /// Returns the statement that inserts rows with values for some columns; those of a ``Key/computed(_:)`` key
  /// are made for rows that bind NULL there.
  ///
  /// - Parameters:
  ///   - columns: The columns that are given; with none, one row of defaults is inserted.
  ///   - rows: The number of rows.
  ///   - conflict: What happens to a row that is there already.
  package func insert(_ columns: [String], rows: Int = 1, _ conflict: Conflict = .fail) -> SQL {
    var sql: SQL = "INSERT INTO \(identifier: name) "
    guard !columns.isEmpty else {
      sql.append("DEFAULT VALUES")
      return sql
    }
    let row: SQL = "(\(SQL(joining: columns.map(parameter(of:)), separator: ", ")))"
    let values = SQL(joining: Array(repeating: row, count: rows), separator: ", ")
    sql.append("(\(SQL(identifiers: columns))) VALUES \(values)")
    if case .update(let unique, let changed) = conflict {
      let assignments = changed.map { column -> SQL in
        "\(identifier: column) = excluded.\(identifier: column)"
      }
      let action: SQL =
        changed.isEmpty
        ? "DO NOTHING" : "DO UPDATE SET \(SQL(joining: assignments, separator: ", "))"
      sql.append(" ON CONFLICT (\(SQL(identifiers: unique))) \(action)")
    }
    return sql
  }

  /// Returns the statement that gives new values to columns of the row with a key. Its parameters are those of
  /// the columns in order, and then those of the key.
  package func update(_ columns: [String]) -> SQL { update(columns, bound: columns + keys) }

  /// As ``update(_:)``, with other parameters: parameter *n* is the *n*-th of `bound`.
  package func update(_ columns: [String], bound: [String]) -> SQL {
    func term(_ column: String) -> SQL {
      let index = bound.firstIndex { isSameName($0, column) } ?? bound.count
      return "\(identifier: column) = \(SQL(unchecked: "?\(index + 1)"))"
    }
    let assignments = SQL(joining: columns.map(term), separator: ", ")
    let condition = SQL(joining: keys.map(term), separator: " AND ")
    return "UPDATE \(identifier: name) SET \(assignments) WHERE \(condition)"
  }

  private var isKey: SQL {
    SQL(joining: keys.map { "\(identifier: $0) = ?" }, separator: " AND ")
  }

  private func parameter(of column: String) -> SQL {
    guard case .computed(let key) = key, isSameName(key, column) else { return "?" }
    return
      "coalesce(?, (SELECT coalesce(max(\(identifier: key)), 0) + 1 FROM \(identifier: name)))"
  }
}

extension SQL {
  /// The text of SQL without values.
  ///
  /// - Throws: The error of a name that cannot be quoted.
  package var checkedText: String {
    get throws(SQLiteError) {
      if let failure { throw failure }
      return text
    }
  }
}

extension Connection {
  /// Returns the greatest key that the table of a type has, or had if its keys are never used again; 0 for
  /// none.
  package func greatestKey(of plan: TablePlan) throws(SQLiteError) -> Int64 {
    let greatest: SQL = "coalesce(max(\(identifier: plan.keys[0])), 0)"
    let present = try firstRow(plan.select(greatest), as: Int64.self) ?? 0
    guard case .counted = plan.key, try tableExists("sqlite_sequence") else { return present }
    let used = try firstRow(
      "SELECT seq FROM sqlite_sequence WHERE name = \(plan.name) COLLATE NOCASE", as: Int64.self)
    return max(present, used ?? 0)
  }
}

extension SQL {
  /// Appends the clause for the rows that match a condition; nothing if these are all.
  mutating func append(condition: SQL?) {
    // The condition may end in a comment, which ends with the line.
    if let condition { append(" WHERE (\(condition)\n)") }
  }

  /// Appends the clause for the rows from `offset` on, at most `limit` of them; nothing if these are all. SQL with a
  /// negative number is refused.
  package mutating func append(limit: Int?, offset: Int) {
    guard limit ?? 0 >= 0, offset >= 0 else {
      return refuse(SQLiteError(.range, "a limit and an offset are not negative"))
    }
    if limit != nil || offset > 0 { append(" LIMIT \(limit ?? -1) OFFSET \(offset)") }
  }
}
