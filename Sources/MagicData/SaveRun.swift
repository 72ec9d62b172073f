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
  private var results: [SaveResult?]
  private var isNew: [Bool]
  /// The statement that inserted the last object: most objects of a type need the same.
  private var lastInsert: (plan: ObjectPlan, slots: [Int], text: String)?
  /// References to objects that had no z_index yet when the row was written.
  private var late: [(node: Int, slot: Int, target: Int)] = []

  init(_ store: MagicData, _ connection: Connection, _ request: SaveRequest) {
    self.store = store
    self.connection = connection
    nodes = request.nodes
    roots = Set(request.roots)
    results = Array(repeating: nil, count: nodes.count)
    isNew = Array(repeating: false, count: nodes.count)
  }

  /// Writes all objects: what is led to first, as far as there are no cycles.
  mutating func run() throws -> [SaveResult] {
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
    let node = nodes[index]
    if let zIndex = node.storage.zIndex(in: store.identity) {
      if try update(index, zIndex) { return }
    }
    // Unknown, or removed meanwhile: then it is a new one.
    try insert(index)
  }

  /// Writes what has changed of an object that is in the store.
  ///
  /// - Returns: False if it is not there any more.
  private mutating func update(_ index: Int, _ zIndex: Int64) throws -> Bool {
    let node = nodes[index]
    let plan = node.plan
    results[index] = SaveResult(zIndex: zIndex)
    var changes: [SQL] = []
    for slot in plan.columns where node.isChanged(slot) {
      guard let value = try column(slot, of: index, zIndex: zIndex) else { continue }
      changes.append("\(identifier: plan.properties[slot].name) = \(value)")
    }
    let present: Bool
    var row: SQL = "\(identifier: plan.key) = \(zIndex)"
    for (slot, value) in node.expected ?? [] {
      row.append(" AND \(identifier: plan.properties[slot].name) IS \(value)")
    }
    if changes.isEmpty, !roots.contains(index) {
      present = true
    } else if changes.isEmpty {
      present =
        try connection.firstRow(
          "SELECT 1 FROM \(identifier: plan.table) WHERE \(row)") != nil
    } else {
      let list = SQL(joining: changes, separator: ", ")
      present =
        try connection.executeChange(
          "UPDATE \(identifier: plan.table) SET \(list) WHERE \(row)"
        ).rows > 0
    }
    if !present {
      if node.expected != nil { throw MagicError.conflict(type: plan.typeName, zIndex: zIndex) }
      results[index] = nil
      late.removeAll { $0.node == index }
    }
    return present
  }

  /// Writes an object that the store does not know, or knows by its primary value only.
  private mutating func insert(_ index: Int) throws {
    let node = nodes[index]
    let plan = node.plan
    isNew[index] = true
    for (slot, value) in node.values.enumerated() {
      // What was left in the store went with the row: half an object must not come back.
      if case .untouched = value, plan.properties[slot].isStored {
        throw MagicError.lostValue(type: plan.typeName, property: plan.properties[slot].name)
      }
    }
    var slots: [Int] = []
    var values: [Value] = []
    if plan.key != ObjectPlan.hiddenKey, let primary = plan.primary,
      case .value(let value) = node.values[primary], !value.isNull
    {
      slots.append(primary)
      values.append(value)
    }
    for slot in plan.columns {
      guard let value = try column(slot, of: index, zIndex: nil) else { continue }
      slots.append(slot)
      values.append(value)
    }
    if lastInsert?.plan !== plan || lastInsert?.slots != slots {
      lastInsert = (plan, slots, plan.insertion(of: slots).text)
    }
    let sql = SQL(lastInsert?.text ?? "", values)
    let settled = pendingAssets
    pendingAssets = []
    guard let zIndex = try connection.firstRow(sql, as: Int64.self) ?? existing(node) else {
      throw MagicError.notSaved(type: plan.typeName)
    }
    var result = SaveResult(zIndex: zIndex, settled: settled)
    if let primary = plan.primary, plan.properties[primary].role.countsUp {
      result.settled.append((primary, .integer(zIndex)))
    }
    results[index] = result
  }

  private func existing(_ node: SaveNode) throws -> Int64? {
    guard let primary = node.plan.primary, case .value(let value) = node.values[primary] else {
      return nil
    }
    return try connection.firstRow(
      "SELECT \(identifier: node.plan.key) FROM \(identifier: node.plan.table) WHERE \(identifier: node.plan.properties[primary].name) = \(value)",
      as: Int64.self)
  }

  /// Assets of the object that is being inserted.
  private var pendingAssets: [(slot: Int, value: Value)] = []

  /// What a column shall hold, or nil to leave it alone.
  private mutating func column(_ slot: Int, of index: Int, zIndex: Int64?) throws -> Value? {
    let node = nodes[index]
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

extension SaveNode {
  /// The objects that the columns of this one refer to.
  fileprivate var references: [Int] {
    values.compactMap { value in
      if case .object(.node(let target)) = value { target } else { nil }
    }
  }
}

extension ObjectPlan {
  /// The statement that inserts an object with values for some properties, or gives them to the
  /// object with the same primary value, and returns its z_index.
  fileprivate func insertion(of slots: [Int]) -> SQL {
    let names = slots.map { properties[$0].name }
    var sql: SQL = "INSERT INTO \(identifier: table) "
    if names.isEmpty {
      sql.append("DEFAULT VALUES")
    } else {
      let parameters = SQL(joining: names.map { _ in "?" }, separator: ", ")
      sql.append("(\(SQL(identifiers: names))) VALUES (\(parameters))")
    }
    if let primary, !names.isEmpty {
      let updates = names.filter { $0 != key }.map { name -> SQL in
        "\(identifier: name) = excluded.\(identifier: name)"
      }
      let action: SQL =
        updates.isEmpty ? "DO NOTHING" : "DO UPDATE SET \(SQL(joining: updates, separator: ", "))"
      sql.append(" ON CONFLICT (\(identifier: properties[primary].name)) \(action)")
    }
    sql.append(" RETURNING \(identifier: key)")
    return sql
  }
}
