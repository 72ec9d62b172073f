import SQLiteCore
public import SQLiteMapping

extension MagicData {
  /// Says whether the tables of a type differ from what the type asks for, blocking the thread.
  ///
  /// Columns that belong to no property do not count, nor does what was never saved: a type without a
  /// table needs no migration. ``differences(of:)`` tells what differs, and what the next save mends.
  ///
  /// - Parameter type: A type of objects.
  /// - Returns: False if the tables are as the type asks for them, or are not there yet.
  /// - Throws: ``MagicError`` or ``SQLiteError``.
  public func check<Object: MagicObject>(of type: Object.Type) throws -> Bool {
    let plan = try plan(type)
    return try database.read { try self.hasDifferences(plan, $0) }
  }

  /// As the blocking ``check(of:)``, suspending the task.
  ///
  /// - Parameter type: A type of objects.
  /// - Returns: False if the tables are as the type asks for them, or are not there yet.
  /// - Throws: ``MagicError``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func check<Object: MagicObject>(
    of type: Object.Type
  ) async throws -> Bool {
    let plan = try plan(type)
    return try await database.read { try self.hasDifferences(plan, $0) }
  }

  private func hasDifferences(_ plan: ObjectPlan, _ connection: Connection) throws -> Bool {
    for plan in try SchemaWriter.reach([plan], self.plan) {
      // Its links were never saved either.
      let isThere = try connection.tableExists(plan.table)
      for table in try SchemaWriter.tables(of: [plan], self.plan) {
        try table.refuseOtherMeaning(connection)
        guard isThere else { continue }
        let differences = try connection.differences(from: table.definition)
        if differences.contains(where: { $0.kind != .extraColumn }) { return true }
      }
    }
    return false
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
    return try ofOneContent { try database.read { try self.ofOneContent($0, body) } }
  }

  /// Runs `body` on a snapshot in which the type's tables have all its columns, if they exist.
  nonisolated(nonsending) func reading<Object: MagicObject, Result: Sendable>(
    _ type: Object.Type, _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    _ = try await makeReady(plan(type))
    return try await ofOneContent {
      try await database.read { try self.ofOneContent($0, body) }
    }
  }

  /// Lets the tables of a type be as they shall be, if they are there.
  ///
  /// - Returns: False if they are not there.
  package func makeReady(_ plan: ObjectPlan) throws -> Bool {
    if isReady(plan) { return true }
    // Inside a read nothing can be written: what the tables lack is read as what it will be.
    if try read({ try self.settle(plan, $0) }) == .change, !database.isInsideRead {
      try database.write { try self.prepareTables([plan], $0) }
    }
    return isReady(plan)
  }

  /// As the blocking form, suspending the task.
  nonisolated(nonsending) package func makeReady(_ plan: ObjectPlan) async throws -> Bool {
    if isReady(plan) { return true }
    if try await read({ try self.settle(plan, $0) }) == .change {
      try await database.write { try self.prepareTables([plan], $0) }
    }
    return isReady(plan)
  }

  /// What the tables of a type lack.
  private enum Growth: Sendable {
    case none
    /// There are tables, but they lack columns or indexes, have another delete rule, or have the name
    /// that programs of before gave them.
    case change
    /// There is no table yet.
    case missingTables
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
        growth = .change
        continue
      }
      let present = try connection.columnNames(of: definition.name)
      if present.isEmpty {
        if definition.name == plan.table { return .missingTables }
        if growth == .none { growth = .missingTables }
      } else if growth != .change, try lacks(definition, present, connection) {
        growth = .change
      }
    }
    return growth
  }

  /// Says whether a table that is there lacks something.
  private func lacks(
    _ definition: TableDefinition, _ present: Set<String>, _ connection: Connection
  ) throws -> Bool {
    if definition.columns.contains(where: { !present.contains(asciiLowercased($0.name)) }) {
      return true
    }
    if try connection.hasOtherDeleteRules(than: definition) { return true }
    let missing = try connection.missingIndexes(of: definition)
    guard !missing.isEmpty else { return false }
    // They cannot be made here, and rows are the same without.
    if database.isReadOnly || database.isInsideRead {
      try connection.checkUnique(missing, of: definition.name)
    }
    return !database.isReadOnly
  }
}
