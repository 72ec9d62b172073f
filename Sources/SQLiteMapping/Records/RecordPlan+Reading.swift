import SQLiteCore

extension RecordPlan {
  /// A query of the table.
  func selection(
    _ columns: SQL, where condition: SQL?, orderedBy order: Ordering?, _ limit: Int?, _ offset: Int
  ) throws(SQLiteError) -> SQL {
    var sql: SQL = "SELECT \(columns) FROM \(identifier: table)"
    // The condition may end in a comment, which ends with the line.
    if let condition { sql.append(" WHERE (\(condition)\n)") }
    if let order { sql.append(" ORDER BY \(order.sql)\n") }
    guard limit ?? 0 >= 0, offset >= 0 else {
      throw SQLiteError(.range, "a limit and an offset are not negative")
    }
    if limit != nil || offset > 0 { sql.append(" LIMIT \(limit ?? -1) OFFSET \(offset)") }
    return sql
  }
}

extension Statement {
  /// Binds the values of a primary key, as the type stores them.
  mutating func bind<each Rest: Bindable>(
    key: any Bindable, _ rest: repeat each Rest, of plan: RecordPlan
  ) throws(SQLiteError) {
    var parameter = 1
    try bind(part: key, at: parameter, of: plan)
    for value in repeat each rest {
      parameter += 1
      guard parameter <= plan.keys.count else { break }
      try bind(part: value, at: parameter, of: plan)
    }
    guard parameter == plan.keys.count else {
      throw SQLiteError(
        .range,
        "the primary key of \(plan.type) has \(plan.keys.count) parts, and not \(parameter)",
        sql: sql)
    }
  }

  private mutating func bind(
    part value: some Bindable, at parameter: Int, of plan: RecordPlan
  ) throws(SQLiteError) {
    if let stored = try plan.strategies.storedForm(of: value) {
      try bind(stored, at: parameter)
    } else {
      try bind(value, at: parameter)
    }
  }
}
