import SQLiteCore
import SQLiteMapping

// Keys are reserved before their rows are written. So each row is written once, even in a cycle,
// and keys follow the order in which the objects were found. The foreign keys of all tables that
// this library creates are deferred: a referenced row must exist when the transaction ends.
// (`PRAGMA defer_foreign_keys` would do the same, but would also suspend RESTRICT for the rest of
// the user's transaction and make SQLite recompile all statements.)
extension SaveGraph.Transaction {
  /// Reserves keys for the new objects of each type for which ``SaveGraph/Kind/needsKeys`` is true.
  /// Call it before the first row is written.
  mutating func reserveKeys() throws {
    let hasRange = connection.keyRange != nil
    for (kind, known) in graph.kinds.enumerated()
    where known.needsKeys || hasRange && known.newCount > 0 {
      inserts[kind].firstKey = try reserve(known)
    }
  }

  /// Returns the key that a new object will get: its own key or a reserved one. Returns nil if the
  /// key is assigned only by the insertion.
  func reservedKey(_ index: Int) -> Int64? {
    if let key = key(index) { return key }
    guard let first = inserts[nodes[index].kind].firstKey, let ordinal = nodes[index].ordinal
    else { return nil }
    return first + Int64(ordinal)
  }

  /// Reserves consecutive keys for the new objects of a type, and returns the first key.
  ///
  /// - Throws: `SQLiteError` with `ResultCode.full` if the table has no keys left, or an error of
  ///   the database.
  private func reserve(_ kind: SaveGraph.Kind) throws -> Int64 {
    let plan = kind.plan
    if let first = try connection.reserveKeys(kind.newCount) { return first }
    let used = max(0, try connection.greatestKey(of: plan.rows), kind.greatestOwnKey ?? 0)
    let (last, isTooGreat) = used.addingReportingOverflow(Int64(kind.newCount))
    guard !isTooGreat else {
      throw SQLiteError(.full, "the table “\(plan.table)” has no keys left")
    }
    // Rows that triggers insert during the save get keys after the reserved ones.
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

// Batches: many new objects, inserted by one statement.
extension SaveGraph.Transaction {
  /// The state of inserting the new objects of one type: the statements and the next keys.
  struct InsertState {
    /// The maximum number of objects that one statement inserts. Each statement updates the
    /// AUTOINCREMENT counter of the table once, which costs half as much as inserting a row
    /// (benchmark `insert`).
    static var maximumSize: Int { 16 }

    /// The first reserved key, or nil if no keys are reserved.
    var firstKey: Int64?
    /// The statement that last inserted a single object, or nil if none has. Most objects of a type
    /// use the same statement.
    var single: InsertStatement?
    /// The number of objects that one statement inserts; 0 if it isn't determined yet, 1 if batches
    /// aren't possible.
    var size = 0
    /// The statement that inserts a whole batch, or nil before the first batch.
    var batch: InsertStatement?
    /// The highest key that any row of the table has or had; nil if it must be queried.
    var lastKey: Int64?
    /// The value of `Transaction.singleCount` when ``lastKey`` was set. Rows written outside of
    /// batches since then may have higher keys.
    var singleCount = 0
  }

  /// Returns whether a new object can be inserted in a batch. This requires that the keys can be
  /// determined in advance, that no trigger can skip or insert rows, and that nothing else is
  /// written with the object.
  mutating func mayBatch(_ index: Int) throws -> Bool {
    guard nodes.count >= InsertState.maximumSize, !nodes[index].snapshot.isKnown,
      graph.matching.isEmpty, graph.expected.isEmpty
    else { return false }
    let kind = nodes[index].kind
    if inserts[kind].size == 0 { inserts[kind].size = try batchSize(nodes[index].plan) }
    return inserts[kind].size > 1
  }

  private func batchSize(_ plan: ObjectPlan) throws -> Int {
    let isKeyKnown = plan.primary == nil || plan.autoIncrementSlot != nil
    let room = connection.maximumParameterCount / (plan.columns.count + 1)
    guard isKeyKnown, !plan.hasAssets, !plan.columns.isEmpty, room > 1,
      try connection.firstRow(
        "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = \(plan.table) COLLATE NOCASE"
      ) == nil
    else { return 1 }
    return min(room, InsertState.maximumSize)
  }

  /// Adds a new object to the batch of its type, and inserts the batch when it is full.
  mutating func addToBatch(_ index: Int) throws {
    let kind = nodes[index].kind
    if let first = pending.first, nodes[first].kind != kind { try insertPending() }
    pending.append(index)
    if pending.count >= inserts[kind].size { try insertBatch(kind) }
  }

  /// Inserts the objects of an incomplete batch one by one.
  mutating func insertPending() throws {
    if pending.isEmpty { return }
    for index in pending { try insert(index) }
    pending.removeAll(keepingCapacity: true)
  }

  /// Inserts a full batch with one statement.
  private mutating func insertBatch(_ kind: Int) throws {
    let plan = graph.kinds[kind].plan
    var state = inserts[kind]
    if state.singleCount != singleCount { state.lastKey = nil }
    let statement =
      try state.batch
      ?? InsertStatement(
        plan, hasKey: true, rows: state.size, mustBeNew: insertsOnly, connection)
    state.batch = statement
    // The highest key that this batch has assigned. The table doesn't contain it yet.
    var highest: Int64 = 0
    for (row, index) in pending.enumerated() {
      let key: Int64
      if let own = reservedKey(index) {
        key = own
      } else {
        let last = try state.lastKey ?? max(connection.greatestKey(of: plan.rows), highest)
        // The highest possible key is in use. SQLite then searches for a free key or reports an
        // error.
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
      // Insert one by one to determine which object exists already.
      return try insertEachInstead(kind)
    }
    guard count == pending.count else {
      // A constraint of the table skipped rows (ON CONFLICT IGNORE).
      throw MagicError.notSaved(type: plan.typeName)
    }
    pending.removeAll(keepingCapacity: true)
  }

  private mutating func insertEachInstead(_ kind: Int) throws {
    inserts[kind].size = 1
    try insertPending()
  }
}
