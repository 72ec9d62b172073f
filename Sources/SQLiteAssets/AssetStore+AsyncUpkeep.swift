extension AssetStore {
  /// As the blocking ``removeDeletedFiles()``, suspending the task.
  ///
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func removeDeletedFiles() async throws {
    try await worker.run { try self.removeDeletedFiles() }
  }

  /// As the blocking ``verify()``, suspending the task.
  ///
  /// - Returns: What is wrong, one error for each asset.
  /// - Throws: ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func verify() async throws -> [AssetError] {
    try await worker.run { try self.verify() }
  }

  /// As the blocking ``sweep()``, suspending the task.
  ///
  /// - Returns: What was removed and what was not.
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func sweep() async throws -> SweepReport {
    try await worker.run { try self.sweep() }
  }

  /// Runs `body` on a thread that may wait for files, suspending the task.
  package nonisolated(nonsending) func work<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await worker.run(body)
  }
}
