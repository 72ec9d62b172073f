import SQLiteCore
public import SQLiteMapping

extension MagicData {
  /// Compares the tables of a type, of its links and of all types that it references with the
  /// declarations of the types, blocking the thread.
  ///
  ///     for difference in try magic.check(of: Book.self) { print(difference) }
  ///
  /// - Parameter type: A type of objects.
  /// - Returns: The differences in tables, columns, column types, NOT NULL constraints, keys,
  ///   indexes and delete rules. The array is empty if the tables match.
  ///   `SchemaDifference.isResolvedByWriting` indicates whether the next save removes a difference.
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if a type can't be stored, another
  ///   ``MagicError``, or `SQLiteError`.
  public func check<Object: MagicObject>(of type: Object.Type) throws -> [SchemaDifference] {
    let plan = try plan(type)
    return try readOnce { try self.differences(plan, $0) }
  }

  /// Compares the tables of a type, of its links and of all types that it references with the
  /// declarations of the types. Suspends the task meanwhile.
  ///
  /// For details, see the blocking ``check(of:)``.
  ///
  /// - Parameter type: A type of objects.
  /// - Returns: The differences in tables, columns, column types, NOT NULL constraints, keys,
  ///   indexes and delete rules. The array is empty if the tables match.
  ///   `SchemaDifference.isResolvedByWriting` indicates whether the next save removes a difference.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func check<Object: MagicObject>(
    of type: Object.Type
  ) async throws -> [SchemaDifference] {
    let plan = try plan(type)
    return try await readOnce { try self.differences(plan, $0) }
  }

  /// Runs the migrations that this store hasn't run yet, each in its own transaction, blocking the
  /// thread.
  ///
  ///     try magic.migrate([
  ///       Migration("rename name to title", .renameProperty("name", to: "title", of: "Book")),
  ///       Migration("drop rank", .dropProperty("rank", of: "Book")),
  ///     ])
  ///
  /// Call this before you read or save objects. The first use of a type adds empty columns for its
  /// new properties, and a rename then fails because the new name is already in use.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: The names of the migrations that this call ran.
  /// - Throws: The errors of `Database.migrate(_:)`. The migration that failed is rolled back; the
  ///   ones before it remain applied.
  @discardableResult
  public func migrate(_ migrations: [Migration]) throws -> [String] {
    defer { tables.forget() }
    return try database.reportingClosedStore { try database.migrate(migrations) }
  }

  /// Runs the migrations that this store hasn't run yet, each in its own transaction. Suspends the
  /// task meanwhile.
  ///
  /// For details, see the blocking ``migrate(_:)``.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: The names of the migrations that this call ran.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  @discardableResult
  nonisolated(nonsending) public func migrate(_ migrations: [Migration]) async throws -> [String] {
    defer { tables.forget() }
    return try await database.reportingClosedStore { try await database.migrate(migrations) }
  }

  private func differences(
    _ plan: ObjectPlan, _ connection: Connection
  ) throws -> [SchemaDifference] {
    try ObjectSchema(reachableFrom: [plan], self.plan).differences(on: connection)
  }
}

// Preparing the tables of types.
extension MagicData {
  /// Returns whether the tables of a type are known to be complete.
  package func isReady(_ plan: ObjectPlan) -> Bool { tables.isReady(plan) }

  /// Creates or completes the tables of types, as part of the open transaction.
  package func prepareTables(_ plans: [ObjectPlan], _ connection: Connection) throws {
    let missing = plans.filter { !isReady($0) }
    guard !missing.isEmpty else { return }
    try ObjectSchema(reachableFrom: missing, plan).ensure(on: connection)
    connection.afterCommit { [self] _ in tables.markReady(missing) }
  }

  /// Adds the columns, indexes and delete rules that the existing tables of a type lack, and then
  /// creates the missing tables too. If only tables are missing, does nothing, because the first
  /// save creates them.
  ///
  /// - Returns: True if the tables of the type are now complete. False if a table is missing, or if
  ///   the call is inside a read, which can't change tables.
  package func makeReady(_ plan: ObjectPlan) throws -> Bool {
    if isReady(plan) { return true }
    // A read can't write. It reads a missing column as the column's default value.
    let growth = try read(nil) { try self.inspect(plan, $0) }
    if growth == .change, !database.isInsideRead {
      try write { try self.prepareTables([plan], $0) }
    }
    return isReady(plan)
  }

  /// Adds the columns, indexes and delete rules that the existing tables of a type lack, and then
  /// creates the missing tables too. If only tables are missing, does nothing, because the first
  /// save creates them. Suspends the task meanwhile.
  ///
  /// - Returns: True if the tables of the type are now complete. False if a table is missing.
  nonisolated(nonsending) package func makeReady(_ plan: ObjectPlan) async throws -> Bool {
    if isReady(plan) { return true }
    let growth = try await read(nil) { try self.inspect(plan, $0) }
    if growth == .change {
      try await write { try self.prepareTables([plan], $0) }
    }
    return isReady(plan)
  }

  /// Creates a query without blocking the thread. The SQL of a query depends on which tables of its
  /// relations exist. If the store hasn't looked up one of these tables yet, `make` runs again on a
  /// thread that may wait for the database.
  nonisolated(nonsending) package func preparingQuery<Made: Sendable>(
    _ make: @escaping @Sendable () throws -> Made
  ) async throws -> Made {
    do {
      return try ExpressionSQL.$mayInspectTables.withValue(false, operation: make)
    } catch is ExpressionSQL.UnknownTables {
      return try await database.worker.run(make)
    }
  }

  /// Returns the kind of change that the tables of a type need. If they need none, records that
  /// they are complete.
  private func inspect(
    _ plan: ObjectPlan, _ connection: Connection
  ) throws -> ObjectSchema.Growth {
    let growth = try ObjectSchema(reachableFrom: [plan], self.plan)
      .growth(for: plan, on: connection, of: database)
    if growth == .none { tables.markReady([plan]) }
    return growth
  }
}
