import SQLiteCore

extension Patch {
  /// Returns this patch as it must be for those who apply the other patch first, with the same outcome as here.
  ///
  /// This copy has made `local`, and then applied `remote`, of which some rows were in conflict. Others have `remote`, and
  /// get `local` now: rebased, it carries the resolutions, and none of them meets these conflicts again.
  ///
  ///     let report = try database.apply(remote) { $0.kind == .data ? .merge : .omit }
  ///     let patch = try local.rebased(onto: report)
  ///     // elsewhere: remote is there already
  ///     try other.apply(patch)
  ///
  /// The rules are those of `sqlite3rebaser_rebase` (<https://www.sqlite.org/session/rebaser.html>): what was replaced
  /// is left out, and what was kept here expects the values of the other patch. Besides,
  /// ``PatchResolution/merge`` counts as ``PatchResolution/omit`` of the columns in conflict,
  /// ``PatchResolution/set(_:)`` puts the given values into this patch's row, and rows that were passed over since they were as the
  /// other patch has them already are left out. Where nobody but the two has changed anything, and no
  /// conflict was a ``PatchConflict/Kind/constraint``, the other copy ends with the same rows as this one.
  ///
  /// After several patches this is called with each report, in the order in which they were applied.
  ///
  /// - Parameter report: The outcome of applying the other patch to a copy that has this one's changes.
  /// - Throws: ``PatchError`` if a table has other columns in the report.
  /// - Complexity: O(*n* + *m*), where *n* is the number of rows of this patch and *m* that of conflicts.
  public func rebased(onto report: PatchReport) throws -> Patch {
    let settled = Dictionary(grouping: report.settled) { asciiLowercased($0.table) }
    guard !settled.isEmpty else { return self }
    return Patch(
      tables: try tables.map { table in
        guard let settled = settled[asciiLowercased(table.name)] else { return table }
        var byKey: [RowKey: [Settlement]] = [:]
        for row in settled {
          let settlement = try Settlement(row, in: table)
          byKey[settlement.key, default: []].append(settlement)
        }
        var result = table
        result.rows = table.rows.compactMap { row in
          guard let settlements = byKey[table.key(of: row)] else { return row }
          return settlements.reduce(Optional(row)) { row, settlement in
            row.flatMap { settlement.rebased($0, keys: table.keyColumns) }
          }
        }
        return result
      })
  }
}

extension PatchReport {
  /// A row of the applied patch that was not simply applied.
  struct Settled: Hashable, Sendable {
    let table: String
    /// The columns of `row` as they are named in the database.
    let columns: [String]
    let row: Patch.Row
    /// Whether the row is now as the patch has it.
    let isTheirs: Bool
    /// The values that the one who was asked gave, by their columns.
    var given: [Int: Value] = [:]
    /// The row as it was before it was settled; empty if it was not there.
    var before: [Value] = []
  }

  fileprivate var settled: [Settled] {
    passedOver
      + resolved.map { resolved in
        let conflict = resolved.conflict
        var settled = Settled(
          table: conflict.table, columns: conflict.columns, row: conflict.row,
          isTheirs: resolved.resolution == .replace)
        if case .set(let values) = resolved.resolution {
          let columns = conflict.columns.map(asciiLowercased)
          for (name, value) in values {
            if let column = columns.firstIndex(of: asciiLowercased(name)) {
              settled.given[column] = value
            }
          }
          settled.before = conflict.current ?? []
        }
        return settled
      }
  }
}

/// How a row of another patch was settled, in the columns of a table of this one.
private struct Settlement {
  /// The other patch's effect on a column.
  private enum Effect {
    case none
    /// Others have this value, and here it was not taken.
    case kept(theirs: Value)
    /// The value is theirs here, too.
    case replaced
  }

  let key: RowKey
  private let isDelete: Bool
  private let isTheirs: Bool
  private var effects: [Effect] = []
  private var given: [(now: Value, before: Value)?] = []

  init(_ settled: PatchReport.Settled, in table: Patch.Table) throws {
    let row = settled.row
    let places = try Self.places(settled.columns, in: table)
    isDelete = row.kind == .delete
    isTheirs = settled.isTheirs
    let values = isDelete ? row.old : row.new
    let keys = row.kind == .insert ? row.new : row.old
    key = RowKey(
      table.keyColumns.map { column in
        places[column].flatMap { keys.indices.contains($0) ? keys[$0] : nil } ?? .null
      })
    for place in places {
      guard let place, values.indices.contains(place), let value = values[place] else {
        effects.append(.none)
        given.append(nil)
        continue
      }
      effects.append(isTheirs ? .replaced : .kept(theirs: value))
      given.append(nil)
    }
    for (column, place) in places.enumerated() {
      guard let place, let now = settled.given[place], settled.before.indices.contains(place) else {
        continue
      }
      given[column] = (now, settled.before[place])
    }
  }

  /// Returns for each column of a table the place among the columns of the other patch; nil where that lacks it.
  private static func places(_ columns: [String], in table: Patch.Table) throws -> [Int?] {
    guard let names = table.columns else {
      guard columns.count == table.keyPositions.count else {
        throw PatchError(
          reason: .schema(
            table: table.name,
            difference:
              "the patch has \(table.keyPositions.count) columns, and the one that was applied \(columns.count)"
          ))
      }
      return columns.indices.map(\.self)
    }
    let lowercased = columns.map(asciiLowercased)
    return try names.enumerated().map { index, name in
      // The rowid may have another name where a column has that one.
      if index == 0, name == Patch.rowIDColumn, table.keyColumns == [0] { return 0 }
      let place = lowercased.firstIndex(of: asciiLowercased(name))
      guard place != nil || table.keyPositions[index] == 0 else {
        throw PatchError(
          reason: .schema(
            table: table.name, difference: "the patch that was applied has no column “\(name)”"))
      }
      return place
    }
  }

  /// Returns a row of the local patch for those who have the other patch's; nil if nothing is left of it.
  func rebased(_ row: Patch.Row, keys: [Int]) -> Patch.Row? {
    switch (row.kind, isDelete) {
    case (.insert, true): return row
    case (.insert, false):
      if isTheirs { return nil }
      var old = row.new
      for column in old.indices where !keys.contains(column) {
        // What is there is not known: the conflict is for those who meet it.
        guard case .kept(let theirs) = effects[column] else { return row }
        old[column] = theirs
      }
      return .update(old, row.new, keys, isIndirect: row.isIndirect)
    case (.delete, true): return nil
    case (.delete, false):
      let old = row.old.indices.map { column in
        guard !keys.contains(column), case .kept(let theirs) = effects[column] else {
          return row.old[column]
        }
        return theirs
      }
      return Patch.Row(.delete, isIndirect: row.isIndirect, old: old, new: row.new)
    case (.update, true):
      if isTheirs { return nil }
      // It is gone elsewhere: so it is inserted, with the values that it had.
      let new = row.new.indices.map { column -> Value? in
        if let value = row.new[column] { return value }
        if case .kept(let theirs) = effects[column] { return theirs }
        return row.old[column] ?? .null
      }
      return Patch.Row(
        .insert, isIndirect: row.isIndirect, old: row.new.map { _ in nil }, new: new)
    case (.update, false):
      var old = row.old
      var new = row.new
      for column in old.indices where !keys.contains(column) {
        switch effects[column] {
        case .none: break
        case .replaced:
          old[column] = nil
          new[column] = nil
        case .kept(let theirs):
          if old[column] != nil || given[column] != nil { old[column] = theirs }
        }
        if let (now, before) = given[column] {
          old[column] = old[column] ?? before
          new[column] = now
        }
      }
      return .update(old, new, keys, isIndirect: row.isIndirect)
    }
  }
}
