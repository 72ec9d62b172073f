import SQLiteCore
import SQLiteMapping

extension SaveGraph {
  /// The key and the values that the store gave to a saved object. The object gets them after the commit.
  struct Saved: Sendable {
    let zIndex: Int64
    /// The forms that the store made of properties, such as the id of an asset.
    private(set) var settled: [(slot: Int, form: CellValue.Form)]?
    /// The links that were written.
    private(set) var links: [KnownLinks]?

    init(zIndex: Int64, settled: [(slot: Int, form: CellValue.Form)]? = nil) {
      self.zIndex = zIndex
      self.settled = settled
    }

    mutating func settle(_ slot: Int, _ form: CellValue.Form) {
      settled = (settled ?? []) + [(slot, form)]
    }

    mutating func note(_ known: KnownLinks) { links = (links ?? []) + [known] }
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
    // Before another write begins: it may save the same objects, and must know that they are in the store.
    if connection.isInsideAnother {
      settle(saved, in: StoreContent(of: store))
    } else {
      connection.afterCommit { _ in settle(saved, in: StoreContent(of: store)) }
    }
    return roots.map { Int(saved[$0]?.zIndex ?? 0) }
  }

  /// Marks the saved objects as clean, and stores in them the keys and asset ids that the database made.
  private func settle(_ saved: [Saved?], in content: StoreContent) {
    let (nodes, values) = (nodes, values)
    // By index: a copy of a node would retain every part.
    for index in nodes.indices {
      guard let saved = saved[index] else { continue }
      let settled =
        nodes[index].isPlain
        ? saved.settled : settleLazy(nodes[index], saved, in: content)
      nodes[index].storage.saved(
        as: saved.zIndex, in: content, nodes[index].snapshot, values.slots,
        first: nodes[index].first,
        settled: settled, links: saved.links)
    }
  }

  /// Marks the lazy values of an object as clean.
  ///
  /// - Returns: The values that the database made of properties which were not set meanwhile.
  private func settleLazy(
    _ node: Node, _ saved: Saved, in content: StoreContent
  ) -> [(slot: Int, form: CellValue.Form)]? {
    var settled = saved.settled
    for (slot, value, state, isOwn) in node.lazy {
      // A value that was set meanwhile remains a change.
      if value.state.number != state.number { settled?.removeAll { $0.slot == slot } }
      guard isOwn else { continue }
      let known = saved.links?.first { $0.slot == slot }
      let source =
        node.leaves(state, in: content) ? source(of: node, slot, saved.zIndex, in: content) : nil
      value.saved(
        state,
        known.map {
          LazyLinks(store: content.identity, owner: saved.zIndex, links: $0.links)
        }, leftAt: source)
      // Another property has the same value, and is the one that it stands for now.
      if let source, let other = value.state.source, !other.isSame(as: source) {
        settled = (settled ?? []) + [(slot, .lazy)]
      }
    }
    return settled
  }
}

extension SaveGraph {
  private func source(
    of node: Node, _ slot: Int, _ zIndex: Int64, in content: StoreContent
  ) -> LazySource? {
    guard node.plan.properties[slot].isRelation else { return nil }
    return LazySource(content: content, shape: node.storage.shape, slot: slot, zIndex: zIndex)
  }
}

extension SaveGraph.Node {
  /// Whether a lazy value is left in the store once it is saved. One that was set would hold its objects forever in
  /// an object that was fetched, or with an object of its own ring. One that was left there before may be of
  /// a store that was closed and opened again.
  fileprivate func leaves(_ state: LazyState, in content: StoreContent) -> Bool {
    if let source = state.source { return source.content.identity == content.identity }
    if storage.fetchedZIndex != nil { return true }
    guard let live = state.live, let ring = context?.ring else { return false }
    return ring.isReferenced(by: live)
  }
}

extension LazySource {
  /// Whether both are the same property of the same object.
  fileprivate func isSame(as other: LazySource) -> Bool {
    zIndex == other.zIndex && slot == other.slot && shape.type == other.shape.type
      && content.identity == other.content.identity
  }
}

extension SaveGraph {
  /// A graph while it is written in a transaction: rows first, then links.
  struct Transaction {
    let store: any ObjectStore
    /// The store's identity, which each object is asked for by.
    let identity: StoreIdentity
    let connection: Connection
    var nodes: [Node]
    var values: Values
    let rootCount: Int
    let isPlain: Bool
    let insertsOnly: Bool
    /// The properties that objects are found by: see ``SaveGraph/matching``.
    let matching: [String]
    /// The results, one for each node that was written.
    var saved: [Saved?]
    var isNew: [Bool]
    /// The statement that inserted the last object of each type: most objects of a type need the same.
    var insertions: [ObjectIdentifier: InsertStatement] = [:]
    /// The statement that wrote the last changes.
    var lastUpdate: UpdateStatement?
    /// New objects of one type that are to be inserted by one statement.
    var pending: [Int] = []
    /// How many of them one statement inserts.
    var pendingLimit = 1
    /// The state of inserting many objects, for each type of plain values.
    var batches: [ObjectIdentifier: InsertBatch] = [:]
    /// The number of rows that were written outside of batches.
    var singleCount = 0
    /// The keys of new objects that others refer to, or which refer to others; empty if there are none.
    var reserved: [Int64?] = []
    /// References to objects that were not written yet, with the keys that they were to have.
    var early: [(node: Int, slot: Int, target: Int, key: Int64)] = []

    init(_ store: any ObjectStore, _ connection: Connection, _ graph: SaveGraph) {
      self.store = store
      identity = store.identity
      self.connection = connection
      nodes = graph.nodes
      values = graph.values
      rootCount = graph.rootCount
      isPlain = graph.isPlain
      insertsOnly = graph.insertsOnly
      matching = graph.matching
      saved = Array(repeating: nil, count: nodes.count)
      isNew = Array(repeating: false, count: nodes.count)
    }
  }
}

extension SaveGraph.Transaction {
  /// Writes all objects: those that others refer to before them, as far as there are no cycles. Keys are
  /// given in the order in which the objects were met.
  mutating func run() throws -> [SaveGraph.Saved?] {
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
    for (index, slot) in copies { saved[index]?.settle(slot, .lazy) }
    return saved
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
        guard value.isCopy, isChanged(slot, index) || isUnknown(index) else { continue }
        if case .asset(.stored(let handle, let pathExtension)) = value {
          let source = try handle.source(in: store.assets, connection)
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
    guard source.content.identity == store.identity else {
      throw MagicError.foreignValue(
        type: source.shape.typeName, property: source.shape.properties[source.slot].name)
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

  /// Returns whether a property was set or changed since the object was saved or fetched.
  func isChanged(_ slot: Int, _ index: Int) -> Bool {
    values.isChanged(slot, in: nodes[index])
  }

  /// The key that an object brings with it: its Int primary value.
  func key(_ index: Int) -> Int64? {
    values.key(of: nodes[index].plan, first: nodes[index].first)
  }

  /// Returns whether the store does not know an object yet.
  func isUnknown(_ index: Int) -> Bool {
    nodes[index].storage.zIndex(in: identity) == nil
  }
}
