import SQLiteCore

extension MagicData {
  /// Removes an object, blocking the thread.
  ///
  /// Links to it go with it; references to it become nil. Its assets' files go after the commit.
  ///
  /// - Parameter object: What to remove. It may be saved again, as a new object.
  /// - Throws: ``MagicError/notSaved(type:)`` if it is not in the store, ``SQLiteError``.
  public func remove<Object: MagicObject>(_ object: Object) throws {
    let (plan, storage, zIndex) = try stored(object)
    try database.write { try self.delete(plan, storage, zIndex, $0) }
    storage.removed(from: identity)
  }

  /// As the blocking ``remove(_:)``, suspending the task.
  ///
  /// - Parameter object: What to remove.
  /// - Throws: ``MagicError/notSaved(type:)``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func remove<Object: MagicObject>(_ object: Object) async throws {
    let (plan, storage, zIndex) = try stored(object)
    try await database.write { try self.delete(plan, storage, zIndex, $0) }
    storage.removed(from: identity)
  }

  /// Removes the objects of a type, all or some, blocking the thread.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - filter: What the objects to remove have in common.
  /// - Returns: How many were removed.
  /// - Throws: ``MagicError`` or ``SQLiteError``.
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

  private func stored<Object: MagicObject>(
    _ object: Object
  ) throws -> (ObjectPlan, ObjectStorage, Int64) {
    let plan = try plan(Object.self)
    guard
      let storage = PropertyCollector.firstCell(of: object)?.place?.storage,
      let zIndex = storage.zIndex(in: identity)
    else { throw MagicError.notSaved(type: plan.typeName) }
    return (plan, storage, zIndex)
  }

  private func delete(
    _ plan: ObjectPlan, _ storage: ObjectStorage, _ zIndex: Int64, _ connection: Connection
  ) throws {
    let wayBack = storage.wayBack
    connection.afterRollback { _ in wayBack() }
    let change = try plan.refusingRestricted {
      try connection.executeChange(
        "DELETE FROM \(identifier: plan.table) WHERE \(identifier: plan.key) = \(zIndex)")
    }
    guard change.rows > 0 else { throw MagicError.notSaved(type: plan.typeName) }
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
