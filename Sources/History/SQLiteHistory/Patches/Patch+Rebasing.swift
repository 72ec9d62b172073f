import SQLiteCore

extension Patch {
  /// Returns a version of this patch for copies that have already applied another patch.
  ///
  /// Use it when two copies have changed the same rows. This copy has made the changes in `local`
  /// and then applied `remote`, with some conflicts. The other copies already have `remote` and now
  /// need `local`. The rebased patch contains the resolutions and applies there without a conflict.
  ///
  ///     let report = try database.apply(remote) { $0.kind == .data ? .merge : .omit }
  ///     let patch = try local.rebased(onto: report)
  ///     // In the other copy, which has remote:
  ///     try other.apply(patch)
  ///
  /// For each row in conflict, the rebased patch changes the row of the other copies into the
  /// current row of this copy. If you resolved the conflict with `.replace`, the row is therefore
  /// omitted. If you kept the row of this copy, the rebased patch expects the values of `remote`
  /// and reverts the columns that only `remote` has changed. `sqlite3rebaser_rebase`
  /// (<https://www.sqlite.org/session/rebaser.html>) doesn't revert them, so the copies would stay
  /// different. If a constraint kept a row of `remote` out of this copy, the rebased patch reverts
  /// that row in the other copies.
  ///
  /// The other copy ends with the same rows as this one under two conditions. First, `local` must
  /// contain all changes of this copy that the other one lacks; ``combined(with:)`` merges several
  /// patches. Second, no trigger and no foreign key action may have changed further rows.
  ///
  /// If this copy has applied several patches, call this method with each report in the order of
  /// application.
  ///
  /// - Parameter report: The report of applying the other patch to this copy, after this copy made
  ///   the changes of this patch.
  /// - Returns: The rebased patch.
  /// - Throws: ``PatchError`` with ``PatchError/Reason/schema(table:difference:)`` if the columns
  ///   of a table in the report don't match those in this patch.
  /// - Complexity: O(*n* + *m*), where *n* is the number of rows in this patch and *m* is the
  ///   number of rows that were in conflict or skipped when the other patch was applied.
  public func rebased(onto report: PatchReport) throws -> Patch {
    var rebased = tables.map { RebasedTable($0) }
    for settled in report.settled {
      let name = asciiLowercased(settled.table)
      var places = rebased.indices.filter { asciiLowercased(rebased[$0].table.name) == name }
      if places.isEmpty {
        places = [rebased.count]
        rebased.append(
          RebasedTable(
            Table(
              name: settled.table, keyPositions: settled.keyPositions, columns: settled.columns,
              rows: [])))
      }
      // If the table was altered between the changes, `tables` contains it twice.
      let holder = try places.first { try rebased[$0].holds(settled) } ?? places[places.count - 1]
      try rebased[holder].rebase(onto: settled)
    }
    return Patch(
      tables: rebased.map { rebased in
        var table = rebased.table
        table.rows = rebased.rows.compactMap(\.self)
        return table
      })
  }
}

/// The rows of one table while its patch is being rebased.
private struct RebasedTable {
  let table: Patch.Table
  private(set) var rows: [Patch.Row?]
  private var places: [RowKey: Int]
  private let keys: [Int]

  init(_ table: Patch.Table) {
    self.table = table
    rows = table.rows
    keys = table.keyColumns
    places = Dictionary(
      table.rows.enumerated().map { (table.key(of: $1), $0) }, uniquingKeysWith: { $1 })
  }

  /// Returns, for each column of this table, the index of the column in `settled` with the same
  /// name; nil if there is none. Without names, columns are matched by position.
  ///
  /// - Throws: ``PatchError`` if a primary key column is missing in `settled`, or if the number of
  ///   columns differs and the names are unknown.
  private func columns(of settled: PatchReport.Settled) throws -> [Int?] {
    guard let names = table.columns else {
      guard settled.columns.count == table.keyPositions.count else {
        throw PatchError(
          reason: .schema(
            table: table.name,
            difference:
              "the patch has \(table.keyPositions.count) columns, but the one that was applied "
              + "has \(settled.columns.count)"
          ))
      }
      return settled.columns.indices.map(\.self)
    }
    let lowercased = settled.columns.map(asciiLowercased)
    return try names.indices.map { column in
      let place = lowercased.firstIndex(of: asciiLowercased(names[column]))
      if place == nil, keys.contains(column) { throw missing(column) }
      return place
    }
  }

  /// Returns the error for a primary key column of this patch that the applied patch lacks.
  private func missing(_ column: Int) -> PatchError {
    let name = table.columns?[column] ?? "\(column)"
    return PatchError(
      reason: .schema(
        table: table.name, difference: "the patch that was applied has no column “\(name)”"))
  }

  private func key(of settled: PatchReport.Settled) throws -> RowKey {
    let columns = try columns(of: settled)
    let values = settled.row.kind == .insert ? settled.row.new : settled.row.old
    return RowKey(keys.map { columns[$0].flatMap { values[$0] } ?? .null })
  }

  func holds(_ settled: PatchReport.Settled) throws -> Bool {
    places[try key(of: settled)] != nil
  }

  mutating func rebase(onto settled: PatchReport.Settled) throws {
    let key = try key(of: settled)
    if let place = places[key] {
      rows[place] = try rebased(rows[place], onto: settled)
    } else if let row = try rebased(nil, onto: settled) {
      places[key] = rows.count
      rows.append(row)
    }
  }

  /// Returns the change from the row of the other copy to the row of this copy; nil if they are
  /// equal.
  private func rebased(
    _ row: Patch.Row?, onto settled: PatchReport.Settled
  ) throws -> Patch.Row? {
    let places = try columns(of: settled)
    func own(_ values: [Value?]) -> [Value?] { places.map { $0.flatMap { values[$0] } } }
    // The row of the other copy before `remote`: the row of this copy without the changes of this
    // patch.
    let mine = row?.values
    let before: [Value?]? =
      row?.kind == .insert
      ? nil
      : places.indices.map { column in
        mine?.old[column] ?? places[column].flatMap { settled.before?[$0] }
      }
    let theirs = settled.row.values
    let (old, new) = (own(theirs.old), own(theirs.new))
    let there: [Value?]? =
      switch settled.row.kind {
      case .insert: new
      case .delete: nil
      case .update: places.indices.map { new[$0] ?? old[$0] ?? before?[$0] }
      }
    let here = settled.after.map { own($0) }.map { values in
      values.indices.map { values[$0] ?? mine?.new[$0] }
    }
    guard let here else {
      guard let there else { return nil }
      if let column = there.firstIndex(of: nil) { throw missing(column) }
      return Patch.Row(
        .delete, isIndirect: row?.isIndirect ?? false, old: there, new: there.map { _ in nil })
    }
    try checkExtraColumns(of: settled, places, isThere: there != nil)
    guard let there else {
      if let column = here.firstIndex(of: nil) { throw missing(column) }
      return Patch.Row(
        .insert, isIndirect: row?.isIndirect ?? false, old: here.map { _ in nil }, new: here)
    }
    if let column = here.indices.first(where: { here[$0] != nil && there[$0] == nil }) {
      throw missing(column)
    }
    return .update(there, here, keys, isIndirect: row?.isIndirect ?? false)
  }

  /// Throws ``PatchError`` if this patch lacks a column of the applied patch that it needs: the
  /// copies differ in the column, or the other copy lacks the whole row.
  private func checkExtraColumns(
    of settled: PatchReport.Settled, _ places: [Int?], isThere: Bool
  ) throws {
    let new = settled.row.new
    for (index, name) in settled.columns.enumerated() where !places.contains(index) {
      if isThere, new[index] ?? settled.after?[index] == settled.after?[index] {
        continue
      }
      throw PatchError(
        reason: .schema(
          table: table.name,
          difference: "the patch that was applied has an additional column “\(name)”"))
    }
  }
}
