import SQLiteCore

/// The state of applying one patch: its target tables, the report so far, and the rows to retry.
final class PatchApplication {
  private let connection: Connection
  private let targets: [PatchTarget]
  private let isIdempotent: Bool
  /// Whether the triggers of the database can run while the patch is applied.
  private let mayTrigger: Bool
  private let onConflict: ((PatchConflict) throws -> PatchResolution)?
  private var report = PatchReport()
  /// The conflicts that make the application fail: violated foreign keys and, if `onConflict` is
  /// nil, all other conflicts.
  private var unresolved: [PatchConflict] = []
  /// The rows that couldn't be applied because of a constraint. They are retried after other rows
  /// have changed.
  private var stuck: [StuckRow] = []

  private struct StuckRow {
    let target: Int
    let row: Patch.Row
    let error: SQLiteError
  }

  /// The change that a row of the patch makes to the row in the database.
  private enum Change {
    case none
    case insert([Value?])
    case update([(column: Int, value: Value)])
    case delete

    /// Returns the values of the row in the database after the change, given its current values;
    /// nil if the row doesn't exist.
    func outcome(_ current: [Value]?) -> [Value]? {
      switch self {
      case .none: return current
      case .insert(let values): return values.map { $0 ?? .null }
      case .update(let values):
        var row = current
        for (column, value) in values { row?[column] = value }
        return row
      case .delete: return nil
      }
    }
  }

  init(
    _ patch: Patch, on connection: Connection, isIdempotent: Bool, isExact: Bool,
    onConflict: ((PatchConflict) throws -> PatchResolution)?
  ) throws {
    self.connection = connection
    mayTrigger =
      try !isExact
      && connection.firstRow(
        """
        SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger'
        UNION ALL SELECT 1 FROM temp.sqlite_schema WHERE type = 'trigger'
        """) != nil
    self.isIdempotent = isIdempotent
    self.onConflict = onConflict
    targets = try patch.tables.map { try PatchTarget($0, on: connection) }
  }

  func run() throws {
    // Indirect changes come second: triggers and foreign key actions have made most of them by
    // then.
    for isIndirect in [false, true] {
      for (index, target) in targets.enumerated() {
        for row in target.table.rows where row.isIndirect == isIndirect {
          try attempt(index, row)
        }
      }
      try retry()
      try exchange()
    }
    for row in stuck {
      let current = try current(row.target, row.row)
      let conflict = conflict(
        .constraint, row.target, row.row, current, message: row.error.message)
      _ = try resolve(conflict, row.target)
    }
  }

  /// Retries the stuck rows for as long as any of them succeeds. The order alternates because a row
  /// may depend on the next one.
  private func retry() throws {
    var count = Int.max
    while !stuck.isEmpty, stuck.count < count {
      count = stuck.count
      let rows = stuck.reversed()
      stuck = []
      for row in rows { try attempt(row.target, row.row) }
    }
  }

  private func attempt(_ index: Int, _ row: Patch.Row) throws {
    let mark = report.mark
    do {
      if !isIdempotent, !row.isIndirect, try targets[index].applyIfExpected(row) {
        report.appliedCount += 1
      } else {
        try perform(decide(index, row, current(index, row)), index, row)
      }
    } catch let error as SQLiteError where error.code.primary == .constraint {
      report.rollBack(to: mark)
      stuck.append(StuckRow(target: index, row: row, error: error))
    }
  }

  private func current(_ index: Int, _ row: Patch.Row) throws -> [Value]? {
    try targets[index].current(targets[index].key(of: row))
  }

  private func perform(_ change: Change, _ index: Int, _ row: Patch.Row) throws {
    let target = targets[index]
    switch change {
    case .none: return
    case .insert(let values): try target.insert(values)
    case .update(let values): try target.update(values, target.key(of: row))
    case .delete: try target.delete(target.key(of: row))
    }
    report.appliedCount += 1
  }
}

// Rows that exchange unique values.
extension PatchApplication {
  /// Applies stuck rows that need each other's unique values.
  ///
  /// Each updated row first gets temporary values and then its final ones. Other columns of the row
  /// are never written. Triggers and foreign key actions, if enabled, run for both updates. If a
  /// row still fails, the others are retried without it. The number of rounds is limited: if many
  /// rows depend on a failing one, each round finds only the next of them.
  private func exchange() throws {
    var places = Array(stuck.indices)
    for _ in 0..<8 where places.contains(where: { stuck[$0].row.kind == .update }) {
      let mark = report.mark
      var failed: Set<Int> = []
      try connection.savepoint {
        failed = try exchange(places)
        return failed.isEmpty ? TransactionOutcome.commit : .rollback
      }
      guard !failed.isEmpty else {
        for place in places.reversed() { stuck.remove(at: place) }
        return
      }
      report.rollBack(to: mark)
      places.removeAll { failed.contains($0) }
    }
  }

  /// Applies the stuck rows at the given indexes of `stuck`, after all updated ones have received
  /// temporary values. Returns the indexes of the rows that failed.
  private func exchange(_ places: [Int]) throws -> Set<Int> {
    var failed: Set<Int> = []
    var waiting: [(place: Int, change: Change)] = []
    for place in places {
      let (index, row) = (stuck[place].target, stuck[place].row)
      let current = try current(index, row)
      let change = try decide(index, row, current)
      waiting.append((place, change))
      guard case .update(let values) = change, let current else { continue }
      let hasTemporaryValues = try withoutChecks {
        try targets[index].assignTemporaryValues(
          values, current: current, targets[index].key(of: row))
      }
      if !hasTemporaryValues { failed.insert(place) }
    }
    guard failed.isEmpty else { return failed }
    var count = Int.max
    while !waiting.isEmpty, waiting.count < count {
      count = waiting.count
      waiting = try waiting.filter { place, change in
        do {
          try perform(change, stuck[place].target, stuck[place].row)
          return false
        } catch let error as SQLiteError where error.code.primary == .constraint {
          return true
        }
      }
    }
    return Set(waiting.map(\.place))
  }

  /// Runs `body` without CHECK constraints. If triggers may run, the constraints stay enabled,
  /// because a trigger could permanently store values that violate them.
  private func withoutChecks<Result>(_ body: () throws -> Result) throws -> Result {
    guard !mayTrigger, try connection.pragma("ignore_check_constraints") == .integer(0) else {
      return try body()
    }
    _ = try connection.pragma("ignore_check_constraints", " = ON")
    let result = Swift.Result { try body() }
    _ = try connection.pragma("ignore_check_constraints", " = OFF")
    return try result.get()
  }
}

// Resolution of conflicts.
extension PatchApplication {
  /// Returns the change that applies a row of the patch; `.none` if the row is skipped. If there is
  /// a conflict, `onConflict` decides.
  private func decide(
    _ index: Int, _ row: Patch.Row, _ current: [Value]?
  ) throws -> Change {
    if isIdempotent || row.isIndirect, isPresent(row, current) {
      report.skippedCount += 1
      settle(index, row, current, .none)
      return .none
    }
    let kind: PatchConflict.Kind? =
      switch (row.kind, current) {
      case (.insert, nil): nil
      case (.insert, _?): .conflict
      case (.update, nil), (.delete, nil): .notFound
      case (.update, let current?), (.delete, let current?):
        differing(row, current).isEmpty ? nil : .data
      }
    guard let kind else { return patchChange(index, row, current) }
    return try resolve(conflict(kind, index, row, current), index)
  }

  /// Returns the change after which the row in the database has the values of the patch.
  private func patchChange(_ index: Int, _ row: Patch.Row, _ current: [Value]?) -> Change {
    switch row.kind {
    case .insert where current == nil: .insert(row.new)
    case .insert, .update: .update(targets[index].values(row.new))
    case .delete: .delete
    }
  }

  /// Returns the change that resolves a conflict as `onConflict` decides. If `onConflict` is nil,
  /// the row stays unchanged, and the conflict is reported at the end.
  private func resolve(_ conflict: PatchConflict, _ index: Int) throws -> Change {
    guard let onConflict else {
      unresolved.append(conflict)
      return .none
    }
    let resolution = try onConflict(conflict)
    let change: Change
    switch (resolution, conflict.kind, conflict.row.kind) {
    case (.abort, _, _): throw PatchError(reason: .conflicts([conflict]))
    case (.omit, _, _): change = .none
    case (.replace, .data, _), (.replace, .conflict, _):
      change = patchChange(index, conflict.row, conflict.current)
    case (.merge, .data, .update):
      change = try merged(conflict, index, given: [:], resolution)
    case (.set(let given), .data, .update):
      change = try merged(conflict, index, given: given, resolution)
    default: throw refusal(of: resolution, conflict)
    }
    report.resolved.append(.init(conflict: conflict, resolution: resolution))
    settle(index, conflict.row, conflict.current, change)
    return change
  }

  /// Returns an update that merges a row in conflict. Columns in `given` get the given values. Of
  /// the other columns that the patch changes, those with the expected current values get the
  /// values of the patch.
  private func merged(
    _ conflict: PatchConflict, _ index: Int, given: [String: Value], _ resolution: PatchResolution
  ) throws -> Change {
    let target = targets[index]
    let differing = Set(conflict.current.map { self.differing(conflict.row, $0) } ?? [])
    var values = target.values(conflict.row.new)
    values.removeAll { differing.contains($0.column) }
    for (name, value) in given {
      guard
        let column = target.columns.firstIndex(where: {
          asciiLowercased($0) == asciiLowercased(name)
        }), !target.keyColumns.contains(column)
      else { throw refusal(of: resolution, conflict) }
      values.removeAll { $0.column == column }
      values.append((column, value))
    }
    return .update(values)
  }

  private func refusal(of resolution: PatchResolution, _ conflict: PatchConflict) -> SQLiteError {
    SQLiteError(.misuse, "“\(resolution)” cannot resolve this conflict: \(conflict)")
  }

  /// Records the row before and after a change, for rebasing. Called for rows that were skipped or
  /// in conflict.
  private func settle(_ index: Int, _ row: Patch.Row, _ current: [Value]?, _ change: Change) {
    let target = targets[index]
    report.settled.append(
      .init(
        table: target.name, keyPositions: target.table.keyPositions, columns: target.columns,
        row: row, before: current, after: change.outcome(current)))
  }

  /// Returns whether the row already has the values of the patch.
  private func isPresent(_ row: Patch.Row, _ current: [Value]?) -> Bool {
    switch (row.kind, current) {
    case (.delete, nil): true
    case (.delete, _?), (_, nil): false
    case (.insert, let current?), (.update, let current?):
      zip(row.new, current).allSatisfy { $0 == nil || $0 == $1 }
    }
  }

  /// Returns the indexes of the columns whose current values differ from those that the row of the
  /// patch expects.
  private func differing(_ row: Patch.Row, _ current: [Value]) -> [Int] {
    let expected = row.kind == .insert ? row.new : row.old
    return current.indices.filter {
      expected[$0].map { [value = current[$0]] in $0 != value } ?? false
    }
  }

  private func conflict(
    _ kind: PatchConflict.Kind, _ index: Int, _ row: Patch.Row, _ current: [Value]?,
    message: String? = nil
  ) -> PatchConflict {
    let target = targets[index]
    let columns = current.map { differing(row, $0).map { target.columns[$0] } } ?? []
    return PatchConflict(
      kind: kind, table: target.name, columns: target.columns, row: row, key: target.key(of: row),
      current: current, conflictingColumns: kind == .constraint ? [] : columns, message: message)
  }
}

// Checks at the end.
extension PatchApplication {
  /// Records rows that violate a foreign key as conflicts, at most ten rows per table. If none is
  /// found, records a conflict without a key for the first table of the patch.
  func recordForeignKeyViolations() throws {
    for target in try connection.existingTables() {
      for row in try connection.rows(
        "SELECT rowid, parent FROM pragma_foreign_key_check(\(target)) LIMIT 10",
        as: Int64?.self, String.self)
      {
        note(target, row.0.map { [.integer($0)] } ?? [], parent: row.1)
      }
    }
    if unresolved.isEmpty { note(targets[0].name, [], parent: "?") }
  }

  private func note(_ table: String, _ key: [Value], parent: String) {
    unresolved.append(
      PatchConflict(
        kind: .foreignKey, table: table, columns: [],
        row: Patch.Row(.insert, isIndirect: false, old: [], new: []), key: key, current: nil,
        conflictingColumns: [],
        message: "a row would reference a missing row of “\(parent)”"))
  }

  /// Records a conflict for each foreign key that the applied rows violate: the parent of a written
  /// row is missing, or rows still reference a deleted row or a replaced key.
  func checkForeignKeysOfChangedRows() throws {
    let touched = ForeignKeyCheck(connection)
    for target in targets {
      guard let keys = try touched.keys(of: target) else { continue }
      // The closure may have set any column.
      for row in target.table.rows where onConflict != nil || keys.mayViolateForeignKey(by: row) {
        let key = target.key(of: row)
        for (table, parent) in try touched.violations(
          of: target, row, currentRow: try target.current(key))
        {
          note(table, key, parent: parent)
        }
      }
    }
  }

  func finish() throws -> PatchReport {
    guard unresolved.isEmpty else { throw PatchError(reason: .conflicts(unresolved)) }
    return report
  }
}

extension PatchTarget {
  /// Returns the index and the new value of each column outside the primary key that a row of a
  /// patch sets.
  fileprivate func values(_ new: [Value?]) -> [(column: Int, value: Value)] {
    var values: [(column: Int, value: Value)] = []
    values.reserveCapacity(new.count)
    for (column, value) in new.enumerated() where !keyColumns.contains(column) {
      if let value { values.append((column, value)) }
    }
    return values
  }
}

extension PatchReport {
  /// The current counts of the report, to which it is rolled back if applying a row fails.
  fileprivate var mark: Mark { (appliedCount, skippedCount, resolved.count, settled.count) }

  fileprivate typealias Mark = (applied: Int, present: Int, resolved: Int, settled: Int)

  fileprivate mutating func rollBack(to mark: Mark) {
    (appliedCount, skippedCount) = (mark.applied, mark.present)
    resolved.removeLast(resolved.count - mark.resolved)
    settled.removeLast(settled.count - mark.settled)
  }
}
