public import SQLSyntax
public import SQLiteCore
public import SQLiteMapping

/// What migrations would do: their steps as text, and the resulting changes of the schema.
public struct SchemaPlan: Hashable, Sendable, CustomStringConvertible {
  /// The pending migrations and their steps, one line each, as `migrationPlan(of:)` returns them.
  public let steps: [String]
  /// The differences between the schema before and after the migrations. The table
  /// `magicdata_meta`, which the library uses internally, is omitted.
  public let changes: [SQLSchemaChange]

  /// The steps, followed by the changes of the schema.
  public var description: String {
    (steps + changes.map { "= \($0)" }).joined(separator: "\n")
  }
}

/// An error that contains a plan. Throwing it rolls back the migrations that were run to compute
/// the plan.
private struct DryRunResult: Error {
  let plan: SchemaPlan
}

extension Connection {
  fileprivate func dryRun(_ migrations: [Migration]) throws -> SchemaPlan {
    func modelWithoutInternalTables() throws -> SQLSchema {
      var schema = try schemaModel()
      schema.tables.removeAll { $0.name.name.matches("magicdata_meta") }
      return schema
    }
    let before = try modelWithoutInternalTables()
    let steps = try runPending(of: migrations)
    throw DryRunResult(
      plan: SchemaPlan(steps: steps, changes: before.changes(to: try modelWithoutInternalTables())))
  }
}

extension Database {
  /// Returns the changes that `migrate(_:)` would make to the schema. Runs the migrations and rolls
  /// them back.
  ///
  ///     print(try database.schemaPlan(of: migrations))
  ///     // positive sizes:
  ///     //   add CHECK (size > 0) to “City”
  ///     // = City gets CHECK (size > 0)
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: The pending migrations with their steps, and the changes of the schema.
  /// - Throws: The errors of `migrate(_:)`.
  public func schemaPlan(of migrations: [Migration]) throws -> SchemaPlan {
    do {
      return try write { try $0.dryRun(migrations) }
    } catch let trial as DryRunResult {
      return trial.plan
    }
  }

  /// Returns the changes that `migrate(_:)` would make to the schema, and suspends the task
  /// meanwhile. See the blocking ``schemaPlan(of:)`` for details.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: The pending migrations with their steps, and the changes of the schema.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func schemaPlan(of migrations: [Migration]) async throws -> SchemaPlan {
    do {
      return try await write { try $0.dryRun(migrations) }
    } catch let trial as DryRunResult {
      return trial.plan
    }
  }

  /// Returns the steps that convert the schema of this database into another one, in an order in
  /// which they can be performed.
  ///
  /// - Parameter schema: The wanted schema, such as the schema of another database.
  /// - Returns: The steps; empty if the schemas have the same content.
  /// - Throws: `SQLiteError` if the schema can't be read.
  public func schemaChanges(to schema: SQLSchema) throws -> [SQLSchemaChange] {
    try schemaModel().changes(to: schema)
  }

  /// Returns the steps that convert the schema of this database into another one, and suspends the
  /// task meanwhile. See the blocking ``schemaChanges(to:)`` for details.
  ///
  /// - Parameter schema: The wanted schema, such as the schema of another database.
  /// - Returns: The steps; empty if the schemas have the same content.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func schemaChanges(to schema: SQLSchema) async throws -> [SQLSchemaChange] {
    try await schemaModel().changes(to: schema)
  }
}
