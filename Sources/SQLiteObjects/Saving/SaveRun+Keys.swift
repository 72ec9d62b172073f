import SQLiteCore

// Keys that are known before their rows are written: so each row is written once, cycles included, and
// an object has a lower key than those that it leads to. The foreign keys are deferred, in each table
// that this library makes: what a row leads to must be there when the transaction ends. (`PRAGMA
// defer_foreign_keys` would do the same, but would also suspend RESTRICT for the rest of the user's
// transaction, and make SQLite compile all statements anew.)
extension SaveRun {
  /// Gives keys to the new objects of types whose objects refer to new ones or are referred to, or of which
  /// some bring their own key: none of the others may get that.
  mutating func reserveKeys() throws {
    let mixed = mixedPlans()
    if isPlain, mixed.isEmpty { return }
    let isUnknown = nodes.map { $0.storage.zIndex(in: store.identity) == nil }
    var plans = mixed
    for (index, node) in nodes.enumerated() where !node.plan.isPlain {
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
    for index in nodes.indices where nodes[index].plan.counting != nil {
      let plan = nodes[index].plan
      if ownKey(index) == nil {
        lackKeys[ObjectIdentifier(plan.type)] = plan
      } else {
        haveKeys.insert(ObjectIdentifier(plan.type))
      }
    }
    return lackKeys.filter { haveKeys.contains($0.key) }
  }

  /// The key that an object brings with it.
  private func ownKey(_ index: Int) -> Int64? {
    isPlain ? nodes[index].plan.key(in: nodes[index].forms) : nodes[index].key
  }

  /// The key that was reserved for a new object, if one was.
  func reservedKey(_ index: Int) -> Int64? { reserved.isEmpty ? nil : reserved[index] }

  private mutating func reserve(_ plan: ObjectPlan, _ new: [Int]) throws {
    var last = try lastKey(of: plan)
    for index in new {
      reserved[index] = ownKey(index)
      if let key = reserved[index] { last = max(last, key) }
    }
    for index in new where reserved[index] == nil {
      guard last < .max else {
        throw SQLiteError(.full, "the table “\(plan.table)” has no keys left")
      }
      last += 1
      reserved[index] = last
    }
    // What triggers insert meanwhile counts on from here.
    guard try !connection.columnNames(of: "sqlite_sequence").isEmpty else { return }
    let isKnown =
      try connection.executeChange(
        "UPDATE sqlite_sequence SET seq = \(last) WHERE name = \(plan.table) COLLATE NOCASE"
      ).rows > 0
    if isKnown { return }
    try connection.executeChange(
      "INSERT INTO sqlite_sequence (name, seq) SELECT name, \(last) FROM sqlite_schema WHERE type = 'table' AND name = \(plan.table) COLLATE NOCASE"
    )
  }

  /// The highest key that a type's table has or had.
  func lastKey(of plan: ObjectPlan) throws -> Int64 {
    let present = try connection.firstRow(
      "SELECT max(\(identifier: plan.key)) FROM \(identifier: plan.table)", as: Int64?.self)
    guard try !connection.columnNames(of: "sqlite_sequence").isEmpty else {
      return max(0, (present ?? nil) ?? 0)
    }
    let former = try connection.firstRow(
      "SELECT seq FROM sqlite_sequence WHERE name = \(plan.table) COLLATE NOCASE", as: Int64.self)
    return max(0, (present ?? nil) ?? 0, former ?? 0)
  }
}
