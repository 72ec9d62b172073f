package import SQLiteCore

/// The interface of a store for the code of fetching, saving and relations, which doesn't depend on
/// ``MagicData``.
package protocol ObjectStore: StoreToken {
  /// The tables and columns that the store has already seen in its database.
  var tables: TableCache { get }
  /// Whether the database is on a server. Such a database lacks the SQL functions and collations of
  /// this library.
  var isRemote: Bool { get }
  /// The relations that the store has used.
  var relations: RelationCache { get }
  /// Returns the plan of a type.
  func plan(_ type: any MagicObject.Type) throws -> ObjectPlan
  /// Returns whether the tables of a type are known to be complete.
  func isReady(_ plan: ObjectPlan) -> Bool
  /// Adds the columns, indexes and delete rules that the existing tables of a type lack.
  ///
  /// - Returns: True if the tables of the type are now complete. False if a table is missing, or if
  ///   the call is inside a read, which can't change tables.
  func makeReady(_ plan: ObjectPlan) throws -> Bool
  /// Creates or completes the tables of types, as part of the open transaction.
  func prepareTables(_ plans: [ObjectPlan], _ connection: Connection) throws
  /// Runs `body` on one snapshot, blocking the thread.
  ///
  /// `body` has no result, because passing a result through generic calls costs a metadata lookup
  /// in each (benchmarks `point` and `lazy`).
  ///
  /// - Parameters:
  ///   - plan: The type that `body` reads, or nil. The columns that its existing tables lack are
  ///     added first.
  ///   - isOneStatement: Whether `body` runs a single SELECT once these tables are complete. A
  ///     single SELECT reads from one snapshot even without a transaction.
  ///   - body: The read. It runs again if the cached schema is stale, that is, if another
  ///     connection has dropped a table or a column.
  func read(
    _ plan: ObjectPlan?, isOneStatement: Bool, _ body: (Connection) throws -> Void
  ) throws
  /// Runs `body` on one snapshot. Suspends the task meanwhile.
  ///
  /// For details, see the blocking ``read(_:isOneStatement:_:)``.
  ///
  /// - Parameters:
  ///   - plan: The type that `body` reads, or nil. The columns that its existing tables lack are
  ///     added first.
  ///   - isOneStatement: Whether `body` runs a single SELECT once these tables are complete. A
  ///     single SELECT reads from one snapshot even without a transaction.
  ///   - body: The read. It runs again if the cached schema is stale, that is, if another
  ///     connection has dropped a table or a column.
  nonisolated(nonsending) func read<Result: Sendable>(
    _ plan: ObjectPlan?, isOneStatement: Bool,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result
  /// Registers objects that were fetched in an open transaction. If the transaction rolls back, the
  /// objects that then have no row become new objects.
  func forgetFetched(_ storages: ArraySlice<ObjectStorage>, afterRollbackOn connection: Connection)
}

extension ObjectStore {
  /// Returns the relation of a property. For a reverse relation, returns the declared relation in
  /// reverse direction.
  func relation(of shape: ObjectShape, _ slot: Int) throws -> ObjectRelation {
    try relations.relation(of: shape, slot, plan)
  }

  /// Runs `body` on one snapshot and returns its result, blocking the thread.
  package func read<Result>(
    _ plan: ObjectPlan? = nil, _ body: (Connection) throws -> Result
  ) throws -> Result {
    var result: Result?
    try read(plan, isOneStatement: false) { result = try body($0) }
    guard let result else { throw SQLiteError(.error, "the read returned no result") }
    return result
  }

  /// Runs `body` on one snapshot and returns its result. Suspends the task meanwhile.
  nonisolated(nonsending) package func read<Result: Sendable>(
    _ plan: ObjectPlan? = nil, _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await read(plan, isOneStatement: false, body)
  }
}

extension StoreContent {
  /// The store that this value references, even if its contents have been replaced since.
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
