public import SQLiteCore

extension Connection {
  /// Applies a patch atomically, as part of the open transaction or in a new one.
  ///
  ///     let report = try connection.apply(patch) { conflict in
  ///       conflict.kind == .data ? .merge : .omit
  ///     }
  ///
  /// Rows are found by primary key and compared with the values that the patch expects. Columns are
  /// matched by name if the patch contains names, and otherwise by position. The table may have
  /// additional columns.
  ///
  /// The triggers and foreign key actions of this database run. Rows that triggers and foreign key
  /// actions changed in the source database are applied last, and skipped if they already have the
  /// values of the patch. A trigger may also write rows that differ from those of the source, for
  /// example rows with automatically assigned keys. Such rows remain in addition to the rows of the
  /// patch. Foreign keys are checked at the end.
  ///
  /// - Parameters:
  ///   - patch: The patch to apply.
  ///   - isIdempotent: Whether to skip rows that already have the values of the patch instead of
  ///     treating them as conflicts. If true, you can apply a patch repeatedly.
  ///   - onConflict: A closure that decides how to resolve a conflict. It must not use the
  ///     connection. If it is nil, this method throws an error with all conflicts.
  /// - Returns: A report with the number of applied rows, the number of skipped rows, and the
  ///   resolved conflicts.
  /// - Throws: ``PatchError`` if the patch doesn't match the schema or has unresolved conflicts;
  ///   `SQLiteError` if a statement fails, or with `ResultCode.misuse` if `onConflict` returns a
  ///   resolution that isn't allowed for the conflict; any error that `onConflict` throws. Nothing
  ///   is changed in these cases.
  @discardableResult
  public func apply(
    _ patch: Patch, isIdempotent: Bool = false,
    onConflict: ((PatchConflict) throws -> PatchResolution)? = nil
  ) throws -> PatchReport {
    guard !patch.isEmpty else { return PatchReport() }
    return try transaction {
      let wasDeferred = try pragma("defer_foreign_keys") == .integer(1)
      let hadViolations = hasDeferredViolations
      if !wasDeferred { _ = try pragma("defer_foreign_keys", " = ON") }
      let application = try PatchApplication(
        patch, on: self, isIdempotent: isIdempotent, isExact: false, onConflict: onConflict)
      try application.run()
      // Existing violations of an outer transaction are checked when that transaction commits.
      if !hadViolations {
        if hasDeferredViolations { try application.recordForeignKeyViolations() }
        if !wasDeferred { _ = try pragma("defer_foreign_keys", " = OFF") }
      }
      return try application.finish()
    }
  }

  /// Applies a patch without triggers and foreign key actions, so that only the rows of the patch
  /// change. Checks the foreign keys of these rows at the end. Otherwise this method works like
  /// ``apply(_:isIdempotent:onConflict:)``, and throws the same errors. With
  /// `checksForeignKeys: false`, the caller is responsible for foreign keys.
  @discardableResult
  package func applyExactly(
    _ patch: Patch, isIdempotent: Bool = false, checksForeignKeys: Bool = true,
    onConflict: ((PatchConflict) throws -> PatchResolution)? = nil
  ) throws -> PatchReport {
    guard !patch.isEmpty else { return PatchReport() }
    let checksForeignKeys = try checksForeignKeys && pragma("foreign_keys") == .integer(1)
    return try transaction {
      try withoutTriggersAndForeignKeys {
        let application = try PatchApplication(
          patch, on: self, isIdempotent: isIdempotent, isExact: true, onConflict: onConflict)
        try application.run()
        if checksForeignKeys { try application.checkForeignKeysOfChangedRows() }
        return try application.finish()
      }
    }
  }
}
