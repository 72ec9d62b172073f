import SQLiteCore

extension SaveGraph {
  /// A walk that finds the objects of a graph and reads their values in one pass. It is iterative,
  /// because a chain of objects can be as long as memory allows.
  ///
  /// The nodes are also the queue of the walk. When an object is found, it becomes a node and its
  /// values are read. The objects that it references are found when it is its turn in the queue.
  ///
  /// The type isn't copyable, because each nonmutating call would copy it field by field (benchmark
  /// `import`).
  struct Walk: ~Copyable {
    private let store: any ObjectStore
    let identity: StoreIdentity
    let generation: Int
    private(set) var kinds: [Kind] = []
    var nodes: [Node] = []
    let values = SlotCopies(capacity: 16)
    var deferred: [(slot: Int, value: DeferredValue)] = []
    var links: [(key: Value, target: Target)] = []
    var lazies: [Lazy] = []
    var edits: [Edits] = []
    /// The nodes by storage. Filled when the walk first finds an object that already has a storage.
    /// Before that, no object can have been found twice.
    private var indexes = NodeIndexes()
    private let capacity: Int
    /// The number of nodes for the objects that were passed to the save; nil until all of them are
    /// added.
    private var rootCount: Int?

    init(_ store: any ObjectStore, capacity: Int) {
      self.store = store
      self.capacity = capacity
      identity = store.identity
      generation = store.generation
      nodes.reserveCapacity(capacity)
    }

    /// Adds the objects that were passed to the save, and returns the indexes of their nodes.
    mutating func addRoots<Object: MagicObject>(
      _ objects: some Sequence<Object>
    ) throws -> [Int] {
      let indexes = try addInPlace(objects) ?? objects.map { try add($0) }
      rootCount = nodes.count
      return indexes
    }

    /// Adds the objects that were passed to the save of another graph, and returns the indexes of
    /// their nodes.
    mutating func addRoots(of graph: SaveGraph) throws -> [Int] {
      var indexes: [Int] = []
      for root in graph.roots {
        indexes.append(try add(graph.nodes[root].storage, graph.nodes[root].context))
      }
      rootCount = nodes.count
      return indexes
    }

    /// Adds all objects that the nodes reference, directly or indirectly, as further nodes.
    mutating func run() throws {
      if kinds.allSatisfy(\.plan.isPlain) { return }
      var next = 0
      while next < nodes.count {
        try addValues(of: next)
        next += 1
      }
    }

    /// Adds objects to the graph without copying them, if they consist only of cells. Taking a
    /// value of unknown type out of an array would copy it.
    ///
    /// - Returns: The indexes of their nodes, or nil if the objects must be added one by one.
    private mutating func addInPlace<Object: MagicObject>(
      _ objects: some Sequence<Object>
    ) throws -> [Int]? {
      guard objects.underestimatedCount > 0 else { return nil }
      let kind = try kind(of: Object.self)
      let plan = kinds[kind].plan
      guard let layout = plan.layout else { return nil }
      values.reserve(capacity * plan.properties.count)
      var indexes: [Int] = []
      indexes.reserveCapacity(objects.underestimatedCount)
      let isDone: Void? = try objects.withContiguousStorageIfAvailable { objects in
        try unsafe layout.forEach(UnsafeRawBufferPointer(objects)) {
          indexes.append(try add(kind, $0))
        }
      }
      return isDone.map { indexes }
    }

    /// Adds an object and returns the index of its node.
    mutating func add<Object: MagicObject>(_ object: Object) throws -> Int {
      let kind = try kind(of: Object.self)
      let plan = kinds[kind].plan
      if plan.isClass { try ObjectPlan.refuse(Swift.type(of: object), as: Object.self) }
      if let layout = plan.layout {
        return try layout.withCells(of: object) { try add(kind, $0) }
      }
      let cells = try plan.cells(of: object)
      guard let index = try BorrowedCells.with(cells, { try add(kind, $0) }) else {
        throw MagicError.unsuitableType(type: plan.typeName, reason: "it has no stored properties")
      }
      return index
    }

    /// Adds an object by its cells, and creates its storage if it has none yet. Returns the index
    /// of its node.
    mutating func add(_ kind: Int, _ cells: BorrowedCells) throws -> Int {
      if let key = cells.storageIdentifier {
        if let known = indexes.index(of: key) { return known }
        if let address = cells[0].address { return try add(address.storage, address.context) }
      }
      let plan = kinds[kind].plan
      if let primary = plan.primary, plan.autoIncrementSlot == nil {
        _ = cells[primary].primaryForm(plan.wrappers[primary])
      }
      let storage = ObjectStorage.make(plan.shape)
      let context =
        plan.shape.hasRelations ? FetchContext(of: ObjectGroup(of: storage), in: nil) : nil
      let (first, lives) = (values.count, values.liveCount)
      let adopted = storage.adopt(cells, to: values, in: context)
      if adopted == plan.properties.count {
        if !indexes.isEmpty {
          _ = indexes.index(of: ObjectIdentifier(storage), orElse: nodes.count)
        }
        return try append(
          Node(plan, kind, storage, context, .ofNewObject, first: first), since: lives)
      }
      if adopted == 0, let address = cells[0].address {
        // Another task is saving the object too, and has created its storage.
        return try add(address.storage, address.context)
      }
      throw MagicError.unsuitableType(
        type: plan.typeName, reason: "its properties belong to several objects")
    }

    /// Adds an object with a storage, unless it was found before. Returns the index of its node.
    mutating func add(_ storage: ObjectStorage, _ context: FetchContext?) throws -> Int {
      if indexes.isEmpty {
        for index in nodes.indices {
          _ = indexes.index(of: ObjectIdentifier(nodes[index].storage), orElse: index)
        }
      }
      let index = indexes.index(of: ObjectIdentifier(storage), orElse: nodes.count)
      if index < nodes.count { return index }
      let kind = try kind(of: storage.shape.type)
      let plan = kinds[kind].plan
      let (first, lives) = (values.count, values.liveCount)
      let snapshot = storage.snapshot(for: identity, to: values)
      if snapshot.isOutdated { throw MagicError.restored(type: plan.typeName) }
      return try append(Node(plan, kind, storage, context, snapshot, first: first), since: lives)
    }

    /// Appends the node of an object. The object's values must be the last ones in ``values``.
    ///
    /// - Parameter lives: The number of live values before those of this object. A live value is
    ///   not in stored form.
    /// - Returns: The index of the node.
    private mutating func append(_ node: consuming Node, since lives: Int) throws -> Int {
      let (plan, first) = (node.plan, node.first)
      if rootCount != nil, node.snapshot.isClean,
        !plan.lazySlots.contains(where: { values.isLive(first + $0) })
      {
        node.isClean = true
        values.removeLast(values.count - first)
      } else if values.liveCount > lives {
        for slot in plan.plainColumns {
          guard case .live(let live) = values[first + slot] else { continue }
          values[first + slot] = .stored(try plan.stored(live, slot))
        }
      }
      if !node.snapshot.isKnown {
        if let key = values.key(of: plan, first: first) {
          kinds[node.kind].greatestOwnKey = max(key, kinds[node.kind].greatestOwnKey ?? key)
        } else {
          node.ordinal = kinds[node.kind].newCount
          kinds[node.kind].newCount += 1
        }
      }
      nodes.append(node)
      return nodes.count - 1
    }

    /// Returns the index of a type in ``kinds``, and adds the type if it is missing.
    mutating func kind(of type: any MagicObject.Type) throws -> Int {
      let id = ObjectIdentifier(type)
      for index in kinds.indices where kinds[index].id == id { return index }
      kinds.append(Kind(try store.plan(type)))
      return kinds.count - 1
    }

    /// Records that an object references another one by a column. If the target is new, the keys of
    /// its type must be known before rows are written; if the owner is new too, so must the keys of
    /// the owner's type.
    mutating func recordReference(from index: Int, to target: Int) {
      guard !nodes[target].snapshot.isKnown else { return }
      kinds[nodes[target].kind].isInReferences = true
      if !nodes[index].snapshot.isKnown { kinds[nodes[index].kind].isInReferences = true }
    }
  }
}

extension ObjectPlan {
  /// Throws ``MagicError/unsuitableType(type:reason:)`` if an object is an instance of a subclass,
  /// which has its own table and more properties.
  static func refuse(
    _ subclass: any MagicObject.Type, as type: any MagicObject.Type
  ) throws {
    guard subclass != type else { return }
    throw MagicError.unsuitableType(
      type: "\(subclass)",
      reason: "it is a subclass of \(type) with its own table; save it as \(subclass)")
  }

  /// Throws ``MagicError/unresolvedRelation(type:property:)`` if a relation of a decoded object
  /// contains only the keys of its objects.
  func checkIsResolved(_ live: _LiveValue, _ property: Property) throws {
    guard live.unresolvedKeys != nil else { return }
    throw MagicError.unresolvedRelation(type: typeName, property: property.name)
  }

  /// Returns the cells of an object's properties, found through its `encode(to:)`.
  fileprivate func cells<Object: MagicObject>(of object: Object) throws -> [_MagicCell] {
    // The first cell suffices to find a storage.
    if let first = PropertyCollector.firstCell(of: object), first.address != nil { return [first] }
    let entries = try PropertyCollector.entries(of: object)
    guard entries.count == properties.count else {
      throw MagicError.unsuitableType(
        type: typeName, reason: "its encode(to:) encodes different properties each time")
    }
    return entries.map(\.cell)
  }

  /// Returns the stored form of a value of the property `slot`.
  func stored(_ live: _LiveValue, _ slot: Int) throws -> Value {
    try namingProperty(properties[slot]) { try wrappers[slot].stored(live) }
  }

  /// Runs `body`, and names the property in the error if its value can't be stored.
  func namingProperty<Result>(
    _ property: Property, _ body: () throws -> Result
  ) throws -> Result {
    func refuse(_ reason: String) -> MagicError {
      .unstorableValue(type: typeName, property: property.name, reason: reason)
    }
    do {
      return try body()
    } catch let error as SQLiteError {
      throw refuse(error.message)
    } catch let error as EncodingError {
      throw refuse("\(error)")
    }
  }
}
