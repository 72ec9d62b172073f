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
  /// If `body` throws, or returns `TransactionOutcome.rollback`, nothing was saved or removed, and the
  /// objects are what they were before to the store: new ones are new, keys that it made are gone, changes
  /// are unsaved. The values that you have set stay set. Objects that were fetched in it show what it has
  /// undone; those whose rows are gone with it are new.
  ///
  /// - Parameter body: The calls.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or `SQLiteError`: also inside a `read(_:)`.
  @discardableResult
  public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try database.reportingClosure { try database.write { _ in try body() } }
  }

  /// As ``transaction(_:)``, without blocking the task.
  ///
  /// `body` does not suspend, so that nothing can come between its calls, which are the blocking ones. It
  /// runs on a thread of the database's own, never merged with other writes: once, and again only on a cluster
  /// whose node was lost before the commit. Cancelling the task
  /// stops a running statement, or the next one, and undoes the transaction; a commit that has begun is
  /// finished.
  ///
  /// - Throws: What `body` throws, `SQLiteError` or `CancellationError`.
  @discardableResult
  nonisolated(nonsending) public func transaction<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    // Not as a `write`: by an option these share a transaction, and then may run again.
    try await database.reportingClosure {
      try await database.withoutTransaction { connection in
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
  /// Changes that others save meanwhile are not seen, and they do not wait. Calls of this store in `body` are the
  /// blocking ones, on the same thread; those that save or remove throw. In a `transaction(_:)` it sees
  /// what that has done so far.
  ///
  /// - Parameter body: The calls.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, ``MagicError/closed`` or `SQLiteError`.
  public func read<Result>(_ body: () throws -> Result) throws -> Result {
    try readOnce { _ in try body() }
  }

  /// As ``read(_:)``, without blocking the task: `body` runs on a thread of the database's own. Throws
  /// `CancellationError` too.
  nonisolated(nonsending) public func read<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await readOnce { _ in try body() }
  }
}

// Reading, as the library does it.
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

  /// Reads on one snapshot, and throws if the content of the store is replaced meanwhile: the result may be of either.
  ///
  /// - Parameters:
  ///   - isOneStatement: Whether `body` runs a single SELECT, which needs no transaction.
  ///   - body: The reading.
  private func onSnapshot(
    isOneStatement: Bool, _ body: (Connection) throws -> Void
  ) throws {
    try database.reportingClosure {
      let generation = generation
      func read(_ connection: Connection) throws { try ofOneContent(connection, body) }
      if isOneStatement { try database.select(read) } else { try database.read { try read($0) } }
      guard generation == self.generation else { throw SQLiteError.restoredMeanwhile }
    }
  }

  /// As ``onSnapshot(isOneStatement:_:)``, with a result.
  func readOnce<Result>(
    isOneStatement: Bool = false, _ body: (Connection) throws -> Result
  ) throws -> Result {
    var result: Result?
    try onSnapshot(isOneStatement: isOneStatement) { result = try body($0) }
    guard let result else { throw SQLiteError(.error, "nothing was read") }
    return result
  }

  /// The suspending form of ``readOnce(isOneStatement:_:)``.
  nonisolated(nonsending) func readOnce<Result: Sendable>(
    isOneStatement: Bool = false, _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await database.reportingClosure {
      let generation = generation
      let result =
        isOneStatement
        ? try await database.select { try self.ofOneContent($0, body) }
        : try await database.read { try self.ofOneContent($0, body) }
      guard generation == self.generation else { throw SQLiteError.restoredMeanwhile }
      return result
    }
  }

  /// Reads, and throws if the content of the store was replaced since the outermost access began: its snapshot
  /// may be from before.
  private func ofOneContent<Result>(
    _ connection: Connection, _ read: (Connection) throws -> Result
  ) throws -> Result {
    let result = try read(connection)
    guard connection.contentGeneration == generation else { throw SQLiteError.restoredMeanwhile }
    return result
  }

  /// Runs `body`, and again if it fails since another store or program has removed a table or a column that this
  /// store knew.
  func retryingAfterSchemaChange<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError where error.isOfMissingTable {
      tables.forget()
      return try body()
    }
  }

  /// The suspending form of ``retryingAfterSchemaChange(_:)``.
  nonisolated(nonsending) func retryingAfterSchemaChange<Result: Sendable>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    do {
      return try await body()
    } catch let error as SQLiteError where error.isOfMissingTable {
      tables.forget()
      return try await body()
    }
  }

  /// Makes objects that were fetched in an open transaction new ones if it is undone and their rows with it:
  /// the next row may get the same z_index.
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
    for (index, storage) in zip(storages.indices, storages) {
      guard let zIndex = storage.zIndex(in: identity) else { continue }
      do {
        let isThere = try connection.uninterrupted {
          try connection.firstRow(
            "SELECT 1 FROM \(identifier: storage.shape.table) WHERE \(identifier: storage.shape.key) = \(zIndex)"
          )
            != nil
        }
        if !isThere { storage.removed(from: identity, zIndex) }
      } catch  where connection.isInsideScope {
        // SQLite has undone the whole transaction: it can be asked again when the outer scopes have ended.
        return forgetFetched(storages[index...], afterEndOn: connection)
      } catch {
        // If nothing can be read, the object is taken for a new one rather than for another row.
        storage.removed(from: identity, zIndex)
      }
    }
  }
}
