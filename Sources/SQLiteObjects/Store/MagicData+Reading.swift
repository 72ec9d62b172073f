import SQLiteCore

extension MagicData {
  /// Reads on one snapshot, blocking the thread.
  ///
  /// - Throws: ``MagicError/closed`` if the store was closed, ``SQLiteError``, or what `body` throws.
  package func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    do {
      return try ofOneContent { try database.read { try self.ofOneContent($0, body) } }
    } catch let error as SQLiteError where isRefusal(error) {
      throw MagicError.closed
    }
  }

  /// As the blocking form, suspending the task.
  nonisolated(nonsending) package func read<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    do {
      return try await ofOneContent {
        try await database.read { try self.ofOneContent($0, body) }
      }
    } catch let error as SQLiteError where isRefusal(error) {
      throw MagicError.closed
    }
  }

  /// Runs a body that makes a single SELECT: that is a snapshot of its own, without a transaction.
  package func select<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    do {
      return try ofOneContent { try database.select { try self.ofOneContent($0, body) } }
    } catch let error as SQLiteError where isRefusal(error) {
      throw MagicError.closed
    }
  }

  /// As the blocking form, suspending the task.
  nonisolated(nonsending) package func select<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    do {
      return try await ofOneContent {
        try await database.select { try self.ofOneContent($0, body) }
      }
    } catch let error as SQLiteError where isRefusal(error) {
      throw MagicError.closed
    }
  }

  /// Throws if the content of the store was replaced since the outermost access began, whose snapshot may be
  /// from before.
  func ofOneContent<Result>(
    _ connection: Connection, _ read: (Connection) throws -> Result
  ) throws -> Result {
    let result = try read(connection)
    try checkContent(connection)
    return result
  }

  func checkContent(_ connection: Connection) throws(SQLiteError) {
    guard connection.contentGeneration == generation else { throw restoredMeanwhile }
  }

  /// Throws if the content of the store was replaced meanwhile: what was read may be of either.
  func ofOneContent<Result>(_ read: () throws -> Result) throws -> Result {
    let generation = self.generation
    let result = try read()
    guard generation == self.generation else { throw restoredMeanwhile }
    return result
  }

  /// As the blocking form, suspending the task.
  nonisolated(nonsending) func ofOneContent<Result: Sendable>(
    _ read: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    let generation = self.generation
    let result = try await read()
    guard generation == self.generation else { throw restoredMeanwhile }
    return result
  }

  private var restoredMeanwhile: SQLiteError {
    SQLiteError(.abort, "the store was restored while objects were read from it")
  }

  private func isRefusal(_ error: SQLiteError) -> Bool {
    error.code == .misuse && database.isClosed
  }
}
