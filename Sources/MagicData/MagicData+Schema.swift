import SQLiteCore
import SQLiteMapping

extension MagicData {
  /// Says whether the next save of an object of the type will make or grow its tables, blocking the
  /// thread.
  ///
  /// - Parameter type: A type of objects.
  /// - Returns: False if the tables are as the type asks for them.
  /// - Throws: ``MagicError`` or ``SQLiteError``.
  public func check<Object: MagicObject>(of type: Object.Type) throws -> Bool {
    let plan = try plan(type)
    return try database.read { try self.growth(plan, $0) != .none }
  }

  /// As the blocking ``check(of:)``, suspending the task.
  ///
  /// - Parameter type: A type of objects.
  /// - Returns: False if the tables are as the type asks for them.
  /// - Throws: ``MagicError``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func check<Object: MagicObject>(
    of type: Object.Type
  ) async throws -> Bool {
    let plan = try plan(type)
    return try await database.read { try self.growth(plan, $0) != .none }
  }

  /// Runs `body` on a snapshot in which the type's tables have all its columns, if they exist.
  func reading<Object: MagicObject, Result>(
    _ type: Object.Type, _ body: (Connection) throws -> Result
  ) throws -> Result {
    _ = try makeReady(plan(type))
    return try database.read(body)
  }

  /// Runs `body` on a snapshot in which the type's tables have all its columns, if they exist.
  nonisolated(nonsending) func reading<Object: MagicObject, Result: Sendable>(
    _ type: Object.Type, _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    _ = try await makeReady(plan(type))
    return try await database.read(body)
  }

  /// Lets the tables of a type be as they shall be, if they are there.
  ///
  /// - Returns: False if they are not there.
  func makeReady(_ plan: ObjectPlan) throws -> Bool {
    if isReady(plan) { return true }
    if try read({ try self.settle(plan, $0) }).isGrowth {
      try database.write { try self.prepareTables([plan], $0) }
    }
    return isReady(plan)
  }

  /// As the blocking form, suspending the task.
  nonisolated(nonsending) func makeReady(_ plan: ObjectPlan) async throws -> Bool {
    if isReady(plan) { return true }
    if try await read({ try self.settle(plan, $0) }).isGrowth {
      try await database.write { try self.prepareTables([plan], $0) }
    }
    return isReady(plan)
  }

  /// What the tables of a type lack.
  private enum Growth: Sendable {
    case none
    /// There are tables, but they lack columns.
    case missingColumns
    /// There are tables, but a delete rule was another one when they were made.
    case otherRules
    /// There is no table yet.
    case missingTables

    /// Says whether there is something to be changed before objects are read.
    var isGrowth: Bool { self == .missingColumns || self == .otherRules }
  }

  /// Notes that the tables are as they shall be, if they are.
  private func settle(_ plan: ObjectPlan, _ connection: Connection) throws -> Growth {
    let growth = try growth(plan, connection)
    if growth == .none { markReady([plan]) }
    return growth
  }

  private func growth(_ plan: ObjectPlan, _ connection: Connection) throws -> Growth {
    var growth = Growth.none
    for definition in try SchemaWriter.definitions([plan], isDeep: true, self.plan) {
      let present = try connection.columnNames(of: definition.name)
      if present.isEmpty {
        if definition.name == plan.table { return .missingTables }
        growth = growth == .none ? .missingTables : growth
      } else if definition.columns.contains(where: {
        !present.contains(asciiLowercased($0.name))
      }) {
        growth = .missingColumns
      } else if growth == .none, try connection.hasOtherDeleteRules(than: definition) {
        growth = .otherRules
      }
    }
    return growth
  }
}
