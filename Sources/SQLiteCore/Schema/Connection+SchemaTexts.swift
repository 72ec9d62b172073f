import CSQLite

// Writes the table `sqlite_schema` directly, for changes that no statement supports. SQLite's
// manual describes the procedure (<https://www.sqlite.org/lang_altertable.html#otheralter>).
extension Connection {
  /// Changes the SQL of a table in the schema, as part of the open transaction.
  ///
  /// The stored rows don't change and are not checked, so they must fit the new definition.
  ///
  /// - Parameters:
  ///   - name: The name of the table.
  ///   - change: Changes the SQL, and returns whether this was possible.
  /// - Returns: False if `change` returned false, or if the table does not exist. Then nothing has
  ///   changed.
  /// - Throws: ``SQLiteError`` if the schema can't be written.
  /// - Complexity: O(1) in the number of rows.
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

  /// Replaces the SQL of a table, view or trigger, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - sql: The new SQL, which must define an object of the same kind and name.
  ///   - kind: The kind, as stored in `sqlite_schema`.
  ///   - name: The name, as stored in `sqlite_schema`.
  /// - Throws: ``SQLiteError`` if the schema can't be written.
  package func setSQL(_ sql: String, of kind: String, _ name: String) throws(SQLiteError) {
    try writeSchema { () throws(SQLiteError) in
      try executeChange(
        "UPDATE main.sqlite_schema SET sql = \(sql) WHERE type = \(kind) AND name = \(name)")
    }
  }

  /// Renames a table and replaces its SQL, as part of the open transaction. Unlike `ALTER TABLE`,
  /// this doesn't update references to the table.
  ///
  /// - Parameters:
  ///   - name: The name of the table. It must have no triggers, and no indexes other than those of
  ///     its constraints.
  ///   - newName: The new name. Nothing in the schema may have it.
  ///   - sql: The SQL that defines the table under its new name.
  /// - Throws: ``SQLiteError`` if the schema can't be written.
  package func renameTable(
    _ name: String, to newName: String, sql: String
  ) throws(SQLiteError) {
    let start = "sqlite_autoindex_"
    let renaming: SQL = "ALTER TABLE \(identifier: name) RENAME TO \(identifier: newName)"
    hooks.recorder?.recordSchemaChange(renaming.text)
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

  /// Runs `body`, which may write `sqlite_schema`, and makes all connections reload the schema.
  private func writeSchema(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    let version = try Int32(databaseValue: try pragma("schema_version") ?? .null)
    let forbidsDamage = !environment.allowsSchemaDamage
    try handle.configure(SQLITE_DBCONFIG_DEFENSIVE, false)
    let result = Result { () throws(SQLiteError) in
      try setSchemaPragma("writable_schema", 1)
      try body()
      // Makes all connections, including this one, reload the schema.
      try setSchemaPragma("schema_version", version &+ 1)
    }
    try handle.configure(SQLITE_DBCONFIG_DEFENSIVE, forbidsDamage)
    let ending = Result { () throws(SQLiteError) in try setSchemaPragma("writable_schema", 0) }
    // Throw the first error.
    try result.get()
    try ending.get()
  }

  private func setSchemaPragma(_ name: String, _ value: Int32) throws(SQLiteError) {
    if let session = handle.remote { return try session.setSchemaPragma(name, value) }
    _ = try pragma(name, " = \(value)")
  }

  /// Runs `body` without enforcing foreign keys, as part of the open transaction. The caller must
  /// check all foreign keys afterwards.
  ///
  /// On a server, foreign keys can't be turned off within a transaction. They are deferred instead,
  /// and their delete actions still run.
  ///
  /// Observers are notified of a schema change instead of changed rows.
  package func withoutForeignKeys<Result>(_ body: () throws -> Result) throws -> Result {
    hooks.recorder?.isPaused = true
    defer { hooks.recorder?.isPaused = false }
    // Within a transaction, the pragma has no effect
    // (https://www.sqlite.org/pragma.html#pragma_foreign_keys).
    guard handle.remote != nil else {
      return try withoutSettings([SQLITE_DBCONFIG_ENABLE_FKEY], body)
    }
    // Stays on until the end of the transaction. Turning it off earlier would accept violations.
    _ = try pragma("defer_foreign_keys", " = ON")
    return try body()
  }
}
