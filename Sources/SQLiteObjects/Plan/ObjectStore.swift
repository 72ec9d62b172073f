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
  /// As ``makeReady(_:)``, without blocking the task.
  nonisolated(nonsending) func makeReady(_ plan: ObjectPlan) async throws -> Bool
  /// Makes a query without blocking the task, also if its SQL depends on tables that the store has not looked
  /// at yet.
  nonisolated(nonsending) func making<Made: Sendable>(
    _ make: @escaping @Sendable () throws -> Made
  ) async throws -> Made
  /// Makes or grows the tables of types, as part of the open transaction.
  func prepareTables(_ plans: [ObjectPlan], _ connection: Connection) throws
  /// Reads on one snapshot, blocking the thread.
  func read<Result>(_ body: (Connection) throws -> Result) throws -> Result
  /// As ``read(_:)``, without blocking the task.
  nonisolated(nonsending) func read<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result
  /// Runs a body that makes a single SELECT: that is a snapshot of its own, without a transaction.
  func select<Result>(_ body: (Connection) throws -> Result) throws -> Result
  /// As ``select(_:)``, without blocking the task.
  nonisolated(nonsending) func select<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result
  /// Makes objects that were fetched in an open transaction new ones if it is undone and their rows with
  /// it.
  func forgetFetched(_ storages: ArraySlice<ObjectStorage>, afterRollbackOn connection: Connection)
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
