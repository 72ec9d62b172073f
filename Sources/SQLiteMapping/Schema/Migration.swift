public import SQLiteCore

/// A change of a database's schema or rows, which runs once per database.
///
///     let migrations = [
///       Migration("mayors are leaders", .renameColumn("mayor", to: "leader", in: "City")),
///       Migration(
///         "names without blanks",
///         .transform("City") { row in ["name": try row.get("name", as: String.self).trimmed] }),
///     ]
///     try database.migrate(migrations)
///
/// The list of migrations is the history of your program's schema. Append new migrations to its
/// end, and don't change earlier ones. Each migration runs in a transaction, which checks foreign
/// keys before it commits. The database stores the names of the migrations that have run.
public struct Migration: Sendable {
  /// The permanent name of the migration. The database stores it when the migration has run, so
  /// don't change it afterwards.
  public let name: String
  /// The changes, in the order in which they run.
  public let steps: [Step]

  /// Creates a migration from an array of steps.
  ///
  /// - Parameters:
  ///   - name: The permanent name of the migration. It must be unique in the list of migrations.
  ///   - steps: The changes, in order.
  public init(_ name: String, _ steps: [Step]) {
    self.name = name
    self.steps = steps
  }

  /// Creates a migration from one or several steps.
  ///
  /// - Parameters:
  ///   - name: The permanent name of the migration. It must be unique in the list of migrations.
  ///   - steps: The changes, in order.
  public init(_ name: String, _ steps: Step...) {
    self.init(name, steps)
  }

  /// One change in a migration, such as renaming a column. It runs when the migration runs.
  public struct Step: Sendable, CustomStringConvertible {
    /// A description of the change for people, which `Database.migrationPlan(of:)` returns.
    public let description: String
    /// The table that the step changes, or nil if running the step throws SQLite's error for a
    /// missing table.
    fileprivate let table: String?
    fileprivate let renames: [SchemaRename]
    let run: @Sendable (Connection) throws -> Void

    package init(
      description: String, changing table: String? = nil, renaming renames: [SchemaRename] = [],
      run: @escaping @Sendable (Connection) throws -> Void
    ) {
      self.description = description
      self.table = table
      self.renames = renames
      self.run = run
    }
  }
}

extension Migration.Step {
  /// Renames a table. Foreign keys of other tables, triggers and views are updated, and a full-text
  /// index of the table is rebuilt.
  ///
  /// - Parameters:
  ///   - name: The current name of the table.
  ///   - newName: The new name.
  /// - Returns: A step for a migration.
  public static func renameTable(_ name: String, to newName: String) -> Self {
    altering(
      name, to: newName, renaming: .table(name, to: newName),
      "ALTER TABLE \(identifier: name) RENAME TO \(identifier: newName)")
  }

  /// Renames a column. Indexes, triggers and views are updated, and a full-text index of the table
  /// is rebuilt.
  ///
  /// - Parameters:
  ///   - name: The current name of the column.
  ///   - newName: The new name.
  ///   - table: The name of the column's table.
  /// - Returns: A step for a migration.
  public static func renameColumn(
    _ name: String, to newName: String, in table: String
  ) -> Self {
    altering(
      table, renaming: .column(name, of: table, to: newName),
      "ALTER TABLE \(identifier: table) RENAME COLUMN \(identifier: name) TO \(identifier: newName)"
    ) { isSameName($0, name) ? newName : $0 }
  }

  /// Drops a column with its content, and rebuilds a full-text index of the table without it.
  ///
  /// The migration throws if the column belongs to the primary key, is unique, or is used by a
  /// foreign key, an index, a trigger or a view, because SQLite cannot drop such a column.
  ///
  /// - Parameters:
  ///   - name: The name of the column.
  ///   - table: The name of the column's table.
  /// - Returns: A step for a migration.
  public static func dropColumn(_ name: String, in table: String) -> Self {
    altering(table, "ALTER TABLE \(identifier: table) DROP COLUMN \(identifier: name)")
  }

  /// Returns a step that runs ALTER TABLE and rebuilds the table's full-text index.
  private static func altering(
    _ table: String, to newTable: String? = nil, renaming rename: SchemaRename? = nil, _ sql: SQL,
    newName: @escaping @Sendable (String) -> String = { $0 }
  ) -> Self {
    Self(description: sql.text, renaming: rename.map { [$0] } ?? []) { connection in
      try SearchTable.rebuildingIndex(table, to: newTable ?? table, connection, newName: newName) {
        try connection.executeChange(sql)
      }
    }
  }

  /// Drops a table with all its rows and its full-text index.
  ///
  /// The migration throws if a foreign key of another table references this table, whatever its
  /// delete rule. Rows of other tables are never deleted.
  ///
  /// - Parameter name: The name of the table.
  /// - Returns: A step for a migration.
  public static func dropTable(_ name: String) -> Self {
    let sql: SQL = "DROP TABLE \(identifier: name)"
    return Self(description: sql.text) { connection in
      try connection.checkNotReferenced(of: name)
      try SearchTable.remove(of: name, connection)
      try connection.executeChange(sql)
    }
  }

  /// Adds a column to a table.
  ///
  /// - Parameters:
  ///   - column: The definition of the column. If it is not optional, it needs a default.
  ///   - table: The name of the table.
  /// - Returns: A step for a migration.
  public static func addColumn(_ column: ColumnDefinition, in table: String) -> Self {
    Self(description: "ALTER TABLE “\(table)” ADD COLUMN “\(column.name)”") { connection in
      try connection.executeChange(
        "ALTER TABLE \(identifier: table) ADD COLUMN \(column.sql)")
    }
  }

  /// Runs one SQL statement, such as `UPDATE` or `CREATE INDEX`.
  ///
  /// - Parameter sql: The statement, which must be allowed in a transaction.
  /// - Returns: A step for a migration.
  public static func sql(_ sql: SQL) -> Self {
    Self(description: sql.text) { try $0.executeChange(sql) }
  }

  /// Changes the rows of a table one by one.
  ///
  /// - Parameters:
  ///   - table: The name of the table, which must have rowids.
  ///   - change: Receives each row and returns the new values of the columns that change, by column
  ///     name. A nil value is stored as NULL. If the closure throws, the migration is rolled back.
  /// - Returns: A step for a migration.
  public static func transform(
    _ table: String, _ change: @escaping @Sendable (Row) throws -> [String: (any Bindable)?]
  ) -> Self {
    Self(description: "change each row of “\(table)”") { connection in
      let rowID = try connection.rowIDName(of: table)
      // All rowids are read first, because a query might return changed rows again.
      let ids = try connection.rows(
        "SELECT \(identifier: rowID) FROM \(identifier: table)", as: Int64.self)
      for id in ids {
        guard
          let row = try connection.firstRow(
            "SELECT * FROM \(identifier: table) WHERE \(identifier: rowID) = \(id)")
        else { continue }
        let changes = try change(row)
        guard !changes.isEmpty else { continue }
        let assignments = try changes.keys.sorted().map { column -> SQL in
          "\(identifier: column) = \(try (changes[column] ?? nil)?.databaseValue ?? .null)"
        }
        try connection.executeChange(
          "UPDATE \(identifier: table) SET \(SQL(joining: assignments, separator: ", ")) WHERE \(identifier: rowID) = \(id)"
        )
      }
    }
  }
}

extension Connection {
  /// Returns a name of the rowid (`rowid`, `_rowid_` or `oid`) that is not the name of a column.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if columns use all three names.
  fileprivate func rowIDName(of table: String) throws -> String {
    let columns = try columnNames(of: table)
    guard let name = ["rowid", "_rowid_", "oid"].first(where: { !columns.contains($0) }) else {
      throw SQLiteError(
        .misuse,
        "the rowid of “\(table)” cannot be read, because columns use all of its names (rowid, "
          + "oid and _rowid_)")
    }
    return name
  }
}

extension Database {
  /// Runs the migrations that have not run on this database yet, each in a separate transaction.
  /// Blocks the thread.
  ///
  /// In a database without tables, such as that of a new installation, a step that changes a table
  /// has nothing to change, so it is skipped if the table doesn't exist. All migrations then run in
  /// one transaction. In any other database, a missing table is an error.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: The names of the migrations that this call has run. If another call runs a
  ///   migration first, it is not included.
  /// - Throws: `SQLiteError` if a statement fails, with `ResultCode.schema` if a migration has run
  ///   that `migrations` does not contain, if the order of the migrations has changed, or if a
  ///   newer version of the library has written the database, with `ResultCode.misuse` if names are
  ///   empty or not unique, or with `ResultCode.foreignKeyConstraint` if a migration leaves
  ///   references to missing rows; any other error that a step throws. The failed migration is
  ///   rolled back. Earlier migrations remain.
  @discardableResult
  public func migrate(_ migrations: [Migration]) throws -> [String] {
    var made: [String] = []
    for migration in try read({ try $0.pendingMigrations(of: migrations) }) {
      made += try write { try $0.make(migration, ifPendingOf: migrations) }
    }
    return made
  }

  /// Runs the migrations that have not run on this database yet, each in a separate transaction,
  /// without blocking the thread. For details, see the blocking form.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: The names of the migrations that this call has run. If another call runs a
  ///   migration first, it is not included.
  /// - Throws: The errors of the blocking form, or `CancellationError` if the task was cancelled.
  ///   Completed migrations remain.
  @discardableResult
  public func migrate(_ migrations: [Migration]) async throws -> [String] {
    var made: [String] = []
    for migration in try await read({ try $0.pendingMigrations(of: migrations) }) {
      made += try await write { try $0.make(migration, ifPendingOf: migrations) }
    }
    return made
  }

  /// Returns the names of the migrations that this or any other program has run on this database.
  /// Blocks the thread.
  ///
  /// - Returns: The names, the oldest migration first. Empty if no migration has run.
  /// - Throws: `SQLiteError` if a statement fails, or with `ResultCode.schema` if a newer version
  ///   of this library has written the database.
  public func appliedMigrations() throws -> [String] {
    try read { try $0.appliedMigrations() }
  }

  /// Returns the names of the migrations that this or any other program has run on this database,
  /// without blocking the thread.
  ///
  /// - Returns: The names, the oldest migration first. Empty if no migration has run.
  /// - Throws: The errors of the blocking form, or `CancellationError` if the task was cancelled.
  public func appliedMigrations() async throws -> [String] {
    try await read { try $0.appliedMigrations() }
  }

  /// Returns a description of the steps that `migrate(_:)` would run. To verify the steps, the call
  /// runs them in a transaction, which it then rolls back. Blocks the thread.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: For each migration that has not run yet, a line with its name and a line for each
  ///   of its steps.
  /// - Throws: The errors of `migrate(_:)`.
  public func migrationPlan(of migrations: [Migration]) throws -> [String] {
    try write { try $0.dryRun(migrations) }
  }

  /// Returns a description of the steps that `migrate(_:)` would run, without blocking the thread.
  /// To verify the steps, the call runs them in a transaction, which it then rolls back.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: For each migration that has not run yet, a line with its name and a line for each
  ///   of its steps.
  /// - Throws: The errors of `migrate(_:)`, or `CancellationError` if the task was cancelled.
  public func migrationPlan(of migrations: [Migration]) async throws -> [String] {
    try await write { try $0.dryRun(migrations) }
  }
}

extension Connection {
  /// Runs the migrations that have not run yet, and rolls them back.
  ///
  /// - Returns: For each of these migrations, a line with its name and a line for each of its
  ///   steps.
  fileprivate func dryRun(_ migrations: [Migration]) throws -> [String] {
    var lines: [String] = []
    _ = try savepoint {
      lines = try runPending(of: migrations)
      return TransactionOutcome.rollback
    }
    return lines
  }

  /// Runs the migrations that have not run yet, as part of the open transaction.
  ///
  /// - Returns: For each of these migrations, a line with its name and a line for each of its
  ///   steps.
  package func runPending(of migrations: [Migration]) throws -> [String] {
    var lines: [String] = []
    let skipsMissingTables = try isWithoutTables()
    for migration in try pendingMigrations(of: migrations) {
      lines.append("\(migration.name):")
      lines += migration.steps.map { "  \($0)" }
      try make(migration, skipsMissingTables)
    }
    return lines
  }
}

extension Connection {
  /// Runs a migration if no other connection has run it in the meantime. In a database without
  /// tables, runs all pending migrations, so that none of them finds only the tables that an
  /// earlier one has created.
  ///
  /// - Returns: The names of the migrations that this call has run.
  fileprivate func make(
    _ migration: Migration, ifPendingOf migrations: [Migration]
  ) throws -> [String] {
    var pending = try pendingMigrations(of: migrations)
    guard pending.contains(where: { $0.name == migration.name }) else { return [] }
    let skipsMissingTables = try isWithoutTables()
    if !skipsMissingTables { pending = [migration] }
    for migration in pending { try make(migration, skipsMissingTables) }
    return pending.map(\.name)
  }

  /// Whether the database has no tables, apart from those of this library, and no migration has run
  /// on it.
  private func isWithoutTables() throws -> Bool {
    try appliedMigrations().isEmpty
      && existingTables().allSatisfy { asciiLowercased($0).hasPrefix("magicdata_") }
  }

  /// Returns the migrations that have not run on this database yet.
  ///
  /// - Throws: ``SQLiteError`` if names are empty or not unique, if a migration has run that the
  ///   array doesn't contain, or if the order has changed.
  func pendingMigrations(of migrations: [Migration]) throws -> [Migration] {
    let names = migrations.map(\.name)
    guard !names.contains("") else {
      throw SQLiteError(.misuse, "a migration has no name; give it one")
    }
    guard Set(names).count == names.count else {
      throw SQLiteError(.misuse, "two migrations have the same name; rename one of them")
    }
    let made = try appliedMigrations()
    if let unknown = made.first(where: { !names.contains($0) }) {
      throw SQLiteError(
        .schema,
        "a newer program has migrated this database: the migration “\(unknown)” is not declared "
          + "here")
    }
    guard names.starts(with: made) else {
      throw SQLiteError(
        .schema,
        "the migrations are not in the order in which they were applied to this database; "
          + "add new ones at the end")
    }
    return Array(migrations[made.count...])
  }

  /// Returns the names of the migrations that have run on this database, the oldest first.
  fileprivate func appliedMigrations() throws -> [String] {
    guard try !columnNames(of: MetaTable.name).isEmpty else { return [] }
    try MetaTable.checkFormat(self)
    return try MetaTable.migrations(self)
  }

  /// Runs a migration and records its name.
  ///
  /// - Parameters:
  ///   - migration: The migration to run.
  ///   - skipsMissingTables: Whether to skip the steps that change a table that doesn't exist.
  private func make(_ migration: Migration, _ skipsMissingTables: Bool) throws {
    try savepoint {
      _ = try MetaTable.storeUUID(self)
      _ = try pragma("defer_foreign_keys", "=1")
      for step in migration.steps {
        // Also if there is nothing to rename, because other devices may use the former names.
        for rename in step.renames { try MetaTable.record(rename, self) }
        guard skipsMissingTables else {
          try step.run(self)
          continue
        }
        // The first use of its type creates the table with all changes.
        if let table = step.table, try !tableExists(table) { continue }
        do {
          try savepoint { try step.run(self) }
        } catch let error as SQLiteError where error.isMissingTable {
          continue
        }
      }
      try checkForeignKeys()
      try MetaTable.recordMigration(migration.name, self)
    }
    // The migration may have changed tables that this connection has checked.
    forgetTables()
  }

  private func checkForeignKeys() throws {
    let broken = try rows(
      """
      SELECT "table", "parent", "rowid" FROM pragma_foreign_key_check()
      WHERE ("table", "parent") IN (SELECT "table", "parent" FROM pragma_foreign_key_check() LIMIT 1)
      LIMIT 11
      """, as: String.self, String.self, Int64?.self)
    guard let first = broken.first else { return }
    // A table WITHOUT ROWID has no rowids.
    let ids = broken.prefix(10).compactMap { $0.2.map(String.init) }
    let list =
      ids.isEmpty ? "" : " (rowid \(ids.joined(separator: ", "))\(broken.count > 10 ? ", …" : ""))"
    throw SQLiteError(
      .foreignKeyConstraint,
      "rows\(list) of “\(first.0)” reference missing rows of “\(first.1)”")
  }

  /// Marks the tables of all record types as unchecked, so that the next write checks them again.
  private func forgetTables() {
    for case let plan as RecordPlan in attachments.values { plan.ensured = .none }
  }
}

extension Connection {
  /// Throws if foreign keys of other tables reference a table. Dropping it would delete rows of
  /// those tables or set their references to NULL, and their types could no longer be written.
  ///
  /// - Parameters:
  ///   - table: The name of the table.
  ///   - belongings: The names of tables that are dropped together with it.
  ///   - name: Returns the text that stands for columns of another table in the error message.
  /// - Throws: ``SQLiteError`` with ``ResultCode/foreignKeyConstraint``. The message names the
  ///   columns that reference the table, and the number of their rows.
  package dynamic func checkNotReferenced(
    of table: String, excluding belongings: [String] = [],
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
        words.append("\(try name(other, key.columns)) references it in \(rows)")
      }
    }
    guard words.isEmpty else {
      throw SQLiteError(
        .foreignKeyConstraint,
        "“\(table)” cannot be removed: \(words.joined(separator: "; ")); remove these "
          + "references first"
      )
    }
  }
}
