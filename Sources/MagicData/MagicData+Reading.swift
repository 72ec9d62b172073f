import SQLiteCore

extension MagicData {
  /// Reads on one snapshot, blocking the thread.
  ///
  /// - Throws: ``MagicError/closed`` if the store was closed, ``SQLiteError``, or what `body` throws.
  func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    do {
      return try database.read(body)
    } catch let error as SQLiteError where isRefusal(error) {
      throw MagicError.closed
    }
  }

  /// As the blocking form, suspending the task.
  nonisolated(nonsending) func read<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    do {
      return try await database.read(body)
    } catch let error as SQLiteError where isRefusal(error) {
      throw MagicError.closed
    }
  }

  /// Runs a body that makes a single SELECT: that is a snapshot of its own, without a transaction.
  func select<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    do {
      return try database.select(body)
    } catch let error as SQLiteError where isRefusal(error) {
      throw MagicError.closed
    }
  }

  /// As the blocking form, suspending the task.
  nonisolated(nonsending) func select<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    do {
      return try await database.select(body)
    } catch let error as SQLiteError where isRefusal(error) {
      throw MagicError.closed
    }
  }

  private func isRefusal(_ error: SQLiteError) -> Bool {
    error.code == .misuse && database.isClosed
  }
}
