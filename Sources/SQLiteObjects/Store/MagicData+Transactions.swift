import SQLiteCore

extension MagicData {
  /// Runs several calls in one transaction, blocking the thread.
  ///
  ///     try magic.transaction {
  ///       let account = try magic.object(of: Account.self, primary: 7)
  ///       account.balance -= 10
  ///       try magic.update(account)
  ///     }
  ///
  /// Nobody else writes meanwhile, and others see all of it or nothing. Calls of this store in `body` are
  /// the blocking ones, on the same thread, and take part; a `transaction` in it can be undone by itself.
  ///
  /// If `body` throws, or returns ``TransactionOutcome/rollback``, nothing was saved or removed, and the
  /// store knows the objects by what it knew them by before: new ones are new, keys that it made are gone,
  /// changes are unsaved. The values that you have set stay set. Objects that were fetched in it show what
  /// it has undone; those whose rows are gone with it are new.
  ///
  /// - Parameter body: The calls.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or ``SQLiteError``: also inside a ``read(_:)``.
  @discardableResult
  public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try database.write { _ in try body() }
  }

  /// As the blocking ``transaction(_:)``, suspending the task.
  ///
  ///     try await magic.transaction {
  ///       let account = try magic.object(of: Account.self, primary: 7)
  ///       account.balance -= 10
  ///       try magic.update(account)
  ///     }
  ///
  /// `body` does not suspend, so that nothing can come between its calls, which are the blocking ones. It
  /// runs once, on a thread of the database's own, never merged with other writes. Cancelling the task
  /// stops a running statement, or the next one, and undoes the transaction; a commit that has begun is
  /// finished.
  ///
  /// - Parameter body: The calls.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, ``SQLiteError`` or `CancellationError`.
  @discardableResult
  nonisolated(nonsending) public func transaction<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    // Not as a `write`: by an option these share a transaction, and then may run again.
    try await database.withoutTransaction { connection in
      try connection.transaction { try body() }
    }
  }

  /// Runs several fetches on one snapshot, blocking the thread.
  ///
  ///     let (teams, players) = try magic.read {
  ///       (try magic.objects(of: Team.self), try magic.count(of: Player.self))
  ///     }
  ///
  /// What others save meanwhile is not seen, and they do not wait. Calls of this store in `body` are the
  /// blocking ones, on the same thread; those that save or remove throw. In a ``transaction(_:)`` it sees
  /// what that has done so far.
  ///
  /// - Parameter body: The calls.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, ``MagicError/closed`` or ``SQLiteError``.
  public func read<Result>(_ body: () throws -> Result) throws -> Result {
    try read { (_: Connection) in try body() }
  }

  /// As the blocking ``read(_:)``, suspending the task. `body` runs on a thread of the database's own.
  ///
  /// - Parameter body: The calls.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, ``MagicError/closed``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func read<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await read { (_: Connection) in try body() }
  }

  /// Lets objects be new ones that were fetched in an open transaction, if it is undone and their rows
  /// with it: the next row may get the same z_index.
  package func forgetFetched(
    _ storages: ArraySlice<ObjectStorage>, afterRollbackOn connection: Connection
  ) {
    guard !storages.isEmpty, connection.mayUndoReads else { return }
    forgetFetched(storages, afterEndOn: connection)
  }

  private func forgetFetched(
    _ storages: ArraySlice<ObjectStorage>, afterEndOn connection: Connection
  ) {
    connection.afterRollback { [self] in forgetUndone(storages, $0) }
  }

  private func forgetUndone(_ storages: ArraySlice<ObjectStorage>, _ connection: Connection) {
    for (place, storage) in zip(storages.indices, storages) {
      guard let zIndex = storage.zIndex(in: identity) else { continue }
      let plan = storage.shape
      do {
        let isThere = try connection.uninterrupted {
          try connection.firstRow(
            "SELECT 1 FROM \(identifier: plan.table) WHERE \(identifier: plan.key) = \(zIndex)")
            != nil
        }
        if !isThere { storage.removed(from: identity, zIndex) }
      } catch  where connection.ownsTransaction {
        // SQLite has undone the whole transaction: it can be asked when the scopes around have ended.
        return forgetFetched(storages[place...], afterEndOn: connection)
      } catch {
        // Where nothing can be read, a new row is better than another's.
        storage.removed(from: identity, zIndex)
      }
    }
  }
}

extension Array where Element: MagicObject {
  /// The objects that a condition holds for: a filter in memory, in Swift.
  ///
  /// A ``Filter`` given to the fetch finds them without fetching the others.
  ///
  /// - Parameter isIncluded: Says whether an object is wanted.
  public func `where`(_ isIncluded: (Element) throws -> Bool) rethrows -> [Element] {
    try filter(isIncluded)
  }
}
