import SQLiteCore

extension MagicData {
  /// Removes an object, blocking the thread.
  ///
  /// Links to it go with it; optional properties that lead to it become nil, unless a delete rule says
  /// something else. Its assets' files go after the commit.
  ///
  /// - Parameter object: What to remove. It may be saved again, as a new object.
  /// - Throws: ``MagicError/restricted(type:)`` if a property leads to it that is not optional, or whose
  ///   delete rule forbids it; ``MagicError/notSaved(type:)`` if it is not in the store, ``SQLiteError``.
  public func remove<Object: MagicObject>(_ object: Object) throws {
    let plan = try plan(Object.self)
    let target = try target(object, plan)
    try database.withoutTransaction { connection in
      guard !connection.isAutocommit else {
        return try connection.transaction {
          try self.delete(target, plan, connection)
          RemovalTarget.settle([target], in: identity, atOnce: false, on: connection)
        }
      }
      // One statement is done or undone as a whole: in a transaction it needs no savepoint.
      RemovalTarget.restore([target], afterRollbackOn: connection)
      try self.delete(target, plan, connection)
      RemovalTarget.settle([target], in: identity, atOnce: true, on: connection)
    }
  }

  /// As the blocking ``remove(_:)``, suspending the task.
  ///
  /// - Parameter object: What to remove.
  /// - Throws: As the blocking form, or `CancellationError`.
  nonisolated(nonsending) public func remove<Object: MagicObject>(_ object: Object) async throws {
    let plan = try plan(Object.self)
    let target = try target(object, plan)
    try await database.write { connection in
      RemovalTarget.restore([target], afterRollbackOn: connection)
      try self.delete(target, plan, connection)
      RemovalTarget.settle([target], in: self.identity, atOnce: false, on: connection)
    }
  }

  /// Removes objects in one transaction, all of them or none, blocking the thread.
  ///
  ///     let count = try magic.remove(contentsOf: expired)
  ///
  /// - Parameter objects: What to remove. Those that are not in the store, or went with others before
  ///   them, are passed over.
  /// - Returns: How many were removed.
  /// - Throws: ``MagicError/restricted(type:)`` if a delete rule forbids it, ``SQLiteError``; nothing
  ///   is removed then.
  @discardableResult
  public func remove<Object: MagicObject>(
    contentsOf objects: some Sequence<Object>
  ) throws -> Int {
    let plan = try plan(Object.self)
    let targets = try knownTargets(objects, plan)
    guard !targets.isEmpty else { return 0 }
    return try database.write { try self.delete(targets, plan, $0) }
  }

  /// As the blocking ``remove(contentsOf:)``, suspending the task.
  ///
  /// - Parameter objects: What to remove.
  /// - Returns: How many were removed.
  /// - Throws: ``MagicError/restricted(type:)``, ``SQLiteError`` or `CancellationError`.
  @discardableResult
  nonisolated(nonsending) public func remove<Object: MagicObject>(
    contentsOf objects: some Sequence<Object>
  ) async throws -> Int {
    let plan = try plan(Object.self)
    let targets = try knownTargets(objects, plan)
    guard !targets.isEmpty else { return 0 }
    return try await database.write { try self.delete(targets, plan, $0) }
  }

  /// Removes the objects of a type, all or some, blocking the thread.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - filter: What the objects to remove have in common.
  /// - Returns: How many were removed.
  /// - Throws: ``MagicError/restricted(type:)`` if a delete rule forbids it, ``MagicError`` or
  ///   ``SQLiteError``; nothing is removed then.
  @discardableResult
  public func removeAll<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil
  ) throws -> Int {
    let query = try Query<Object>(self, filter)
    return try database.write { try query.delete($0) }
  }

  /// As the blocking ``removeAll(of:where:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - filter: What the objects to remove have in common.
  /// - Returns: How many were removed.
  /// - Throws: ``MagicError``, ``SQLiteError`` or `CancellationError`.
  @discardableResult
  nonisolated(nonsending) public func removeAll<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil
  ) async throws -> Int {
    let query = try Query<Object>(self, filter)
    return try await database.write { try query.delete($0) }
  }

  private func target<Object: MagicObject>(
    _ object: Object, _ plan: ObjectPlan
  ) throws -> RemovalTarget {
    guard let target = try RemovalTarget(object, plan, in: self) else {
      throw MagicError.notSaved(type: plan.typeName)
    }
    return target
  }

  private func knownTargets<Object: MagicObject>(
    _ objects: some Sequence<Object>, _ plan: ObjectPlan
  ) throws -> [RemovalTarget] {
    try objects.compactMap { try RemovalTarget($0, plan, in: self) }
  }

  private func delete(
    _ target: RemovalTarget, _ plan: ObjectPlan, _ connection: Connection
  ) throws {
    guard try delete(rowsOf: [target], plan, connection) > 0 else {
      throw MagicError.notSaved(type: plan.typeName)
    }
  }

  private func delete(
    _ targets: [RemovalTarget], _ plan: ObjectPlan, _ connection: Connection
  ) throws -> Int {
    RemovalTarget.restore(targets, afterRollbackOn: connection)
    let count = try delete(rowsOf: targets, plan, connection)
    RemovalTarget.settle(targets, in: identity, atOnce: false, on: connection)
    return count
  }

  private func delete(
    rowsOf targets: [RemovalTarget], _ plan: ObjectPlan, _ connection: Connection
  ) throws -> Int {
    guard targets.allSatisfy({ $0.generation == generation }) else {
      throw MagicError.restored(type: plan.typeName)
    }
    return try plan.refusingRestricted {
      var statement = try connection.statement(SQL(unchecked: plan.deletion))
      var count = 0
      for target in targets { count += try statement.run(target.zIndex).rows }
      return count
    }
  }
}

extension ObjectPlan {
  /// Names the error of a deletion that a delete rule forbids.
  func refusingRestricted<Result>(_ delete: () throws -> Result) throws -> Result {
    do {
      return try delete()
    } catch let error as SQLiteError
      where error.code == .foreignKeyConstraint
      // SQLite forbids by a trigger of its own, which differs from others by its words.
      || (error.code == .triggerConstraint && error.message.contains("FOREIGN KEY"))
    {
      throw MagicError.restricted(type: typeName)
    }
  }
}
