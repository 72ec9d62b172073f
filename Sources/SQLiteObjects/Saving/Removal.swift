import SQLiteCore
import SQLiteMapping

/// Objects of one type that are to be removed from a store.
struct Removal: Sendable {
  private let plan: ObjectPlan
  private var targets: [(storage: ObjectStorage, zIndex: Int64)] = []
  /// The content of the store that the objects belong to.
  private let generation: Int

  /// Finds the rows of objects. Objects that are not in the store are passed over.
  ///
  /// - Throws: ``MagicError/restored(type:)``.
  init<Object: MagicObject>(
    of objects: some Sequence<Object>, _ plan: ObjectPlan, in store: any ObjectStore
  ) throws {
    self.plan = plan
    generation = store.generation
    targets.reserveCapacity(objects.underestimatedCount)
    let isFound: Void? =
      if let layout = plan.layout {
        // In place: taking a value of unknown type out of an array copies it.
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
    // The storage of a subclass is of another table.
    guard let storage, storage.shape.type == plan.type else { return }
    if let zIndex = storage.zIndex(in: store) {
      targets.append((storage, zIndex))
    } else if storage.isOutdated(in: store) {
      throw MagicError.restored(type: plan.typeName)
    }
  }

  /// Whether no object is in the store.
  var isEmpty: Bool { targets.isEmpty }

  /// Deletes the rows, as part of the open transaction, and makes the objects new ones: at once if the
  /// transaction is an outer one, which may go on with them, else with its commit, before another write
  /// begins.
  ///
  /// - Parameters:
  ///   - connection: The transaction's connection.
  ///   - store: The store.
  ///   - mustExist: Whether it is an error if no row is there any more.
  ///   - isAnothers: Whether the transaction is another's, without a savepoint of this deletion.
  /// - Returns: The number of rows that were there.
  func delete(
    on connection: Connection, in store: any ObjectStore, mustExist: Bool, isAnothers: Bool = false
  ) throws -> Int {
    guard generation == store.generation else {
      throw MagicError.restored(type: plan.typeName)
    }
    let isInsideAnother = isAnothers || connection.isInsideAnother
    if isInsideAnother {
      let known = targets.map { ($0.storage, $0.storage.former) }
      connection.afterRollback { _ in
        for (storage, former) in known { storage.restore(former) }
      }
    }
    let count = try deleteRows(on: connection)
    if mustExist, count == 0 { throw MagicError.notSaved(type: plan.typeName) }
    let identity = store.identity
    if isInsideAnother {
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
      try connection.deletingTogether {
        for (_, zIndex) in targets {
          count += try plan.namingRestrictions(of: "\(zIndex)", connection) {
            try statement.run(zIndex).rows
          }
        }
      }
    } catch let error as SQLiteError where error.isOfMissingTable {
      // Another store or program has dropped the type.
    }
    return count
  }
}

extension Connection {
  /// Runs a deletion of objects that may lead to each other, or to themselves.
  ///
  /// RESTRICT forbids that one after the other goes, even at the end of a statement. So what is forbidden is tried
  /// once more with all foreign keys deferred, which suspends it, and stands if then none leads nowhere.
  ///
  /// - Parameter delete: The deletion, which finds what the first attempt has left.
  /// - Throws: What the first attempt throws.
  func deletingTogether<Result>(_ delete: () throws -> Result) throws -> Result {
    do {
      return try delete()
    } catch let restriction as MagicError {
      // Where others wait for their ends already, nobody can tell whose are missing.
      guard case .restricted = restriction, try !findsDeferredViolations() else {
        throw restriction
      }
      return try savepoint {
        _ = try pragma("defer_foreign_keys", " = ON")
        defer { _ = try? pragma("defer_foreign_keys", " = OFF") }
        let result = try delete()
        if try findsDeferredViolations() { throw restriction }
        return result
      }
    }
  }
}

extension ObjectPlan {
  /// Turns the error of a deletion that a delete rule forbids into one that names the properties.
  ///
  /// - Parameters:
  ///   - keys: SQL for the keys of the objects that are deleted.
  ///   - connection: The connection.
  ///   - delete: The deletion.
  /// - Throws: ``MagicError/restricted(type:by:)``.
  func namingRestrictions<Result>(
    of keys: @autoclosure () -> SQL, _ connection: Connection, _ delete: () throws -> Result
  ) throws -> Result {
    do {
      return try delete()
    } catch let error as SQLiteError
      where error.code == .foreignKeyConstraint
      // SQLite forbids it by a trigger of its own, which is known by its message.
      || (error.code == .triggerConstraint && error.message.contains("FOREIGN KEY"))
    {
      throw MagicError.restricted(type: typeName, by: try restrictions(of: keys(), connection))
    }
  }

  /// The properties that lead to objects and forbid that they are deleted.
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
        let property = try tables.property(ofLinks: other) ?? (other, key.columns[0])
        names.append("\(property.table).\(property.name)")
      }
    }
    return names
  }
}
