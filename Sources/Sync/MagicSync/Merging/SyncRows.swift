import SQLiteCore
import SQLiteHistory

/// Reads and writes single rows by key.
struct SyncRows {
  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  private func condition(_ columns: [String], _ values: [Value]) -> SQL {
    SQL(
      joining: zip(columns, values).map { sameKey("\(identifier: $0)", as: "\($1)") },
      separator: " AND ")
  }

  private func name(_ table: SyncTable) -> SQL { "main.\(identifier: table.name)" }

  private func row(_ table: SyncTable, _ statement: borrowing Statement) throws -> [String: Value] {
    var row: [String: Value] = [:]
    for (index, column) in table.columns.enumerated() {
      row[column] = try statement.value(at: index)
    }
    return row
  }

  /// Returns the values of a row, or nil if it doesn't exist.
  func current(_ table: SyncTable, _ key: [Value]) throws -> [String: Value]? {
    try matching(table, condition(table.keys, key), limit: 1).first?.values
  }

  /// Returns the keys and values of the rows that match a condition, in the order of their keys.
  private func matching(
    _ table: SyncTable, _ condition: SQL, limit: Int = -1
  ) throws -> [(key: [Value], values: [String: Value])] {
    var statement = try connection.statement(
      """
      SELECT \(SQL(identifiers: table.columns)) FROM \(name(table)) WHERE \(condition)
      ORDER BY \(SQL(identifiers: table.keys)) LIMIT \(limit)
      """)
    var found: [(key: [Value], values: [String: Value])] = []
    while try statement.step() {
      let values = try row(table, statement)
      found.append((table.keys.map { values[$0] ?? .null }, values))
    }
    return found
  }

  func insert(_ table: SyncTable, _ values: [String: Value]) throws {
    let columns = table.columns.filter { values[$0] != nil }
    try connection.executeChange(
      """
      INSERT OR ABORT INTO \(name(table)) (\(SQL(identifiers: columns)))
      VALUES (\(SQL(joining: columns.map { "\(values[$0] ?? .null)" }, separator: ", ")))
      """)
  }

  func update(_ table: SyncTable, _ key: [Value], _ values: [String: Value]) throws {
    let columns = table.columns.filter { values[$0] != nil }
    guard !columns.isEmpty else { return }
    let assignments = columns.map { column -> SQL in
      "\(identifier: column) = \(values[column] ?? .null)"
    }
    try connection.executeChange(
      """
      UPDATE OR ABORT \(name(table)) SET \(SQL(joining: assignments, separator: ", "))
      WHERE \(condition(table.keys, key))
      """)
  }

  func delete(_ table: SyncTable, _ key: [Value]) throws {
    try connection.executeChange(
      "DELETE FROM \(name(table)) WHERE \(condition(table.keys, key))")
  }

  /// Returns whether a row has some values, compared as foreign keys do.
  func exists(_ table: SyncTable, _ columns: [String], _ values: [Value]) throws -> Bool {
    try connection.firstRow("SELECT 1 FROM \(name(table)) WHERE \(equal(columns, values))") != nil
  }

  /// Returns the rows whose columns reference a row with some values.
  func referencing(
    _ table: SyncTable, _ columns: [String], _ values: [Value]
  ) throws -> [(key: [Value], values: [String: Value])] {
    try matching(table, equal(columns, values))
  }

  private func equal(_ columns: [String], _ values: [Value]) -> SQL {
    SQL(
      joining: zip(columns, values).map { column, value -> SQL in
        "\(identifier: column) = \(value)"
      }, separator: " AND ")
  }

  /// Returns another row that has the unique values of a change, or nil if there is none.
  func rowWithUniqueValues(
    _ table: SyncTable, _ index: [String], _ change: RowMerge.Change
  ) throws -> (key: [Value], values: [String: Value])? {
    var values = try current(table, change.key) ?? [:]
    values.merge(change.new) { $1 }
    let wanted = index.compactMap { values[$0] }
    guard wanted.count == index.count, !wanted.contains(.null) else { return nil }
    return try matching(table, equal(index, wanted)).first { $0.key != change.key }
  }

  // MARK: - Lists

  /// Returns the position of the link to a target that is nearest to a position, or nil if there is
  /// none.
  func nearestPosition(
    _ table: SyncTable, _ owner: Value, _ target: Value, _ position: Int64
  ) throws -> Int64? {
    let positions = try connection.rows(
      """
      SELECT position FROM \(name(table)) WHERE owner = \(owner) AND target = \(target)
      ORDER BY position
      """, as: Int64.self)
    return positions.min { left, right in
      position.distanceMagnitude(to: left) < position.distanceMagnitude(to: right)
    }
  }

  /// Returns the nearest free position after a taken one.
  func freePosition(_ table: SyncTable, _ key: [Value]) throws -> Int64 {
    guard case .integer(var last) = key[1] else { return 0 }
    let later = try connection.rows(
      """
      SELECT position FROM \(name(table)) WHERE owner = \(key[0]) AND position > \(last)
      ORDER BY position
      """, as: Int64.self)
    for next in later {
      let gap = last.distanceMagnitude(to: next)
      if gap > 1 { return last + Int64(gap / 2) }
      last = next
    }
    let (end, isTooGreat) = last.addingReportingOverflow(1 << 20)
    guard !isTooGreat else {
      throw SQLiteError(.full, "the list in “\(table.name)” has no position left")
    }
    return end
  }
}

extension Int64 {
  fileprivate func distanceMagnitude(to other: Int64) -> UInt64 {
    self < other
      ? UInt64(bitPattern: other &- self) : UInt64(bitPattern: self &- other)
  }
}

extension SyncLog {
  /// Returns the rows that the last entry before `id` that removed a row has removed, with their
  /// last values. Returns an empty array if no entry has.
  static func removedRows(
    with table: SyncTable, _ key: [Value], before id: EntryID, _ schema: SyncSchema,
    _ connection: Connection
  ) throws -> [RowMerge.RemovedRow] {
    try lastPatch(before: id, connection) { patch in
      let isFound = patch.tables.contains { patched in
        asciiLowercased(patched.name) == asciiLowercased(table.name)
          && patched.rows.contains { $0.kind == .delete && patched.key(of: $0).values == key }
      }
      guard isFound else { return nil }
      return try patch.tables.flatMap { patched -> [RowMerge.RemovedRow] in
        guard let table = try schema.table(patched.name) else { return [] }
        return patched.rows.filter { $0.kind == .delete }.map { row in
          RowMerge.RemovedRow(
            table: table, key: patched.key(of: row).values,
            values: patched.old(of: row).filter { table.columns.contains($0.key) })
        }
      }
    } ?? []
  }

  /// Returns the values of a row before the last entry before `id` that removed it.
  static func removedRow(
    _ table: SyncTable, _ key: [Value], before id: EntryID, _ connection: Connection
  ) throws -> [String: Value]? {
    try last(before: id, connection) { patched, row in
      guard row.kind == .delete, asciiLowercased(patched.name) == asciiLowercased(table.name),
        patched.key(of: row).values == key
      else { return nil }
      return patched.old(of: row).filter { table.columns.contains($0.key) }
    }
  }

  /// Returns whether the last entry before `id` that removed a link to a target from its place put
  /// it elsewhere in the list. Returns nil if no entry has removed it.
  static func wasMoved(
    _ table: SyncTable, _ key: [Value], _ target: Value, before id: EntryID,
    _ connection: Connection
  ) throws -> Bool? {
    try lastPatch(before: id, connection) { patch in
      for patched in patch.tables where asciiLowercased(patched.name) == asciiLowercased(table.name)
      {
        let isRemoved = patched.rows.contains { row in
          row.kind != .insert && patched.key(of: row).values == key
            && patched.old(of: row)["target"] == target
        }
        guard isRemoved else { continue }
        return patched.rows.contains { row in
          row.kind != .delete && patched.key(of: row).values.first == key.first
            && patched.new(of: row)["target"] == target
        }
      }
      return nil
    }
  }

  /// Returns the first result other than nil of a closure that is called with the changed rows of
  /// the applied entries before `id`, the last entry first.
  static func last<Result>(
    before id: EntryID, _ connection: Connection,
    _ find: (Patch.Table, Patch.Row) throws -> Result?
  ) throws -> Result? {
    try lastPatch(before: id, connection) { patch in
      for table in patch.tables {
        for row in table.rows { if let result = try find(table, row) { return result } }
      }
      return nil
    }
  }

  /// Returns conflicts for the rows that an entry removes, and that a concurrent entry has inserted
  /// although they existed already, such as an element that two devices have added to a set.
  static func removedInsertions(
    _ patch: Patch, of entry: Stored, _ connection: Connection
  ) throws -> [SyncConflict] {
    var removed: [String: [[Value]: [String: Value]]] = [:]
    for table in patch.tables {
      for row in table.rows where row.kind == .delete {
        removed[asciiLowercased(table.name), default: [:]][table.key(of: row).values] =
          table.old(of: row)
      }
    }
    guard !removed.isEmpty else { return [] }
    let id = entry.id
    let base = try entry.entry().base
    // An insertion that found its row was not applied unchanged.
    let earlier = try entries(
      where: """
        (time, device) < (\(id.time.bits), \(id.device)) AND device <> \(id.device)
          AND isApplied = 1 AND effect IS NOT NULL
        """, atMost: .max, connection)
    var found: [SyncConflict] = []
    for other in earlier where other.batch ?? .max > base[other.id.device, default: 0] {
      for table in try other.patch().tables {
        for row in table.rows where row.kind == .insert {
          let key = table.key(of: row).values
          if let values = removed[asciiLowercased(table.name)]?.removeValue(forKey: key) {
            found.append(
              SyncConflict(.removalOfChanged, table.name, key, lost: values, row: values))
          }
        }
      }
    }
    return found
  }

  /// Returns the first result other than nil of a closure that is called with the changes of the
  /// applied entries before `id`, the last entry first.
  ///
  /// Entries that the device of `id` knew are skipped: some stores have already deleted them from
  /// their logs, and the result must be the same in all stores.
  private static func lastPatch<Result>(
    before id: EntryID, _ connection: Connection, _ find: (Patch) throws -> Result?
  ) throws -> Result? {
    let content = try connection.firstRow(
      """
      SELECT base FROM main.magicdata_sync_log
      WHERE time = \(id.time.bits) AND device = \(id.device)
      """, as: [UInt8].self)
    var reader = ByteReader(content ?? [])
    let base = content == nil ? [:] : try reader.map()
    var end = id
    while true {
      let entries = try entries(
        where: "(time, device) < (\(end.time.bits), \(end.device)) AND isApplied = 1",
        isDescending: true, atMost: 1 << 20, connection)
      guard let last = entries.last else { return nil }
      for entry in entries
      where entry.id.device != id.device
        && entry.batch ?? .max > base[entry.id.device, default: 0]
      {
        if let result = try find(entry.change()) { return result }
      }
      end = last.id
    }
  }
}

extension Patch.Table {
  /// Returns the values of a row before the change, by the names of the columns.
  func old(of row: Patch.Row) -> [String: Value] { named(row.old) }

  /// The new values of a row, by the names of the columns.
  func new(of row: Patch.Row) -> [String: Value] { named(row.new) }

  private func named(_ values: [Value?]) -> [String: Value] {
    var named: [String: Value] = [:]
    for (name, value) in zip(columns ?? [], values) {
      if let value { named[name] = value }
    }
    return named
  }
}
