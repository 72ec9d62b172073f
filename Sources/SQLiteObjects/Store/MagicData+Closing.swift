import SQLiteCore

extension MagicData {
  /// Closes the store, blocking the thread.
  ///
  /// Waits for the calls in progress. Each later call, and each call that waits, throws
  /// ``MagicError/closed``, and so do loops over observations. When the call returns, the files of the database
  /// and the folder of the assets are closed and their locks are released. The folder of a store that is
  /// temporary or in memory is deleted. A content that an `AssetReader` has opened stays readable.
  ///
  /// Objects keep the values that were fetched or set. Their lazy values, assets and reverse values throw
  /// ``MagicError/closed``. You can save the objects again in another store, or in the same one after you
  /// have opened it again.
  ///
  /// A store that you don't close is closed when you release it: objects don't keep it open. Closing a closed
  /// store does nothing.
  ///
  /// - Throws: `SQLiteError` with `ResultCode.misuse` if called inside a transaction or a read of this store;
  ///   an error of the file system if the temporary folder cannot be deleted.
  public func close() throws {
    try database.close()
    try releaseFiles()
  }

  /// As the blocking form, without blocking the task. Cancelling the task does not stop it.
  nonisolated(nonsending) public func close() async throws {
    try await database.close()
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      database.worker.start {
        continuation.resume(with: Result { try self.releaseFiles() })
      }
    }
  }

  /// Releases everything but the database, which is closed before.
  private func releaseFiles() throws {
    assets.close()
    try temporaryFolder?.remove()
  }
}

extension Database {
  /// Runs `body`, and reports that the store was closed by one error, wherever that was noticed.
  package func reportingClosure<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw namingClosure(error)
    }
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) package func reportingClosure<Result: Sendable>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    do {
      return try await body()
    } catch {
      throw namingClosure(error)
    }
  }

  /// Returns ``MagicError/closed`` for the error of an access that was refused because the database or its asset
  /// folder was closed, and any other error unchanged.
  package func namingClosure(_ error: any Error) -> any Error {
    if wasClosed(error) { return MagicError.closed }
    if isClosed, case AssetError.closed = error { return MagicError.closed }
    return error
  }
}
