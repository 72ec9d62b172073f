import SQLiteCore
import SQLiteMapping

/// The removal of objects of one type from a store.
struct Removal: Sendable {
  private let plan: ObjectPlan
  private var targets: [(storage: ObjectStorage, zIndex: Int64)] = []
  /// The generation of the store's content that the objects belong to.
  private let generation: Int

  /// Creates the removal of the objects that are in the store. Skips the others.
  ///
  /// - Throws: ``MagicError/restored(type:)`` if the content of the store has been replaced since
  ///   an object was fetched or saved.
  init<Object: MagicObject>(
    of objects: some Sequence<Object>, _ plan: ObjectPlan, in store: any ObjectStore
  ) throws {
    self.plan = plan
    generation = store.generation
    targets.reserveCapacity(objects.underestimatedCount)
    let isFound: Void? =
      if let layout = plan.layout {
        // In place, because taking a value of unknown type out of an array copies it.
        try objects.withContiguousStorageIfAvailable { objects in
          try unsafe layout.forEach(UnsafeRawBufferPointer(objects)) {
            try add($0[0].address?.storage, in: store.identity)
          }
        }
      } else {
        nil
      }
    if isFound != nil { return }
    for object in objects {
      try add(PropertyCollector.firstCell(of: object)?.address?.storage, in: store.identity)
    }
  }

  private mutating func add(_ storage: ObjectStorage?, in store: StoreIdentity) throws {
    // The storage of a subclass belongs to another table.
    guard let storage, storage.shape.type == plan.type else { return }
    if let zIndex = storage.zIndex(in: store) {
      targets.append((storage, zIndex))
    } else if storage.isOutdated(in: store) {
      throw MagicError.restored(type: plan.typeName)
    }
  }

  /// Whether none of the objects is in the store.
  var isEmpty: Bool { targets.isEmpty }

  /// Deletes the rows as part of the open transaction and turns the objects into new ones.
  ///
  /// Inside an outer transaction, which may use the objects again, they become new immediately.
  /// Otherwise they become new when the transaction commits, before another write begins.
  ///
  /// - Parameters:
  ///   - connection: The connection of the transaction.
  ///   - store: The store.
  ///   - mustExist: Whether to throw if none of the rows exists any more.
  ///   - lacksSavepoint: Whether an outer transaction is open and this deletion has no savepoint.
  /// - Returns: The number of rows that were deleted.
  func delete(
    on connection: Connection, in store: any ObjectStore, mustExist: Bool,
    lacksSavepoint: Bool = false
  ) throws -> Int {
    guard generation == store.generation else {
      throw MagicError.restored(type: plan.typeName)
    }
    let isInsideOuterTransaction = lacksSavepoint || connection.isInsideOuterTransaction
    if isInsideOuterTransaction {
      let known = targets.map { ($0.storage, $0.storage.former) }
      connection.afterRollback { [identity = store.identity] _ in
        for (storage, former) in known { storage.restore(former, in: identity) }
      }
    }
    let count = try deleteRows(on: connection)
    if mustExist, count == 0 { throw MagicError.notSaved(type: plan.typeName) }
    let identity = store.identity
    if isInsideOuterTransaction {
      for target in targets { target.storage.removed(from: identity, target.zIndex) }
    } else {
      connection.afterCommit { _ in
        for target in targets { target.storage.removed(from: identity, target.zIndex) }
      }
    }
    return count
  }

  private func deleteRows(on connection: Connection) throws -> Int {
    var count = 0
    do {
      var statement = try connection.statement(plan.texts.deletion)
      try connection.deferringRestrictions {
        for (_, zIndex) in targets {
          count += try plan.namingRestrictingProperties(of: "\(zIndex)", connection) {
            try statement.run(zIndex).rows
          }
        }
      }
    } catch let error as SQLiteError where error.isMissingTableOrColumn {
      // Another connection has dropped the table.
    }
    return count
  }
}

extension Connection {
  /// Runs a deletion of objects that may reference each other or themselves.
  ///
  /// RESTRICT forbids deleting such objects one by one, even in a single statement. If the first
  /// attempt is forbidden, it is repeated with all foreign keys deferred, which suspends RESTRICT.
  /// The second attempt succeeds if no dangling reference remains.
  ///
  /// - Parameter delete: The deletion. The second run must delete what the first one has left.
  /// - Throws: The error of the first attempt if the second one leaves a dangling reference, or any
  ///   other error of `delete`.
  func deferringRestrictions<Result>(_ delete: () throws -> Result) throws -> Result {
    do {
      return try delete()
    } catch let restriction as MagicError {
      // If deferred foreign keys are violated already, violations by this deletion can't be
      // distinguished from them.
      guard case .restricted = restriction, try !checkDeferredViolations() else {
        throw restriction
      }
      return try savepoint {
        _ = try pragma("defer_foreign_keys", " = ON")
        defer { _ = try? pragma("defer_foreign_keys", " = OFF") }
        let result = try delete()
        if try checkDeferredViolations() { throw restriction }
        return result
      }
    }
  }
}

extension ObjectPlan {
  /// Runs a deletion. If a delete rule forbids it, throws an error that names the properties with
  /// the rule.
  ///
  /// - Parameters:
  ///   - keys: The SQL for the keys of the objects to delete.
  ///   - connection: The connection.
  ///   - delete: The deletion.
  /// - Throws: ``MagicError/restricted(type:by:)``, or any other error of `delete`.
  func namingRestrictingProperties<Result>(
    of keys: @autoclosure () -> SQL, _ connection: Connection, _ delete: () throws -> Result
  ) throws -> Result {
    do {
      return try delete()
    } catch let error as SQLiteError
      where error.code == .foreignKeyConstraint
      // SQLite enforces RESTRICT with an internal trigger, which can be recognized by its message.
      || (error.code == .triggerConstraint && error.message.contains("FOREIGN KEY"))
    {
      throw MagicError.restricted(type: typeName, by: try restrictions(of: keys(), connection))
    }
  }

  /// Returns the names of the properties that reference the objects and forbid their deletion, such
  /// as `Pet.owner`.
  private func restrictions(of keys: SQL, _ connection: Connection) throws -> [String] {
    let tables = ObjectTables(connection)
    var names: [String] = []
    for other in try connection.existingTables() {
      for key in try connection.foreignKeys(of: other)
      where isSameName(key.referencedTable, table) && key.onDelete == DeleteRule.restrict.rawValue {
        let leads = try connection.firstRow(
          "SELECT 1 FROM \(identifier: other) WHERE \(identifier: key.columns[0]) IN (\(keys)) LIMIT 1"
        )
        guard leads != nil else { continue }
        let property = try tables.property(forLinkTable: other) ?? (other, key.columns[0])
        names.append("\(property.table).\(property.name)")
      }
    }
    return names
  }
}
