import SQLiteCore
public import SQLiteMapping

extension MagicData {
  /// Returns the differences between the tables of a type, of its links and of the types that it leads to,
  /// and what the types ask for, blocking the thread.
  ///
  ///     for difference in try magic.check(of: Book.self) { print(difference) }
  ///
  /// - Parameter type: A type of objects.
  /// - Returns: The differences, none if the tables are as they should be: of tables, columns, their types and
  ///   NOT NULL, keys, indexes and delete rules. `SchemaDifference.isMendedByWriting` tells which of them
  ///   the next save removes.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func check<Object: MagicObject>(of type: Object.Type) throws -> [SchemaDifference] {
    let plan = try plan(type)
    return try readOnce { try self.differences(plan, $0) }
  }

  /// As ``check(of:)``, without blocking the task. Throws `CancellationError` too.
  nonisolated(nonsending) public func check<Object: MagicObject>(
    of type: Object.Type
  ) async throws -> [SchemaDifference] {
    let plan = try plan(type)
    return try await readOnce { try self.differences(plan, $0) }
  }

  /// Makes the migrations that this store has not had yet, each in a transaction of its own, blocking
  /// the thread.
  ///
  ///     try magic.migrate([
  ///       Migration("names are titles", .renameProperty("name", to: "title", of: "Book")),
  ///       Migration("no more ranks", .dropProperty("rank", of: "Book")),
  ///     ])
  ///
  /// Call it before objects are read or saved: a type that is used before has its new properties added
  /// empty, and a rename finds the name taken.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: The names of those that were made.
  /// - Throws: As `Database.migrate(_:)`. The migration that failed has changed nothing then; those
  ///   before it stay.
  @discardableResult
  public func migrate(_ migrations: [Migration]) throws -> [String] {
    defer { tables.forget() }
    return try database.reportingClosure { try database.migrate(migrations) }
  }

  /// As ``migrate(_:)``, without blocking the task. Throws `CancellationError` too.
  @discardableResult
  nonisolated(nonsending) public func migrate(_ migrations: [Migration]) async throws -> [String] {
    defer { tables.forget() }
    return try await database.reportingClosure { try await database.migrate(migrations) }
  }

  private func differences(
    _ plan: ObjectPlan, _ connection: Connection
  ) throws -> [SchemaDifference] {
    try ObjectSchema(reachedFrom: [plan], self.plan).differences(on: connection)
  }
}

// The tables of the types that are used.
extension MagicData {
  /// Returns whether the tables of a type are known to lack nothing.
  package func isReady(_ plan: ObjectPlan) -> Bool { tables.isReady(plan) }

  /// Makes or grows the tables of types, as part of the open transaction.
  package func prepareTables(_ plans: [ObjectPlan], _ connection: Connection) throws {
    let missing = plans.filter { !isReady($0) }
    guard !missing.isEmpty else { return }
    try ObjectSchema(reachedFrom: missing, plan).ensure(on: connection)
    connection.afterCommit { [self] _ in tables.markReady(missing) }
  }

  /// Adds the columns, indexes and delete rules that a type declares and its tables lack. Creates no table;
  /// the first save does.
  ///
  /// - Returns: False if a table does not exist yet, or cannot be changed now.
  package func makeReady(_ plan: ObjectPlan) throws -> Bool {
    if isReady(plan) { return true }
    // Inside a read nothing can be written: a missing column is read as the default that it will have.
    let growth = try read(nil) { try self.inspect(plan, $0) }
    if growth == .change, !database.isInsideRead {
      try write { try self.prepareTables([plan], $0) }
    }
    return isReady(plan)
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) package func makeReady(_ plan: ObjectPlan) async throws -> Bool {
    if isReady(plan) { return true }
    let growth = try await read(nil) { try self.inspect(plan, $0) }
    if growth == .change {
      try await write { try self.prepareTables([plan], $0) }
    }
    return isReady(plan)
  }

  /// Makes a query without blocking the task. Its SQL depends on the tables of relations: if the store has not
  /// looked at one of them yet, the query is made on a thread that may wait for the database.
  nonisolated(nonsending) package func making<Made: Sendable>(
    _ make: @escaping @Sendable () throws -> Made
  ) async throws -> Made {
    do {
      return try ExpressionSQL.$mayLookAtTables.withValue(false, operation: make)
    } catch is ExpressionSQL.UnknownTables {
      return try await database.worker.run(make)
    }
  }

  /// Looks at the tables of a type, and notes if they lack nothing.
  private func inspect(
    _ plan: ObjectPlan, _ connection: Connection
  ) throws -> ObjectSchema.Growth {
    let growth = try ObjectSchema(reachedFrom: [plan], self.plan)
      .growth(for: plan, on: connection, of: database)
    if growth == .none { tables.markReady([plan]) }
    return growth
  }
}
