import SQLiteCore

/// An object that is to be removed from a store.
struct RemovalTarget: Sendable {
  let storage: ObjectStorage
  let zIndex: Int64
  /// Of which content of the store the object is.
  let generation: Int

  /// Finds the storage of an object.
  ///
  /// - Returns: Nil if the object is not in the store.
  /// - Throws: ``MagicError/restored(type:)``.
  init?<Object: MagicObject>(_ object: Object, _ plan: ObjectPlan, in store: any ObjectStore) throws
  {
    generation = store.generation
    let place =
      if let layout = plan.layout {
        layout.withCells(of: object) { $0[0].place }
      } else {
        PropertyCollector.firstCell(of: object)?.place
      }
    // The storage of a subclass is of another table.
    guard let storage = place?.storage, storage.shape.type == plan.type else { return nil }
    guard let zIndex = storage.zIndex(in: store.identity) else {
      guard !storage.isOutdated(in: store.identity) else {
        throw MagicError.restored(type: plan.typeName)
      }
      return nil
    }
    self.storage = storage
    self.zIndex = zIndex
  }

  /// Lets objects be no longer in the store: at once if the transaction is another's, which may go on with
  /// them, else with its commit, before another write begins.
  static func settle(
    _ targets: [RemovalTarget], in store: StoreIdentity, atOnce: Bool, on connection: Connection
  ) {
    if atOnce || connection.isInsideAnother {
      for target in targets { target.storage.removed(from: store, target.zIndex) }
    } else {
      connection.afterCommit { _ in
        for target in targets { target.storage.removed(from: store, target.zIndex) }
      }
    }
  }

  /// Lets objects be in the store again if the removal is undone later.
  static func restore(_ targets: [RemovalTarget], afterRollbackOn connection: Connection) {
    let known = targets.map { ($0.storage, $0.storage.identities) }
    connection.afterRollback { _ in
      for (storage, identities) in known { storage.restore(identities) }
    }
  }
}
