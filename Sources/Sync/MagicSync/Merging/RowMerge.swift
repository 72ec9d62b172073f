import SQLiteCore
import SQLiteHistory

/// Applies one entry to a store whose rows may differ from those that the entry expects.
///
/// The result depends on the rows of the store and on the entry only, so that all devices that
/// apply the same entries in the same order have the same rows. Triggers and foreign key actions
/// are off; their effects are in the entry, and this type applies the delete rules to the rows that
/// the entry's device didn't know.
final class RowMerge {
  /// A change of one row, by the names of the columns in the store.
  struct Change {
    let table: SyncTable
    let kind: Patch.Kind
    /// The key of the row.
    var key: [Value]
    /// The expected values. For an update, only of the changed columns.
    let old: [String: Value]
    var new: [String: Value]
  }

  /// The conflicts so far, in their order.
  private(set) var conflicts: [SyncConflict] = []
  /// The rows that have taken the place of inserted ones.
  private(set) var aliases: [(table: String, key: Int64, target: Int64)] = []

  private let connection: Connection
  private let schema: SyncSchema
  private let id: EntryID
  private let rows: SyncRows
  private var hasAliases: Bool
  /// The rows that may violate a foreign key: written ones, and deleted ones that may be referenced.
  private var written: [(table: SyncTable, key: [Value])] = []
  private var deleted: [(table: SyncTable, key: [Value], values: [String: Value])] = []

  init(_ id: EntryID, _ schema: SyncSchema, _ connection: Connection) throws {
    self.id = id
    self.schema = schema
    self.connection = connection
    rows = SyncRows(connection)
    hasAliases =
      try connection.firstRow("SELECT 1 FROM main.magicdata_sync_alias LIMIT 1") != nil
  }

  func apply(_ patch: Patch) throws {
    var stuck: [(change: Change, error: SQLiteError)] = []
    func attempt(_ change: Change) throws {
      do {
        try connection.savepoint { try perform(change) }
      } catch let error as SQLiteError where error.code.primary == .constraint {
        stuck.append((change, error))
      }
    }
    for change in try changes(patch) { try attempt(change) }
    // A row may have to wait for another one that gives up a unique value.
    var count = Int.max
    while !stuck.isEmpty, stuck.count < count {
      count = stuck.count
      let waiting = stuck
      stuck = []
      for (change, _) in waiting { try attempt(change) }
    }
    for (change, error) in stuck { try performWithoutUniqueValues(change, error) }
    try settleReferences()
  }

  // MARK: - Changes

  private func changes(_ patch: Patch) throws -> [Change] {
    var changes: [Change] = []
    for patched in patch.tables {
      guard let table = try schema.table(patched.name), let names = patched.columns else {
        continue
      }
      // A column that a migration has dropped or renamed since is left out.
      let columns = names.map { name in
        table.columns.first { asciiLowercased($0) == asciiLowercased(name) }
      }
      for row in patched.rows {
        let (before, after) = row.values
        func values(_ values: [Value?]) -> [String: Value] {
          var result: [String: Value] = [:]
          for (column, value) in zip(columns, values) {
            if let column, let value { result[column] = value }
          }
          return result
        }
        let (old, new) = (values(before), values(after))
        let identity = row.kind == .insert ? new : old
        var key: [Value] = []
        for column in table.keys {
          guard let value = identity[column] else { break }
          key.append(value)
        }
        guard key.count == table.keys.count else { continue }
        changes.append(
          try translated(Change(table: table, kind: row.kind, key: key, old: old, new: new)))
      }
    }
    return changes
  }

  /// Returns a change that references the rows that have taken the place of others.
  private func translated(_ change: Change) throws -> Change {
    guard hasAliases else { return change }
    var change = change
    if change.key.count == 1, let target = try alias(change.table.name, change.key[0]) {
      change.key = [target]
      if change.new[change.table.keys[0]] != nil { change.new[change.table.keys[0]] = target }
    }
    for key in change.table.foreignKeys where key.columns.count == 1 {
      let column = key.columns[0]
      if let value = change.new[column], let target = try alias(key.referencedTable, value) {
        change.new[column] = target
      }
      // The key of a link contains references.
      if let place = change.table.keys.firstIndex(of: column),
        let target = try alias(key.referencedTable, change.key[place])
      {
        change.key[place] = target
      }
    }
    return change
  }

  private func alias(_ table: String, _ key: Value) throws -> Value? {
    guard case .integer(let number) = key else { return nil }
    return try connection.firstRow(
      """
      SELECT target FROM main.magicdata_sync_alias
      WHERE name = \(asciiLowercased(table)) AND device = '' AND key = \(number)
      """, as: Int64.self
    ).map { .integer($0) }
  }

  // MARK: - Rows

  private func perform(_ change: Change) throws {
    switch change.kind {
    case .insert: try insert(change)
    case .update: try update(change)
    case .delete: try delete(change)
    }
  }

  private func insert(_ change: Change) throws {
    let table = change.table
    guard let current = try rows.current(table, change.key) else {
      try rows.insert(table, change.new)
      written.append((table, change.key))
      return
    }
    if table.isList {
      guard current["target"] != change.new["target"] else { return }
      var moved = change
      moved.new["position"] = .integer(try rows.freePosition(table, change.key))
      moved.key[1] = moved.new["position"] ?? .null
      return try insert(moved)
    }
    try replace(current, by: change.new, change, .sameKey)
  }

  private func update(_ change: Change) throws {
    let table = change.table
    guard let current = try rows.current(table, change.key) else {
      if table.isList, let moved = try movedLink(change) { return try update(moved) }
      var row = try removedRow(table, change.key) ?? [:]
      row.merge(change.new) { $1 }
      conflicts.append(
        SyncConflict(.changeOfRemoved, table.name, change.key, lost: change.new, row: row))
      return
    }
    try replace(current, by: change.new, change, .value)
  }

  /// Sets the values of a change. The current values that the change didn't expect lose.
  private func replace(
    _ current: [String: Value], by new: [String: Value], _ change: Change,
    _ kind: SyncConflict.Kind
  ) throws {
    let table = change.table
    let changed = new.filter { current[$0.key] != $0.value && !table.keys.contains($0.key) }
    guard !changed.isEmpty else { return }
    try rows.update(table, change.key, changed)
    written.append((table, change.key))
    let lost = changed.keys.filter { current[$0] != change.old[$0] }
    guard !lost.isEmpty else { return }
    conflicts.append(
      SyncConflict(
        kind, table.name, change.key, lost: current.filter { lost.contains($0.key) },
        kept: changed.filter { lost.contains($0.key) }))
  }

  private func delete(_ change: Change) throws {
    let table = change.table
    guard let current = try rows.current(table, change.key),
      !table.isList || current["target"] == change.old["target"]
    else {
      if table.isList, let moved = try movedLink(change) { try delete(moved) }
      return
    }
    try rows.delete(table, change.key)
    deleted.append((table, change.key, current))
    let changed = current.filter { change.old[$0.key] != $0.value && change.old[$0.key] != nil }
    if !changed.isEmpty {
      conflicts.append(
        SyncConflict(.removalOfChanged, table.name, change.key, lost: changed, row: current))
    }
  }

  /// Returns the change of a list's link with the position that it has now: that of the nearest
  /// link to the same target. Returns nil if there is none.
  private func movedLink(_ change: Change) throws -> Change? {
    guard let target = change.old["target"], case .integer(let position) = change.key[1],
      let place = try rows.nearestPosition(change.table, change.key[0], target, position)
    else { return nil }
    var moved = change
    moved.key[1] = .integer(place)
    moved.new["position"] = nil
    return moved
  }

  /// Returns the values that a row had before an earlier entry removed it.
  private func removedRow(_ table: SyncTable, _ key: [Value]) throws -> [String: Value]? {
    if let own = deleted.last(where: { $0.table.name == table.name && $0.key == key }) {
      return own.values
    }
    return try SyncLog.removedRow(table, key, before: id, connection)
  }

  // MARK: - Constraints

  /// Applies a change that a constraint has rejected: without the values that are taken, or not at
  /// all.
  private func performWithoutUniqueValues(_ change: Change, _ error: SQLiteError) throws {
    var change = change
    let table = change.table
    for index in table.uniqueIndexes {
      guard let other = try rows.rowWithUniqueValues(table, index, change) else { continue }
      if change.kind == .insert, let natural = table.naturalKey, index == [natural],
        case .integer(let key) = change.key[0], case .integer(let target) = other.key[0]
      {
        // The same object was inserted twice.
        aliases.append((asciiLowercased(table.name), key, target))
        hasAliases = true
        try connection.executeChange(
          """
          INSERT INTO main.magicdata_sync_alias
          VALUES (\(asciiLowercased(table.name)), '', \(key), \(target), \(id.time.bits), \(id.device))
          ON CONFLICT DO NOTHING
          """)
        var merged = change
        merged.key = other.key
        merged.new[table.keys[0]] = nil
        return try attemptOrLose(merged, error) {
          try self.replace(other.values, by: merged.new, merged, .sameKey)
        }
      }
      let taken = index.filter { change.new[$0] != nil }
      let lost = change.new.filter { taken.contains($0.key) }
      if change.kind == .update {
        for column in taken { change.new[column] = nil }
      } else {
        guard let column = taken.first(where: { !table.notNull.contains($0) }) else { continue }
        change.new[column] = .null
      }
      let kept = try rows.current(table, change.key) ?? [:]
      conflicts.append(
        SyncConflict(
          .uniqueValue, table.name, change.key, lost: lost,
          kept: kept.filter { lost.keys.contains($0.key) }, message: error.message))
    }
    try attemptOrLose(change, error) { try perform(change) }
  }

  /// Runs `body`. If a constraint still rejects the change, it is lost.
  private func attemptOrLose(
    _ change: Change, _ error: SQLiteError, _ body: () throws -> Void
  ) throws {
    let (conflictCount, writtenCount, deletedCount) = (
      conflicts.count, written.count, deleted.count
    )
    do {
      try connection.savepoint { try body() }
    } catch let error as SQLiteError where error.code.primary == .constraint {
      conflicts.removeSubrange(conflictCount...)
      written.removeSubrange(writtenCount...)
      deleted.removeSubrange(deletedCount...)
      let isInsert = change.kind == .insert
      conflicts.append(
        SyncConflict(
          isInsert ? .row : .uniqueValue, change.table.name, change.key, lost: change.new,
          kept: try rows.current(change.table, change.key) ?? [:],
          row: isInsert ? change.new : [:], message: error.message))
    }
  }

  // MARK: - References

  /// Applies the delete rules to references that the entry's device didn't know, until no foreign
  /// key of a changed row is violated.
  private func settleReferences() throws {
    while true {
      if let (table, key) = written.popLast() {
        try settleReferences(from: table, key)
      } else if let (table, key, values) = deleted.popLast() {
        try settleReferences(to: table, key, values)
      } else {
        return
      }
    }
  }

  /// Settles the references of a written row to rows that don't exist.
  private func settleReferences(from table: SyncTable, _ key: [Value]) throws {
    for foreign in table.foreignKeys {
      guard let current = try rows.current(table, key) else { return }
      let values = foreign.columns.compactMap { name in
        table.columns.first { asciiLowercased($0) == asciiLowercased(name) }.flatMap { current[$0] }
      }
      guard values.count == foreign.columns.count, !values.contains(.null),
        let parent = try schema.table(foreign.referencedTable)
      else { continue }
      let columns = foreign.referencedColumns.isEmpty ? parent.keys : foreign.referencedColumns
      if try rows.exists(parent, columns, values) { continue }
      let nullable = foreign.columns.filter { !table.notNull.contains($0) }
      if let column = nullable.first {
        try rows.update(table, key, [column: .null])
        conflicts.append(
          SyncConflict(.reference, table.name, key, lost: [column: current[column] ?? .null]))
        continue
      }
      let isRequired = !["CASCADE", "SET NULL"].contains(foreign.onDelete.uppercased())
      if isRequired, columns == parent.keys, let row = try removedRow(parent, values) {
        try reinsert(parent, values, row)
        continue
      }
      try rows.delete(table, key)
      deleted.append((table, key, current))
      conflicts.append(SyncConflict(.row, table.name, key, lost: current, row: current))
      return
    }
  }

  /// Inserts a removed row again, because another row requires it.
  private func reinsert(
    _ table: SyncTable, _ key: [Value], _ row: [String: Value]
  ) throws {
    try rows.insert(table, row)
    written.append((table, key))
    conflicts.append(SyncConflict(.removal, table.name, key, lost: [:], kept: row))
  }

  /// Settles the references to a deleted row.
  private func settleReferences(
    to table: SyncTable, _ key: [Value], _ values: [String: Value]
  ) throws {
    if try rows.current(table, key) != nil { return }
    for (child, foreign) in try schema.references(to: table.name) {
      let columns = foreign.referencedColumns.isEmpty ? table.keys : foreign.referencedColumns
      let referenced = columns.compactMap { values[$0] }
      guard referenced.count == foreign.columns.count else { continue }
      for (childKey, current) in try rows.referencing(child, foreign.columns, referenced) {
        switch foreign.onDelete.uppercased() {
        case "CASCADE":
          try rows.delete(child, childKey)
          deleted.append((child, childKey, current))
          conflicts.append(
            SyncConflict(.removalOfChanged, child.name, childKey, lost: current, row: current))
        case "SET NULL":
          let nulls = Dictionary(
            foreign.columns.map { ($0, Value.null) }, uniquingKeysWith: { $1 })
          try rows.update(child, childKey, nulls)
          conflicts.append(
            SyncConflict(
              .reference, child.name, childKey,
              lost: current.filter { foreign.columns.contains($0.key) }))
        default: return try reinsert(table, key, values)
        }
      }
    }
  }
}
