package import SQLiteCore

// All SQL of a type. Names are quoted, and values are parameters. An INSERT has one parameter for
// each assigned column of each row, in order. In statements that find a row by its key, the
// parameters of the key come last.
extension TablePlan {
  /// The action of an INSERT if the row already exists.
  package enum Conflict: Sendable {
    /// The INSERT fails with a constraint error.
    case fail
    /// The INSERT updates the columns `changed` of the row that has the same values in the columns
    /// `on`. If `changed` is empty, the row doesn't change.
    case update(on: [String], changed: [String])
  }

  /// Returns the quoted name of a column, qualified with the quoted name of the table.
  package func qualified(_ column: String) -> SQL { "\(identifier: name).\(identifier: column)" }

  /// Returns the query for columns of all rows. `columns` is the SQL between SELECT and FROM.
  package func select(_ columns: SQL) -> SQL { "SELECT \(columns) FROM \(identifier: name)" }

  /// Returns the query for columns of the row with a key. Its parameters are the parts of the key.
  package func selectByKey(_ columns: SQL = "*") -> SQL { "\(select(columns)) WHERE \(isKey)" }

  /// Returns the query for the rows with a given value in a column. Its only parameter is this
  /// value.
  package func select(_ columns: SQL, by column: String) -> SQL {
    "\(select(columns)) WHERE \(identifier: column) = ?"
  }

  /// Returns the statement that deletes the row with a key. Its parameters are the parts of the
  /// key.
  package func deleteByKey() -> SQL { "DELETE FROM \(identifier: name) WHERE \(isKey)" }

  /// Returns the statement that deletes the rows that match `condition`, or all rows if `condition`
  /// is nil.
  package func delete(where condition: SQL?) -> SQL {
    var sql: SQL = "DELETE FROM \(identifier: name)"
    sql.append(condition: condition)
    return sql
  }

  /// Returns the statement that inserts rows with values for some columns. If the type has a
  /// ``Key/computed(_:)`` key, the statement computes it for rows that bind NULL to it.
  ///
  /// - Parameters:
  ///   - columns: The names of the columns that get values. If empty, the statement inserts one row
  ///     with default values.
  ///   - rows: The number of rows.
  ///   - conflict: The action if a row already exists.
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

  /// Returns the statement that updates columns of the row with a key. Its parameters are the
  /// columns in order, followed by the key.
  package func update(_ columns: [String]) -> SQL { update(columns, bound: columns + keys) }

  /// Returns the statement that updates columns of the row with a key. Parameter *n* is the *n*-th
  /// column in `bound`, unlike in ``update(_:)``.
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
  /// The text of this SQL, which must not contain values, because the text doesn't include them.
  ///
  /// - Throws: `SQLiteError` if the SQL contains an error, such as a name that cannot be quoted.
  package var checkedText: String {
    get throws(SQLiteError) {
      if let failure { throw failure }
      return text
    }
  }
}

extension Connection {
  /// Returns the greatest key in the table of a type, or 0 if the table has no rows. If keys are
  /// never reused, the keys of deleted rows count, too.
  package func greatestKey(of plan: TablePlan) throws(SQLiteError) -> Int64 {
    if let range = keyRange { return try lastReservedKey(in: range) }
    let greatest: SQL = "coalesce(max(\(identifier: plan.keys[0])), 0)"
    let present = try firstRow(plan.select(greatest), as: Int64.self) ?? 0
    guard case .autoIncremented = plan.key, try tableExists("sqlite_sequence") else {
      return present
    }
    let used = try firstRow(
      "SELECT seq FROM sqlite_sequence WHERE name = \(plan.name) COLLATE NOCASE", as: Int64.self)
    return max(present, used ?? 0)
  }

  /// Reserves consecutive keys for new rows of any tables. They are never reserved again, so that
  /// no other device mistakes a new row for a deleted one.
  ///
  /// - Returns: The first key, or nil if ``keyRange`` is nil.
  /// - Throws: `SQLiteError`, with `ResultCode.full` if the range has no keys left.
  package func reserveKeys(_ count: Int) throws(SQLiteError) -> Int64? {
    guard let range = keyRange else { return nil }
    let last = try lastReservedKey(in: range)
    guard range.upperBound - last >= count else {
      throw SQLiteError(.full, "the sync has no keys left for new rows")
    }
    try executeChange(
      """
      INSERT INTO main.magicdata_sync VALUES ('lastKey', \(last + Int64(count)))
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
      """)
    return last + 1
  }

  private func lastReservedKey(in range: ClosedRange<Int64>) throws(SQLiteError) -> Int64 {
    let last = try firstRow(
      "SELECT value FROM main.magicdata_sync WHERE key = 'lastKey'", as: Int64.self)
    guard let last, range.contains(last) else { return range.lowerBound - 1 }
    return last
  }
}

extension SQL {
  /// Appends a WHERE clause with `condition`, or nothing if `condition` is nil.
  mutating func append(condition: SQL?) {
    // The condition may end with a comment, which the line break ends.
    if let condition { append(" WHERE (\(condition)\n)") }
  }

  /// Appends a LIMIT clause for at most `limit` rows, starting at `offset`, or nothing if this
  /// includes all rows. With a negative number, running the SQL throws.
  package mutating func append(limit: Int?, offset: Int) {
    guard limit ?? 0 >= 0, offset >= 0 else {
      return refuse(SQLiteError(.range, "a limit and an offset must not be negative"))
    }
    if limit != nil || offset > 0 { append(" LIMIT \(limit ?? -1) OFFSET \(offset)") }
  }
}
