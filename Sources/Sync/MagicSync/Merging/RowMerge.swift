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
    var old: [String: Value]
    var new: [String: Value]
    /// Whether only triggers and foreign key actions changed the row.
    let isIndirect: Bool
  }

  private struct RowID: Hashable {
    let table: String
    let key: [Value]

    init(_ table: SyncTable, _ key: [Value]) { (self.table, self.key) = (table.name, key) }
  }

  /// A row that an entry has deleted, with its last values.
  struct RemovedRow {
    let table: SyncTable
    let key: [Value]
    let values: [String: Value]
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
  /// The changes of the entry.
  private var changes: [Change] = []
  /// The rows that may violate a foreign key: written ones, and deleted ones that may be referenced.
  private var written: [(table: SyncTable, key: [Value])] = []
  private var deleted: [RemovedRow] = []
  /// All rows that this entry has deleted so far.
  private var removed: [RemovedRow] = []
  /// The rows that this entry has inserted again. Each is at most once, so that settling ends.
  private var reinserted: Set<RowID> = []

  init(_ id: EntryID, _ schema: SyncSchema, _ connection: Connection) throws {
    self.id = id
    self.schema = schema
    self.connection = connection
    rows = SyncRows(connection)
    hasAliases =
      try connection.firstRow("SELECT 1 FROM main.magicdata_sync_alias LIMIT 1") != nil
  }

  func apply(_ patch: Patch) throws {
    changes = try changes(of: patch)
    // Rows with natural keys come first, because other rows reference those that take their places.
    try apply(changes.filter { $0.table.naturalKey != nil })
    try apply(changes.filter { $0.table.naturalKey == nil && !$0.table.isList })
    try mergeLinks(changes.filter(\.table.isList).map(translated))
    try settleReferences()
    conflicts = try LostAssets(conflicts, of: changes, before: id, schema, connection).settled()
  }

  private func apply(_ changes: [Change]) throws {
    var stuck: [(change: Change, error: SQLiteError)] = []
    func attempt(_ change: Change) throws {
      let change = try translated(change)
      do {
        try connection.savepoint { try perform(change) }
      } catch let error as SQLiteError where error.code.primary == .constraint {
        stuck.append((change, error))
      }
    }
    for change in changes { try attempt(change) }
    // A row may have to wait for another one that gives up a unique value.
    var count = Int.max
    while !stuck.isEmpty, stuck.count < count {
      count = stuck.count
      let waiting = stuck
      stuck = []
      for (change, _) in waiting { try attempt(change) }
    }
    for (change, error) in stuck {
      try performWithoutUniqueValues(translated(change), error)
    }
  }

  // MARK: - Changes

  private func changes(of patch: Patch) throws -> [Change] {
    var changes: [Change] = []
    for patched in patch.tables {
      guard let table = try schema.table(patched.name), let names = patched.columns else {
        continue
      }
      // Skip columns that a migration has dropped or renamed since.
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
          Change(
            table: table, kind: row.kind, key: key, old: old, new: new,
            isIndirect: row.isIndirect))
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
      if let value = change.old[column], let target = try alias(key.referencedTable, value) {
        change.old[column] = target
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

  private func alias(_ name: String, _ key: Value) throws -> Value? {
    guard let target = try SyncTables.alias(of: key, in: name, connection) else { return nil }
    // A removed row that another one requires may have been inserted again.
    if let table = try schema.table(name), try rows.current(table, [key]) != nil { return nil }
    return target
  }

  /// Records that a row has taken the place of another one, if their keys are numbers.
  private func addAlias(_ table: SyncTable, _ key: [Value], _ target: [Value]) throws {
    guard case .integer(let key) = key[0], case .integer(let target) = target[0] else { return }
    aliases.append((asciiLowercased(table.name), key, target))
    hasAliases = true
    try connection.executeChange(
      """
      INSERT INTO main.magicdata_sync_alias
      VALUES (\(asciiLowercased(table.name)), '', \(key), \(target), \(id.time.bits), \(id.device))
      ON CONFLICT DO NOTHING
      """)
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
    try replace(current, by: change.new, change, .sameKey)
  }

  private func update(_ change: Change) throws {
    let table = change.table
    guard let current = try rows.current(table, change.key) else {
      if let moved = try moved(change) { return try update(moved) }
      var row = try removedRow(table, change.key) ?? [:]
      row.merge(change.new) { $1 }
      conflicts.append(
        SyncConflict(.changeOfRemoved, table.name, change.key, lost: change.new, row: row))
      return
    }
    var new = change.new
    if change.isIndirect {
      // A reference to a removed row became NULL. A later reference to another row stays.
      for column in referencing(table) where new[column] == .null {
        if current[column] != change.old[column] { new[column] = nil }
      }
    }
    try replace(current, by: new, change, .value)
  }

  /// The columns of a table that reference rows.
  private func referencing(
    _ table: SyncTable, where condition: (ForeignKey) -> Bool = { _ in true }
  ) -> [String] {
    let names = table.foreignKeys.filter(condition).flatMap(\.columns).map(asciiLowercased)
    return table.columns.filter { names.contains(asciiLowercased($0)) }
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
    let names = table.isAsset ? Array(changed.keys) : lost
    conflicts.append(
      SyncConflict(
        kind, table.name, change.key, lost: current.filter { names.contains($0.key) },
        kept: changed.filter { names.contains($0.key) }))
  }

  private func delete(_ change: Change) throws {
    let table = change.table
    guard let current = try rows.current(table, change.key) else {
      if let moved = try moved(change) { try delete(moved) }
      return
    }
    // The row was removed with another one that it no longer references.
    if change.isIndirect,
      referencing(table, where: { $0.onDelete.uppercased() == "CASCADE" }).contains(where: {
        current[$0] != change.old[$0]
      })
    {
      return
    }
    try remove(RemovedRow(table: table, key: change.key, values: current))
    let changed = current.filter { change.old[$0.key] != $0.value && change.old[$0.key] != nil }
    if !changed.isEmpty {
      conflicts.append(
        SyncConflict(.removalOfChanged, table.name, change.key, lost: changed, row: current))
    }
  }

  /// Returns a change of a missing row as a change of the row that has its natural key now, or nil
  /// if there is none.
  private func moved(_ change: Change) throws -> Change? {
    guard let key = try successor(change.table, change.key, change.old) else { return nil }
    var moved = change
    moved.key = key
    return moved
  }

  /// Returns the key of the row that has the natural key of a missing row, or nil if there is none.
  private func successor(
    _ table: SyncTable, _ key: [Value], _ values: [String: Value]
  ) throws -> [Value]? {
    guard let natural = table.naturalKey,
      let value = try values[natural] ?? removedRow(table, key)?[natural]
    else { return nil }
    return try rows.referencing(table, [natural], [value]).first?.key
  }

  private func remove(_ row: RemovedRow) throws {
    try rows.delete(row.table, row.key)
    deleted.append(row)
    removed.append(row)
  }

  // MARK: - Lists

  private struct Owner: Hashable {
    let table: String
    let key: Value
  }

  private struct Link {
    let position: Int64
    let target: Value
  }

  /// Applies the changes of lists. A link is identified by its target; if it has another position
  /// than expected, the nearest link to the target is meant.
  private func mergeLinks(_ changes: [Change]) throws {
    var lists: [Owner: (table: SyncTable, removed: [Link], added: [Link])] = [:]
    var order: [Owner] = []
    for change in changes {
      guard case .integer(let position) = change.key[1] else { continue }
      let owner = Owner(table: change.table.name, key: change.key[0])
      if lists[owner] == nil {
        lists[owner] = (change.table, [], [])
        order.append(owner)
      }
      if change.kind != .insert, let target = change.old["target"] {
        lists[owner]?.removed.append(Link(position: position, target: target))
      }
      if change.kind != .delete, let target = change.new["target"] {
        lists[owner]?.added.append(Link(position: position, target: target))
      }
    }
    for owner in order {
      guard let list = lists[owner] else { continue }
      try mergeLinks(list.table, owner.key, removed: list.removed, added: list.added)
    }
  }

  private func mergeLinks(
    _ table: SyncTable, _ owner: Value, removed: [Link], added: [Link]
  ) throws {
    var others: [Link] = []
    /// The links that another device has moved, and their places.
    var moved: [(link: Link, place: Int64)] = []
    for link in removed {
      let key = [owner, .integer(link.position)]
      if try rows.current(table, key)?["target"] == link.target {
        try removeLink(table, key, link.target)
      } else {
        others.append(link)
      }
    }
    var missing: [Value: Int] = [:]
    for link in others {
      let expected = [owner, .integer(link.position)]
      // Another link to the target is another element if this one was removed.
      let isMoved = try SyncLog.wasMoved(table, expected, link.target, before: id, connection)
      if isMoved ?? true,
        let place = try rows.nearestPosition(table, owner, link.target, link.position)
      {
        try removeLink(table, [owner, .integer(place)], link.target)
        if isMoved != nil { moved.append((link, place)) }
      } else {
        missing[link.target, default: 0] += 1
      }
    }
    // A link that is removed and added was moved. If another device has removed it, it stays removed.
    let removedCounts = removed.reduce(into: [Value: Int]()) { $0[$1.target, default: 0] += 1 }
    var left = added.reduce(into: [Value: Int]()) { $0[$1.target, default: 0] += 1 }
    for (target, count) in left {
      let all = removedCounts[target] ?? 0
      left[target] = count - max(0, (missing[target] ?? 0) - (all - min(all, count)))
    }
    for link in added {
      let values: [String: Value] = [
        "owner": owner, "position": .integer(link.position), "target": link.target,
      ]
      guard let count = left[link.target], count > 0 else {
        conflicts.append(
          SyncConflict(
            .changeOfRemoved, table.name, [owner, .integer(link.position)],
            lost: ["target": link.target], row: values))
        continue
      }
      left[link.target] = count - 1
      let key = try insertLink(table, owner, link, values)
      // The link was moved twice. The later place is kept.
      guard let index = moved.firstIndex(where: { $0.link.target == link.target }) else { continue }
      let place = Value.integer(moved.remove(at: index).place)
      guard place != key[1] else { continue }
      conflicts.append(
        SyncConflict(
          .value, table.name, key, lost: ["position": place], kept: ["position": key[1]],
          row: ["owner": owner, "position": key[1], "target": link.target]))
    }
    for (link, place) in moved {
      let key = [owner, .integer(place)]
      conflicts.append(
        SyncConflict(
          .removalOfChanged, table.name, key, lost: ["position": key[1]],
          row: ["owner": owner, "position": key[1], "target": link.target]))
    }
  }

  private func removeLink(_ table: SyncTable, _ key: [Value], _ target: Value) throws {
    try rows.delete(table, key)
    removed.append(
      RemovedRow(
        table: table, key: key,
        values: ["owner": key[0], "position": key[1], "target": target]))
  }

  /// Inserts a link, at the next free position if its own is taken.
  ///
  /// - Returns: The key of the link.
  private func insertLink(
    _ table: SyncTable, _ owner: Value, _ link: Link, _ values: [String: Value]
  ) throws -> [Value] {
    var (key, values) = ([owner, .integer(link.position)], values)
    if try rows.current(table, key) != nil {
      key[1] = .integer(try rows.freePosition(table, key))
      values["position"] = key[1]
    }
    try rows.insert(table, values)
    written.append((table, key))
    return key
  }

  /// Returns the rows that were removed together with a row, by this or by an earlier entry, and the
  /// row itself. Returns an empty array if the log contains no entry that has removed it.
  private func rowsRemoved(with table: SyncTable, _ key: [Value]) throws -> [RemovedRow] {
    func isWanted(_ row: RemovedRow) -> Bool { row.table.name == table.name && row.key == key }
    if removed.contains(where: isWanted) { return removed }
    return try SyncLog.removedRows(with: table, key, before: id, schema, connection)
  }

  /// Returns the values that a row had before this or an earlier entry removed it.
  private func removedRow(_ table: SyncTable, _ key: [Value]) throws -> [String: Value]? {
    try rowsRemoved(with: table, key).last { $0.table.name == table.name && $0.key == key }?.values
  }

  // MARK: - Constraints

  /// Applies a change that a constraint has rejected: without the values that are taken, or not at
  /// all.
  private func performWithoutUniqueValues(_ change: Change, _ error: SQLiteError) throws {
    var change = change
    let table = change.table
    /// The row with which an inserted one is merged.
    var merged: [String: Value]?
    // The natural key comes first, because it determines the row.
    for index in table.uniqueIndexes.sorted(by: { one, _ in one == [table.naturalKey] }) {
      guard let other = try rows.rowWithUniqueValues(table, index, change) else { continue }
      if change.kind == .insert, merged == nil, let natural = table.naturalKey, index == [natural],
        case .integer = change.key[0], case .integer = other.key[0]
      {
        // The same object was inserted twice.
        try addAlias(table, change.key, other.key)
        change.key = other.key
        change.new[table.keys[0]] = nil
        merged = other.values
        continue
      }
      let taken = index.filter { change.new[$0] != nil }
      let lost = change.new.filter { taken.contains($0.key) }
      if change.kind == .update || merged != nil {
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
    try attemptOrLose(change, error) {
      if let merged {
        try self.replace(merged, by: change.new, change, .sameKey)
      } else {
        try self.perform(change)
      }
    }
  }

  /// Runs `body`. If a constraint still rejects the change, it is lost.
  private func attemptOrLose(
    _ change: Change, _ error: SQLiteError, _ body: () throws -> Void
  ) throws {
    let (conflictCount, writtenCount, deletedCount, removedCount) = (
      conflicts.count, written.count, deleted.count, removed.count
    )
    do {
      try connection.savepoint { try body() }
    } catch let error as SQLiteError where error.code.primary == .constraint {
      conflicts.removeSubrange(conflictCount...)
      written.removeSubrange(writtenCount...)
      deleted.removeSubrange(deletedCount...)
      removed.removeSubrange(removedCount...)
      let isInsert = change.kind == .insert
      let kept = try rows.current(change.table, change.key) ?? [:]
      conflicts.append(
        SyncConflict(
          isInsert ? .row : .constraint, change.table.name, change.key, lost: change.new,
          kept: isInsert ? [:] : kept.filter { change.new[$0.key] != nil },
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
      } else if let row = deleted.popLast() {
        try settleReferences(to: row)
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
      if columns == parent.keys, values.count == 1 {
        var target = try alias(parent.name, values[0])
        if let found = target, try !rows.exists(parent, columns, [found]) { target = nil }
        if target == nil, let other = try successor(parent, values, [:]) {
          // Later entries of a device that doesn't know the removal reference the missing row, too.
          try addAlias(parent, values, other)
          target = other[0]
        }
        if let target {
          try redirect(table, key, foreign.columns[0], to: target)
          continue
        }
      }
      let nullable = foreign.columns.first { !table.notNull.contains($0) }
      // A row that is required itself requires all rows that it references.
      let isRequired =
        !["CASCADE", "SET NULL"].contains(foreign.onDelete.uppercased())
        || nullable == nil && reinserted.contains(RowID(table, key))
      if isRequired, columns == parent.keys, try reinsert(parent, values) { continue }
      if let column = nullable {
        try rows.update(table, key, [column: .null])
        conflicts.append(
          SyncConflict(.reference, table.name, key, lost: [column: current[column] ?? .null]))
        continue
      }
      try remove(RemovedRow(table: table, key: key, values: current))
      conflicts.append(SyncConflict(.row, table.name, key, lost: current, row: current))
      return
    }
  }

  /// Inserts a removed row again, because another row requires it, together with the links, the
  /// assets and the other rows that were removed because of it.
  ///
  /// - Returns: False if the log doesn't contain the row any more, or if a constraint forbids it.
  private func reinsert(_ table: SyncTable, _ key: [Value]) throws -> Bool {
    guard reinserted.insert(RowID(table, key)).inserted else { return false }
    var others = try rowsRemoved(with: table, key)
    guard let place = others.lastIndex(where: { $0.table.name == table.name && $0.key == key })
    else { return false }
    let first = others.remove(at: place)
    // Entries with the same changes may contain them in different orders.
    others.sort { ($0.table.name, "\($0.key)") < ($1.table.name, "\($1.key)") }
    var row = first.values
    for index in table.uniqueIndexes {
      let change = Change(
        table: table, kind: .insert, key: key, old: [:], new: row, isIndirect: false)
      guard try rows.rowWithUniqueValues(table, index, change) != nil else { continue }
      guard let column = index.first(where: { !table.notNull.contains($0) }) else { return false }
      conflicts.append(
        SyncConflict(
          .uniqueValue, table.name, key, lost: row.filter { $0.key == column }))
      row[column] = .null
    }
    do {
      try connection.savepoint { try rows.insert(table, row) }
    } catch let error as SQLiteError where error.code.primary == .constraint {
      return false
    }
    written.append((table, key))
    conflicts.append(SyncConflict(.removal, table.name, key, lost: [:], kept: row))
    var waiting = [first]
    while let row = waiting.popLast() {
      let isBelonging = { (other: RemovedRow) in self.belongs(other, to: row) }
      for other in others.filter(isBelonging) where try insertIfPossible(other) {
        waiting.append(other)
        // Links and assets are parts of their objects.
        if other.table.keys.first != "owner", !other.table.isAsset {
          conflicts.append(
            SyncConflict(
              .removal, other.table.name, other.key, lost: [:], kept: other.values))
        }
      }
      others.removeAll(where: isBelonging)
    }
    return true
  }

  /// Returns whether a removed row references another one, or is an asset of it.
  private func belongs(_ other: RemovedRow, to row: RemovedRow) -> Bool {
    if other.table.isAsset {
      return row.values.values.contains(other.key[0])
    }
    return other.table.foreignKeys.contains { foreign in
      let columns = foreign.referencedColumns.isEmpty ? row.table.keys : foreign.referencedColumns
      return asciiLowercased(foreign.referencedTable) == asciiLowercased(row.table.name)
        && foreign.columns.map { other.values[$0] } == columns.map { row.values[$0] }
    }
  }

  /// Inserts a removed row again, unless it exists or a constraint forbids it.
  private func insertIfPossible(_ row: RemovedRow) throws -> Bool {
    guard try rows.current(row.table, row.key) == nil,
      reinserted.insert(RowID(row.table, row.key)).inserted
    else { return false }
    do {
      try connection.savepoint { try rows.insert(row.table, row.values) }
    } catch let error as SQLiteError where error.code.primary == .constraint {
      return false
    }
    written.append((row.table, row.key))
    return true
  }

  /// Makes all references to a removed row reference another one.
  private func redirect(_ table: SyncTable, _ key: [Value], to other: [Value]) throws {
    for (child, foreign) in try schema.references(to: table.name)
    where foreign.columns.count == 1
      && (foreign.referencedColumns.isEmpty || foreign.referencedColumns == table.keys)
    {
      let column = foreign.columns[0]
      for (childKey, _) in try rows.referencing(child, [column], key) {
        try redirect(child, childKey, column, to: other[0])
      }
    }
  }

  /// Makes one row reference another row.
  private func redirect(
    _ table: SyncTable, _ key: [Value], _ column: String, to target: Value
  ) throws {
    var newKey = key
    if let place = table.keys.firstIndex(of: column) { newKey[place] = target }
    if newKey != key, let other = try rows.current(table, newKey) {
      // The other row has the same link, or one with the same key or position.
      guard let current = try rows.current(table, key) else { return }
      try rows.delete(table, key)
      if table.isList {
        newKey[1] = .integer(try rows.freePosition(table, newKey))
        var moved = current
        for (name, value) in zip(table.keys, newKey) { moved[name] = value }
        try rows.insert(table, moved)
        written.append((table, newKey))
      } else {
        let change = Change(
          table: table, kind: .insert, key: newKey, old: [:], new: current, isIndirect: false)
        try replace(other, by: current, change, .sameKey)
      }
    } else {
      try rows.update(table, key, [column: target])
      written.append((table, newKey))
    }
  }

  /// Settles the references to a deleted row.
  private func settleReferences(to row: RemovedRow) throws {
    let (table, values) = (row.table, row.values)
    if try rows.current(table, row.key) != nil { return }
    if let other = try successor(table, row.key, values) {
      try addAlias(table, row.key, other)
      return try redirect(table, row.key, to: other)
    }
    let all = try schema.references(to: table.name)
    // Rules that forbid the removal come first.
    let isRequired = { (foreign: ForeignKey) in
      !["CASCADE", "SET NULL"].contains(foreign.onDelete.uppercased())
    }
    for (child, foreign) in all.filter({ isRequired($0.key) })
      + all.filter({ !isRequired($0.key) })
    {
      let columns = foreign.referencedColumns.isEmpty ? table.keys : foreign.referencedColumns
      let referenced = columns.compactMap { values[$0] }
      guard referenced.count == foreign.columns.count else { continue }
      for (childKey, current) in try rows.referencing(child, foreign.columns, referenced) {
        switch foreign.onDelete.uppercased() {
        case "CASCADE":
          try remove(RemovedRow(table: child, key: childKey, values: current))
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
        default:
          if try reinsert(table, row.key) { return }
          try remove(RemovedRow(table: child, key: childKey, values: current))
          conflicts.append(
            SyncConflict(.row, child.name, childKey, lost: current, row: current))
        }
      }
    }
  }
}
