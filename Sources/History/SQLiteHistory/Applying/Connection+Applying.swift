public import SQLiteCore

extension Connection {
  /// Applies a patch, as part of the open transaction or in one of its own: all of it or nothing.
  ///
  ///     let report = try connection.apply(patch) { conflict in
  ///       conflict.kind == .data ? .merge : .omit
  ///     }
  ///
  /// Rows are found by their primary keys, and compared with the values that the patch expects. Columns are found by
  /// their names if the patch knows them, else by their places; the table may have more. Triggers of this database run, and
  /// foreign keys act. Rows that triggers and foreign keys have changed at the source are applied last; those that are
  /// already as the patch makes them are passed over. A trigger that writes other rows than at the source, such as rows with
  /// automatic keys, adds these to the rows of the patch. Foreign keys are checked at the end.
  ///
  /// - Parameters:
  ///   - patch: The patch.
  ///   - isIdempotent: Whether rows that are already as the patch makes them are passed over, rather than conflicts: then a
  ///     patch may be applied again.
  ///   - onConflict: Decides about a row that does not fit; it must not use the connection. Nil for
  ///     throwing an error that names all of them.
  /// - Returns: What was done.
  /// - Throws: ``PatchError``; `SQLiteError`; what `onConflict` throws. Nothing is changed then.
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
      // Violations of the transaction around this are told at its own end.
      if !hadViolations {
        if hasDeferredViolations { try application.noteForeignKeys() }
        if !wasDeferred { _ = try pragma("defer_foreign_keys", " = OFF") }
      }
      return try application.finish()
    }
  }

  /// As ``apply(_:isIdempotent:onConflict:)``, without triggers and without the actions of foreign keys: the rows of the
  /// patch are all that changes. The foreign keys of these rows are checked at the end.
  @discardableResult
  package func applyExactly(
    _ patch: Patch, isIdempotent: Bool = false,
    onConflict: ((PatchConflict) throws -> PatchResolution)? = nil
  ) throws -> PatchReport {
    guard !patch.isEmpty else { return PatchReport() }
    let checksForeignKeys = try pragma("foreign_keys") == .integer(1)
    return try transaction {
      try withoutTriggersAndForeignKeys {
        let application = try PatchApplication(
          patch, on: self, isIdempotent: isIdempotent, isExact: true, onConflict: onConflict)
        try application.run()
        if checksForeignKeys { try application.checkTouchedForeignKeys() }
        return try application.finish()
      }
    }
  }
}
