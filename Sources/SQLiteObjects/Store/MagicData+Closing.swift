import SQLiteCore

extension MagicData {
  /// Closes the store, blocking the thread.
  ///
  /// Waits for the calls in progress. Calls that haven't begun yet, all later calls, and loops over
  /// observations throw ``MagicError/closed``. When the call returns, the database files and the
  /// asset folder are closed and their locks are released. The folder of a temporary or in-memory
  /// store is deleted. Content that an `AssetReader` has opened stays readable.
  ///
  /// Objects retain the values that you have fetched or set. Their lazy values, assets and reverse
  /// relations throw ``MagicError/closed``. You can save the objects again in another store, or in
  /// this one after you have opened it again.
  ///
  /// A store that you don't close is closed when you release it. Objects don't keep it open.
  /// Closing a closed store does nothing.
  ///
  /// - Throws: `SQLiteError` with `ResultCode.misuse` if you call it inside a transaction or a read
  ///   of this store, or a file system error if the temporary folder can't be deleted.
  public func close() throws {
    try database.close()
    try releaseFiles()
  }

  /// Closes the store. Suspends the task meanwhile.
  ///
  /// For details, see the blocking ``close()``. Cancelling the task doesn't stop it.
  ///
  /// - Throws: The errors of the blocking form.
  nonisolated(nonsending) public func close() async throws {
    try await database.close()
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      database.worker.start {
        continuation.resume(with: Result { try self.releaseFiles() })
      }
    }
  }

  /// Releases the assets and the temporary folder. The database must be closed already.
  private func releaseFiles() throws {
    assets.close()
    try temporaryFolder?.remove()
  }
}

extension Database {
  /// Runs `body` and throws ``MagicError/closed`` in place of every error that means that the store
  /// is closed.
  package func reportingClosedStore<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw replacingClosedError(error)
    }
  }

  /// Runs an asynchronous `body` and throws ``MagicError/closed`` in place of every error that
  /// means that the store is closed.
  nonisolated(nonsending) package func reportingClosedStore<Result: Sendable>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    do {
      return try await body()
    } catch {
      throw replacingClosedError(error)
    }
  }

  /// Returns ``MagicError/closed`` if `error` means that the database or its asset folder is
  /// closed. Returns any other error unchanged.
  package func replacingClosedError(_ error: any Error) -> any Error {
    if wasClosed(error) { return MagicError.closed }
    if isClosed, case AssetError.closed = error { return MagicError.closed }
    return error
  }
}
