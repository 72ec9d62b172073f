public import SQLiteCore

extension Database {
  /// Runs `body` in a transaction and returns what it has changed, blocking the thread.
  ///
  ///     let patch = try database.patch { try $0.executeChange("DELETE FROM city WHERE population < 1000") }
  ///
  /// Inside another write on the same thread it is a savepoint of that one, whose changes are returned. Changes in
  /// attached databases and in temporary tables are not in the patch.
  ///
  /// - Parameters:
  ///   - deadline: The time at which the write must be over. A statement that still runs then is stopped.
  ///   - body: The work. The connection must not be kept.
  /// - Returns: The patch. It is empty if `body` returns `TransactionOutcome.rollback`.
  /// - Throws: The error of `body`; ``PatchError/Reason/noKey(table:)`` if it has changed a row that has no primary key;
  ///   ``PatchError/Reason/notUTF8(table:column:)`` if it has changed text that is not valid UTF-8; `SQLiteError`: with `ResultCode.misuse` if this libsqlite3 was built without `SQLITE_ENABLE_PREUPDATE_HOOK`. Nothing
  ///   is changed then.
  public func patch<Result>(
    deadline: ContinuousClock.Instant? = nil, _ body: (Connection) throws -> Result
  ) throws -> Patch {
    try write(deadline: deadline) { connection in try connection.patch { try body(connection) } }
  }

  /// As ``patch(deadline:_:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func patch<Result>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Patch {
    try await write(deadline: deadline) { connection in
      try connection.patch { try body(connection) }
    }
  }

  /// Applies a patch in a transaction, blocking the thread.
  ///
  /// - Parameters:
  ///   - patch: The patch.
  ///   - isIdempotent: Whether rows that are already as the patch makes them are passed over, rather than conflicts.
  ///   - onConflict: Decides about a row that does not fit; it must not use the database. Nil for
  ///     throwing an error that names all of them.
  /// - Returns: What was done.
  /// - Throws: ``PatchError``; `SQLiteError`; what `onConflict` throws. Nothing is changed then.
  @discardableResult
  public func apply(
    _ patch: Patch, isIdempotent: Bool = false,
    onConflict: ((PatchConflict) throws -> PatchResolution)? = nil
  ) throws -> PatchReport {
    try write { try $0.apply(patch, isIdempotent: isIdempotent, onConflict: onConflict) }
  }

  /// As the blocking ``apply(_:isIdempotent:onConflict:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func apply(
    _ patch: Patch, isIdempotent: Bool = false,
    onConflict: (@Sendable (PatchConflict) throws -> PatchResolution)? = nil
  ) async throws -> PatchReport {
    try await write { try $0.apply(patch, isIdempotent: isIdempotent, onConflict: onConflict) }
  }
}

extension Connection {
  /// Runs `body` in a savepoint of the open transaction, or in one of its own, and returns what it has changed.
  ///
  /// - Parameter body: The work.
  /// - Returns: The patch. It is empty if `body` returns `TransactionOutcome.rollback`.
  /// - Throws: As ``recordingPatch(_:)``.
  public func patch<Result>(_ body: () throws -> Result) throws -> Patch {
    try recordingPatch(body).patch
  }

  /// Runs `body` in a savepoint of the open transaction, or in one of its own, and returns its result with what it has
  /// changed.
  ///
  /// - Parameter body: The work.
  /// - Throws: The error of `body`; ``PatchError/Reason/noKey(table:)`` if it has changed a row that has no primary key;
  ///   ``PatchError/Reason/notUTF8(table:column:)`` if it has changed text that is not valid UTF-8; `SQLiteError`: with `ResultCode.misuse` if this libsqlite3 was built without `SQLITE_ENABLE_PREUPDATE_HOOK`, with
  ///   `ResultCode.tooBig` if the changed rows take more than 256 MB. Nothing is changed then.
  public func recordingPatch<Result>(
    _ body: () throws -> Result
  ) throws -> (result: Result, patch: Patch) {
    // The outer savepoint takes back what cannot be in a patch.
    try savepoint {
      let (result, rows) = try recordingRows { try savepoint(body) }
      return (result, try Patch(rows))
    }
  }
}
