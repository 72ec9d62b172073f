public import SQLiteCore

extension Connection {
  /// Applies a patch, as part of the open transaction or in one of its own: all of it or nothing.
  ///
  ///     let report = try connection.apply(patch) { conflict in
  ///       conflict.kind == .data ? .merge : .omit
  ///     }
  ///
  /// Rows are found by their primary keys, and compared with the values that the patch expects. Columns are found by
  /// their names if the patch knows them, else by their places; the table may have more. Triggers run, and foreign keys
  /// act; what these have done already is not done twice. Foreign keys are checked at the end.
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
        patch, on: self, isIdempotent: isIdempotent, onConflict: onConflict)
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
          patch, on: self, isIdempotent: isIdempotent, onConflict: onConflict)
        application.mayTakeRowsOut = true
        try application.run()
        if checksForeignKeys { try application.checkTouchedForeignKeys() }
        return try application.finish()
      }
    }
  }
}

/// One application of a patch.
private final class PatchApplication {
  private let connection: Connection
  private let targets: [PatchTarget]
  private let isIdempotent: Bool
  private let onConflict: ((PatchConflict) throws -> PatchResolution)?
  private var report = PatchReport()
  /// The conflicts that nobody has resolved.
  private var unresolved: [PatchConflict] = []
  /// Rows that broke a constraint, and may not when others have been changed.
  private var postponed: [(target: Int, row: Patch.Row, error: SQLiteError)] = []
  /// Whether rows may be deleted for a moment: two that exchange unique values need it.
  var mayTakeRowsOut = false

  init(
    _ patch: Patch, on connection: Connection, isIdempotent: Bool,
    onConflict: ((PatchConflict) throws -> PatchResolution)?
  ) throws {
    self.connection = connection
    self.isIdempotent = isIdempotent
    self.onConflict = onConflict
    targets = try patch.tables.map { try PatchTarget($0, on: connection) }
  }

  func run() throws {
    // What triggers and foreign keys have changed comes last: most of it is there by then.
    for isIndirect in [false, true] {
      for (index, target) in targets.enumerated() {
        for row in target.table.rows where row.isIndirect == isIndirect {
          try attempt(index, row)
        }
      }
    }
    try retry()
    if !postponed.isEmpty, mayTakeRowsOut { try takeRowsOut() }
    for (index, row, error) in postponed {
      let current = try targets[index].current(targets[index].key(of: row), on: connection)
      let conflict = conflict(.constraint, index, row, current, message: error.message)
      switch try answer(conflict) {
      case nil, .omit: break
      case .replace, .merge, .set, .abort: throw refusal(of: conflict)
      }
    }
  }

  /// Applies again what broke a constraint, as long as that helps.
  private func retry() throws {
    var count = Int.max
    while !postponed.isEmpty, postponed.count < count {
      count = postponed.count
      let rows = postponed
      postponed = []
      for (index, row, _) in rows { try attempt(index, row) }
    }
  }

  /// Deletes the rows whose updates are in each other's way, and inserts them anew.
  private func takeRowsOut() throws {
    var taken: [(target: Int, row: Patch.Row, values: [Value])] = []
    for (index, row, _) in postponed where row.kind == .update {
      let target = targets[index]
      guard let current = try target.current(target.key(of: row), on: connection) else { continue }
      taken.append((index, row, current))
    }
    let stuck = postponed
    do {
      try connection.savepoint {
        for (index, row, _) in taken {
          try targets[index].delete(targets[index].key(of: row), on: connection)
        }
        postponed = []
        for (index, row, _) in stuck where row.kind != .update { try attempt(index, row) }
        for (index, row, values) in taken {
          let changed = values.indices.map { row.new[$0] ?? values[$0] }
          try targets[index].insert(changed, on: connection)
          report.appliedCount += 1
        }
        guard postponed.isEmpty else { throw StuckRows() }
      }
    } catch let error as SQLiteError where error.code.primary == .constraint {
      postponed = stuck
    } catch is StuckRows {
      postponed = stuck
    }
  }

  private struct StuckRows: Error {}

  private func attempt(_ index: Int, _ row: Patch.Row) throws {
    let resolvedCount = report.resolved.count
    do {
      try change(index, row)
    } catch let error as SQLiteError where error.code.primary == .constraint {
      // It will be asked again, or nothing comes of the answer.
      report.resolved.removeLast(report.resolved.count - resolvedCount)
      postponed.append((index, row, error))
    }
  }

  private func change(_ index: Int, _ row: Patch.Row) throws {
    let target = targets[index]
    let key = target.key(of: row)
    let current = try target.current(key, on: connection)
    if isIdempotent || row.isIndirect, isPresent(row, current) {
      report.presentCount += 1
      report.passedOver.append(
        .init(table: target.name, columns: target.columns, row: row, isTheirs: true))
      return
    }
    switch row.kind {
    case .insert:
      guard let current else {
        try target.insert(row.new, on: connection)
        return applied()
      }
      let conflict = conflict(.conflict, index, row, current)
      switch try answer(conflict) {
      case nil, .omit: break
      case .replace:
        try target.update(target.values(row.new), key, on: connection)
        applied()
      case .merge, .set, .abort: throw refusal(of: conflict)
      }
    case .delete:
      guard let current else { return try noteMissing(index, row) }
      if !differing(row, current).isEmpty {
        let conflict = conflict(.data, index, row, current)
        switch try answer(conflict) {
        case nil, .omit: return
        case .replace: break
        case .merge, .set, .abort: throw refusal(of: conflict)
        }
      }
      try target.delete(key, on: connection)
      applied()
    case .update:
      guard let current else { return try noteMissing(index, row) }
      var values = target.values(row.new)
      let differing = Set(differing(row, current))
      if !differing.isEmpty {
        let conflict = conflict(.data, index, row, current)
        switch try answer(conflict) {
        case nil, .omit: return
        case .replace: break
        case .merge: values.removeAll { differing.contains($0.column) }
        case .set(let given):
          values.removeAll { differing.contains($0.column) }
          for (name, value) in given {
            guard
              let column = target.columns.firstIndex(where: {
                asciiLowercased($0) == asciiLowercased(name)
              }), !target.keyColumns.contains(column)
            else { throw refusal(of: conflict) }
            values.removeAll { $0.column == column }
            values.append((column, value))
          }
        case .abort: throw refusal(of: conflict)
        }
      }
      try target.update(values, key, on: connection)
      applied()
    }
  }

  private func applied() { report.appliedCount += 1 }

  private func noteMissing(_ index: Int, _ row: Patch.Row) throws {
    let conflict = conflict(.notFound, index, row, nil)
    switch try answer(conflict) {
    case nil, .omit: break
    case .replace, .merge, .set, .abort: throw refusal(of: conflict)
    }
  }

  /// Whether the row is already as the patch makes it.
  private func isPresent(_ row: Patch.Row, _ current: [Value]?) -> Bool {
    switch (row.kind, current) {
    case (.delete, nil): true
    case (.delete, _?), (_, nil): false
    case (.insert, let current?), (.update, let current?):
      current.indices.allSatisfy {
        row.new[$0].map { [value = current[$0]] in $0 == value } ?? true
      }
    }
  }

  /// The columns that are not as the row of the patch expects them.
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

  /// Asks what to do; nil if there is nobody to ask: then the row is passed over, and an error at the end.
  private func answer(_ conflict: PatchConflict) throws -> PatchResolution? {
    guard let onConflict else {
      unresolved.append(conflict)
      return nil
    }
    let resolution = try onConflict(conflict)
    if resolution != .abort {
      report.resolved.append(.init(conflict: conflict, resolution: resolution))
    }
    return resolution
  }

  /// The error for a conflict that was answered by the end of it, or by something that makes no sense.
  private func refusal(of conflict: PatchConflict) -> any Error {
    guard let last = report.resolved.last, last.conflict == conflict else {
      return PatchError(reason: .conflicts([conflict]))
    }
    return SQLiteError(
      .misuse, "“\(last.resolution)” is no answer to this conflict: \(conflict)")
  }

  /// Notes the rows whose foreign keys lead nowhere.
  func noteForeignKeys() throws {
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
        message: "a row would refer to a row of “\(parent)” that is not there"))
  }

  /// Looks for the parents of the rows that were written, and for the children of those that are gone.
  func checkTouchedForeignKeys() throws {
    let touched = ForeignKeyCheck(connection)
    for target in targets {
      guard let keys = try touched.keys(of: target) else { continue }
      // A closure may have set any column.
      for row in target.table.rows where onConflict != nil || keys.isTouched(by: row) {
        let key = target.key(of: row)
        for (table, parent) in try touched.violations(
          of: target, row, isThere: try target.current(key, on: connection))
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
  /// The columns outside the key that a row of a patch sets.
  fileprivate func values(_ new: [Value?]) -> [(column: Int, value: Value)] {
    new.indices.compactMap { column in
      keyColumns.contains(column) ? nil : new[column].map { (column, $0) }
    }
  }
}

/// Checks the foreign keys of single rows.
private final class ForeignKeyCheck {
  private let connection: Connection
  private var own: [String: [ForeignKey]] = [:]
  /// The foreign keys that lead to a table, with the tables that have them.
  private var leading: [String: [(child: String, key: ForeignKey)]] = [:]

  init(_ connection: Connection) { self.connection = connection }

  /// The columns of a table that foreign keys are about.
  struct KeyColumns {
    /// Those that lead to other rows.
    fileprivate var own: Set<Int> = []
    /// Those that other rows lead to.
    fileprivate var leading: Set<Int> = []

    /// Whether a row that a patch has written may break one.
    func isTouched(by row: Patch.Row) -> Bool {
      switch row.kind {
      case .insert: !own.isEmpty
      case .delete: !leading.isEmpty
      case .update:
        own.contains { row.new[$0] != nil } || leading.contains { row.new[$0] != nil }
      }
    }
  }

  /// The columns of a table that foreign keys are about; nil if there are none.
  func keys(of target: PatchTarget) throws -> KeyColumns? {
    let names = target.columns.map(asciiLowercased)
    func indexes(_ columns: [String]) -> [Int] {
      columns.compactMap { names.firstIndex(of: asciiLowercased($0)) }
    }
    var columns = KeyColumns()
    for key in try keys(of: target.name) { columns.own.formUnion(indexes(key.columns)) }
    for (_, key) in try keys(leadingTo: target.name) {
      columns.leading.formUnion(indexes(try parentColumns(key)))
    }
    return columns.own.isEmpty && columns.leading.isEmpty ? nil : columns
  }

  /// Returns the broken foreign keys of a row, as child and parent.
  func violations(
    of target: PatchTarget, _ row: Patch.Row, isThere current: [Value]?
  ) throws -> [(String, String)] {
    var found: [(String, String)] = []
    let names = target.columns.map(asciiLowercased)
    func value(_ column: String, _ values: [Value]) -> Value? {
      names.firstIndex(of: asciiLowercased(column)).map { values[$0] }
    }
    if let current {
      for key in try keys(of: target.name) {
        let values = key.columns.map { value($0, current) ?? .null }
        if values.contains(where: \.isNull) { continue }
        let columns = try parentColumns(key)
        if try !exists(key.referencedTable, columns, values) {
          found.append((target.name, key.referencedTable))
        }
      }
    }
    // Values that others may have referred to, and that are gone.
    let before = row.old.enumerated().map { index, value in value ?? row.new[index] ?? .null }
    guard row.kind != .insert else { return found }
    for (child, key) in try keys(leadingTo: target.name) {
      let columns = try parentColumns(key)
      let gone = columns.map { value($0, before) ?? .null }
      if gone.contains(where: \.isNull) || gone.count != key.columns.count { continue }
      if try exists(target.name, columns, gone) { continue }
      if try exists(child, key.columns, gone) { found.append((child, target.name)) }
    }
    return found
  }

  private func keys(of table: String) throws -> [ForeignKey] {
    if let known = own[table] { return known }
    let keys = try connection.foreignKeys(of: table)
    own[table] = keys
    return keys
  }

  private func keys(leadingTo table: String) throws -> [(child: String, key: ForeignKey)] {
    if let known = leading[table] { return known }
    var keys: [(child: String, key: ForeignKey)] = []
    for child in try connection.tables(referringTo: table) + [table] {
      for key in try self.keys(of: child)
      where asciiLowercased(key.referencedTable) == asciiLowercased(table) {
        keys.append((child, key))
      }
    }
    leading[table] = keys
    return keys
  }

  /// The columns that a foreign key refers to: those that it names, or the primary key.
  private func parentColumns(_ key: ForeignKey) throws -> [String] {
    guard key.referencedColumns.isEmpty else { return key.referencedColumns }
    return try connection.columns(of: key.referencedTable).filter { $0.primaryKeyPosition > 0 }
      .sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }.map(\.name)
  }

  private func exists(_ table: String, _ columns: [String], _ values: [Value]) throws -> Bool {
    guard !columns.isEmpty else { return false }
    let conditions = zip(columns, values).map { column, value -> SQL in
      "\(identifier: column) = \(value)"
    }
    return try connection.firstRow(
      "SELECT 1 FROM main.\(identifier: table) WHERE \(SQL(joining: conditions, separator: " AND "))"
    )
      != nil
  }
}
