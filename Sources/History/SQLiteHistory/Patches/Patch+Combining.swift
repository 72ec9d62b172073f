import SQLiteCore

extension Patch {
  /// Returns a single patch with the effect of this patch followed by `next`.
  ///
  /// Changes of the same row are merged by the rules of `sqlite3changegroup_add`. A change in
  /// `next` that can't follow this patch, such as a second insert of the same row, is ignored.
  ///
  /// - Parameter next: The later patch.
  /// - Returns: The combined patch.
  /// - Throws: ``PatchError`` with ``PatchError/Reason/schema(table:difference:)`` if a table has
  ///   different columns or a different primary key in the two patches.
  /// - Complexity: O(*n*), where *n* is the number of rows in both patches.
  public func combined(with next: Patch) throws -> Patch {
    try Patch.combining([self, next])
  }

  /// Returns a single patch with the effect of several successive ones.
  ///
  /// - Throws: The errors of ``combined(with:)``.
  /// - Complexity: O(*n*), where *n* is the number of rows in all patches.
  package static func combining(_ patches: [Patch]) throws -> Patch {
    var collected: [CombinedTable] = []
    var places: [String: Int] = [:]
    for table in patches.flatMap(\.tables) {
      let name = asciiLowercased(table.name)
      if let index = places[name] {
        guard collected[index].table.fits(table) else {
          throw PatchError(
            reason: .schema(
              table: table.name, difference: "the patches have other columns or another primary key"
            ))
        }
        if collected[index].table.columns == nil { collected[index].table.columns = table.columns }
        collected[index].add(table.rows)
      } else {
        places[name] = collected.count
        collected.append(CombinedTable(table))
      }
    }
    return Patch(
      tables: collected.map { collected in
        var table = collected.table
        table.rows = collected.rows.compactMap(\.self)
        return table
      })
  }
}

/// The merged rows of one table while patches are combined.
private struct CombinedTable {
  var table: Patch.Table
  private(set) var rows: [Patch.Row?] = []
  private var places: [RowKey: Int] = [:]

  init(_ table: Patch.Table) {
    self.table = table
    add(table.rows)
  }

  mutating func add(_ later: [Patch.Row]) {
    for row in later {
      let key = table.key(of: row)
      if let place = places[key], let earlier = rows[place] {
        rows[place] = combined(earlier, row)
        if rows[place] == nil { places[key] = nil }
      } else {
        places[key] = rows.count
        rows.append(row)
      }
    }
  }

  /// Merges two successive changes of one row. Returns nil if they cancel out.
  private func combined(_ first: Patch.Row, _ second: Patch.Row) -> Patch.Row? {
    let isIndirect = first.isIndirect && second.isIndirect
    let (before, after) = (first.values, second.values)
    func filled(_ values: [Value?], _ others: [Value?]) -> [Value?] {
      zip(values, others).map { $0 ?? $1 }
    }
    let keys = table.keyColumns
    switch (first.kind, second.kind) {
    case (.insert, .update):
      return Patch.Row(
        .insert, isIndirect: isIndirect, old: before.old, new: filled(after.new, before.new))
    case (.insert, .delete): return nil
    case (.update, .update):
      return .update(
        filled(before.old, after.old), filled(after.new, before.new), keys, isIndirect: isIndirect)
    case (.update, .delete):
      return Patch.Row(
        .delete, isIndirect: isIndirect, old: filled(before.old, after.old), new: after.new)
    case (.delete, .insert):
      return .update(before.old, after.new, keys, isIndirect: isIndirect)
    case (.insert, .insert), (.update, .insert), (.delete, .update), (.delete, .delete):
      return first
    }
  }
}

extension Patch.Row {
  /// Returns an update that contains only the primary key and the columns whose values change; nil
  /// if none changes.
  ///
  /// - Parameters:
  ///   - old: The values before.
  ///   - new: The values after; nil for an unchanged column.
  ///   - keys: The indexes of the primary key columns.
  ///   - isIndirect: Whether only triggers and foreign key actions changed the row.
  static func update(
    _ old: [Value?], _ new: [Value?], _ keys: [Int], isIndirect: Bool
  ) -> Patch.Row? {
    var old = old
    var new = new
    for column in old.indices
    where keys.contains(column) || new[column] == nil || old[column] == new[column] {
      new[column] = nil
      if !keys.contains(column) { old[column] = nil }
    }
    guard new.contains(where: { $0 != nil }) else { return nil }
    return Patch.Row(.update, isIndirect: isIndirect, old: old, new: new)
  }
}
