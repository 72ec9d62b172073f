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
      if reservedStarts.isEmpty { reservedStarts = Array(repeating: nil, count: graph.kinds.count) }
      reservedStarts[kind] = try reserve(known)
    }
  }

  /// The key that a new object will get, if it is known before: its own, or one that was reserved.
  func reservedKey(_ index: Int) -> Int64? {
    if let key = key(index) { return key }
    guard !reservedStarts.isEmpty, let ordinal = nodes[index].ordinal,
      let start = reservedStarts[nodes[index].kind]
    else { return nil }
    return start + Int64(ordinal)
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
  /// The state of inserting many objects of a type.
  struct InsertBatch {
    /// The most objects that one statement inserts. It updates the table's counter once, whose cost is
    /// half that of a row (benchmark `insert`).
    static var maximumSize: Int { 16 }

    /// How many objects one statement inserts; 1 if each needs its own.
    var size = 1
    var statement: InsertStatement?
    /// The highest key that the table has or had, once it was asked for.
    var lastKey: Int64?
    /// The number of rows that had been written outside of batches then: they may have other keys.
    var singleCount = 0
  }

  /// Returns whether a new object can be inserted together with others of its type: if the keys are known before, if no
  /// trigger can skip a row or insert others, and if nothing else is written with it.
  mutating func mayBatch(_ index: Int) throws -> Bool {
    guard nodes.count >= InsertBatch.maximumSize, !nodes[index].snapshot.isKnown,
      graph.matching.isEmpty, graph.expected.isEmpty
    else { return false }
    if let first = pending.first, nodes[first].plan === nodes[index].plan { return true }
    let plan = nodes[index].plan
    if let known = batches[plan.id] {
      pendingLimit = known.size
      return known.size > 1
    }
    var batch = InsertBatch()
    let isKeyKnown = plan.primary == nil || plan.counting != nil
    let room = connection.maximumParameterCount / (plan.columns.count + 1)
    if isKeyKnown, !plan.hasAssets, !plan.columns.isEmpty, room > 1,
      try connection.firstRow(
        "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = \(plan.table) COLLATE NOCASE"
      ) == nil
    {
      batch.size = min(room, InsertBatch.maximumSize)
    }
    batches[plan.id] = batch
    pendingLimit = batch.size
    return batch.size > 1
  }

  /// Lets a new object wait until there are as many of its type as one statement inserts.
  mutating func addToBatch(_ index: Int) throws {
    if let first = pending.first, nodes[first].plan !== nodes[index].plan { try insertPending() }
    pending.append(index)
    if pending.count >= pendingLimit { try insertBatch() }
  }

  /// Inserts the waiting objects one by one.
  mutating func insertPending() throws {
    if pending.isEmpty { return }
    for index in pending { try insert(index) }
    pending.removeAll(keepingCapacity: true)
  }

  /// Inserts as many objects as one statement takes.
  private mutating func insertBatch() throws {
    let plan = nodes[pending[0]].plan
    var batch = batches[plan.id] ?? InsertBatch()
    if batch.singleCount != singleCount { batch.lastKey = nil }
    let statement =
      try batch.statement
      ?? InsertStatement(
        plan, hasKey: true, rows: batch.size, mustBeNew: insertsOnly, connection)
    batch.statement = statement
    // The keys that this batch has given already, and that the table does not know.
    var highest: Int64 = 0
    for (row, index) in pending.enumerated() {
      let key: Int64
      if let own = reservedKey(index) {
        key = own
      } else {
        let last = try batch.lastKey ?? max(connection.greatestKey(of: plan.rows), highest)
        // The greatest key is used: SQLite looks for a free one, or reports an error.
        guard last < .max else { return try insertEachInstead(plan.id) }
        key = last + 1
        batch.lastKey = key
      }
      highest = max(highest, key)
      if let last = batch.lastKey { batch.lastKey = max(last, key) }
      isNew[index] = true
      try resolve(index)
      try statement.bind(values, nodes[index].first, key: key, row: row, resolved)
      isInserted[index] = insertsOnly || self.key(index) == nil
      saved[index] = SaveGraph.Saved(zIndex: key)
    }
    batch.singleCount = singleCount
    batches[plan.id] = batch
    let count: Int
    do {
      count = try statement.run()
    } catch let error as SQLiteError where insertsOnly && error.code.primary == .constraint {
      // One by one, to tell which of them is there.
      return try insertEachInstead(plan.id)
    }
    guard count == pending.count else {
      // The table's own constraints let rows be skipped.
      throw MagicError.notSaved(type: plan.typeName)
    }
    pending.removeAll(keepingCapacity: true)
  }

  private mutating func insertEachInstead(_ type: ObjectIdentifier) throws {
    batches[type]?.size = 1
    try insertPending()
  }
}
