import SQLiteCore
import SQLiteMapping

// Keys that are known before their rows are written: so each row is written once, cycles included, and
// an object has a lower key than those that it leads to. The foreign keys are deferred, in each table
// that this library makes: what a row leads to must be there when the transaction ends. (`PRAGMA
// defer_foreign_keys` would do the same, but would also suspend RESTRICT for the rest of the user's
// transaction, and make SQLite compile all statements anew.)
extension SaveGraph.Transaction {
  /// Chooses the keys of new objects that reference new ones or are referenced by them, and of those whose types have
  /// objects with a key of their own: none of the others may get that key.
  mutating func reserveKeys() throws {
    for (kind, known) in graph.kinds.enumerated() where known.needsKeys {
      inserts[kind].firstKey = try reserve(known)
    }
  }

  /// The key that a new object will get, if it is known before: its own, or one that was reserved.
  func reservedKey(_ index: Int) -> Int64? {
    if let key = key(index) { return key }
    guard let first = inserts[nodes[index].kind].firstKey, let ordinal = nodes[index].ordinal
    else { return nil }
    return first + Int64(ordinal)
  }

  /// Reserves keys for the new objects of a type, and returns the first.
  private func reserve(_ kind: SaveGraph.Kind) throws -> Int64 {
    let plan = kind.plan
    let used = max(0, try connection.greatestKey(of: plan.rows), kind.greatestOwnKey ?? 0)
    let (last, isTooGreat) = used.addingReportingOverflow(Int64(kind.newCount))
    guard !isTooGreat else {
      throw SQLiteError(.full, "the table “\(plan.table)” has no keys left")
    }
    // Rows that triggers insert meanwhile get keys after these.
    guard try connection.tableExists("sqlite_sequence") else { return used + 1 }
    let isKnown =
      try connection.executeChange(
        "UPDATE sqlite_sequence SET seq = \(last) WHERE name = \(plan.table) COLLATE NOCASE"
      ).rows > 0
    if !isKnown {
      try connection.executeChange(
        "INSERT INTO sqlite_sequence (name, seq) SELECT name, \(last) FROM sqlite_schema WHERE type = 'table' AND name = \(plan.table) COLLATE NOCASE"
      )
    }
    return used + 1
  }
}

// Many new objects, inserted by one statement.
extension SaveGraph.Transaction {
  /// The state of inserting objects of a type.
  struct InsertState {
    /// The most objects that one statement inserts. It updates the table's counter once, whose cost is
    /// half that of a row (benchmark `insert`).
    static var maximumSize: Int { 16 }

    /// The first of the keys that were reserved, if some were.
    var firstKey: Int64?
    /// The statement that inserted the last object by itself: most objects of a type need the same.
    var single: InsertStatement?
    /// How many objects one statement inserts; 1 if each needs its own, 0 if that is not known yet.
    var size = 0
    /// The statement that inserts as many.
    var batch: InsertStatement?
    /// The highest key that the table has or had, once it was asked for.
    var lastKey: Int64?
    /// The number of rows that had been written outside of batches then: they may have other keys.
    var singleCount = 0
  }

  /// Returns whether a new object can be inserted together with others of its type: if the keys are known before, if no
  /// trigger can skip a row or insert others, and if nothing else is written with it.
  mutating func mayBatch(_ index: Int) throws -> Bool {
    guard nodes.count >= InsertState.maximumSize, !nodes[index].snapshot.isKnown,
      graph.matching.isEmpty, graph.expected.isEmpty
    else { return false }
    let kind = nodes[index].kind
    if inserts[kind].size == 0 { inserts[kind].size = try batchSize(nodes[index].plan) }
    return inserts[kind].size > 1
  }

  private func batchSize(_ plan: ObjectPlan) throws -> Int {
    let isKeyKnown = plan.primary == nil || plan.counting != nil
    let room = connection.maximumParameterCount / (plan.columns.count + 1)
    guard isKeyKnown, !plan.hasAssets, !plan.columns.isEmpty, room > 1,
      try connection.firstRow(
        "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = \(plan.table) COLLATE NOCASE"
      ) == nil
    else { return 1 }
    return min(room, InsertState.maximumSize)
  }

  /// Lets a new object wait until there are as many of its type as one statement inserts.
  mutating func addToBatch(_ index: Int) throws {
    let kind = nodes[index].kind
    if let first = pending.first, nodes[first].kind != kind { try insertPending() }
    pending.append(index)
    if pending.count >= inserts[kind].size { try insertBatch(kind) }
  }

  /// Inserts the waiting objects one by one.
  mutating func insertPending() throws {
    if pending.isEmpty { return }
    for index in pending { try insert(index) }
    pending.removeAll(keepingCapacity: true)
  }

  /// Inserts as many objects as one statement takes.
  private mutating func insertBatch(_ kind: Int) throws {
    let plan = graph.kinds[kind].plan
    var state = inserts[kind]
    if state.singleCount != singleCount { state.lastKey = nil }
    let statement =
      try state.batch
      ?? InsertStatement(
        plan, hasKey: true, rows: state.size, mustBeNew: insertsOnly, connection)
    state.batch = statement
    // The keys that this batch has given already, and that the table does not know.
    var highest: Int64 = 0
    for (row, index) in pending.enumerated() {
      let key: Int64
      if let own = reservedKey(index) {
        key = own
      } else {
        let last = try state.lastKey ?? max(connection.greatestKey(of: plan.rows), highest)
        // The greatest key is used: SQLite looks for a free one, or reports an error.
        guard last < .max else { return try insertEachInstead(kind) }
        key = last + 1
        state.lastKey = key
      }
      highest = max(highest, key)
      if let last = state.lastKey { state.lastKey = max(last, key) }
      isNew[index] = true
      try resolve(index)
      try statement.bind(values, nodes[index].first, key: key, row: row, resolved)
      isInserted[index] = insertsOnly || self.key(index) == nil
      saved[index] = SaveGraph.Saved(zIndex: key)
    }
    state.singleCount = singleCount
    inserts[kind] = state
    let count: Int
    do {
      count = try statement.run()
    } catch let error as SQLiteError where insertsOnly && error.code.primary == .constraint {
      // One by one, to tell which of them is there.
      return try insertEachInstead(kind)
    }
    guard count == pending.count else {
      // The table's own constraints let rows be skipped.
      throw MagicError.notSaved(type: plan.typeName)
    }
    pending.removeAll(keepingCapacity: true)
  }

  private mutating func insertEachInstead(_ kind: Int) throws {
    inserts[kind].size = 1
    try insertPending()
  }
}
