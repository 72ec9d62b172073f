import SQLiteCore
public import SQLiteObjects

extension MagicData {
  /// Compares the content of this store with that of another one, blocking the thread.
  ///
  ///     let difference = try magic.difference(from: base)
  ///     if !difference.isEmpty { print(difference) }
  ///
  /// ``StoreDifference`` describes what is compared. Each store is read in one snapshot. Changes of
  /// objects that you haven't saved aren't compared.
  ///
  /// - Parameters:
  ///   - base: The store to compare with.
  ///   - rowLimit: The maximum number of rows to return for each table. All rows are counted.
  ///   - deadline: The time by which the comparison must end, or nil for no limit.
  /// - Returns: The difference, which is empty if the contents are equal.
  /// - Throws: `MagicError.closed` if one of the stores is closed, or `SQLiteError`.
  /// - Complexity: O(*n* log *n*) for *n* rows, in the memory of a few rows.
  public func difference(
    from base: MagicData, rowLimit: Int = 10, deadline: ContinuousClock.Instant? = nil
  ) throws -> StoreDifference {
    try base.database.reportingClosedStore {
      try database.reportingClosedStore {
        // A fixed order prevents a deadlock of two comparisons in opposite directions.
        if ObjectIdentifier(base.database) < ObjectIdentifier(database) {
          try base.database.read(deadline: deadline) { old in
            try database.read(deadline: deadline) { new in
              try StoreComparison(from: old, to: new, rowLimit: rowLimit).run()
            }
          }
        } else {
          try database.read(deadline: deadline) { new in
            try base.database.read(deadline: deadline) { old in
              try StoreComparison(from: old, to: new, rowLimit: rowLimit).run()
            }
          }
        }
      }
    }
  }

  /// Compares the content of this store with that of another one, and suspends the task meanwhile.
  ///
  /// For details, see the blocking form.
  ///
  /// - Parameters:
  ///   - base: The store to compare with.
  ///   - rowLimit: The maximum number of rows to return for each table. All rows are counted.
  ///   - deadline: The time by which the comparison must end, or nil for no limit.
  /// - Returns: The difference, which is empty if the contents are equal.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled
  ///   before the comparison began.
  nonisolated(nonsending) public func difference(
    from base: MagicData, rowLimit: Int = 10, deadline: ContinuousClock.Instant? = nil
  ) async throws -> StoreDifference {
    try await database.worker.run {
      try self.difference(from: base, rowLimit: rowLimit, deadline: deadline)
    }
  }

  /// Compares the content of this store with that of a template, blocking the thread.
  ///
  /// - Parameters:
  ///   - template: The template to compare with.
  ///   - rowLimit: The maximum number of rows to return for each table. All rows are counted.
  ///   - deadline: The time by which the comparison must end, or nil for no limit.
  /// - Returns: The difference, which is empty if the contents are equal.
  /// - Throws: ``TemplateError``, or the errors of a comparison of two stores.
  public func difference(
    from template: StoreTemplate, rowLimit: Int = 10, deadline: ContinuousClock.Instant? = nil
  ) throws -> StoreDifference {
    try difference(from: MagicData(copying: template), rowLimit: rowLimit, deadline: deadline)
  }

  /// Compares the content of this store with that of a template, and suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - template: The template to compare with.
  ///   - rowLimit: The maximum number of rows to return for each table. All rows are counted.
  ///   - deadline: The time by which the comparison must end, or nil for no limit.
  /// - Returns: The difference, which is empty if the contents are equal.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled
  ///   before the comparison began.
  nonisolated(nonsending) public func difference(
    from template: StoreTemplate, rowLimit: Int = 10, deadline: ContinuousClock.Instant? = nil
  ) async throws -> StoreDifference {
    try await database.worker.run {
      try self.difference(from: template, rowLimit: rowLimit, deadline: deadline)
    }
  }
}
