import SQLiteCore
import SQLiteMapping

extension SaveRun {
  /// Writes an object that the store does not know, or knows by its primary value only.
  mutating func insert(_ index: Int) throws {
    isNew[index] = true
    let node = nodes[index]
    let plan = node.plan
    try refuseUnknownRow(node)
    try refuseLostValues(node)
    let (slots, values) = try columns(of: index)
    let key = node.key ?? reservedKey(index)
    let insertion = try self.insertion(plan, hasKey: key != nil, slots)
    try insertion.bind(values, key: key)
    let settled = pendingAssets
    pendingAssets = []
    results[index] = SaveResult(zIndex: try run(insertion, key, node), settled: settled)
  }

  /// Inserts the object that is bound, and returns its z_index.
  ///
  /// - Parameters:
  ///   - insertion: The statement.
  ///   - key: The key that is bound, if one is.
  ///   - node: The object.
  func run(_ insertion: InsertStatement, _ key: Int64?, _ node: SaveNode) throws -> Int64 {
    do {
      if let zIndex = try insertion.run(key: key) { return zIndex }
    } catch let error as SQLiteError where insertsOnly && error.code.primary == .constraint {
      // Another column may be unique as well.
      guard try existing(node) != nil else { throw error }
      throw alreadySaved(node)
    }
    guard let present = try existing(node) else {
      throw MagicError.notSaved(type: node.plan.typeName)
    }
    if insertsOnly { throw alreadySaved(node) }
    return present
  }

  /// The error for an object that must be new, and is not.
  func alreadySaved(_ node: SaveNode) -> MagicError {
    let primary = node.plan.primary.flatMap { node.value($0) }
    return .alreadySaved(
      type: node.plan.typeName,
      primary: primary.flatMap {
        switch $0 {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .null, .real, .blob: nil
        }
      })
  }

  /// The statement for values of some properties.
  mutating func insertion(
    _ plan: ObjectPlan, hasKey: Bool, _ slots: [Int]
  ) throws -> InsertStatement {
    let type = ObjectIdentifier(plan.type)
    if let known = insertions[type], known.hasKey == hasKey, known.slots == slots { return known }
    let insertion = try InsertStatement(
      plan, hasKey: hasKey, slots, insertsOnly: insertsOnly, connection)
    insertions[type] = insertion
    return insertion
  }

  /// What was left in the store went with the row: half an object must not come back.
  func refuseLostValues(_ node: SaveNode) throws {
    for (slot, value) in node.values.enumerated() {
      switch value {
      case .untouched, .copy:
        guard node.plan.properties[slot].isStored else { continue }
        throw MagicError.lostValue(
          type: node.plan.typeName, property: node.plan.properties[slot].name)
      case .value, .object, .links, .asset, .kept, .missing: continue
      }
    }
  }

  /// The properties of a new object that have values now, and their values.
  mutating func columns(of index: Int) throws -> (slots: [Int], values: [Value]) {
    let plan = nodes[index].plan
    var slots: [Int] = []
    var values: [Value] = []
    for slot in plan.columns {
      guard let value = try column(slot, of: index, zIndex: nil) else { continue }
      slots.append(slot)
      values.append(value)
    }
    return (slots, values)
  }

  /// Refuses to give a new object's values to one with the same primary value, which nobody has looked
  /// at, if it must be unchanged.
  func refuseUnknownRow(_ node: SaveNode) throws {
    guard node.expected != nil, let other = try existing(node) else { return }
    throw MagicError.conflict(type: node.plan.typeName, zIndex: other)
  }

  func existing(_ node: SaveNode) throws -> Int64? {
    guard let primary = node.plan.primary, let value = node.value(primary) else { return nil }
    return try connection.firstRow(
      "SELECT \(identifier: node.plan.key) FROM \(identifier: node.plan.table) WHERE \(identifier: node.plan.properties[primary].name) = \(value)",
      as: Int64.self)
  }

  /// What a column shall hold, or nil to leave it alone.
  mutating func column(_ slot: Int, of index: Int, zIndex: Int64?) throws -> Value? {
    let node = nodes[index]
    if node.plan.isPlain {
      if let value = node.value(slot) { return value }
      throw MagicError.missingValue(
        type: node.plan.typeName, property: node.plan.properties[slot].name)
    }
    switch node.values[slot] {
    case .value(let value):
      // What an optional relation of another object is nil of.
      if value.isNull, case .object = node.plan.properties[slot].role.kind,
        !node.plan.properties[slot].role.isOptional
      {
        throw MagicError.missingValue(
          type: node.plan.typeName, property: node.plan.properties[slot].name)
      }
      return value
    case .object(.stored(let target)): return .integer(target)
    case .object(.node(let target)):
      if let known = results[target]?.zIndex { return .integer(known) }
      guard let key = nodes[target].storage.zIndex(in: store.identity) ?? reservedKey(target) else {
        throw MagicError.notSaved(type: nodes[target].plan.typeName)
      }
      early.append((index, slot, target, key))
      return .integer(key)
    case .asset(let pending): return try asset(pending, slot, of: index, zIndex: zIndex)
    case .kept(let handle):
      guard zIndex == nil else { return nil }
      return try asset(.stored(handle, pathExtension: nil), slot, of: index, zIndex: nil)
    case .untouched, .copy, .links: return nil
    case .missing:
      throw MagicError.missingValue(
        type: node.plan.typeName, property: node.plan.properties[slot].name)
    }
  }

}
