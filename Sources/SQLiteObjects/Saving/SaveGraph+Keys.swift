import SQLiteCore
import SQLiteMapping

// Keys that are known before their rows are written: so each row is written once, cycles included, and
// an object has a lower key than those that it leads to. The foreign keys are deferred, in each table
// that this library makes: what a row leads to must be there when the transaction ends. (`PRAGMA
// defer_foreign_keys` would do the same, but would also suspend RESTRICT for the rest of the user's
// transaction, and make SQLite compile all statements anew.)
extension SaveGraph.Transaction {
  /// Gives keys to the new objects of types whose objects refer to new ones or are referred to, or of which
  /// some bring their own key: none of the others may get that key.
  mutating func reserveKeys() throws {
    var plans = mixedPlans()
    if isPlain, plans.isEmpty { return }
    let isUnknown = nodes.indices.map(isUnknown)
    for (index, node) in nodes.enumerated() where !node.late.isEmpty {
      for target in node.references where isUnknown[target] {
        plans[ObjectIdentifier(nodes[target].plan.type)] = nodes[target].plan
        if isUnknown[index] { plans[ObjectIdentifier(node.plan.type)] = node.plan }
      }
    }
    if plans.isEmpty { return }
    reserved = Array(repeating: nil, count: nodes.count)
    for (type, plan) in plans {
      let new = nodes.indices.filter {
        isUnknown[$0] && ObjectIdentifier(nodes[$0].plan.type) == type
      }
      try reserve(plan, new)
    }
  }

  /// The types that have objects with a key of their own, and objects without one.
  private func mixedPlans() -> [ObjectIdentifier: ObjectPlan] {
    guard nodes.count > 1 else { return [:] }
    var haveKeys: Set<ObjectIdentifier> = []
    var lackKeys: [ObjectIdentifier: ObjectPlan] = [:]
    // Most objects are of the type of the one before, and have a key if that has one.
    var last: (plan: ObjectPlan, hasKey: Bool)?
    for index in nodes.indices where nodes[index].plan.counting != nil {
      let (plan, hasKey) = (nodes[index].plan, key(index) != nil)
      if let last, last.plan === plan, last.hasKey == hasKey { continue }
      last = (plan, hasKey)
      if !hasKey {
        lackKeys[ObjectIdentifier(plan.type)] = plan
      } else {
        haveKeys.insert(ObjectIdentifier(plan.type))
      }
    }
    return lackKeys.filter { haveKeys.contains($0.key) }
  }

  /// The key that was reserved for a new object, if one was.
  func reservedKey(_ index: Int) -> Int64? { reserved.isEmpty ? nil : reserved[index] }

  private mutating func reserve(_ plan: ObjectPlan, _ new: [Int]) throws {
    var last = max(0, try connection.greatestKey(of: plan.rows))
    for index in new {
      reserved[index] = key(index)
      if let key = reserved[index] { last = max(last, key) }
    }
    for index in new where reserved[index] == nil {
      guard last < .max else {
        throw SQLiteError(.full, "the table “\(plan.table)” has no keys left")
      }
      last += 1
      reserved[index] = last
    }
    // Rows that triggers insert meanwhile count on from here.
    guard try connection.tableExists("sqlite_sequence") else { return }
    let isKnown =
      try connection.executeChange(
        "UPDATE sqlite_sequence SET seq = \(last) WHERE name = \(plan.table) COLLATE NOCASE"
      ).rows > 0
    if isKnown { return }
    try connection.executeChange(
      "INSERT INTO sqlite_sequence (name, seq) SELECT name, \(last) FROM sqlite_schema WHERE type = 'table' AND name = \(plan.table) COLLATE NOCASE"
    )
  }
}

// Many new objects of plain values, inserted by one statement.
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

  /// Returns whether an object can be inserted together with others of its type: if it is new and has plain
  /// values, if the keys are known before, and if no trigger can skip a row or insert others.
  mutating func mayBatch(_ index: Int) throws -> Bool {
    guard nodes.count >= InsertBatch.maximumSize, !nodes[index].snapshot.isKnown, matching.isEmpty,
      nodes[index].expected == nil, isUnknown(index)
    else { return false }
    if let first = pending.first, nodes[first].plan === nodes[index].plan { return true }
    let plan = nodes[index].plan
    guard plan.isPlain else { return false }
    let type = ObjectIdentifier(plan.type)
    if let known = batches[type] {
      pendingLimit = known.size
      return known.size > 1
    }
    var batch = InsertBatch()
    let isKeyKnown = plan.primary == nil || plan.counting != nil
    let room = connection.maximumParameterCount / (plan.columns.count + 1)
    if isKeyKnown, !plan.columns.isEmpty, room > 1,
      try connection.firstRow(
        "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = \(plan.table) COLLATE NOCASE"
      ) == nil
    {
      batch.size = min(room, InsertBatch.maximumSize)
    }
    batches[type] = batch
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
    let type = ObjectIdentifier(plan.type)
    var batch = batches[type] ?? InsertBatch()
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
      if let own = self.key(index) ?? reservedKey(index) {
        key = own
      } else {
        let last = try batch.lastKey ?? max(connection.greatestKey(of: plan.rows), highest)
        // The greatest key is used: SQLite looks for a free one, or reports an error.
        guard last < .max else { return try insertEachInstead(type) }
        key = last + 1
        batch.lastKey = key
      }
      highest = max(highest, key)
      if let last = batch.lastKey { batch.lastKey = max(last, key) }
      isNew[index] = true
      saved[index] = SaveGraph.Saved(zIndex: key)
      try statement.bind(values, nodes[index].first, key: key, row: row)
    }
    batch.singleCount = singleCount
    batches[type] = batch
    let count: Int
    do {
      count = try statement.run()
    } catch let error as SQLiteError where insertsOnly && error.code.primary == .constraint {
      // One by one, to tell which of them is there.
      return try insertEachInstead(type)
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
