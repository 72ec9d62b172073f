import SQLiteCore
import SQLiteMapping

extension SaveGraph {
  /// The key and the values that the store assigned to a saved object. They are copied to the
  /// object when it is marked as saved.
  struct Saved: Sendable {
    let zIndex: Int64
    /// The property values that the store determined, such as the ID of an asset.
    fileprivate(set) var assigned: [(slot: Int, form: _CellValue.Form)]
    /// The links of the object that were written, or nil if none were.
    fileprivate(set) var links: [KnownLinks]?
    /// Whether only changes were written to a row that the object was saved in or fetched from.
    let isUpdate: Bool

    init(
      zIndex: Int64, assigned: [(slot: Int, form: _CellValue.Form)] = [], isUpdate: Bool = false
    ) {
      self.zIndex = zIndex
      self.assigned = assigned
      self.isUpdate = isUpdate
    }

    mutating func settle(_ slot: Int, _ form: _CellValue.Form) { assigned.append((slot, form)) }

    mutating func register(_ known: KnownLinks) { links = (links ?? []) + [known] }
  }

  /// Writes all objects and their links as part of the open transaction. Marks the objects as saved
  /// after the commit or, inside an outer transaction, immediately.
  ///
  /// - Returns: The z_index values of the roots.
  func write(on connection: Connection, in store: any ObjectStore) throws -> [Int] {
    // The content can't be replaced while this transaction is open.
    guard generation == store.generation else {
      throw MagicError.restored(type: kinds.first?.plan.typeName ?? "object")
    }
    try store.prepareTables(plans, connection)
    var transaction = Transaction(store, connection, self)
    let saved = try transaction.run()
    // The objects are marked before another write begins, because that write may save the same
    // objects.
    if connection.isInsideOuterTransaction {
      // The outer transaction may still roll back after the objects are marked.
      let undo = SaveRollback(in: store.identity, capacity: nodes.count)
      settle(saved, in: StoreContent(of: store), undo)
      connection.afterRollback { _ in undo.run() }
    } else {
      connection.afterCommit { _ in settle(saved, in: StoreContent(of: store), nil) }
    }
    return roots.map { Int(saved[$0]?.zIndex ?? 0) }
  }

  /// Marks the objects as saved, and copies the keys and asset IDs that the database assigned to
  /// them.
  ///
  /// - Parameter undo: Receives the previous state of the objects.
  private func settle(_ saved: [Saved?], in content: StoreContent, _ undo: SaveRollback?) {
    // By index, because a copy of a node would retain all its parts.
    for index in nodes.indices {
      guard var saved = saved[index] else { continue }
      if !nodes[index].lazies.isEmpty {
        settleLazies(nodes[index], &saved, in: content, undo)
      }
      let former = nodes[index].storage.saved(
        as: saved.zIndex, in: content, nodes[index].snapshot, values, first: nodes[index].first,
        assigned: saved.assigned, links: saved.links, isUpdate: saved.isUpdate)
      undo?.add(nodes[index].storage, former)
    }
  }

  /// Marks the lazy values of an object as saved, and replaces those that needn't stay in memory
  /// with references to the store.
  private func settleLazies(
    _ node: Node, _ saved: inout Saved, in content: StoreContent, _ undo: SaveRollback?
  ) {
    for lazy in lazies[node.lazies] {
      let slot = lazy.slot
      // A value that was set during the save remains a pending change.
      if lazy.box.state.number != lazy.state.number {
        saved.assigned.removeAll { $0.slot == slot }
      }
      guard lazy.isOwn else { continue }
      let isRelation = node.plan.properties[slot].isRelation
      // A value that another property has saved remains the value of that one. This property has
      // its own relation from now on.
      if let other = lazy.box.state.save(in: content.identity)?.source,
        !other.isProperty(slot, of: node.storage.shape, saved.zIndex)
      {
        if isRelation, lazy.box.state.number == lazy.state.number { saved.settle(slot, .lazy) }
        continue
      }
      if lazy.state.isChanged(in: content.identity) { undo?.add(lazy) }
      let known = saved.links?.first { $0.slot == slot }
      lazy.box.saved(
        lazy.state,
        known.map {
          LazyLinks(store: content.identity, owner: saved.zIndex, links: $0.links)
        },
        as: LazySource(
          content: content, shape: node.storage.shape, slot: slot, zIndex: saved.zIndex),
        isStored: isRelation && node.leavesInStore(lazy, in: content))
    }
  }
}

extension SaveGraph.Node {
  /// Returns whether a lazy value, once it is saved, is released from memory and read from the
  /// store when it is requested again.
  ///
  /// That applies to the values of a fetched object, and to a value that references an object of
  /// the same cycle: either would leak if it stayed in memory. It also applies to a value that was
  /// already in this store, because the value may still refer to the store as it was before it was
  /// closed and opened again.
  fileprivate func leavesInStore(_ lazy: SaveGraph.Lazy, in content: StoreContent) -> Bool {
    if let source = lazy.state.source { return source.content.identity == content.identity }
    return storage.fetchedZIndex != nil || lazy.isInCycle
  }
}

extension SaveGraph {
  /// The state of writing a graph in a transaction: first rows, then links.
  ///
  /// The type isn't copyable, because each nonmutating call would copy it field by field (benchmark
  /// `import`).
  struct Transaction: ~Copyable {
    let store: any ObjectStore
    /// The identity of the store, for checking which objects it contains.
    let identity: StoreIdentity
    let connection: Connection
    let graph: SaveGraph
    let nodes: [Node]
    let values: SlotCopies
    var deferred: [(slot: Int, value: DeferredValue)]
    let insertsOnly: Bool
    /// The key and the assigned values of each node that was written; nil for other nodes.
    var saved: [Saved?]
    var isNew: [Bool]
    /// For each object, whether it got a newly inserted row, which no links reference yet.
    var isInserted: [Bool]
    /// The stored forms of the current object's deferred values.
    var resolved: ResolvedValues = []
    /// The values that the store determined for properties of the current object, such as the ID of
    /// an asset.
    var assigned: [(slot: Int, form: _CellValue.Form)] = []
    /// The state of inserting objects, for each element of ``SaveGraph/kinds``.
    var inserts: [InsertState]
    /// The statements that insert links of new objects, by property.
    var linkInsertions: [(key: PropertyKey, insertion: LinkInsertion)] = []
    /// The indexes of the current object's properties with columns that must be written.
    var changed: [Int] = []
    /// The last UPDATE statement, which the next object reuses if it writes the same columns. Nil
    /// before the first update.
    var lastUpdate: UpdateStatement?
    /// The indexes of the nodes in the current batch: new objects of one type that one statement
    /// will insert.
    var pending: [Int] = []
    /// The number of rows that the transaction has written outside of batches so far.
    var singleCount = 0
    /// References to objects that weren't written yet, with the keys reserved for them.
    var forwardReferences: [(node: Int, slot: Int, target: Int, key: Int64)] = []

    init(_ store: any ObjectStore, _ connection: Connection, _ graph: SaveGraph) {
      self.store = store
      identity = store.identity
      self.connection = connection
      self.graph = graph
      nodes = graph.nodes
      values = graph.values
      deferred = graph.deferred
      insertsOnly = graph.insertsOnly
      inserts = Array(repeating: InsertState(), count: graph.kinds.count)
      saved = Array(repeating: nil, count: nodes.count)
      isNew = Array(repeating: false, count: nodes.count)
      isInserted = Array(repeating: false, count: nodes.count)
    }
  }
}

extension SaveGraph.Transaction {
  /// Writes all objects. An object is written after the objects that it references by columns,
  /// except in cycles. Keys follow the order in which the objects were found.
  mutating func run() throws -> [SaveGraph.Saved?] {
    let copies = try findCopies()
    try reserveKeys()
    if deferred.isEmpty {
      for index in nodes.indices { try writeOrBatch(index) }
    } else {
      try writeInOrder()
    }
    try insertPending()
    try correctReferences()
    if !graph.isPlain { try writeLinks() }
    // From now on, these properties have their own relations.
    for (index, slot) in copies { saved[index]?.settle(slot, .lazy) }
    return saved
  }

  /// Writes the objects in the order in which they were found, but each after the objects that it
  /// references by columns, except in cycles.
  private mutating func writeInOrder() throws {
    var isVisited = Array(repeating: false, count: nodes.count)
    // The objects whose targets are being written, each with the index of its next late value. An
    // explicit stack, because a chain of objects can be as long as memory allows.
    var path: [(node: Int, next: Int)] = []
    for start in nodes.indices where !isVisited[start] {
      isVisited[start] = true
      path.append((start, nodes[start].deferred.lowerBound))
      while let (node, next) = path.last {
        guard next < nodes[node].deferred.upperBound else {
          path.removeLast()
          try writeOrBatch(node)
          continue
        }
        path[path.count - 1].next += 1
        guard case .object(.node(let target)) = deferred[next].value, !isVisited[target] else {
          continue
        }
        isVisited[target] = true
        path.append((target, nodes[target].deferred.lowerBound))
      }
    }
  }

  /// Writes an object, or adds it to the batch of its type.
  private mutating func writeOrBatch(_ index: Int) throws {
    if nodes[index].isClean { return }
    let known = nodes[index].storage.position(in: identity)
    if isOutdated(index, known?.savedCount) { throw SaveGraph.Outdated() }
    if known == nil, try mayBatch(index) { return try addToBatch(index) }
    try insertPending()
    try write(index, known)
  }

  /// Returns whether a save was rolled back that the graph has considered when it was created. The
  /// graph doesn't contain the changes that are pending again.
  ///
  /// - Parameters:
  ///   - index: The index of the object's node.
  ///   - savedCount: The object's change count at its last save in the store, or nil if it isn't in
  ///     the store any more.
  private func isOutdated(_ index: Int, _ savedCount: Int?) -> Bool {
    let snapshot = nodes[index].snapshot
    guard snapshot.isKnown else { return false }
    guard let savedCount, savedCount >= snapshot.savedCount else { return true }
    return graph.lazies[nodes[index].lazies].contains { lazy in
      lazy.box.state.savedNumber(in: identity) < lazy.state.savedNumber(in: identity)
    }
  }

  /// Returns the key of an object that was written or that is unchanged in the store; nil if the
  /// object isn't written yet.
  func zIndex(of index: Int) -> Int64? {
    nodes[index].isClean ? nodes[index].snapshot.zIndex : saved[index]?.zIndex
  }

  /// Reads the relations and assets of other objects that were assigned to properties, before
  /// anything is written. The assigned value is the one from before the save, even if the save
  /// overwrites the original.
  ///
  /// - Returns: The properties that were assigned another object's relation. Each gets its own copy
  ///   of the relation.
  private mutating func findCopies() throws -> [(node: Int, slot: Int)] {
    guard deferred.contains(where: \.value.isCopy) else { return [] }
    var relations: [(node: Int, slot: Int)] = []
    for index in nodes.indices {
      for place in nodes[index].deferred {
        let (slot, value) = deferred[place]
        guard value.isCopy, isChanged(slot, index) || isUnknown(index) else { continue }
        if case .asset(.stored(let handle, let pathExtension)) = value {
          let source = try handle.source(in: store.assets, connection)
          deferred[place].value = .asset(
            source.map { .found($0, pathExtension: pathExtension) } ?? .empty)
        } else if case .copy(let source) = value {
          deferred[place].value = try copy(of: source, for: nodes[index].plan.properties[slot])
          relations.append((index, slot))
        }
      }
    }
    return relations
  }

  /// Returns the current targets of another object's lazy relation.
  private func copy(
    of source: LazySource, for property: ObjectPlan.Property
  ) throws -> SaveGraph.DeferredValue {
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

  /// Returns whether a property has been set or changed since the object was saved or fetched.
  func isChanged(_ slot: Int, _ index: Int) -> Bool { values.isChanged(slot, in: nodes[index]) }

  /// Returns the `Int` primary value of an object, which is its key. Returns nil if the type has
  /// none, or if the database hasn't assigned the value yet.
  func key(_ index: Int) -> Int64? {
    values.key(of: nodes[index].plan, first: nodes[index].first)
  }

  /// Returns whether the object of a node isn't in the store yet.
  func isUnknown(_ index: Int) -> Bool {
    nodes[index].storage.zIndex(in: identity) == nil
  }
}
