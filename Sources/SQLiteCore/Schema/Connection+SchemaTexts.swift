import CSQLite

// SQLite's own table of texts, `sqlite_schema`, is written where no statement does what is wanted, as SQLite's
// manual describes it (<https://www.sqlite.org/lang_altertable.html#otheralter>).
extension Connection {
  /// Changes the text of a table, as part of the open transaction.
  ///
  /// The rows stay as they are and must fit: nobody checks them.
  ///
  /// - Parameters:
  ///   - name: The table.
  ///   - change: Changes the text, and says whether that was possible.
  /// - Returns: False if `change` says so, or there is no such table; nothing has changed then.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(1), whatever the number of rows.
  package func rewriteTable(
    _ name: String, _ change: (inout TableText) -> Bool
  ) throws(SQLiteError) -> Bool {
    let found = try firstRow(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name = \(name) COLLATE NOCASE")
    guard let found else { return false }
    let stored = try found.get(0, as: String.self)
    let sql = try found.get(1, as: String.self)
    var text = TableText(sql)
    guard change(&text) else { return false }
    if text.sql != sql { try setSQL(text.sql, of: "table", stored) }
    return true
  }

  /// Gives a table, a view or a trigger another text, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - sql: The text, which must make an object of the same kind and name.
  ///   - kind: The kind, as `sqlite_schema` has it.
  ///   - name: The name, as `sqlite_schema` has it.
  /// - Throws: ``SQLiteError``.
  package func setSQL(_ sql: String, of kind: String, _ name: String) throws(SQLiteError) {
    try writeSchema { () throws(SQLiteError) in
      try executeChange(
        "UPDATE main.sqlite_schema SET sql = \(sql) WHERE type = \(kind) AND name = \(name)")
    }
  }

  /// Gives a table another name and text, as part of the open transaction. Nothing that names it follows,
  /// unlike by `ALTER TABLE`.
  ///
  /// - Parameters:
  ///   - name: The table, which has no indexes but those of its constraints, and no triggers.
  ///   - newName: Its new name, which no table has.
  ///   - sql: The text of the table of that name.
  /// - Throws: ``SQLiteError``.
  package func putTable(
    _ name: String, inPlaceOf newName: String, sql: String
  ) throws(SQLiteError) {
    let start = "sqlite_autoindex_"
    let renaming: SQL = "ALTER TABLE \(identifier: name) RENAME TO \(identifier: newName)"
    hooks.recorder?.noteSchemaChange(renaming.text)
    try writeSchema { () throws(SQLiteError) in
      try executeChange(
        """
        UPDATE main.sqlite_schema
        SET name = \(start + newName) || substr(name, length(\(start + name)) + 1), tbl_name = \(newName)
        WHERE type = 'index' AND tbl_name = \(name) AND substr(name, 1, length(\(start))) = \(start)
        """)
      try executeChange(
        """
        UPDATE main.sqlite_schema SET name = \(newName), tbl_name = \(newName), sql = \(sql)
        WHERE type = 'table' AND name = \(name)
        """)
    }
  }

  /// Runs `body`, which may write `sqlite_schema`, and lets all connections read it again.
  private func writeSchema(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    let version = try Int32(databaseValue: try pragma("schema_version") ?? .null)
    let forbidsDamage = !environment.allowsSchemaDamage
    try handle.configure(SQLITE_DBCONFIG_DEFENSIVE, false)
    let result = Result { () throws(SQLiteError) in
      try setSchemaPragma("writable_schema", 1)
      try body()
      // Lets each connection, this one too, read the schema again.
      try setSchemaPragma("schema_version", version &+ 1)
    }
    try handle.configure(SQLITE_DBCONFIG_DEFENSIVE, forbidsDamage)
    let ending = Result { () throws(SQLiteError) in try setSchemaPragma("writable_schema", 0) }
    // What went wrong first counts.
    try result.get()
    try ending.get()
  }

  private func setSchemaPragma(_ name: String, _ value: Int32) throws(SQLiteError) {
    if let session = handle.remote { return try session.setSchemaPragma(name, value) }
    _ = try pragma(name, " = \(value)")
  }

  /// Runs `body` without foreign keys, as part of the open transaction: rows that refer to nothing are let in. The
  /// caller checks all keys afterwards.
  ///
  /// At a server the keys are deferred instead, since nobody there can turn them off within a transaction: a row
  /// that is deleted takes those along that refer to it.
  ///
  /// Observers are not told of rows, but of the change of the schema.
  package func withoutForeignKeys<Result>(_ body: () throws -> Result) throws -> Result {
    hooks.recorder?.isPaused = true
    defer { hooks.recorder?.isPaused = false }
    // The pragma would do nothing within a transaction (https://www.sqlite.org/pragma.html#pragma_foreign_keys).
    guard handle.remote != nil else {
      return try withoutSettings([SQLITE_DBCONFIG_ENABLE_FKEY], body)
    }
    // Up to the end of the transaction: to end it earlier would let what leads nowhere pass.
    _ = try pragma("defer_foreign_keys", " = ON")
    return try body()
  }
}
