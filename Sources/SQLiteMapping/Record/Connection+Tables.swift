public import SQLiteCore

extension Connection {
  /// Makes the table of a type without writing a row, or gives it the columns that it lacks.
  ///
  ///     try connection.prepare(Town.self)
  ///
  /// Missing tables of types that it ``PropertyTrait/references(_:_:onDelete:)`` are made too. The
  /// properties are those of the type's ``Record/prototype``, or of a value that is made up.
  ///
  /// - Parameter type: The type.
  /// - Throws: `SQLiteError`, also with `ResultCode.misuse` if the properties are not known;
  ///   ``SchemaError`` if the table would lose something. Nothing has changed then.
  public func prepare(_ type: (some Record).Type) throws {
    let plan = try plan(of: type)
    try plan.checkWritable()
    try learnExample(of: plan)
    try ensureTable(of: plan)
  }

  /// Returns whether the table of a type is there.
  ///
  /// - Parameter type: The type.
  /// - Throws: `SQLiteError`.
  public func tableExists(of type: (some Record).Type) throws(SQLiteError) -> Bool {
    try tableExists(type.tableName)
  }

  /// Deletes the table of a type with its rows, its indexes and its full-text index.
  ///
  /// The type may be written again, which makes a new table; its counted keys begin anew.
  ///
  /// - Parameter type: The type.
  /// - Returns: Whether there was a table.
  /// - Throws: `SQLiteError` with `ResultCode.foreignKeyConstraint` that names the tables whose
  ///   foreign keys refer to this one, if there are any; with `ResultCode.misuse` that names views
  ///   and tables with triggers which would not work any more. Nothing has changed then.
  @discardableResult
  public func drop(_ type: (some Record).Type) throws -> Bool {
    let plan = try plan(of: type)
    try plan.checkWritable()
    return try savepoint {
      guard try tableExists(plan.name) else { return false }
      try refuseReferrers(of: plan.name)
      let working = try probes(besides: plan).filter { works($0) }
      if !plan.searchedColumns.isEmpty { try SearchTable.remove(of: plan.name, self) }
      try executeChange("DROP TABLE \(identifier: plan.name)")
      var names: [String] = []
      for probe in working where !works(probe) && !names.contains(probe.name) {
        names.append(probe.name)
      }
      guard names.isEmpty else {
        throw SQLiteError(
          .misuse,
          "“\(plan.name)” cannot be dropped: \(names.map { "“\($0)”" }.joined(separator: ", ")) need it"
        )
      }
      try MetaTable.unregister(plan.name, self)
      plan.ensured = .none
      return true
    }
  }

  /// Uses of views, and of tables with triggers, that touch no row.
  private func probes(besides plan: RecordPlan) throws -> [(name: String, sql: SQL)] {
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

  /// Returns whether everything is there that a use needs.
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
  /// Returns the plan of a type on this connection.
  ///
  /// - Throws: ``SQLiteError`` if another type has the same table, or a newer program has been here;
  ///   ``SchemaError`` if rows are alike that the type declares to be unique.
  func plan(of type: any Record.Type) throws -> RecordPlan {
    if let known = attachment(type) as? RecordPlan { return known }
    let plan = try RecordPlan(of: type)
    try MetaTable.checkFormat(of: self)
    try plan.checkKeyOfExample()
    if !type.isReadOnly { try claim(plan.name, for: type) }
    let unique = plan.uniqueIndexes
    if !unique.isEmpty, !type.isReadOnly { try checkUnique(unique, of: plan.name) }
    attachments[ObjectIdentifier(type)] = plan
    return plan
  }
}
