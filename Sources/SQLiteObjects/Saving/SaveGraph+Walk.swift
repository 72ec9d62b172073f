import SQLiteCore
import SQLiteMapping

extension SaveGraph {
  /// Finds the objects of a graph and takes their values, without recursion: a chain of objects may be as
  /// long as memory is.
  struct Walk {
    private let store: any ObjectStore
    private let identity: StoreIdentity
    /// The types that were met.
    private(set) var plans: [ObjectPlan] = []
    /// Nil as long as every object got its storage here: then none was met before.
    private var indexes: StorageIndexes?
    private let capacity: Int
    /// The number of objects that were met.
    private(set) var count = 0
    /// The objects whose values were taken.
    private var taken: [Node] = []
    /// The objects whose values are taken after all others were met, with the fetches that know their relations.
    private var waiting: [(storage: ObjectStorage, context: FetchContext?)] = []
    /// The values of the objects.
    private(set) var values = Values()

    init(_ store: any ObjectStore, capacity: Int) {
      self.store = store
      self.capacity = capacity
      identity = store.identity
      taken.reserveCapacity(capacity)
    }

    /// Adds objects, and returns the indexes of their nodes.
    mutating func add<Object: MagicObject>(
      contentsOf objects: some Sequence<Object>
    ) throws -> [Int] {
      let plan = objects.underestimatedCount > 0 ? try plan(of: Object.self) : nil
      guard let plan, let layout = plan.layout else { return try objects.map { try add($0) } }
      if plan.isPlain { values.reserve(capacity * plan.properties.count) }
      // In place: taking a value of unknown type out of an array copies it.
      var indexes: [Int] = []
      indexes.reserveCapacity(objects.underestimatedCount)
      let isDone: Void? = try objects.withContiguousStorageIfAvailable { objects in
        try unsafe layout.forEach(UnsafeRawBufferPointer(objects)) {
          indexes.append(try add(plan, $0))
        }
      }
      return isDone == nil ? try objects.map { try add($0) } : indexes
    }

    /// Adds an object, and returns the index of its node.
    mutating func add<Object: MagicObject>(_ object: Object) throws -> Int {
      let plan = try plan(of: Object.self)
      if plan.isClass { try ObjectPlan.refuse(Swift.type(of: object), as: Object.self) }
      if let layout = plan.layout {
        return try layout.withCells(of: object) { try add(plan, $0) }
      }
      let cells = try plan.cells(of: object)
      guard let index = try FoundCells.with(cells, { try add(plan, $0) }) else {
        throw MagicError.unsuitableType(type: plan.typeName, reason: "it has no property")
      }
      return index
    }

    private mutating func add(_ plan: ObjectPlan, _ cells: FoundCells) throws -> Int {
      if let address = cells[0].address { return try add(address.storage, address.context) }
      if let primary = plan.primary, plan.counting == nil {
        _ = cells[primary].primaryForm(plan.properties[primary].type)
      }
      let storage = ObjectStorage.make(plan.shape)
      let context =
        plan.shape.hasRelations ? FetchContext(of: ObjectGroup(of: storage), in: nil) : nil
      let isTaken = mayTake(plan.shape)
      let first = values.count
      let lives = values.liveCount
      switch values.take(storage, of: cells, isTaken: isTaken, in: context) {
      case .all:
        if indexes != nil { note(storage, at: count) }
        count += 1
        if isTaken {
          let plan = try note(plan.shape)
          try store(lives, first, plan)
          taken.append(Node(plan, storage, nil, .ofNewObject, first: first))
        } else {
          waiting.append((storage, context))
        }
        return count - 1
      case .none:
        // Another task has begun to save the object, and made its storage.
        if let address = cells[0].address { return try add(address.storage, address.context) }
      case .some: break
      }
      throw MagicError.unsuitableType(
        type: plan.typeName, reason: "its properties belong to several objects")
    }

    /// Whether the values of an object can be taken when it is met: while its storage is at hand, in the order of
    /// the nodes, and without that others are met with it.
    private func mayTake(_ shape: ObjectShape) -> Bool { shape.isPlain && waiting.isEmpty }

    private mutating func add(_ storage: ObjectStorage, _ context: FetchContext?) throws -> Int {
      let index = note(storage, at: count)
      if index < count { return index }
      count += 1
      if mayTake(storage.shape) {
        taken.append(try node(of: storage, context))
      } else {
        waiting.append((storage, context))
      }
      return index
    }

    /// Gives a storage an index, unless it has one, and returns the index that it has.
    @discardableResult
    private mutating func note(_ storage: ObjectStorage, at next: Int) -> Int {
      if indexes == nil {
        var indexes = StorageIndexes(capacity: capacity)
        let direct = count - waiting.count
        for index in 0..<direct { _ = indexes.index(of: taken[index].storage, orElse: index) }
        for (index, other) in waiting.enumerated() {
          _ = indexes.index(of: other.storage, orElse: direct + index)
        }
        self.indexes = indexes
      }
      return indexes?.index(of: storage, orElse: next) ?? next
    }

    /// The plan of a type; that of the last object without a look-up.
    private func plan(of type: any MagicObject.Type) throws -> ObjectPlan {
      if let last = plans.last, last.type == type { return last }
      return try store.plan(type)
    }

    /// The plan of a type that an object was met of.
    private mutating func note(_ shape: ObjectShape) throws -> ObjectPlan {
      if let last = plans.last, last.shape === shape { return last }
      let type = shape.type
      let plan = try plan(of: type)
      if plans.last === plan { return plan }
      // The last is the one that was met last.
      plans.removeAll { $0 === plan }
      plans.append(plan)
      return plan
    }

    /// Finds the rings that the relations of the objects may have closed or opened.
    func tieRings(_ nodes: [Node]) {
      guard !waiting.isEmpty, plans.mayFormRings || nodes.contains(where: \.isFetched) else {
        return
      }
      RingFinder.tie(
        nodes.compactMap { node in
          guard let context = node.context else { return nil }
          let slots = node.plan.properties.indices.filter {
            context.group.isHolding(node.plan.properties[$0])
              && (!node.snapshot.isKnown || values.isChanged($0, in: node))
          }
          return slots.isEmpty ? nil : (node.storage, context, slots)
        })
    }

    /// Takes the values of all objects that were added, and of those that they lead to.
    mutating func nodes() throws -> [Node] {
      let direct = taken.count
      values.reserve(
        waiting.count * (waiting.first?.storage.shape.properties.count ?? 0))
      while taken.count < count {
        let (storage, context) = waiting[taken.count - direct]
        taken.append(try node(of: storage, context))
      }
      return taken
    }

    private mutating func node(
      of storage: ObjectStorage, _ context: FetchContext?
    ) throws -> Node {
      let first = values.count
      let lives = values.liveCount
      let snapshot = values.take(storage, for: identity)
      let plan = try note(storage.shape)
      if snapshot.isOutdated { throw MagicError.restored(type: plan.typeName) }
      if plan.isPlain {
        try store(lives, first, plan)
        return Node(plan, storage, context, snapshot, first: first)
      }
      var node = Node(plan, storage, context, snapshot, first: first)
      for slot in plan.properties.indices {
        do {
          try add(values[first + slot], slot, to: &node)
        } catch is Companion.Released {
          // Another task has set the property since its value was taken.
          try storage.reading(slot) { form, _ in try add(form, slot, to: &node) }
        }
      }
      return node
    }

    /// Gives the values of an object without relations that are more than SQLite stores their stored forms.
    ///
    /// - Parameters:
    ///   - lives: The number of such values before its own.
    ///   - first: The place of its first property.
    @inline(__always)
    private mutating func store(_ lives: Int, _ first: Int, _ plan: ObjectPlan) throws {
      guard values.liveCount > lives else { return }
      for place in first..<values.count {
        guard case .live(let live) = values[place] else { continue }
        values[place] = .stored(try plan.stored(live, place - first))
      }
    }
  }
}

// The values of objects with relations or assets.
extension SaveGraph.Walk {
  /// Adds the value of a property to its node.
  private mutating func add(
    _ form: CellValue.Form, _ slot: Int, to node: inout SaveGraph.Node
  ) throws {
    let property = node.plan.properties[slot]
    switch form {
    case .unset:
      if property.isLinked { node.late.append((slot, property.missingValue)) }
    case .stored(let value):
      if property.role.isAsset {
        if let handle = node.storage.assetHandle(at: slot) {
          node.late.append((slot, .kept(handle)))
        } else if !value.isNull {
          // The content of an object that was removed went with it.
          node.late.append((slot, .untouched))
        }
      } else if property.isLinked {
        // An optional collection that was set to nil is one without objects.
        node.late.append((slot, .links([], isSet: values.isChanged(slot, in: node))))
      } else if value.isNull, case .object = property.role.kind, !property.role.isOptional {
        node.late.append((slot, .missing))
      }
    case .data: break
    case .lazy: node.late.append((slot, .untouched))
    case .reference(let zIndex):
      node.late.append((slot, .object(try target(zIndex, property, node.context))))
    case .links:
      guard let context = node.context else { return node.late.append((slot, .untouched)) }
      let links = try context.links(of: node.storage, slot: slot)
        .map { (key: $0, target: try target($1, property, context)) }
      node.late.append((slot, .links(links, isSet: values.isChanged(slot, in: node))))
    case .targets(let targets):
      let links = try targets.map { (key: $0.key, target: try target($0, node, property)) }
      node.late.append(
        (
          slot,
          property.isLinked
            ? .links(links, isSet: values.isChanged(slot, in: node))
            : .object(links.first?.target ?? .none)
        ))
    case .live(let live):
      if let lazy = live.value as? any LazyValue {
        try add(lazy, form, slot, to: &node)
      } else {
        try add(live, slot, to: &node)
      }
    }
  }

  private mutating func add(
    _ live: LiveValue, _ slot: Int, to node: inout SaveGraph.Node
  ) throws {
    let plan = node.plan
    let property = plan.properties[slot]
    if live.unresolvedKeys != nil {
      throw MagicError.unresolvedRelation(type: plan.typeName, property: property.name)
    }
    try plan.refusing(property) {
      switch property.role.kind {
      case .column: values[node.first + slot] = .stored(try plan.stored(live, slot))
      case .object: node.late.append((slot, .object(try add(live, plan, property))))
      case .links:
        guard let collection = live.value as? any MagicCollection else {
          return node.late.append((slot, .missing))
        }
        let links = try links(of: collection)
        node.late.append((slot, .links(links, isSet: values.isChanged(slot, in: node))))
      case .asset:
        guard let asset = live.value as? any AssetValue else {
          return node.late.append((slot, .missing))
        }
        guard let pending = try asset.pending else {
          return node.late.append((slot, .untouched))
        }
        if case .stored(let handle, nil) = pending, handle.isOf(node.storage, slot) {
          node.late.append((slot, .kept(handle)))
        } else {
          node.late.append((slot, .asset(pending)))
        }
      case .reverse: node.late.append((slot, .untouched))
      }
    }
  }

  /// Adds an object that a property holds.
  private mutating func add(
    _ live: LiveValue, _ plan: ObjectPlan, _ property: ObjectPlan.Property
  ) throws -> SaveGraph.Target {
    guard let object = live.value as? any MagicObject else {
      throw MagicError.missingValue(type: plan.typeName, property: property.name)
    }
    if let target = property.role.target { try ObjectPlan.refuse(type(of: object), as: target) }
    return .node(try add(object))
  }

  /// Adds an object that a property was set to since the fetch.
  private mutating func target(
    _ target: RelationTarget, _ node: SaveGraph.Node, _ property: ObjectPlan.Property
  ) throws -> SaveGraph.Target {
    switch target.end {
    case .fetched(let zIndex): return try self.target(zIndex, property, node.context)
    case .other(let live): return try add(live, node.plan, property)
    case .companion(let companion):
      guard let owner = node.context else { throw Companion.Released(companion: companion) }
      let (context, row) = try owner.context(of: companion)
      return .node(try add(context.storage(atRow: row), context))
    }
  }

  /// Adds an object that a property refers to, if it may have changed.
  private mutating func target(
    _ zIndex: Int64, _ property: ObjectPlan.Property, _ context: FetchContext?
  ) throws -> SaveGraph.Target {
    guard let type = property.role.target, let context else { return .stored(zIndex) }
    guard context.store == store.identity else {
      // An object of another store has another z_index here, or none yet.
      return .node(try add(try context.storage(type, zIndex: zIndex), context))
    }
    // Only objects that somebody has looked at can have changed.
    return try context.handedOutStorage(type, zIndex: zIndex).map { .node(try add($0, context)) }
      ?? .stored(zIndex)
  }

  private mutating func links<Collection: MagicCollection>(
    of collection: Collection
  ) throws -> [(key: Value, target: SaveGraph.Target)] {
    try collection.magicLinks.map { ($0.key, .node(try add($0.object))) }
  }
}

extension [ObjectPlan] {
  /// Whether objects of these types can reference each other in a ring.
  fileprivate var mayFormRings: Bool {
    var rest = self
    while true {
      let types = Set(rest.map(\.id))
      let kept = rest.filter { plan in
        plan.properties.contains { property in
          property.isRelation
            && property.role.target.map { types.contains(ObjectIdentifier($0)) } ?? false
        }
      }
      if kept.count == rest.count { return !rest.isEmpty }
      rest = kept
    }
  }
}

extension SaveGraph.Node {
  /// Whether the object was fetched together with others.
  fileprivate var isFetched: Bool { context.map { !$0.group.isMade } ?? false }
}

// Lazy values.
extension SaveGraph.Walk {
  /// Adds a lazy value to its node as it is at this moment.
  private mutating func add(
    _ lazy: any LazyValue, _ form: CellValue.Form, _ slot: Int, to node: inout SaveGraph.Node
  ) throws {
    let storage = node.storage
    let property = node.plan.properties[slot]
    let state = try node.plan.refusing(property) { try lazy.folded() }
    if state.keys != nil {
      throw MagicError.unresolvedRelation(type: node.plan.typeName, property: property.name)
    }
    // A lazy asset is saved as any other asset.
    if let live = property.role.isAsset ? LiveValue(lazy) : state.live {
      node.lazy.append((slot, lazy, state, true))
      return try add(live, slot, to: &node)
    }
    guard let source = state.source else {
      return node.late.append((slot, property.missingValue))
    }
    let isOwn =
      source.slot == slot && source.shape === storage.shape
      && storage.zIndex(in: source.content.identity) == source.zIndex
    // Another object's value remains to be saved with that object, too.
    node.lazy.append((slot, lazy, state, isOwn))
    let isWritten =
      isOwn || values.isChanged(slot, in: node) || storage.zIndex(in: store.identity) == nil
    if isWritten, !state.edits.isEmpty {
      let edits = try edits(of: state, node.plan, property)
      node.edits.append(.init(slot: slot, collection: lazy, edits: edits))
    }
    node.late.append((slot, isOwn ? .untouched : .copy(source)))
  }

  /// The changes of a collection whose links were left in the store.
  private mutating func edits(
    of state: LazyState, _ plan: ObjectPlan, _ property: ObjectPlan.Property
  ) throws -> [(number: Int, change: LinkEdit<SaveGraph.EditTarget>)] {
    let removed = LazyRemovals(state.edits)
    var edits: [(number: Int, change: LinkEdit<SaveGraph.EditTarget>)] = []
    // An object that is added and removed by one save has no z_index before it.
    var added: [ObjectIdentifier: SaveGraph.EditTarget] = [:]
    func target(_ live: LiveValue) throws -> SaveGraph.EditTarget {
      let target = SaveGraph.EditTarget.saved(try add(live, plan, property))
      if let storage = live.storage { added[ObjectIdentifier(storage)] = target }
      return target
    }
    for (index, edit) in state.edits.enumerated() {
      switch edit.change {
      case .add(let lives, let position):
        let kept = try lives.filter { !removed.removes($0, after: index) }
          .map { try target($0) }
        edits.append((edit.number, .add(kept, at: position)))
      case .put(let live, let key):
        if removed.removes(live, after: index) {
          edits.append((edit.number, .removeKey(key)))
        } else {
          edits.append((edit.number, .put(try target(live), key: key)))
        }
      case .remove(let live):
        // An object that was never saved is not there.
        guard let known = live.storage else { continue }
        edits.append((edit.number, .remove(added[ObjectIdentifier(known)] ?? .known(known))))
      case .removeKey(let key): edits.append((edit.number, .removeKey(key)))
      case .removeAll: edits.append((edit.number, .removeAll))
      }
    }
    return edits
  }
}

/// The objects that later changes of a lazy collection remove: to add them before needs no save.
private struct LazyRemovals {
  /// The last change that removes each object.
  private var last: [MagicIdentity: Int] = [:]
  /// The last change that removes all objects.
  private var all = -1
  /// The last change that inserts something at a position, which needs the objects before it.
  private var inserted = -1

  init(_ edits: [LazyEdit]) {
    for (index, edit) in edits.enumerated() {
      switch edit.change {
      case .remove(let target): last[MagicIdentity(target, in: nil)] = index
      case .removeAll: all = index
      case .add(_, at: .some): inserted = index
      case .add, .put, .removeKey: break
      }
    }
  }

  func removes(_ target: LiveValue, after index: Int) -> Bool {
    guard inserted <= index else { return false }
    if all > index { return true }
    guard !last.isEmpty else { return false }
    return last[MagicIdentity(target, in: nil)].map { $0 > index } ?? false
  }
}

extension ObjectProperty {
  /// The value of a relation that was never set: an optional one references no objects.
  fileprivate var missingValue: SaveGraph.LateValue {
    guard role.isOptional else { return .missing }
    return isLinked ? .links([], isSet: false) : .object(.none)
  }
}

extension LiveValue {
  /// The storage of an object, if it has one.
  fileprivate var storage: ObjectStorage? {
    func storage(of object: some MagicObject) -> ObjectStorage? {
      PropertyCollector.firstCell(of: object)?.address?.storage
    }
    return (value as? any MagicObject).flatMap { storage(of: $0) }
  }
}

extension ObjectPlan {
  /// Refuses an object of a subclass: it has a table of its own, and more properties than are known here.
  fileprivate static func refuse(
    _ subclass: any MagicObject.Type, as type: any MagicObject.Type
  ) throws {
    guard subclass != type else { return }
    throw MagicError.unsuitableType(
      type: "\(subclass)",
      reason: "it is a subclass of \(type) with a table of its own: save it as a \(subclass)")
  }

  /// The cells of an object's properties, found by its `encode(to:)`.
  fileprivate func cells<Object: MagicObject>(of object: Object) throws -> [MagicCell] {
    // Fetched objects are known by their first cell.
    if let first = PropertyCollector.firstCell(of: object), first.address != nil { return [first] }
    let entries = try PropertyCollector.entries(of: object)
    guard entries.count == properties.count else {
      throw MagicError.unsuitableType(
        type: typeName, reason: "its encode(to:) encodes different properties each time")
    }
    return entries.map(\.cell)
  }

  /// The stored form of a value of a column.
  fileprivate func stored(_ live: LiveValue, _ slot: Int) throws -> Value {
    try refusing(properties[slot]) { try properties[slot].type.stored(live) }
  }

  /// Names the property in the error if its value cannot be stored.
  fileprivate func refusing<Result>(
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

/// The indexes of nodes by the addresses of their storages: a third of what a dictionary costs, whose
/// hash must withstand what comes from outside (benchmark `insert`).
private struct StorageIndexes {
  /// Their number is a power of two; at least half of them are free.
  private var slots: [(key: ObjectIdentifier?, index: Int)]
  private var count = 0

  init(capacity: Int) {
    var size = 16
    while size < capacity * 2 { size *= 2 }
    slots = Array(repeating: (nil, 0), count: size)
  }

  /// Gives a storage an index, unless it has one, and returns the index that it has.
  mutating func index(of storage: ObjectStorage, orElse next: Int) -> Int {
    if count * 2 >= slots.count { grow() }
    let key = ObjectIdentifier(storage)
    let slot = slot(of: key)
    if slots[slot].key != nil { return slots[slot].index }
    slots[slot] = (key, next)
    count += 1
    return next
  }

  /// The slot of a key, or the free one that it may have.
  private func slot(of key: ObjectIdentifier) -> Int {
    // The low bits of addresses are alike; a product spreads the others over the high ones.
    let product = UInt64(UInt(bitPattern: key)) &* 0x9E37_79B9_7F4A_7C15
    var slot = Int(truncatingIfNeeded: product >> 24) & (slots.count - 1)
    while let other = slots[slot].key, other != key { slot = (slot + 1) & (slots.count - 1) }
    return slot
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: (nil, 0), count: old.count * 2)
    for entry in old {
      if let key = entry.key { slots[slot(of: key)] = entry }
    }
  }
}
