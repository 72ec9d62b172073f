import SQLiteCore

extension MagicData {
  /// Removes an object, blocking the thread.
  ///
  /// Its links are deleted, and optional properties that reference it become nil, unless a delete
  /// rule says otherwise. The files of its assets are deleted after the commit.
  ///
  /// - Parameter object: The object. You can save it again as a new object.
  /// - Throws: ``MagicError/restricted(type:by:)`` if a non-optional property references the object
  ///   or a delete rule forbids the removal, ``MagicError/notSaved(type:)`` if the object isn't in
  ///   the store, ``MagicError/restored(type:)`` if the content of the store has been replaced
  ///   since the object was fetched or saved, another ``MagicError``, or `SQLiteError`.
  public func remove<Object: MagicObject>(_ object: Object) throws {
    let removal = try removal(of: object)
    try database.reportingClosedStore {
      try database.withoutTransaction { connection in
        guard !connection.isAutocommit else {
          return _ = try connection.transaction {
            try removal.delete(on: connection, in: self, mustExist: true)
          }
        }
        // One statement is atomic, so it needs no savepoint inside a transaction.
        _ = try removal.delete(on: connection, in: self, mustExist: true, lacksSavepoint: true)
      }
    }
  }

  /// Removes an object. Suspends the task meanwhile.
  ///
  /// For details, see the blocking ``remove(_:)``.
  ///
  /// - Parameter object: The object. You can save it again as a new object.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func remove<Object: MagicObject>(_ object: Object) async throws {
    let removal = try removal(of: object)
    _ = try await write {
      try removal.delete(on: $0, in: self, mustExist: true)
    }
  }

  /// Removes objects in one transaction, blocking the thread.
  ///
  ///     let count = try magic.remove(contentsOf: expired)
  ///
  /// - Parameter objects: The objects. Objects that aren't in the store are skipped, including
  ///   those that a delete rule has removed together with an earlier object.
  /// - Returns: The number of objects that were removed.
  /// - Throws: ``MagicError/restricted(type:by:)`` if a delete rule or a non-optional property
  ///   forbids the removal, ``MagicError/restored(type:)`` if the content of the store has been
  ///   replaced since an object was fetched or saved, another ``MagicError``, or `SQLiteError`.
  ///   Then no object is removed.
  @discardableResult
  public func remove<Object: MagicObject>(
    contentsOf objects: some Sequence<Object>
  ) throws -> Int {
    let removal = try Removal(of: objects, plan(Object.self), in: self)
    guard !removal.isEmpty else { return 0 }
    return try write { try removal.delete(on: $0, in: self, mustExist: false) }
  }

  /// Removes objects in one transaction. Suspends the task meanwhile.
  ///
  /// For details, see the blocking ``remove(contentsOf:)``.
  ///
  /// - Parameter objects: The objects. Objects that aren't in the store are skipped, including
  ///   those that a delete rule has removed together with an earlier object.
  /// - Returns: The number of objects that were removed.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  @discardableResult
  nonisolated(nonsending) public func remove<Object: MagicObject>(
    contentsOf objects: some Sequence<Object>
  ) async throws -> Int {
    let removal = try Removal(of: objects, plan(Object.self), in: self)
    guard !removal.isEmpty else { return 0 }
    return try await write { try removal.delete(on: $0, in: self, mustExist: false) }
  }

  /// Removes the objects of a query, blocking the thread.
  ///
  ///     let count = try magic.removeAll(Session.where(\.$expires < .now))
  ///
  /// - Parameter query: A query for the objects to remove, such as `Session.all`.
  /// - Returns: The number of objects that were removed.
  /// - Throws: ``MagicError/restricted(type:by:)`` if a delete rule or a non-optional property
  ///   forbids the removal, another ``MagicError``, or `SQLiteError`. Then no object is removed.
  @discardableResult
  public func removeAll<Object: MagicObject>(_ query: Query<Object>) throws -> Int {
    let query = try ObjectQuery(self, query.parts)
    return try write { try query.delete($0) }
  }

  /// Removes the objects of a query. Suspends the task meanwhile.
  ///
  /// For details, see the blocking ``removeAll(_:)``.
  ///
  /// - Parameter query: A query for the objects to remove, such as `Session.all`.
  /// - Returns: The number of objects that were removed.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  @discardableResult
  nonisolated(nonsending) public func removeAll<Object: MagicObject>(
    _ query: Query<Object>
  ) async throws -> Int {
    let query = try await preparingQuery { try ObjectQuery(self, query.parts) }
    return try await write { try query.delete($0) }
  }

  private func removal<Object: MagicObject>(of object: Object) throws -> Removal {
    let plan = try plan(Object.self)
    let removal = try Removal(of: CollectionOfOne(object), plan, in: self)
    if removal.isEmpty { throw MagicError.notSaved(type: plan.typeName) }
    return removal
  }
}
