public import SQLiteCore

extension Database {
  /// Makes the migrations that this database has not had yet, each in a transaction of its own.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: The names of those that were made.
  /// - Throws: ``SQLiteError`` with ``ResultCode/schema`` if a newer program has been here; what a
  ///   step throws. The migration that failed has changed nothing then; those before it stay.
  @discardableResult
  public func migrate(_ migrations: [Migration]) throws -> [String] {
    let pending = try read { try $0.pendingMigrations(of: migrations) }
    for migration in pending {
      try write { try $0.make(migration, ifPendingOf: migrations) }
    }
    return pending.map(\.name)
  }

  /// As the blocking ``migrate(_:)``, suspending the task.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: The names of those that were made.
  /// - Throws: As the blocking form, or `CancellationError`; migrations that were made stay.
  @discardableResult
  public func migrate(_ migrations: [Migration]) async throws -> [String] {
    let pending = try await read { try $0.pendingMigrations(of: migrations) }
    for migration in pending {
      try await write { try $0.make(migration, ifPendingOf: migrations) }
    }
    return pending.map(\.name)
  }

  /// Tells what ``migrate(_:)`` would do, having tried it: everything is undone again.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: A line for each step, below one for each migration.
  /// - Throws: As ``migrate(_:)``.
  public func migrationPlan(of migrations: [Migration]) throws -> [String] {
    var lines: [String] = []
    struct Undo: Error {}
    do {
      try write { connection in
        for migration in try connection.pendingMigrations(of: migrations) {
          lines.append("\(migration.name):")
          lines += migration.steps.map { "  \($0)" }
          try connection.make(migration)
        }
        throw Undo()
      }
    } catch is Undo {}
    return lines
  }
}

extension Connection {
  /// Makes a migration, unless another process has made it meanwhile.
  fileprivate func make(_ migration: Migration, ifPendingOf migrations: [Migration]) throws {
    let names = try pendingMigrations(of: migrations).map(\.name)
    if names.contains(migration.name) { try make(migration) }
  }

  /// The migrations that the database has not had yet.
  func pendingMigrations(of migrations: [Migration]) throws -> [Migration] {
    let names = migrations.map(\.name)
    guard Set(names).count == names.count else {
      throw SQLiteError(.misuse, "two migrations have one name")
    }
    guard try !columnNames(of: MetaTable.name).isEmpty else { return migrations }
    try MetaTable.checkFormat(self)
    let made = try MetaTable.migrations(self)
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
      "SELECT DISTINCT \"table\", \"parent\" FROM pragma_foreign_key_check()", as: String.self,
      String.self)
    guard let first = broken.first else { return }
    throw SQLiteError(
      .foreignKeyConstraint, "rows of “\(first.0)” refer to rows of “\(first.1)” that are not there"
    )
  }

  /// Looks at the tables of types again before the next write.
  private func forgetTables() {
    for case let plan as RecordPlan in attachments.values { plan.ensured = .none }
  }
}
