import SQLiteCore
public import SQLiteMapping

extension MagicData {
  /// Says whether the tables of a type differ from what the type asks for, blocking the thread.
  ///
  /// Columns that belong to no property do not count. ``differences(of:)`` tells what differs, and what
  /// the next save mends.
  ///
  /// - Parameter type: A type of objects.
  /// - Returns: False if the tables are as the type asks for them.
  /// - Throws: ``MagicError`` or ``SQLiteError``.
  public func check<Object: MagicObject>(of type: Object.Type) throws -> Bool {
    try differences(of: type).contains { $0.kind != .extraColumn }
  }

  /// As the blocking ``check(of:)``, suspending the task.
  ///
  /// - Parameter type: A type of objects.
  /// - Returns: False if the tables are as the type asks for them.
  /// - Throws: ``MagicError``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func check<Object: MagicObject>(
    of type: Object.Type
  ) async throws -> Bool {
    try await differences(of: type).contains { $0.kind != .extraColumn }
  }

  /// Tells in what the tables of a type, of its links and of the types that it leads to differ from what
  /// the types ask for, blocking the thread.
  ///
  /// - Parameter type: A type of objects.
  /// - Returns: The differences: of tables, columns, their types and NOT NULL, keys, indexes and delete
  ///   rules.
  /// - Throws: ``MagicError`` or ``SQLiteError``.
  public func differences<Object: MagicObject>(of type: Object.Type) throws -> [SchemaDifference] {
    let plan = try plan(type)
    return try database.read { try self.differences(plan, $0) }
  }

  /// As the blocking ``differences(of:)``, suspending the task.
  ///
  /// - Parameter type: A type of objects.
  /// - Returns: The differences.
  /// - Throws: ``MagicError``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func differences<Object: MagicObject>(
    of type: Object.Type
  ) async throws -> [SchemaDifference] {
    let plan = try plan(type)
    return try await database.read { try self.differences(plan, $0) }
  }

  private func differences(
    _ plan: ObjectPlan, _ connection: Connection
  ) throws -> [SchemaDifference] {
    try SchemaWriter.tables(reachedFrom: [plan], self.plan).flatMap { table in
      try table.refuseOtherMeaning(connection)
      return try connection.differences(from: table.definition)
    }
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
    // Inside a read nothing can be written: what the tables lack is read as what it will be.
    if try read({ try self.settle(plan, $0) }).isGrowth, !database.isInsideRead {
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
    /// There are tables, but links have the name that programs of before gave them.
    case otherNames
    /// There is no table yet.
    case missingTables

    /// Says whether there is something to be changed before objects are read.
    var isGrowth: Bool { [.missingColumns, .otherRules, .otherNames].contains(self) }
  }

  /// Notes that the tables are as they shall be, if they are.
  private func settle(_ plan: ObjectPlan, _ connection: Connection) throws -> Growth {
    let growth = try growth(plan, connection)
    if growth == .none { markReady([plan]) }
    return growth
  }

  private func growth(_ plan: ObjectPlan, _ connection: Connection) throws -> Growth {
    var growth = Growth.none
    for table in try SchemaWriter.tables(reachedFrom: [plan], self.plan) {
      try table.refuseOtherMeaning(connection)
      let definition = table.definition
      if try table.isUnderFormerName(connection) {
        growth = .otherNames
        continue
      }
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
