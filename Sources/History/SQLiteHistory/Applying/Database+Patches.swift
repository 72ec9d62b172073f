public import SQLiteCore

extension Database {
  /// Runs `body` in a transaction and returns a patch of its changes. Blocks the thread.
  ///
  ///     let patch = try database.patch { try $0.executeChange("DELETE FROM city WHERE population < 1000") }
  ///
  /// Inside another write on the same thread, `body` runs in a savepoint of that write, and the
  /// patch contains the changes of the savepoint. Changes of attached databases and temporary
  /// tables aren't in the patch.
  ///
  /// - Parameters:
  ///   - deadline: The time by which the write must end. A statement that is still running then is
  ///     interrupted.
  ///   - body: A closure that receives the connection, which is valid only inside the closure.
  /// - Returns: The patch. It is empty if `body` returns `TransactionOutcome.rollback`.
  /// - Throws: Any error of `body`. ``PatchError/Reason/noKey(table:)`` if a changed row has no
  ///   primary key. ``PatchError/Reason/notUTF8(table:column:)`` if changed text isn't valid UTF-8.
  ///   `SQLiteError`, with `ResultCode.misuse` if this libsqlite3 was built without
  ///   `SQLITE_ENABLE_PREUPDATE_HOOK`, or with `ResultCode.tooBig` if the changed rows exceed 256
  ///   MiB. The transaction is rolled back in these cases.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  public func patch<Result>(
    deadline: ContinuousClock.Instant? = nil, _ body: (Connection) throws -> Result
  ) throws -> Patch {
    try write(deadline: deadline) { connection in try connection.patch { try body(connection) } }
  }

  /// Runs `body` in a transaction and returns a patch of its changes. Suspends the task meanwhile.
  ///
  /// Changes of attached databases and temporary tables aren't in the patch.
  ///
  /// - Parameters:
  ///   - deadline: The time by which the write must end. A statement that is still running then is
  ///     interrupted.
  ///   - body: A closure that receives the connection, which is valid only inside the closure.
  /// - Returns: The patch. It is empty if `body` returns `TransactionOutcome.rollback`.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  ///   The transaction is rolled back in these cases.
  public func patch<Result>(
    deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Patch {
    try await write(deadline: deadline) { connection in
      try connection.patch { try body(connection) }
    }
  }

  /// Applies a patch in a transaction. Blocks the thread.
  ///
  /// Rows are found by primary key and compared with the values that the patch expects. Triggers
  /// and foreign key actions run.
  ///
  /// - Parameters:
  ///   - patch: The patch to apply.
  ///   - isIdempotent: Whether to skip rows that already have the values of the patch instead of
  ///     treating them as conflicts.
  ///   - onConflict: A closure that decides how to resolve a conflict. It must not use the
  ///     database. If it is nil, this method throws an error with all conflicts.
  /// - Returns: A report with the number of applied rows, the number of skipped rows, and the
  ///   resolved conflicts.
  /// - Throws: ``PatchError`` if the patch doesn't match the schema or has unresolved conflicts;
  ///   `SQLiteError` if a statement fails, or with `ResultCode.misuse` if `onConflict` returns a
  ///   resolution that isn't allowed for the conflict; any error that `onConflict` throws. Nothing
  ///   is changed in these cases.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  @discardableResult
  public func apply(
    _ patch: Patch, isIdempotent: Bool = false,
    onConflict: ((PatchConflict) throws -> PatchResolution)? = nil
  ) throws -> PatchReport {
    try write { try $0.apply(patch, isIdempotent: isIdempotent, onConflict: onConflict) }
  }

  /// Applies a patch in a transaction, and suspends the task meanwhile.
  ///
  /// Rows are found by primary key and compared with the values that the patch expects. Triggers
  /// and foreign key actions run.
  ///
  /// - Parameters:
  ///   - patch: The patch to apply.
  ///   - isIdempotent: Whether to skip rows that already have the values of the patch instead of
  ///     treating them as conflicts.
  ///   - onConflict: A closure that decides how to resolve a conflict. It must not use the
  ///     database. If it is nil, this method throws an error with all conflicts.
  /// - Returns: A report with the number of applied rows, the number of skipped rows, and the
  ///   resolved conflicts.
  /// - Throws: ``PatchError`` if the patch doesn't match the schema or has unresolved conflicts;
  ///   `SQLiteError` if a statement fails, or with `ResultCode.misuse` if `onConflict` returns a
  ///   resolution that isn't allowed for the conflict; any error that `onConflict` throws;
  ///   `CancellationError` if the task was cancelled. Nothing is changed in these cases.
  @discardableResult
  public func apply(
    _ patch: Patch, isIdempotent: Bool = false,
    onConflict: (@Sendable (PatchConflict) throws -> PatchResolution)? = nil
  ) async throws -> PatchReport {
    try await write { try $0.apply(patch, isIdempotent: isIdempotent, onConflict: onConflict) }
  }
}

extension Connection {
  /// Runs `body` and returns a patch of its changes. `body` runs in a savepoint of the open
  /// transaction, or in a new transaction.
  ///
  /// - Parameter body: The work to record.
  /// - Returns: The patch. It is empty if `body` returns `TransactionOutcome.rollback`.
  /// - Throws: The errors of ``recordingPatch(_:)``. The changes of `body` are rolled back then.
  public func patch<Result>(_ body: () throws -> Result) throws -> Patch {
    try recordingPatch(body).patch
  }

  /// Runs `body` and returns its result together with a patch of its changes. `body` runs in a
  /// savepoint of the open transaction, or in a new transaction.
  ///
  /// - Parameter body: The work to record.
  /// - Returns: The result of `body`, and the patch, which is empty if that result is
  ///   `TransactionOutcome.rollback`.
  /// - Throws: Any error of `body`. ``PatchError/Reason/noKey(table:)`` if a changed row has no
  ///   primary key. ``PatchError/Reason/notUTF8(table:column:)`` if changed text isn't valid UTF-8.
  ///   `SQLiteError`, with `ResultCode.misuse` if this libsqlite3 was built without
  ///   `SQLITE_ENABLE_PREUPDATE_HOOK`, or with `ResultCode.tooBig` if the changed rows exceed 256
  ///   MiB. The changes of `body` are rolled back in these cases.
  public func recordingPatch<Result>(
    _ body: () throws -> Result
  ) throws -> (result: Result, patch: Patch) {
    // The outer savepoint rolls back if the changes can't be represented as a patch.
    try savepoint {
      let (result, rows) = try recordingRows { try savepoint(body) }
      return (result, try Patch(rows))
    }
  }
}
