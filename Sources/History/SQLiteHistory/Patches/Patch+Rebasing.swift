import SQLiteCore

extension Patch {
  /// Returns this patch as it must be for those who apply the other patch first, with the same outcome as here.
  ///
  /// This copy has made `local`, and then applied `remote`, of which some rows were in conflict. Others have `remote`, and
  /// get `local` now: rebased, it carries the resolutions, and applies without a conflict.
  ///
  ///     let report = try database.apply(remote) { $0.kind == .data ? .merge : .omit }
  ///     let patch = try local.rebased(onto: report)
  ///     // elsewhere, after remote
  ///     try other.apply(patch)
  ///
  /// There is one rule: for each row that was in conflict, the rebased patch leads from the row that the others have to
  /// the row that this copy has now. So a row that was replaced is left out, and a row that was kept expects the values
  /// of the other patch and takes back what only that has changed. The latter is where the result differs from
  /// `sqlite3rebaser_rebase` (<https://www.sqlite.org/session/rebaser.html>), after which such copies stay different. A row
  /// of the other patch that a constraint kept out here is taken out there.
  ///
  /// The other copy ends with the same rows as this one, if `local` holds all changes of this copy that the other one
  /// lacks (several patches are one by ``combined(with:)``), and if no trigger and no action of a foreign key has changed
  /// further rows.
  ///
  /// After several patches this is called with each report, in the order in which they were applied.
  ///
  /// - Parameter report: The outcome of applying the other patch to a copy that has this one's changes.
  /// - Throws: ``PatchError`` if a table has other columns in the report.
  /// - Complexity: O(*n* + *m*), where *n* is the number of rows of this patch and *m* that of conflicts.
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
      // A table that was altered meanwhile is there twice.
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

/// The rows of one table of a patch that is rebased.
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

  /// Returns for each column the index of the settled row's column of that name, if it has one.
  private func columns(of settled: PatchReport.Settled) throws -> [Int?] {
    guard let names = table.columns else {
      guard settled.columns.count == table.keyPositions.count else {
        throw PatchError(
          reason: .schema(
            table: table.name,
            difference:
              "the patch has \(table.keyPositions.count) columns, and the one that was applied \(settled.columns.count)"
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

  /// The error for a column that the patch that was applied lacks.
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

  /// Returns the change from the row that the others have to the row that is here; nil if both are the same.
  private func rebased(
    _ row: Patch.Row?, onto settled: PatchReport.Settled
  ) throws -> Patch.Row? {
    let places = try columns(of: settled)
    func own(_ values: [Value?]) -> [Value?] { places.map { $0.flatMap { values[$0] } } }
    // The row as it was there before the other patch: the one here, without the changes of this patch.
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
    try refuseFurtherColumns(of: settled, places, isThere: there != nil)
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

  /// Refuses a row that differs in a column that this patch cannot carry.
  private func refuseFurtherColumns(
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
          difference: "the patch that was applied has a column “\(name)” besides"))
    }
  }
}
