public import SQLiteCore

extension Connection {
  /// Creates the table of a type, or adds the columns that it lacks, without writing a row.
  ///
  ///     try connection.prepare(Town.self)
  ///
  /// The missing tables of the types that this type references with
  /// ``PropertyTrait/references(_:_:onDelete:)`` are created, too. The properties come from the
  /// type's ``Record/prototype``, or from a made-up value.
  ///
  /// - Parameter type: The type of the records.
  /// - Throws: `SQLiteError` if a statement fails, with `ResultCode.misuse` if the properties
  ///   cannot be determined, or with `ResultCode.readOnly` if the type is ``Record/isReadOnly``;
  ///   ``SchemaError`` if the table cannot be adapted to the type without losing data, or if rows
  ///   are equal in properties that the type declares as unique. Nothing changes in these cases.
  public func prepare(_ type: (some Record).Type) throws {
    let plan = try plan(of: type)
    try plan.checkWritable()
    try learnExample(of: plan)
    try ensureTable(of: plan)
  }

  /// Returns whether the table of a type exists.
  ///
  /// - Parameter type: The type of the records.
  /// - Returns: Whether the table exists.
  /// - Throws: `SQLiteError` if the statement fails.
  public func tableExists(of type: (some Record).Type) throws(SQLiteError) -> Bool {
    try tableExists(type.tableName)
  }

  /// Drops the table of a type with its rows, its indexes and its full-text index.
  ///
  /// You can still write values of the type later. The first write creates a new table, and its
  /// auto-incremented keys start from 1 again.
  ///
  /// - Parameter type: The type of the records.
  /// - Returns: Whether the table existed.
  /// - Throws: `SQLiteError` if a statement fails, with `ResultCode.readOnly` if the type is
  ///   ``Record/isReadOnly``, with `ResultCode.foreignKeyConstraint` if foreign keys of other
  ///   tables reference this one, or with `ResultCode.misuse` if views, or tables with triggers,
  ///   would no longer work (the message names them); ``SchemaError`` if rows are equal in
  ///   properties that the type declares as unique. Nothing changes in these cases.
  @discardableResult
  public func drop(_ type: (some Record).Type) throws -> Bool {
    let plan = try plan(of: type)
    try plan.checkWritable()
    return try savepoint {
      guard try tableExists(plan.name) else { return false }
      try checkNotReferenced(of: plan.name)
      let working = try probes(excluding: plan).filter { works($0) }
      if !plan.searchedColumns.isEmpty { try SearchTable.remove(of: plan.name, self) }
      try executeChange("DROP TABLE \(identifier: plan.name)")
      var names: [String] = []
      for probe in working where !works(probe) && !names.contains(probe.name) {
        names.append(probe.name)
      }
      guard names.isEmpty else {
        throw SQLiteError(
          .misuse,
          "“\(plan.name)” cannot be dropped: it is used by "
            + "\(names.map { "“\($0)”" }.joined(separator: ", "))"
        )
      }
      try MetaTable.unregister(plan.name, self)
      plan.ensured = .none
      return true
    }
  }

  /// Returns statements that use the views and the triggers of all other tables, without touching
  /// any row. A statement fails if something that its view or its trigger uses is missing. `name`
  /// is the name of the view, or of the table with the trigger.
  private func probes(excluding plan: RecordPlan) throws -> [(name: String, sql: SQL)] {
    let views = try rows("SELECT name FROM sqlite_schema WHERE type = 'view'", as: String.self)
    let tables = try rows(
      """
      SELECT DISTINCT tbl_name FROM sqlite_schema
      WHERE type = 'trigger' AND tbl_name <> \(plan.name) COLLATE NOCASE
      """, as: String.self)
    return try views.map { ($0, "SELECT 1 FROM \(identifier: $0) LIMIT 0") }
      + tables.flatMap { table -> [(name: String, sql: SQL)] in
        let columns = try self.columns(of: table)
        guard let column = columns.first(where: { $0.kind == .ordinary })?.name else { return [] }
        let changes: [SQL] = [
          "DELETE FROM \(identifier: table) WHERE 0",
          "INSERT INTO \(identifier: table) (\(identifier: column)) SELECT NULL WHERE 0",
          "UPDATE \(identifier: table) SET \(identifier: column) = NULL WHERE 0",
        ]
        return changes.map { (table, $0) }
      }
  }

  /// Returns whether a statement works, that is, whether everything that it needs exists.
  private func works(_ probe: (name: String, sql: SQL)) -> Bool {
    do {
      _ = try firstRow(probe.sql)
      return true
    } catch {
      return false
    }
  }
}

extension Connection {
  /// Returns the plan of a type on this connection, which is created when the type is first used.
  ///
  /// - Throws: ``SQLiteError`` if the table belongs to another type, or if a newer version of the
  ///   library has written the store; ``SchemaError`` if rows are equal in columns that the type
  ///   declares as unique.
  func plan(of type: any Record.Type) throws -> RecordPlan {
    if let known = attachment(type) as? RecordPlan { return known }
    let plan = try RecordPlan(of: type)
    try MetaTable.checkFormat(of: self)
    try plan.checkExampleKey()
    if !type.isReadOnly { try claim(plan.name, for: type) }
    let unique = plan.uniqueIndexes
    if !unique.isEmpty, !type.isReadOnly { try checkUnique(unique, of: plan.name) }
    attachments[ObjectIdentifier(type)] = plan
    return plan
  }
}
