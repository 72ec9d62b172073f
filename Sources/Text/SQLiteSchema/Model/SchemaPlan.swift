public import SQLSyntax
public import SQLiteCore
public import SQLiteMapping

/// The changes that migrations would make, in words and as edits of the schema.
public struct SchemaPlan: Hashable, Sendable, CustomStringConvertible {
  /// A line for each step, below one for each migration, as `migrationPlan(of:)` returns them.
  public let steps: [String]
  /// The differences of the schema before and after, those of this library's own table left out.
  public let changes: [SQLSchemaChange]

  /// The steps, then the edits.
  public var description: String {
    (steps + changes.map { "= \($0)" }).joined(separator: "\n")
  }
}

/// A plan that was tried, thrown so that it is undone.
private struct Trial: Error {
  let plan: SchemaPlan
}

extension Connection {
  fileprivate func tryOut(_ migrations: [Migration]) throws -> SchemaPlan {
    func ownTablesLeftOut() throws -> SQLSchema {
      var schema = try schemaModel()
      schema.tables.removeAll { $0.name.name.matches("magicdata_meta") }
      return schema
    }
    let before = try ownTablesLeftOut()
    let steps = try makePending(of: migrations)
    throw Trial(plan: SchemaPlan(steps: steps, changes: before.changes(to: try ownTablesLeftOut())))
  }
}

extension Database {
  /// Returns what `migrate(_:)` would make of the schema. The migrations are tried and undone.
  ///
  ///     print(try database.schemaPlan(of: migrations))
  ///     // positive sizes:
  ///     //   add CHECK (size > 0) to “City”
  ///     // = City gets CHECK (size > 0)
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Throws: As `migrate(_:)`.
  public func schemaPlan(of migrations: [Migration]) throws -> SchemaPlan {
    do {
      return try write { try $0.tryOut(migrations) }
    } catch let trial as Trial {
      return trial.plan
    }
  }

  /// As the blocking ``schemaPlan(of:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func schemaPlan(of migrations: [Migration]) async throws -> SchemaPlan {
    do {
      return try await write { try $0.tryOut(migrations) }
    } catch let trial as Trial {
      return trial.plan
    }
  }

  /// Returns the steps from this database's schema to a wanted one, in an order in which they can be done.
  ///
  /// - Parameter schema: The wanted schema, such as that of another database.
  /// - Throws: `SQLiteError`.
  public func schemaChanges(to schema: SQLSchema) throws -> [SQLSchemaChange] {
    try schemaModel().changes(to: schema)
  }

  /// As the blocking ``schemaChanges(to:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func schemaChanges(to schema: SQLSchema) async throws -> [SQLSchemaChange] {
    try await schemaModel().changes(to: schema)
  }
}
