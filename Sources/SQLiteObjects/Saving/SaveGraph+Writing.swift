import SQLiteCore
import SQLiteMapping

extension SaveGraph {
  /// The key and the values that the store gave to a saved object. The object gets them after the commit.
  struct Saved: Sendable {
    let zIndex: Int64
    /// The forms that the store made of properties, such as the id of an asset.
    var settled: [(slot: Int, form: CellContent.Form)] = []
    /// The links that were written.
    var links: [KnownLinks] = []
  }

  /// Writes all objects and their links, as part of the open transaction, and notes in the objects that they
  /// are saved when it has committed.
  ///
  /// - Returns: The z_index values of the roots.
  func write(on connection: Connection, in store: any ObjectStore) throws -> [Int] {
    // Nobody replaces the content while this transaction is open.
    guard generation == store.generation else {
      throw MagicError.restored(type: plans.first?.typeName ?? "object")
    }
    try store.prepareTables(plans, connection)
    // A transaction around this one may still be undone, after the objects have learned of this.
    if connection.isInsideAnother {
      let waysBack = nodes.map(\.storage.wayBack)
      let lazy = nodes.flatMap(\.lazy).filter { $0.isOwn && $0.state.isChanged }
      connection.afterRollback { _ in
        for wayBack in waysBack { wayBack() }
        for lazy in lazy { lazy.value.unsaved(lazy.state) }
      }
    }
    var transaction = Transaction(store, connection, self)
    let saved = try transaction.run()
    // Before another write begins: it may be of the same objects, and must know that they are there.
    if connection.isInsideAnother {
      settle(saved, in: store)
    } else {
      connection.afterCommit { _ in settle(saved, in: store) }
    }
    return roots.map { Int(saved[$0].zIndex) }
  }

  /// Marks the saved objects as clean, and stores in them the keys and asset ids that the database made.
  private func settle(_ saved: [Saved], in store: any ObjectStore) {
    for (node, saved) in zip(nodes, saved) {
      var settled = saved.settled
      for (slot, value, state, isOwn) in node.lazy {
        // A value that was set meanwhile remains a change.
        if value.state.number != state.number { settled.removeAll { $0.slot == slot } }
        guard isOwn else { continue }
        let known = saved.links.first { $0.slot == slot }
        value.saved(
          state,
          known.map { LazyLinks(store: store.identity, owner: saved.zIndex, links: $0.links) })
      }
      node.storage.saved(
        as: saved.zIndex, in: store, node.snapshot, settled: settled, links: saved.links)
    }
  }
}

extension SaveGraph {
  /// A graph while it is written in a transaction: rows first, then links.
  struct Transaction {
    let store: any ObjectStore
    let connection: Connection
    var nodes: [Node]
    let rootCount: Int
    let isPlain: Bool
    let insertsOnly: Bool
    /// The results, one for each node that was written.
    var saved: [Saved?]
    var isNew: [Bool]
    /// The statement that inserted the last object of each type: most objects of a type need the same.
    private var insertions: [ObjectIdentifier: InsertStatement] = [:]
    /// The statement that wrote the last changes.
    private var lastUpdate: UpdateStatement?
    /// New objects of one type that are to be inserted by one statement.
    var pending: [Int] = []
    /// The state of inserting many objects, for each type of plain values.
    var batches: [ObjectIdentifier: Batch] = [:]
    /// The number of rows that were written outside of batches.
    var singleCount = 0
    /// The keys of new objects that others refer to, or which refer to others; empty if there are none.
    var reserved: [Int64?] = []
    /// References to objects that were not written yet, with the keys that they were to have.
    private var early: [(node: Int, slot: Int, target: Int, key: Int64)] = []
    /// The link tables that were looked up.
    var linkTables: [PropertyKey: LinkTable] = [:]

    init(_ store: any ObjectStore, _ connection: Connection, _ graph: SaveGraph) {
      self.store = store
      self.connection = connection
      nodes = graph.nodes
      rootCount = graph.rootCount
      isPlain = graph.isPlain
      insertsOnly = graph.insertsOnly
      saved = Array(repeating: nil, count: nodes.count)
      isNew = Array(repeating: false, count: nodes.count)
    }
  }
}

extension SaveGraph.Transaction {
  /// Writes all objects: those that others refer to before them, as far as there are no cycles. Keys are
  /// given in the order in which the objects were met.
  mutating func run() throws -> [SaveGraph.Saved] {
    let copies = try findCopies()
    try reserveKeys()
    for index in order {
      if try mayBatch(index) {
        try addToBatch(index)
      } else {
        try insertPending()
        try write(index)
      }
    }
    try insertPending()
    try correctReferences()
    if !isPlain { try writeLinks() }
    // From now on the objects' own relations are what these lead to.
    for (index, slot) in copies { saved[index]?.settled.append((slot, .lazy)) }
    return saved.compactMap { $0 }
  }

  /// The nodes in the order in which they were met, each behind those that it refers to, as far as there are
  /// no cycles.
  private var order: [Int] {
    guard !isPlain else { return Array(nodes.indices) }
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

  /// Looks up the present values of other objects that were assigned to properties, before anything is
  /// written: an assignment means the value before the save, also if the save overwrites it.
  ///
  /// - Returns: The properties that will have relations of their own instead of others'.
  private mutating func findCopies() throws -> [(node: Int, slot: Int)] {
    if isPlain { return [] }
    var relations: [(node: Int, slot: Int)] = []
    for index in nodes.indices {
      for position in nodes[index].late.indices {
        let (slot, value) = nodes[index].late[position]
        guard value.isCopy, nodes[index].isChanged(slot) || isUnknown(index) else { continue }
        if case .asset(.stored(let handle, let pathExtension)) = value {
          let source = try handle.source(in: connection)
          nodes[index].late[position].value = .asset(
            source.map { .found($0, pathExtension: pathExtension) } ?? .empty)
        } else if case .copy(let source) = value {
          let property = nodes[index].plan.properties[slot]
          nodes[index].late[position].value = try copy(of: source, for: property)
          relations.append((index, slot))
        }
      }
    }
    return relations
  }

  /// The present targets of another object's lazy relation.
  private func copy(
    of source: LazySource, for property: ObjectPlan.Property
  ) throws -> SaveGraph.LateValue {
    guard source.token.identity == store.identity else {
      throw MagicError.notSaved(type: source.shape.typeName)
    }
    let objects = try source.objects
    let links = try objects.read(.links(), connection).links
    guard property.isLinked else {
      if links.isEmpty, !property.role.isOptional { return .missing }
      return .object(links.first.map { .stored($0.target) } ?? .none)
    }
    guard try objects.relation.isStored(store.tables, connection) else {
      throw MagicError.notSaved(type: source.shape.typeName)
    }
    return .links(links.map { ($0.place, .stored($0.target)) }, isSet: true)
  }

  /// Returns whether the store does not know an object yet.
  func isUnknown(_ index: Int) -> Bool {
    nodes[index].storage.zIndex(in: store.identity) == nil
  }
}

// Rows.
extension SaveGraph.Transaction {
  private mutating func write(_ index: Int) throws {
    // Not the whole node, whose every part would be retained.
    if let zIndex = nodes[index].storage.zIndex(in: store.identity) {
      if insertsOnly, index < rootCount {
        guard try !isPresent(nodes[index].plan, zIndex) else { throw alreadySaved(index) }
      } else {
        if let counting = nodes[index].plan.counting, nodes[index].snapshot.isChanged(counting) {
          try refuseOtherKey(index, zIndex)
        }
        if try update(index, zIndex) { return }
      }
    }
    // Unknown, or removed meanwhile: then it is a new one.
    try insert(index)
  }

  /// An Int primary value is the key by which the store and other objects know the object.
  private func refuseOtherKey(_ index: Int, _ zIndex: Int64) throws {
    let node = nodes[index]
    guard node.key != zIndex, let counting = node.plan.counting else { return }
    throw MagicError.unstorableValue(
      type: node.plan.typeName, property: node.plan.properties[counting].name,
      reason: "the object is in the store under another number, which does not change")
  }

  private func isPresent(_ plan: ObjectPlan, _ zIndex: Int64) throws -> Bool {
    try connection.firstRow(
      "SELECT 1 FROM \(identifier: plan.table) WHERE \(identifier: plan.key) = \(zIndex)") != nil
  }

  /// Writes the changes of an object that is in the store.
  ///
  /// - Returns: False if its row is gone.
  private mutating func update(_ index: Int, _ zIndex: Int64) throws -> Bool {
    let plan = nodes[index].plan
    singleCount += 1
    saved[index] = SaveGraph.Saved(zIndex: zIndex)
    var parameters = nodes[index].parameters
    var leftAlone: [Int] = []
    if !nodes[index].late.isEmpty {
      for (slot, value) in nodes[index].late
      where plan.properties[slot].hasColumn && nodes[index].isChanged(slot) {
        if let form = try form(of: value, slot, index, zIndex) {
          parameters[slot] = form
        } else {
          leftAlone.append(slot)
        }
      }
    }
    func isWritten(_ slot: Int) -> Bool {
      nodes[index].isChanged(slot) && !leftAlone.contains(slot)
    }
    let isPresent: Bool
    if let lastUpdate, nodes[index].expected == nil, lastUpdate.plan === plan,
      lastUpdate.writes(isWritten)
    {
      isPresent = try lastUpdate.run(parameters, zIndex)
    } else {
      isPresent = try update(index, plan.columns.filter(isWritten), parameters, zIndex)
    }
    if !isPresent {
      if nodes[index].expected != nil {
        throw MagicError.conflict(type: plan.typeName, zIndex: zIndex)
      }
      saved[index] = nil
      early.removeAll { $0.node == index }
    }
    return isPresent
  }

  /// Writes the values of some properties, which are other ones than those of the last object.
  private mutating func update(
    _ index: Int, _ slots: [Int], _ parameters: [CellContent.Form], _ zIndex: Int64
  ) throws -> Bool {
    let plan = nodes[index].plan
    if slots.isEmpty, index >= rootCount, !plan.links.contains(where: nodes[index].isChanged) {
      return true
    }
    if let expected = nodes[index].expected {
      let update = try UpdateStatement(
        plan, slots, ifStill: expected.map(\.slot), connection)
      return try update.run(parameters, zIndex, ifStill: expected.map(\.value))
    }
    if slots.isEmpty { return try isPresent(plan, zIndex) }
    let update = try UpdateStatement(plan, slots, connection)
    lastUpdate = update
    return try update.run(parameters, zIndex)
  }

  /// Inserts an object that the store does not know, or knows by its primary value only.
  mutating func insert(_ index: Int) throws {
    isNew[index] = true
    singleCount += 1
    let plan = nodes[index].plan
    if nodes[index].expected != nil { try refuseUnknownRow(index) }
    var parameters = nodes[index].parameters
    var settled: [(slot: Int, form: CellContent.Form)] = []
    if !nodes[index].late.isEmpty {
      try refuseLostValues(index)
      for (slot, value) in nodes[index].late where plan.properties[slot].hasColumn {
        guard let form = try form(of: value, slot, index, nil) else { continue }
        parameters[slot] = form
        if plan.properties[slot].role.isAsset { settled.append((slot, form)) }
      }
    }
    let key = nodes[index].key ?? reservedKey(index)
    let insertion = try insertion(plan, hasKey: key != nil)
    try insertion.bind(parameters, key: key)
    saved[index] = SaveGraph.Saved(zIndex: try run(insertion, key, index), settled: settled)
  }

  /// Inserts the object that is bound, and returns its z_index.
  ///
  /// - Parameters:
  ///   - insertion: The statement.
  ///   - key: The key that is bound, if one is.
  ///   - index: The object.
  private func run(_ insertion: InsertStatement, _ key: Int64?, _ index: Int) throws -> Int64 {
    do {
      if let zIndex = try insertion.run(key: key) { return zIndex }
    } catch let error as SQLiteError where insertsOnly && error.code.primary == .constraint {
      // Another column may be unique as well.
      guard try existing(index) != nil else { throw error }
      throw alreadySaved(index)
    }
    guard let present = try existing(index) else {
      throw MagicError.notSaved(type: nodes[index].plan.typeName)
    }
    if insertsOnly { throw alreadySaved(index) }
    return present
  }

  /// The statement that inserts one object of a type.
  private mutating func insertion(_ plan: ObjectPlan, hasKey: Bool) throws -> InsertStatement {
    let type = ObjectIdentifier(plan.type)
    if let known = insertions[type], known.hasKey == hasKey { return known }
    let insertion = try InsertStatement(
      plan, hasKey: hasKey, insertsOnly: insertsOnly, connection)
    insertions[type] = insertion
    return insertion
  }

  /// The error for an object that must be new, and is not.
  private func alreadySaved(_ index: Int) -> MagicError {
    let primary: String? =
      switch nodes[index].primaryValue {
      case .text(let text): text
      case .integer(let number): "\(number)"
      case nil, .null, .real, .blob: nil
      }
    return .alreadySaved(type: nodes[index].plan.typeName, primary: primary)
  }

  /// Values that were left in the store went with the row: half an object must not come back.
  private func refuseLostValues(_ index: Int) throws {
    let plan = nodes[index].plan
    for (slot, value) in nodes[index].late where plan.properties[slot].isStored {
      switch value {
      case .untouched, .copy:
        throw MagicError.lostValue(type: plan.typeName, property: plan.properties[slot].name)
      case .object, .links, .asset, .kept, .missing: continue
      }
    }
  }

  /// Refuses to give a new object's values to one with the same primary value, which nobody has looked
  /// at, if it must be unchanged.
  private func refuseUnknownRow(_ index: Int) throws {
    guard let other = try existing(index) else { return }
    throw MagicError.conflict(type: nodes[index].plan.typeName, zIndex: other)
  }

  /// The z_index of the object in the store with the same primary value.
  private func existing(_ index: Int) throws -> Int64? {
    let plan = nodes[index].plan
    guard let primary = plan.primary, let value = nodes[index].primaryValue else { return nil }
    return try connection.firstRow(
      "SELECT \(identifier: plan.key) FROM \(identifier: plan.table) WHERE \(identifier: plan.properties[primary].name) = \(value)",
      as: Int64.self)
  }

  /// The stored form of a late value, or nil to leave the column alone.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - slot: Its property.
  ///   - index: Its node.
  ///   - zIndex: The object's z_index, or nil for a new object.
  private mutating func form(
    of value: SaveGraph.LateValue, _ slot: Int, _ index: Int, _ zIndex: Int64?
  ) throws -> CellContent.Form? {
    switch value {
    case .object(.none): return .stored(.null)
    case .object(.stored(let target)): return .stored(.integer(target))
    case .object(.node(let target)):
      if let known = saved[target]?.zIndex { return .stored(.integer(known)) }
      guard let key = nodes[target].storage.zIndex(in: store.identity) ?? reservedKey(target)
      else { throw MagicError.notSaved(type: nodes[target].plan.typeName) }
      early.append((index, slot, target, key))
      return .stored(.integer(key))
    case .asset(let pending): return try asset(pending, slot, index, zIndex)
    case .kept(let handle):
      guard zIndex == nil else { return nil }
      return try asset(.stored(handle, pathExtension: nil), slot, index, nil)
    case .untouched, .copy, .links: return nil
    case .missing: throw nodes[index].missingValue(slot)
    }
  }

  /// Writes the references anew whose targets got other keys than were reserved.
  private func correctReferences() throws {
    for (node, slot, target, key) in early {
      // An object that had the primary value already kept its key; one that was removed got a new one.
      guard let owner = saved[node], let other = saved[target], other.zIndex != key else {
        continue
      }
      let plan = nodes[node].plan
      try connection.executeChange(
        "UPDATE \(identifier: plan.table) SET \(identifier: plan.properties[slot].name) = \(other.zIndex) WHERE \(identifier: plan.key) = \(owner.zIndex)"
      )
    }
  }
}
