import SQLiteCore

extension MagicData {
  /// Runs a closure in one transaction, blocking the thread.
  ///
  ///     try magic.transaction {
  ///       let account = try magic.object(of: Account.self, primary: 7)
  ///       account.balance -= 10
  ///       try magic.update(account)
  ///     }
  ///
  /// No other write can interleave, and other readers see either all changes or none. In `body`,
  /// use the blocking calls of this store: they run on the same thread and take part in the
  /// transaction. A nested `transaction` can roll back without rolling back the outer one.
  ///
  /// If `body` throws or returns `TransactionOutcome.rollback`, the transaction is rolled back.
  /// Objects then have the same status as before: new objects are new again and lose the keys that
  /// the store assigned, and their changes are pending again. Property values that you have set are
  /// not reset. Objects that were fetched inside the transaction retain the values that they were
  /// fetched with, even if the rollback has undone these values in the store. If the row of such an
  /// object no longer exists, the object is new.
  ///
  /// - Parameters:
  ///   - deadline: The time by which the transaction must end, or nil to use `Options.accessTimeout`.
  ///     A statement that is still running then is interrupted.
  ///   - body: A closure that calls the store.
  /// - Returns: The result of `body`.
  /// - Throws: Any error that `body` throws, ``MagicError/closed``, or `SQLiteError`, for example
  ///   if called inside `read`, or with `ResultCode.interrupt` after the deadline.
  @available(
    *, noasync,
    message:
      "blocks the thread; `await` needs a Sendable result and a @Sendable closure, in a function"
  )
  @discardableResult
  public func transaction<Result>(
    deadline: ContinuousClock.Instant? = nil, _ body: () throws -> Result
  ) throws -> Result {
    try database.reportingClosedStore {
      try database.write(deadline: deadline) { _ in try body() }
    }
  }

  /// Runs a closure in one transaction, like the blocking form, without blocking the thread.
  ///
  /// `body` can't suspend, so nothing can interleave with its calls. Use the blocking calls of the
  /// store in it. It runs on a thread of the database and never shares its transaction with other
  /// writes. It runs once, except on a cluster, where it runs again if its node is lost before the
  /// commit.
  ///
  /// Cancelling the task interrupts the running statement, or the next one, and rolls the
  /// transaction back. A commit that has begun is completed.
  ///
  /// - Parameters:
  ///   - deadline: The time by which the transaction must end, or nil to use `Options.accessTimeout`.
  ///     A statement that is still running then is interrupted.
  ///   - body: A closure that calls the store.
  /// - Returns: The result of `body`.
  /// - Throws: Any error that `body` throws, ``MagicError/closed``, `SQLiteError`, for example with
  ///   `ResultCode.interrupt` after the deadline, or `CancellationError`.
  @discardableResult
  nonisolated(nonsending) public func transaction<Result: Sendable>(
    deadline: ContinuousClock.Instant? = nil, _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    // Not `write`: with group commit, several writes share a transaction and may run again.
    try await database.reportingClosedStore {
      try await database.withoutTransaction(deadline: deadline) { connection in
        try connection.transaction { try body() }
      }
    }
  }

  /// Runs several fetches on one snapshot, blocking the thread.
  ///
  ///     let (teams, players) = try magic.read {
  ///       (try magic.objects(of: Team.self), try magic.count(of: Player.self))
  ///     }
  ///
  /// `body` doesn't see changes that are saved concurrently, and doesn't delay these saves. In
  /// `body`, use the blocking calls of this store: they run on the same thread. Calls that save or
  /// remove throw. Inside a `transaction`, `body` sees the changes of the transaction so far.
  ///
  /// - Parameters:
  ///   - deadline: The time by which the read must end, or nil to use `Options.accessTimeout`.
  ///     A statement that is still running then is interrupted.
  ///   - body: A closure that calls the store.
  /// - Returns: The result of `body`.
  /// - Throws: Any error that `body` throws, ``MagicError/closed`` or `SQLiteError`, for example
  ///   with `ResultCode.interrupt` after the deadline.
  @available(
    *, noasync,
    message:
      "blocks the thread; `await` needs a Sendable result and a @Sendable closure, in a function"
  )
  public func read<Result>(
    deadline: ContinuousClock.Instant? = nil, _ body: () throws -> Result
  ) throws -> Result {
    try readOnce(deadline: deadline) { _ in try body() }
  }

  /// Runs several fetches on one snapshot. Suspends the task meanwhile.
  ///
  /// `body` runs on a thread of the database. For details, see the blocking form.
  ///
  /// - Parameters:
  ///   - deadline: The time by which the read must end, or nil to use `Options.accessTimeout`.
  ///     A statement that is still running then is interrupted.
  ///   - body: A closure that calls the store.
  /// - Returns: The result of `body`.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func read<Result: Sendable>(
    deadline: ContinuousClock.Instant? = nil, _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await readOnce(deadline: deadline) { _ in try body() }
  }
}

// Internal reads.
extension MagicData {
  package func read(
    _ plan: ObjectPlan?, isOneStatement: Bool, _ body: (Connection) throws -> Void
  ) throws {
    try retryingAfterSchemaChange {
      let isReady = try plan.map(makeReady) ?? false
      try onSnapshot(isOneStatement: isOneStatement && isReady, body)
    }
  }

  nonisolated(nonsending) package func read<Result: Sendable>(
    _ plan: ObjectPlan?, isOneStatement: Bool,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await retryingAfterSchemaChange {
      var isReady = false
      if let plan { isReady = try await makeReady(plan) }
      return try await readOnce(isOneStatement: isOneStatement && isReady, body)
    }
  }

  /// Runs `body` on one snapshot.
  ///
  /// - Parameters:
  ///   - isOneStatement: Whether `body` runs a single SELECT, which needs no transaction.
  ///   - deadline: The time by which a read of several statements must end, or nil.
  ///   - body: The read.
  /// - Throws: `SQLiteError` if the content of the store is replaced while `body` runs, because
  ///   `body` may have read old or new content; any error that `body` throws; or
  ///   ``MagicError/closed``.
  private func onSnapshot(
    isOneStatement: Bool, deadline: ContinuousClock.Instant? = nil,
    _ body: (Connection) throws -> Void
  ) throws {
    try database.reportingClosedStore {
      let generation = generation
      func read(_ connection: Connection) throws { try checkingGeneration(connection, body) }
      if isOneStatement {
        try database.select(read)
      } else {
        try database.read(deadline: deadline) { try read($0) }
      }
      guard generation == self.generation else { throw SQLiteError.restoredDuringRead }
    }
  }

  /// Runs `body` once on a snapshot, as in ``onSnapshot(isOneStatement:deadline:_:)``, and returns its
  /// result.
  func readOnce<Result>(
    isOneStatement: Bool = false, deadline: ContinuousClock.Instant? = nil,
    _ body: (Connection) throws -> Result
  ) throws -> Result {
    var result: Result?
    try onSnapshot(isOneStatement: isOneStatement, deadline: deadline) { result = try body($0) }
    guard let result else { throw SQLiteError(.error, "the read returned no result") }
    return result
  }

  /// Runs `body` once on a snapshot, as in ``onSnapshot(isOneStatement:deadline:_:)``, and returns its
  /// result. Suspends the task meanwhile.
  nonisolated(nonsending) func readOnce<Result: Sendable>(
    isOneStatement: Bool = false, deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await database.reportingClosedStore {
      let generation = generation
      let result =
        isOneStatement
        ? try await database.select { try self.checkingGeneration($0, body) }
        : try await database.read(deadline: deadline) {
          try self.checkingGeneration($0, body)
        }
      guard generation == self.generation else { throw SQLiteError.restoredDuringRead }
      return result
    }
  }

  /// Returns the result of `read`.
  ///
  /// - Throws: `SQLiteError` if the content of the store has been replaced since the outermost
  ///   access of the connection began, because the snapshot may then contain the old content; or
  ///   any error that `read` throws.
  private func checkingGeneration<Result>(
    _ connection: Connection, _ read: (Connection) throws -> Result
  ) throws -> Result {
    let result = try read(connection)
    guard connection.contentGeneration == generation else { throw SQLiteError.restoredDuringRead }
    return result
  }

  /// Runs `body` and retries once if the cached schema is stale, that is, if another connection has
  /// dropped a table or a column.
  func retryingAfterSchemaChange<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError where error.isMissingTableOrColumn {
      tables.forget()
      return try body()
    }
  }

  /// Runs an asynchronous `body` and retries once if the cached schema is stale, that is, if
  /// another connection has dropped a table or a column.
  nonisolated(nonsending) func retryingAfterSchemaChange<Result: Sendable>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    do {
      return try await body()
    } catch let error as SQLiteError where error.isMissingTableOrColumn {
      tables.forget()
      return try await body()
    }
  }

  /// Registers objects that were fetched in an open transaction. If the transaction rolls back,
  /// the objects that then have no row become new objects, because SQLite may assign their z_index
  /// to another row.
  package func forgetFetched(
    _ storages: ArraySlice<ObjectStorage>, afterRollbackOn connection: Connection
  ) {
    guard !storages.isEmpty, connection.mayUndoReads else { return }
    forgetFetched(storages, afterEndOn: connection)
  }

  private func forgetFetched(
    _ storages: ArraySlice<ObjectStorage>, afterEndOn connection: Connection
  ) {
    connection.afterRollback { [self] in markAsNewIfDeleted(storages, $0) }
  }

  private func markAsNewIfDeleted(_ storages: ArraySlice<ObjectStorage>, _ connection: Connection) {
    for (index, storage) in zip(storages.indices, storages) {
      guard let zIndex = storage.zIndex(in: identity) else { continue }
      do {
        let exists = try connection.uninterrupted {
          try connection.firstRow(
            "SELECT 1 FROM \(identifier: storage.shape.table) WHERE \(identifier: storage.shape.key) = \(zIndex)"
          )
            != nil
        }
        if !exists { storage.removed(from: identity, zIndex) }
      } catch  where connection.isInsideScope {
        // SQLite has rolled back the whole transaction. Try again when the outer scopes have ended.
        return forgetFetched(storages[index...], afterEndOn: connection)
      } catch {
        // The row can't be checked. Treat the object as new, so that it can't be mistaken for
        // another row.
        storage.removed(from: identity, zIndex)
      }
    }
  }
}
