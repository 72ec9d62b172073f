import SQLiteAssets
import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// What saving gave an object: handed to it once the transaction has committed.
struct SaveResult: Sendable {
  let zIndex: Int64
  /// Values that the store made: a number that it counted up, the id of an asset.
  var settled: [(slot: Int, value: Value)] = []
}

/// Writes a request, inside one transaction.
struct SaveRun {
  private let store: MagicData
  private let connection: Connection
  private let nodes: [SaveNode]
  private let roots: Set<Int>
  private let isPlain: Bool
  private var results: [SaveResult?]
  private var isNew: [Bool]
  /// The statement that inserted the last object of each type: most objects of a type need the same.
  private var insertions: [ObjectIdentifier: InsertStatement] = [:]
  /// The statement that inserted the last object.
  private var lastInsertion: InsertStatement?
  /// The SQL that wrote the last changes.
  private var lastUpdate: (plan: ObjectPlan, slots: [Int], text: String)?
  /// References to objects that had no z_index yet when the row was written.
  private var late: [(node: Int, slot: Int, target: Int)] = []

  init(_ store: MagicData, _ connection: Connection, _ request: SaveRequest) {
    self.store = store
    self.connection = connection
    nodes = request.nodes
    roots = Set(request.roots)
    isPlain = request.isPlain
    results = Array(repeating: nil, count: nodes.count)
    isNew = Array(repeating: false, count: nodes.count)
  }

  /// Writes all objects: what is led to first, as far as there are no cycles.
  mutating func run() throws -> [SaveResult] {
    if isPlain {
      for index in nodes.indices { try write(index) }
      return results.compactMap { $0 }
    }
    for index in order { try write(index) }
    for (node, slot, target) in late {
      guard let owner = results[node], let other = results[target] else { continue }
      let plan = nodes[node].plan
      try connection.executeChange(
        "UPDATE \(identifier: plan.table) SET \(identifier: plan.properties[slot].name) = \(other.zIndex) WHERE \(identifier: plan.key) = \(owner.zIndex)"
      )
    }
    var links = LinkRun(store, connection, nodes, results, isNew)
    try links.run()
    return results.compactMap { $0 }
  }

  /// The objects in the order in which they were met, each after those that it refers to, as far as
  /// there are no cycles.
  private var order: [Int] {
    var order: [Int] = []
    order.reserveCapacity(nodes.count)
    var isMet = Array(repeating: false, count: nodes.count)
    for start in nodes.indices where !isMet[start] {
      // By a stack of our own: a chain may be as long as memory is.
      var path = [(node: start, references: nodes[start].references[...])]
      isMet[start] = true
      while let (node, references) = path.last {
        if let next = references.first {
          path[path.count - 1].references.removeFirst()
          guard !isMet[next] else { continue }
          isMet[next] = true
          path.append((next, nodes[next].references[...]))
        } else {
          order.append(node)
          path.removeLast()
        }
      }
    }
    return order
  }

  private mutating func write(_ index: Int) throws {
    // Not the whole node, whose every part would be retained.
    if let zIndex = nodes[index].storage.zIndex(in: store.identity) {
      if try update(index, zIndex) { return }
    }
    // Unknown, or removed meanwhile: then it is a new one.
    if nodes[index].plan.isPlain { try insertPlain(index) } else { try insert(index) }
  }

  /// Writes what has changed of an object that is in the store.
  ///
  /// - Returns: False if it is not there any more.
  private mutating func update(_ index: Int, _ zIndex: Int64) throws -> Bool {
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
  private func update(
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

  /// Writes an object that the store does not know, or knows by its primary value only.
  private mutating func insert(_ index: Int) throws {
    isNew[index] = true
    let node = nodes[index]
    let plan = node.plan
    try refuseLostValues(node)
    let (slots, values) = try columns(of: index)
    let insertion = try self.insertion(plan, slots)
    try insertion.bind(values)
    let settled = pendingAssets
    pendingAssets = []
    guard let zIndex = try insertion.run(key: node.key) ?? existing(node) else {
      throw MagicError.notSaved(type: plan.typeName)
    }
    results[index] = SaveResult(zIndex: zIndex, settled: settled)
  }

  /// As ``insert(_:)``, of an object all of whose properties are plain values: without a step between.
  private mutating func insertPlain(_ index: Int) throws {
    isNew[index] = true
    let plan = nodes[index].plan
    let forms = nodes[index].forms
    var key: Int64?
    if let counting = plan.counting, case .stored(.integer(let integer)) = forms[counting] {
      key = integer
    }
    let insertion = try insertion(plan, hasKey: key != nil)
    try insertion.bind(forms)
    guard let zIndex = try insertion.run(key: key) ?? existing(nodes[index]) else {
      throw MagicError.notSaved(type: plan.typeName)
    }
    results[index] = SaveResult(zIndex: zIndex)
  }

  /// The statement for objects all of whose properties are plain values.
  private mutating func insertion(_ plan: ObjectPlan, hasKey: Bool) throws -> InsertStatement {
    if let lastInsertion, lastInsertion.plan === plan, lastInsertion.hasKey == hasKey {
      return lastInsertion
    }
    let key = hasKey ? plan.counting.map { [$0] } ?? [] : []
    return try insertion(plan, key + plan.columns)
  }

  /// The statement for values of some properties.
  private mutating func insertion(_ plan: ObjectPlan, _ slots: [Int]) throws -> InsertStatement {
    let type = ObjectIdentifier(plan.type)
    if let known = insertions[type], known.slots == slots {
      lastInsertion = known
      return known
    }
    let insertion = try InsertStatement(plan, slots, connection)
    insertions[type] = insertion
    lastInsertion = insertion
    return insertion
  }

  /// What was left in the store went with the row: half an object must not come back.
  private func refuseLostValues(_ node: SaveNode) throws {
    for (slot, value) in node.values.enumerated() {
      if case .untouched = value, node.plan.properties[slot].isStored {
        throw MagicError.lostValue(
          type: node.plan.typeName, property: node.plan.properties[slot].name)
      }
    }
  }

  /// The properties of a new object that have values now, and their values.
  private mutating func columns(of index: Int) throws -> (slots: [Int], values: [Value]) {
    let (plan, key) = (nodes[index].plan, nodes[index].key)
    var slots: [Int] = []
    var values: [Value] = []
    if let counting = plan.counting, let key {
      slots.append(counting)
      values.append(.integer(key))
    }
    for slot in plan.columns {
      guard let value = try column(slot, of: index, zIndex: nil) else { continue }
      slots.append(slot)
      values.append(value)
    }
    return (slots, values)
  }

  private func existing(_ node: SaveNode) throws -> Int64? {
    guard let primary = node.plan.primary, let value = node.value(primary) else { return nil }
    return try connection.firstRow(
      "SELECT \(identifier: node.plan.key) FROM \(identifier: node.plan.table) WHERE \(identifier: node.plan.properties[primary].name) = \(value)",
      as: Int64.self)
  }

  /// Assets of the object that is being inserted.
  private var pendingAssets: [(slot: Int, value: Value)] = []

  /// What a column shall hold, or nil to leave it alone.
  private mutating func column(_ slot: Int, of index: Int, zIndex: Int64?) throws -> Value? {
    let node = nodes[index]
    if node.plan.isPlain {
      if let value = node.value(slot) { return value }
      throw MagicError.missingValue(
        type: node.plan.typeName, property: node.plan.properties[slot].name)
    }
    switch node.values[slot] {
    case .value(let value): return value
    case .object(.stored(let target)): return .integer(target)
    case .object(.node(let target)):
      if let known = results[target]?.zIndex ?? nodes[target].storage.zIndex(in: store.identity) {
        return .integer(known)
      }
      late.append((index, slot, target))
      return nil
    case .asset(let pending): return try asset(pending, slot, of: index, zIndex: zIndex)
    case .copy(let source): return try copy(of: source, node).map { .integer($0) } ?? .null
    case .kept(let handle):
      guard zIndex == nil else { return nil }
      return try asset(.stored(handle, pathExtension: nil), slot, of: index, zIndex: nil)
    case .untouched, .links: return nil
    case .missing:
      throw MagicError.missingValue(
        type: node.plan.typeName, property: node.plan.properties[slot].name)
    }
  }

  /// What a lazy value of another object refers to.
  private func copy(of source: LazySource, _ node: SaveNode) throws -> Int64? {
    guard source.store.identity == store.identity else {
      throw MagicError.notSaved(type: source.plan.typeName)
    }
    return try source.reference(connection)
  }

  private mutating func asset(
    _ pending: PendingAsset, _ slot: Int, of index: Int, zIndex: Int64?
  ) throws -> Value? {
    let present = try zIndex.flatMap { try assetID(slot, of: index, $0) }
    let id: AssetID?
    do {
      id = try store.assets.save(pending, over: present, in: connection)
    } catch AssetError.noAsset where zIndex == nil {
      // It went with the object's row.
      let plan = nodes[index].plan
      throw MagicError.lostValue(type: plan.typeName, property: plan.properties[slot].name)
    }
    let value = id.map { Value.text($0.description) } ?? .null
    if zIndex == nil {
      pendingAssets.append((slot, value))
    } else {
      results[index]?.settled.append((slot, value))
    }
    if id == present, zIndex != nil, !pending.isContent { return nil }
    // The id of a replaced content is written too, so that observers of the object learn of it.
    return value
  }

  private func assetID(_ slot: Int, of index: Int, _ zIndex: Int64) throws -> AssetID? {
    let plan = nodes[index].plan
    return try connection.firstRow(
      "SELECT \(identifier: plan.properties[slot].name) FROM \(identifier: plan.table) WHERE \(identifier: plan.key) = \(zIndex)",
      as: AssetID?.self) ?? nil
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
