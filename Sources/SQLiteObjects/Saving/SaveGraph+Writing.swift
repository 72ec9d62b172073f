import SQLiteCore
import SQLiteMapping

extension SaveGraph {
  /// The key and the values that the store gave to a saved object. The object gets them after the commit.
  struct Saved: Sendable {
    let zIndex: Int64
    /// The forms that the store made of properties, such as the id of an asset.
    fileprivate(set) var settled: [(slot: Int, form: _CellValue.Form)]
    /// The links that were written.
    fileprivate(set) var links: [KnownLinks]?

    init(zIndex: Int64, settled: [(slot: Int, form: _CellValue.Form)] = []) {
      self.zIndex = zIndex
      self.settled = settled
    }

    mutating func settle(_ slot: Int, _ form: _CellValue.Form) { settled.append((slot, form)) }

    mutating func note(_ known: KnownLinks) { links = (links ?? []) + [known] }
  }

  /// Writes all objects and their links, as part of the open transaction, and notes in the objects that they
  /// are saved when it has committed.
  ///
  /// - Returns: The z_index values of the roots.
  func write(on connection: Connection, in store: any ObjectStore) throws -> [Int] {
    // Nobody replaces the content while this transaction is open.
    guard generation == store.generation else {
      throw MagicError.restored(type: kinds.first?.plan.typeName ?? "object")
    }
    try store.prepareTables(plans, connection)
    var transaction = Transaction(store, connection, self)
    let saved = try transaction.run()
    // Before another write begins: it may save the same objects, and must know that they are in the store.
    if connection.isInsideAnother {
      // The transaction around this one may still be undone, after the objects have learned of this.
      let undo = SaveUndo(capacity: nodes.count)
      settle(saved, in: StoreContent(of: store), undo)
      connection.afterRollback { _ in undo.run() }
    } else {
      connection.afterCommit { _ in settle(saved, in: StoreContent(of: store), nil) }
    }
    return roots.map { Int(saved[$0]?.zIndex ?? 0) }
  }

  /// Marks the saved objects as clean, and stores in them the keys and asset ids that the database made.
  ///
  /// - Parameter undo: Gets what restores the objects.
  private func settle(_ saved: [Saved?], in content: StoreContent, _ undo: SaveUndo?) {
    // By index: a copy of a node would retain every part.
    for index in nodes.indices {
      guard var saved = saved[index] else { continue }
      if !nodes[index].lazies.isEmpty {
        settleLazies(nodes[index], &saved, in: content, undo)
      }
      let former = nodes[index].storage.saved(
        as: saved.zIndex, in: content, nodes[index].snapshot, values, first: nodes[index].first,
        settled: saved.settled, links: saved.links)
      undo?.add(nodes[index].storage, former)
    }
  }

  /// Marks the lazy values of an object as clean.
  private func settleLazies(
    _ node: Node, _ saved: inout Saved, in content: StoreContent, _ undo: SaveUndo?
  ) {
    for lazy in lazies[node.lazies] {
      let slot = lazy.slot
      // A value that was set meanwhile remains a change.
      if lazy.value.state.number != lazy.state.number {
        saved.settled.removeAll { $0.slot == slot }
      }
      guard lazy.isOwn else { continue }
      if lazy.state.isChanged { undo?.add(lazy) }
      let known = saved.links?.first { $0.slot == slot }
      let source =
        node.leaves(lazy.state, in: content)
        ? source(of: node, slot, saved.zIndex, in: content) : nil
      lazy.value.saved(
        lazy.state,
        known.map {
          LazyLinks(store: content.identity, owner: saved.zIndex, links: $0.links)
        }, leftAt: source)
      // Another property has the same value, and is the one that it stands for now.
      if let source, let other = lazy.value.state.source, !other.isSame(as: source) {
        saved.settle(slot, .lazy)
      }
    }
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
  ///
  /// Not copyable: otherwise each call that does not change it would copy it part by part (benchmark `import`).
  struct Transaction: ~Copyable {
    let store: any ObjectStore
    /// The store's identity, which each object is asked for by.
    let identity: StoreIdentity
    let connection: Connection
    let graph: SaveGraph
    let nodes: [Node]
    let values: SlotCopies
    var late: [(slot: Int, value: LateValue)]
    let insertsOnly: Bool
    /// The results, one for each node that was written.
    var saved: [Saved?]
    var isNew: [Bool]
    /// Whether a new object got a row of its own, to which nothing is linked yet.
    var isInserted: [Bool]
    /// The stored forms of the present object's late values.
    var resolved: ResolvedValues = []
    /// The forms that the store made of the present object's properties.
    var settled: [(slot: Int, form: _CellValue.Form)] = []
    /// The state of inserting objects, for each of ``SaveGraph/kinds``.
    var inserts: [InsertState]
    /// The statements that insert links of new objects.
    var linkInsertions: [(key: PropertyKey, insertion: LinkInsertion)] = []
    /// The columns of the present object that are written.
    var changed: [Int] = []
    /// The statement that wrote the last changes.
    var lastUpdate: UpdateStatement?
    /// New objects of one type that are to be inserted by one statement.
    var pending: [Int] = []
    /// The number of rows that were written outside of batches.
    var singleCount = 0
    /// References to objects that were not written yet, with the keys that they were to have.
    var early: [(node: Int, slot: Int, target: Int, key: Int64)] = []

    init(_ store: any ObjectStore, _ connection: Connection, _ graph: SaveGraph) {
      self.store = store
      identity = store.identity
      self.connection = connection
      self.graph = graph
      nodes = graph.nodes
      values = graph.values
      late = graph.late
      insertsOnly = graph.insertsOnly
      inserts = Array(repeating: InsertState(), count: graph.kinds.count)
      saved = Array(repeating: nil, count: nodes.count)
      isNew = Array(repeating: false, count: nodes.count)
      isInserted = Array(repeating: false, count: nodes.count)
    }
  }
}

extension SaveGraph.Transaction {
  /// Writes all objects: those that others reference by columns before them, as far as there are no cycles. Keys are
  /// given in the order in which the objects were found.
  mutating func run() throws -> [SaveGraph.Saved?] {
    let copies = try findCopies()
    try reserveKeys()
    if late.isEmpty {
      for index in nodes.indices { try writeOrBatch(index) }
    } else {
      try writeInOrder()
    }
    try insertPending()
    try correctReferences()
    if !graph.isPlain { try writeLinks() }
    // From now on the objects' own relations are what these reference.
    for (index, slot) in copies { saved[index]?.settle(slot, .lazy) }
    return saved
  }

  /// Writes the objects in the order in which they were found, each after those that it references by columns, as far as
  /// there are no cycles.
  private mutating func writeInOrder() throws {
    var isMet = Array(repeating: false, count: nodes.count)
    // The objects whose references are being written, each with the next of its late values. By a stack of our own: a
    // chain may be as long as memory is.
    var path: [(node: Int, next: Int)] = []
    for start in nodes.indices where !isMet[start] {
      isMet[start] = true
      path.append((start, nodes[start].late.lowerBound))
      while let (node, next) = path.last {
        guard next < nodes[node].late.upperBound else {
          path.removeLast()
          try writeOrBatch(node)
          continue
        }
        path[path.count - 1].next += 1
        guard case .object(.node(let target)) = late[next].value, !isMet[target] else { continue }
        isMet[target] = true
        path.append((target, nodes[target].late.lowerBound))
      }
    }
  }

  /// Writes an object, or lets it wait until others of its type are inserted together with it.
  private mutating func writeOrBatch(_ index: Int) throws {
    if nodes[index].isClean { return }
    let known = nodes[index].storage.zIndex(in: identity)
    if known == nil, try mayBatch(index) { return try addToBatch(index) }
    try insertPending()
    try write(index, known)
  }

  /// The key of an object that was written, or that is in the store and was not changed.
  func zIndex(of index: Int) -> Int64? {
    nodes[index].isClean ? nodes[index].snapshot.zIndex : saved[index]?.zIndex
  }

  /// Looks up the present values of other objects that were assigned to properties, before anything is
  /// written: an assignment means the value before the save, also if the save overwrites it.
  ///
  /// - Returns: The properties that will have relations of their own instead of others'.
  private mutating func findCopies() throws -> [(node: Int, slot: Int)] {
    guard late.contains(where: \.value.isCopy) else { return [] }
    var relations: [(node: Int, slot: Int)] = []
    for index in nodes.indices {
      for place in nodes[index].late {
        let (slot, value) = late[place]
        guard value.isCopy, isChanged(slot, index) || isUnknown(index) else { continue }
        if case .asset(.stored(let handle, let pathExtension)) = value {
          let source = try handle.source(in: store.assets, connection)
          late[place].value = .asset(
            source.map { .found($0, pathExtension: pathExtension) } ?? .empty)
        } else if case .copy(let source) = value {
          late[place].value = try copy(of: source, for: nodes[index].plan.properties[slot])
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
    let links = try objects.found(connection) { try objects.links($0) }.links
    guard property.isLinked else {
      if links.isEmpty, !property.role.isOptional { return .missing }
      return .object(links.first.map { .stored($0.target) } ?? .none)
    }
    guard try objects.relation.isStored(store.tables, connection) else {
      throw MagicError.notSaved(type: source.shape.typeName)
    }
    return .copied(links)
  }

  /// Returns whether a property was set or changed since the object was saved or fetched.
  func isChanged(_ slot: Int, _ index: Int) -> Bool { values.isChanged(slot, in: nodes[index]) }

  /// The key that an object brings with it: its Int primary value.
  func key(_ index: Int) -> Int64? {
    values.key(of: nodes[index].plan, first: nodes[index].first)
  }

  /// Returns whether the store does not know an object yet.
  func isUnknown(_ index: Int) -> Bool {
    nodes[index].storage.zIndex(in: identity) == nil
  }
}
