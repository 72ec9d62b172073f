package import SQLiteCore

/// A store, as the floors below ``MagicData`` know it.
package protocol ObjectStore: StoreToken {
  /// The tables that the store has looked up.
  var tables: TableCache { get }
  /// Whether the database is one of a server, which has no functions and collations of this library.
  var isRemote: Bool { get }
  /// The relations that the store was asked for.
  var relations: RelationCache { get }
  /// Returns what is known of a type.
  func plan(_ type: any MagicObject.Type) throws -> ObjectPlan
  /// Returns whether the tables of a type are known to lack nothing.
  func isReady(_ plan: ObjectPlan) -> Bool
  /// Adds what the tables of a type lack, if they are there.
  ///
  /// - Returns: False if a table is not there.
  func makeReady(_ plan: ObjectPlan) throws -> Bool
  /// Makes or grows the tables of types, as part of the open transaction.
  func prepareTables(_ plans: [ObjectPlan], _ connection: Connection) throws
  /// Reads on one snapshot, blocking the thread.
  ///
  /// - Parameters:
  ///   - plan: A type whose tables get the columns that they lack first, if they exist.
  ///   - isOneStatement: Whether `body` runs a single SELECT once these tables lack nothing: that is a snapshot without
  ///     a transaction.
  ///   - body: The reading. It runs again if another store or program has removed a table or a column that this store
  ///     knew. It has no result: handing one on by generic calls costs metadata at each (benchmarks `point` and `lazy`).
  func read(
    _ plan: ObjectPlan?, isOneStatement: Bool, _ body: (Connection) throws -> Void
  ) throws
  /// The suspending form of ``read(_:isOneStatement:_:)``.
  nonisolated(nonsending) func read<Result: Sendable>(
    _ plan: ObjectPlan?, isOneStatement: Bool,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result
  /// Makes objects that were fetched in an open transaction new ones if it is undone and their rows with
  /// it.
  func forgetFetched(_ storages: ArraySlice<ObjectStorage>, afterRollbackOn connection: Connection)
}

extension ObjectStore {
  /// The relation of a property; of a reverse value, the relation that it names, from the other end.
  func relation(of shape: ObjectShape, _ slot: Int) throws -> ObjectRelation {
    try relations.relation(of: shape, slot, plan)
  }

  /// Reads on one snapshot, blocking the thread.
  package func read<Result>(
    _ plan: ObjectPlan? = nil, _ body: (Connection) throws -> Result
  ) throws -> Result {
    var result: Result?
    try read(plan, isOneStatement: false) { result = try body($0) }
    guard let result else { throw SQLiteError(.error, "nothing was read") }
    return result
  }

  /// The suspending form of ``read(_:_:)``.
  nonisolated(nonsending) package func read<Result: Sendable>(
    _ plan: ObjectPlan? = nil, _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await read(plan, isOneStatement: false, body)
  }
}

extension StoreContent {
  /// The store.
  ///
  /// - Throws: ``MagicError/closed`` if the store was released.
  var store: any ObjectStore {
    get throws {
      guard let token = link.token else { throw MagicError.closed }
      guard let store = token as? any ObjectStore else {
        throw SQLiteError(.misuse, "the store of the object is not a MagicData")
      }
      return store
    }
  }
}
