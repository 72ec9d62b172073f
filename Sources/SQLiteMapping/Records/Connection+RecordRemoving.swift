public import SQLiteCore

extension Connection {
  /// Deletes the row with the primary key of a value.
  ///
  /// - Parameter value: A value. One without a key is not there.
  /// - Returns: Whether there was such a row.
  /// - Throws: ``SQLiteError``, also if a foreign key forbids it.
  @discardableResult
  public func remove(_ value: some Record) throws -> Bool {
    let plan = try plan(of: type(of: value))
    try plan.checkWritable()
    let keys = try plan.keyValues(of: value)
    return try reading(plan, without: false) {
      let sql: SQL = "DELETE FROM \(identifier: plan.table) WHERE \(plan.isRow(keys))"
      return try executeChange(sql).rows > 0
    }
  }

  /// Deletes the rows with the primary keys of values, in one transaction.
  ///
  /// - Parameter values: Values. Those without a key are not there.
  /// - Returns: How many rows there were.
  /// - Throws: ``SQLiteError``, also if a foreign key forbids it; nothing is deleted then.
  @discardableResult
  public func remove<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    try savepoint {
      var count = 0
      for value in values where try remove(value) { count += 1 }
      return count
    }
  }

  /// Deletes the row that has a primary key.
  ///
  /// - Parameters:
  ///   - type: The type of the row.
  ///   - key: The key.
  ///   - rest: The rest of a key of several parts, in the order of ``Record/primaryKeys``.
  /// - Returns: Whether there was such a row.
  /// - Throws: ``SQLiteError``, also if a foreign key forbids it.
  @discardableResult
  public func remove<Value: Record, each Rest: Bindable>(
    of type: Value.Type, primary key: some Bindable, _ rest: repeat each Rest
  ) throws -> Bool {
    let plan = try plan(of: type)
    try plan.checkWritable()
    return try reading(plan, without: false) {
      let condition = SQL(
        joining: plan.keys.map { "\(identifier: $0) = ?" }, separator: " AND ")
      var statement = try statement("DELETE FROM \(identifier: plan.table) WHERE \(condition)")
      try statement.bind(key: key, repeat each rest, of: plan)
      return try statement.run().rows > 0
    }
  }

  /// Deletes all rows of a type, or some of them.
  ///
  /// - Parameters:
  ///   - type: The type of the rows.
  ///   - condition: SQL for the rows that go, or nil for all.
  /// - Returns: How many there were.
  /// - Throws: ``SQLiteError``, also if a foreign key forbids it; nothing is deleted then.
  @discardableResult
  public func removeAll<Value: Record>(
    of type: Value.Type, where condition: SQL? = nil
  ) throws -> Int {
    let plan = try plan(of: type)
    try plan.checkWritable()
    return try reading(plan, without: 0) {
      var sql: SQL = "DELETE FROM \(identifier: plan.table)"
      if let condition { sql.append(" WHERE (\(condition)\n)") }
      return try executeChange(sql).rows
    }
  }
}
