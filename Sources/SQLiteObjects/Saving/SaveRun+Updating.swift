import SQLiteCore
import SQLiteMapping

extension SaveRun {
  /// Writes what has changed of an object that is in the store.
  ///
  /// - Returns: False if it is not there any more.
  mutating func update(_ index: Int, _ zIndex: Int64) throws -> Bool {
    if nodes[index].plan.isPlain, nodes[index].expected == nil {
      return try updatePlain(index, zIndex)
    }
    let node = nodes[index]
    let plan = node.plan
    results[index] = SaveResult(zIndex: zIndex)
    var slots: [Int] = []
    var values: [Value] = []
    for slot in plan.columns where node.isChanged(slot) {
      guard let value = try column(slot, of: index, zIndex: zIndex) else { continue }
      slots.append(slot)
      values.append(value)
    }
    let present: Bool
    if slots.isEmpty, !roots.contains(index), !plan.links.contains(where: node.isChanged) {
      present = true
    } else if let expected = node.expected {
      present = try update(plan, zIndex, slots, values, ifStill: expected)
    } else if slots.isEmpty {
      present = try isPresent(plan, zIndex)
    } else {
      let update = try self.update(plan, slots)
      present = try update.run(values, zIndex)
    }
    if !present {
      if node.expected != nil { throw MagicError.conflict(type: plan.typeName, zIndex: zIndex) }
      results[index] = nil
      early.removeAll { $0.node == index }
    }
    return present
  }

  /// Writes what has changed of an object of plain values that is in the store.
  ///
  /// - Returns: False if it is not there any more.
  private mutating func updatePlain(_ index: Int, _ zIndex: Int64) throws -> Bool {
    let plan = nodes[index].plan
    let snapshot = nodes[index].snapshot
    let present: Bool
    if let update = lastUpdate, update.plan === plan, update.fits(snapshot) {
      present = try update.run(nodes[index].forms, zIndex)
    } else {
      let slots = plan.columns.filter(snapshot.isChanged)
      present =
        try slots.isEmpty
        ? !roots.contains(index) || isPresent(plan, zIndex)
        : update(plan, slots).run(nodes[index].forms, zIndex)
    }
    results[index] = present ? SaveResult(zIndex: zIndex) : nil
    return present
  }

  /// The statement that gives new values to some properties: most objects in a row need the same.
  private mutating func update(_ plan: ObjectPlan, _ slots: [Int]) throws -> UpdateStatement {
    if let lastUpdate, lastUpdate.plan === plan, lastUpdate.slots == slots { return lastUpdate }
    let update = try UpdateStatement(plan, slots, connection)
    lastUpdate = update
    return update
  }

  func isPresent(_ plan: ObjectPlan, _ zIndex: Int64) throws -> Bool {
    try connection.firstRow(
      "SELECT 1 FROM \(identifier: plan.table) WHERE \(identifier: plan.key) = \(zIndex)") != nil
  }

  /// Writes what has changed if the row is still as expected, and says whether it is.
  func update(
    _ plan: ObjectPlan, _ zIndex: Int64, _ slots: [Int], _ values: [Value],
    ifStill expected: [(slot: Int, value: Value)]
  ) throws -> Bool {
    var row: SQL = "\(identifier: plan.key) = \(zIndex)"
    for (slot, value) in expected {
      row.append(" AND \(identifier: plan.properties[slot].name) IS \(value)")
    }
    if slots.isEmpty {
      return try connection.firstRow("SELECT 1 FROM \(identifier: plan.table) WHERE \(row)") != nil
    }
    let changes = zip(slots, values).map { slot, value -> SQL in
      "\(identifier: plan.properties[slot].name) = \(value)"
    }
    let list = SQL(joining: changes, separator: ", ")
    return try connection.executeChange(
      "UPDATE \(identifier: plan.table) SET \(list) WHERE \(row)"
    ).rows > 0
  }
}
