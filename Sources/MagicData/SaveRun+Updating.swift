import SQLiteCore
import SQLiteMapping

extension SaveRun {
  /// Writes what has changed of an object that is in the store.
  ///
  /// - Returns: False if it is not there any more.
  mutating func update(_ index: Int, _ zIndex: Int64) throws -> Bool {
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
    if slots.isEmpty, !roots.contains(index) {
      present = true
    } else if let expected = node.expected {
      present = try update(plan, zIndex, slots, values, ifStill: expected)
    } else if slots.isEmpty {
      present = try connection.firstRow(SQL(plan.selectionOfKey, [.integer(zIndex)])) != nil
    } else {
      if lastUpdate?.plan !== plan || lastUpdate?.slots != slots {
        lastUpdate = (plan, slots, plan.update(of: slots).text)
      }
      let sql = SQL(lastUpdate?.text ?? "", values + [.integer(zIndex)])
      present = try connection.executeChange(sql).rows > 0
    }
    if !present {
      if node.expected != nil { throw MagicError.conflict(type: plan.typeName, zIndex: zIndex) }
      results[index] = nil
      late.removeAll { $0.node == index }
    }
    return present
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

extension ObjectPlan {
  /// The text that writes some properties of the object with a z_index, which is the last value.
  fileprivate func update(of slots: [Int]) -> SQL {
    let changes = slots.map { slot -> SQL in "\(identifier: properties[slot].name) = ?" }
    let list = SQL(joining: changes, separator: ", ")
    return "UPDATE \(identifier: table) SET \(list) WHERE \(identifier: key) = ?"
  }

  /// The text that looks for the object with a z_index.
  fileprivate var selectionOfKey: String {
    let sql: SQL = "SELECT 1 FROM \(identifier: table) WHERE \(identifier: key) = ?"
    return sql.text
  }
}
