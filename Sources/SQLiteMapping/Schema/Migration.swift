public import SQLiteCore

/// A change of the schema, or of the rows in it, that is made once in the life of a database.
///
///     let migrations = [
///       Migration("mayors are leaders", .renameColumn("mayor", to: "leader", in: "City")),
///       Migration(
///         "names without blanks",
///         .transform("City") { row in ["name": try row.get("name", as: String.self).trimmed] }),
///     ]
///     try database.migrate(migrations)
///
/// The list is the history of the program's schema: a program adds to its end and changes nothing
/// before. Each migration is one transaction, foreign keys are checked before it commits, and its
/// name is kept in the database.
public struct Migration: Sendable {
  /// The name of the migration, for ever.
  public let name: String
  /// The changes, in order.
  public let steps: [Step]

  /// Creates a migration.
  ///
  /// - Parameters:
  ///   - name: The name of the migration, for ever; unique in its list.
  ///   - steps: The changes, in order.
  public init(_ name: String, _ steps: [Step]) {
    self.name = name
    self.steps = steps
  }

  /// Creates a migration.
  ///
  /// - Parameters:
  ///   - name: The name of the migration, for ever; unique in its list.
  ///   - steps: The changes, in order.
  public init(_ name: String, _ steps: Step...) {
    self.init(name, steps)
  }

  /// One change.
  public struct Step: Sendable, CustomStringConvertible {
    /// The change in words, as a plan shows it.
    public let description: String
    let run: @Sendable (Connection) throws -> Void

    package init(
      description: String, run: @escaping @Sendable (Connection) throws -> Void
    ) {
      self.description = description
      self.run = run
    }
  }
}

extension Migration.Step {
  /// Gives a table another name; references of other tables follow.
  ///
  /// - Parameters:
  ///   - name: The table's name until now.
  ///   - newName: Its new name.
  public static func renameTable(_ name: String, to newName: String) -> Self {
    altering(
      name, to: newName, "ALTER TABLE \(identifier: name) RENAME TO \(identifier: newName)")
  }

  /// Gives a column another name; indexes, triggers and views follow.
  ///
  /// - Parameters:
  ///   - name: The column's name until now.
  ///   - newName: Its new name.
  ///   - table: Its table.
  public static func renameColumn(
    _ name: String, to newName: String, in table: String
  ) -> Self {
    altering(
      table,
      "ALTER TABLE \(identifier: table) RENAME COLUMN \(identifier: name) TO \(identifier: newName)"
    ) { isSameName($0, name) ? newName : $0 }
  }

  /// Removes a column with what is in it. SQLite refuses one that is a key, unique or indexed.
  ///
  /// - Parameters:
  ///   - name: The column.
  ///   - table: Its table.
  public static func dropColumn(_ name: String, in table: String) -> Self {
    altering(table, "ALTER TABLE \(identifier: table) DROP COLUMN \(identifier: name)")
  }

  /// Runs ALTER TABLE, which the table's full-text index follows.
  private static func altering(
    _ table: String, to newTable: String? = nil, _ sql: SQL,
    newName: @escaping @Sendable (String) -> String = { $0 }
  ) -> Self {
    Self(description: sql.text) { connection in
      try SearchTable.following(table, to: newTable ?? table, connection, newName: newName) {
        try connection.executeChange(sql)
      }
    }
  }

  /// Removes a table with all its rows.
  ///
  /// It is refused as long as another table has a column that leads there, whatever its delete rule: no
  /// row of another table goes with it.
  ///
  /// - Parameter name: The table.
  public static func dropTable(_ name: String) -> Self {
    let sql: SQL = "DROP TABLE \(identifier: name)"
    return Self(description: sql.text) { connection in
      try connection.refuseReferrers(of: name)
      try SearchTable.remove(of: name, connection)
      try connection.executeChange(sql)
    }
  }

  /// Adds a column.
  ///
  /// - Parameters:
  ///   - column: The column. One that is not optional needs a default.
  ///   - table: Its table.
  public static func addColumn(_ column: ColumnDefinition, in table: String) -> Self {
    Self(description: "ALTER TABLE “\(table)” ADD COLUMN “\(column.name)”") { connection in
      try connection.executeChange(
        "ALTER TABLE \(identifier: table) ADD COLUMN \(column.sql)")
    }
  }

  /// Runs one statement.
  ///
  /// - Parameter sql: Any statement that may run in a transaction.
  public static func sql(_ sql: SQL) -> Self {
    Self(description: sql.text) { try $0.executeChange(sql) }
  }

  /// Changes the rows of a table one by one.
  ///
  /// - Parameters:
  ///   - table: The table; it must have rowids.
  ///   - change: Takes a row as it is and returns the columns that change, nil for NULL. What it
  ///     throws undoes the migration.
  public static func transform(
    _ table: String, _ change: @escaping @Sendable (Row) throws -> [String: (any Bindable)?]
  ) -> Self {
    Self(description: "change each row of “\(table)”") { connection in
      let rowID = try connection.rowIDName(of: table)
      // The rows first, since a row that changes may be met again.
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
  /// The name of the rowid that no column of the table has taken.
  fileprivate func rowIDName(of table: String) throws -> String {
    let columns = try columnNames(of: table)
    guard let name = ["rowid", "_rowid_", "oid"].first(where: { !columns.contains($0) }) else {
      throw SQLiteError(.misuse, "all names of the rowid are columns of “\(table)”")
    }
    return name
  }
}

extension Database {
  /// Makes the migrations that this database has not had yet, each in a transaction of its own.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: The names of those that were made by this call, and not by another one at the same time.
  /// - Throws: `SQLiteError` with `ResultCode.schema` if a newer program has been here; what a
  ///   step throws. The migration that failed has changed nothing then; those before it stay.
  @discardableResult
  public func migrate(_ migrations: [Migration]) throws -> [String] {
    var made: [String] = []
    for migration in try read({ try $0.pendingMigrations(of: migrations) }) {
      let isMade = try write { try $0.make(migration, ifPendingOf: migrations) }
      if isMade { made.append(migration.name) }
    }
    return made
  }

  /// As the blocking ``migrate(_:)``, suspending the task.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: The names of those that were made by this call, and not by another one at the same time.
  /// - Throws: As the blocking form, or `CancellationError`; migrations that were made stay.
  @discardableResult
  public func migrate(_ migrations: [Migration]) async throws -> [String] {
    var made: [String] = []
    for migration in try await read({ try $0.pendingMigrations(of: migrations) }) {
      let isMade = try await write { try $0.make(migration, ifPendingOf: migrations) }
      if isMade { made.append(migration.name) }
    }
    return made
  }

  /// The migrations that this database has had, by whatever program.
  ///
  /// - Returns: Their names, the oldest first; none for a database that this library has never written.
  /// - Throws: `SQLiteError`, also if a newer version of this library has made the database.
  public func migrationsMade() throws -> [String] {
    try read { try $0.migrationsMade() }
  }

  /// As ``migrationsMade()``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func migrationsMade() async throws -> [String] {
    try await read { try $0.migrationsMade() }
  }

  /// Returns the steps that `migrate(_:)` would make. They are tried and undone.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: A line for each step, below one for each migration.
  /// - Throws: As `migrate(_:)`.
  public func migrationPlan(of migrations: [Migration]) throws -> [String] {
    try write { try $0.tryOut(migrations) }
  }

  /// As ``migrationPlan(of:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func migrationPlan(of migrations: [Migration]) async throws -> [String] {
    try await write { try $0.tryOut(migrations) }
  }
}

extension Connection {
  /// Makes the migrations that are pending, and undoes them.
  ///
  /// - Returns: A line for each step, below one for each migration.
  fileprivate func tryOut(_ migrations: [Migration]) throws -> [String] {
    var lines: [String] = []
    _ = try savepoint {
      lines = try makePending(of: migrations)
      return TransactionOutcome.rollback
    }
    return lines
  }

  /// Makes the migrations that are pending, as part of the open transaction.
  ///
  /// - Returns: A line for each step, below one for each migration.
  package func makePending(of migrations: [Migration]) throws -> [String] {
    var lines: [String] = []
    for migration in try pendingMigrations(of: migrations) {
      lines.append("\(migration.name):")
      lines += migration.steps.map { "  \($0)" }
      try make(migration)
    }
    return lines
  }
}

extension Connection {
  /// Makes a migration, unless somebody else has made it meanwhile. Returns whether it was made.
  fileprivate func make(
    _ migration: Migration, ifPendingOf migrations: [Migration]
  ) throws -> Bool {
    let names = try pendingMigrations(of: migrations).map(\.name)
    guard names.contains(migration.name) else { return false }
    try make(migration)
    return true
  }

  /// The migrations that the database has not had yet.
  func pendingMigrations(of migrations: [Migration]) throws -> [Migration] {
    let names = migrations.map(\.name)
    guard !names.contains("") else { throw SQLiteError(.misuse, "a migration has no name") }
    guard Set(names).count == names.count else {
      throw SQLiteError(.misuse, "two migrations have one name")
    }
    let made = try migrationsMade()
    if let unknown = made.first(where: { !names.contains($0) }) {
      throw SQLiteError(
        .schema,
        "a newer program has changed this database by the migration “\(unknown)”, unknown here")
    }
    guard names.starts(with: made) else {
      throw SQLiteError(
        .schema, "the migrations are not in the order in which this database has had them")
    }
    return Array(migrations[made.count...])
  }

  /// The names of the migrations that the database has had, the oldest first.
  fileprivate func migrationsMade() throws -> [String] {
    guard try !columnNames(of: MetaTable.name).isEmpty else { return [] }
    try MetaTable.checkFormat(self)
    return try MetaTable.migrations(self)
  }

  /// Makes a migration and notes it.
  fileprivate func make(_ migration: Migration) throws {
    try savepoint {
      _ = try MetaTable.storeUUID(self)
      _ = try pragma("defer_foreign_keys", "=1")
      for step in migration.steps { try step.run(self) }
      try checkForeignKeys()
      try MetaTable.note(migration.name, self)
    }
    // The migration may have changed what was known of tables.
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
    // A table WITHOUT ROWID has none.
    let ids = broken.prefix(10).compactMap { $0.2.map(String.init) }
    let list =
      ids.isEmpty ? "" : " (rowid \(ids.joined(separator: ", "))\(broken.count > 10 ? ", …" : ""))"
    throw SQLiteError(
      .foreignKeyConstraint,
      "rows\(list) of “\(first.0)” refer to rows of “\(first.1)” that are not there")
  }

  /// Looks at the tables of types again before the next write.
  private func forgetTables() {
    for case let plan as RecordPlan in attachments.values { plan.ensured = .none }
  }
}

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
  package dynamic func refuseReferrers(
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
