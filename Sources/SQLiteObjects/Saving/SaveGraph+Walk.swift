import SQLiteCore
import SQLiteMapping

extension SaveGraph {
  /// Finds the objects of a graph and takes their values in one pass, without recursion: a chain of objects may be as
  /// long as memory is.
  ///
  /// Not copyable: otherwise each call that does not change it would copy it part by part (benchmark `import`).
  struct Walk: ~Copyable {
    private let store: any ObjectStore
    private let identity: StoreIdentity
    private(set) var kinds: [Kind] = []
    private(set) var nodes: [Node] = []
    private(set) var values = SlotCopies(capacity: 16)
    private(set) var late: [(slot: Int, value: LateValue)] = []
    private(set) var links: [(key: Value, target: Target)] = []
    private(set) var lazies: [Lazy] = []
    private(set) var edits: [Edits] = []
    /// Nil as long as every object got its storage here: then none was found before.
    private var indexes: StorageIndexes?
    private let capacity: Int
    private var rootCount = 0
    /// The objects that were found after the first one whose values could not be taken at once. Those before it are nodes.
    private var waiting: [Waiting] = []
    /// The number of nodes before the waiting objects.
    private var direct = 0
    /// The nodes whose relations may have closed or opened a ring.
    private var related: [Int] = []

    /// An object whose values are taken after those of the objects before it.
    private struct Waiting {
      let storage: ObjectStorage
      let context: FetchContext?
      /// The types of new objects that reference this one by a column, as bits: see ``bit(of:)``.
      var references: UInt64 = 0
    }

    init(_ store: any ObjectStore, capacity: Int) {
      self.store = store
      self.capacity = capacity
      identity = store.identity
      nodes.reserveCapacity(capacity)
    }

    /// The number of objects that were found.
    private var count: Int { waiting.isEmpty ? nodes.count : direct + waiting.count }

    /// Adds objects, and returns the indexes of their nodes.
    mutating func add<Object: MagicObject>(
      contentsOf objects: some Sequence<Object>
    ) throws -> [Int] {
      guard objects.underestimatedCount > 0 else { return try objects.map { try add($0) } }
      let kind = try kind(of: Object.self)
      let plan = kinds[kind].plan
      guard let layout = plan.layout else { return try objects.map { try add($0) } }
      if plan.isPlain { values.reserve(capacity * plan.properties.count) }
      // In place: taking a value of unknown type out of an array copies it.
      var indexes: [Int] = []
      indexes.reserveCapacity(objects.underestimatedCount)
      let isDone: Void? = try objects.withContiguousStorageIfAvailable { objects in
        try unsafe layout.forEach(UnsafeRawBufferPointer(objects)) {
          indexes.append(try add(kind, $0))
        }
      }
      return isDone == nil ? try objects.map { try add($0) } : indexes
    }

    /// Notes that all objects that were added are those to be saved, and returns their number.
    mutating func finishRoots() -> Int {
      rootCount = count
      return rootCount
    }

    /// Takes the values of all objects that were added, and of those that they reference.
    mutating func run() throws {
      values.reserve(waiting.count * (waiting.first?.storage.shape.properties.count ?? 0))
      while nodes.count < count {
        let next = waiting[nodes.count - direct]
        try take(next.storage, next.context, references: next.references)
      }
    }

    /// Adds an object, and returns the index of its node.
    private mutating func add<Object: MagicObject>(_ object: Object) throws -> Int {
      let kind = try kind(of: Object.self)
      let plan = kinds[kind].plan
      if plan.isClass { try ObjectPlan.refuse(Swift.type(of: object), as: Object.self) }
      if let layout = plan.layout {
        return try layout.withCells(of: object) { try add(kind, $0) }
      }
      let cells = try plan.cells(of: object)
      guard let index = try FoundCells.with(cells, { try add(kind, $0) }) else {
        throw MagicError.unsuitableType(type: plan.typeName, reason: "it has no property")
      }
      return index
    }

    private mutating func add(_ kind: Int, _ cells: FoundCells) throws -> Int {
      if let key = cells.storageIdentifier, let known = indexes?.index(of: key) { return known }
      if let address = cells[0].address { return add(address.storage, address.context) }
      let plan = kinds[kind].plan
      if let primary = plan.primary, plan.counting == nil {
        _ = cells[primary].primaryForm(plan.properties[primary].type)
      }
      let storage = ObjectStorage.make(plan.shape)
      let context =
        plan.shape.hasRelations ? FetchContext(of: ObjectGroup(of: storage), in: nil) : nil
      // The values of plain objects are taken while the storage is at hand.
      let isTaken = plan.isPlain && waiting.isEmpty
      let (first, lives) = (values.count, values.liveCount)
      switch storage.adopt(cells, to: isTaken ? values : nil, in: context) {
      case .all:
        if indexes != nil { note(storage, at: count) }
        guard isTaken else { return wait(storage, context) }
        try store(lives, first, plan)
        var node = Node(plan, kind, storage, nil, .ofNewObject, first: first)
        number(&node)
        nodes.append(node)
        return nodes.count - 1
      case .none:
        // Another task has begun to save the object, and made its storage.
        if let address = cells[0].address { return add(address.storage, address.context) }
      case .some: break
      }
      throw MagicError.unsuitableType(
        type: plan.typeName, reason: "its properties belong to several objects")
    }

    private mutating func add(_ storage: ObjectStorage, _ context: FetchContext?) -> Int {
      let next = count
      let index = note(storage, at: next)
      return index < next ? index : wait(storage, context)
    }

    private mutating func wait(_ storage: ObjectStorage, _ context: FetchContext?) -> Int {
      if waiting.isEmpty {
        direct = nodes.count
        waiting.reserveCapacity(capacity)
      }
      waiting.append(Waiting(storage: storage, context: context))
      return count - 1
    }

    /// Gives a storage an index, unless it has one, and returns the index that it has.
    @discardableResult
    private mutating func note(_ storage: ObjectStorage, at next: Int) -> Int {
      if indexes == nil {
        var indexes = StorageIndexes(capacity: capacity)
        for index in 0..<(waiting.isEmpty ? nodes.count : direct) {
          _ = indexes.index(of: ObjectIdentifier(nodes[index].storage), orElse: index)
        }
        for (index, other) in waiting.enumerated() {
          _ = indexes.index(of: ObjectIdentifier(other.storage), orElse: direct + index)
        }
        self.indexes = indexes
      }
      return indexes?.index(of: ObjectIdentifier(storage), orElse: next) ?? next
    }

    /// The index of a type in ``kinds``.
    private mutating func kind(of type: any MagicObject.Type) throws -> Int {
      let id = ObjectIdentifier(type)
      for index in kinds.indices where kinds[index].id == id { return index }
      kinds.append(Kind(try store.plan(type)))
      return kinds.count - 1
    }

    /// Counts a new object.
    private mutating func number(_ node: inout Node) {
      guard !node.snapshot.isKnown else { return }
      if let key = values.key(of: node.plan, first: node.first) {
        kinds[node.kind].greatestOwnKey = max(key, kinds[node.kind].greatestOwnKey ?? key)
      } else {
        node.ordinal = kinds[node.kind].newCount
        kinds[node.kind].newCount += 1
      }
    }

    /// Takes the values of an object, and adds the objects that it references.
    private mutating func take(
      _ storage: ObjectStorage, _ context: FetchContext?, references: UInt64
    ) throws {
      let (first, lives) = (values.count, values.liveCount)
      let snapshot = storage.snapshot(for: identity, to: values)
      let kind = try kind(of: storage.shape.type)
      let plan = kinds[kind].plan
      if snapshot.isOutdated { throw MagicError.restored(type: plan.typeName) }
      var node = Node(plan, kind, storage, context, snapshot, first: first)
      number(&node)
      if !snapshot.isKnown { noteReferences(references, to: kind) }
      node.isClean =
        nodes.count >= rootCount && snapshot.isClean
        && !plan.lazySlots.contains { values.isLive(first + $0) }
      if values.liveCount > lives { try store(lives, first, plan) }
      guard !plan.isPlain else {
        if node.isClean { values.removeLast(values.count - first) }
        return nodes.append(node)
      }
      let starts = (late: late.count, links: links.count, edits: edits.count)
      node.lazies = lazies.count..<lazies.count
      for slot in plan.lateSlots {
        do {
          try add(values[first + slot], slot, of: node)
        } catch is Companion.Released {
          // Another task has set the property since its value was taken.
          try storage.reading(slot) { form, _ in try add(form, slot, of: node) }
        }
      }
      if node.isClean {
        late.removeLast(late.count - starts.late)
        links.removeLast(links.count - starts.links)
        values.removeLast(values.count - first)
      } else {
        node.late = starts.late..<late.count
        node.lazies = node.lazies.lowerBound..<lazies.count
        node.edits = starts.edits..<edits.count
        if context != nil { related.append(nodes.count) }
      }
      nodes.append(node)
    }

    /// Gives the values of columns that are more than SQLite stores their stored forms.
    ///
    /// - Parameters:
    ///   - lives: The number of such values before the object's own.
    ///   - first: The place of the object's first property.
    @inline(__always)
    private mutating func store(_ lives: Int, _ first: Int, _ plan: ObjectPlan) throws {
      guard values.liveCount > lives else { return }
      for slot in plan.plainColumns {
        guard case .live(let live) = values[first + slot] else { continue }
        values[first + slot] = .stored(try plan.stored(live, slot))
      }
    }
  }
}

// References between new objects, whose keys must be known before their rows are written.
extension SaveGraph.Walk {
  /// A bit for a type in ``Waiting/references``. There are enough for all but odd graphs; the last stands for all
  /// further types.
  private func bit(of kind: Int) -> UInt64 { 1 << UInt64(min(kind, 62)) }

  /// Notes that an object references another one by a column.
  private mutating func noteReference(from node: SaveGraph.Node, to target: Int) {
    // If the object is in the store, only the target may need a key.
    let references = node.snapshot.isKnown ? 1 << 63 : bit(of: node.kind)
    if target > nodes.count {
      waiting[target - direct].references |= references
      return
    }
    let other = target == nodes.count ? node : nodes[target]
    if !other.snapshot.isKnown { noteReferences(references, to: other.kind) }
  }

  /// Notes that new objects of some types reference a new one by columns.
  private mutating func noteReferences(_ references: UInt64, to kind: Int) {
    guard references != 0 else { return }
    kinds[kind].isInReferences = true
    for other in kinds.indices where references & bit(of: other) != 0 {
      kinds[other].isInReferences = true
    }
  }
}

// The values of objects with relations or assets.
extension SaveGraph.Walk {
  /// Adds the value of a property that is no plain column.
  private mutating func add(
    _ form: CellValue.Form, _ slot: Int, of node: SaveGraph.Node
  ) throws {
    let property = node.plan.properties[slot]
    switch form {
    case .unset:
      if property.isLinked { late.append((slot, property.missingValue)) }
    case .stored(let value):
      if property.role.isAsset {
        if let handle = node.storage.assetHandle(at: slot) {
          late.append((slot, .kept(handle)))
        } else if !value.isNull {
          // The content of an object that was removed went with it.
          late.append((slot, .untouched))
        }
      } else if property.isLinked {
        // An optional collection that was set to nil is one without objects.
        addLinks(from: links.count, slot, of: node)
      } else if value.isNull, case .object = property.role.kind, !property.role.isOptional {
        late.append((slot, .missing))
      }
    case .data: break
    case .lazy: late.append((slot, .untouched))
    case .reference(let zIndex):
      addObject(try target(zIndex, property, node.context), slot, of: node)
    case .links:
      guard let context = node.context else { return late.append((slot, .untouched)) }
      let start = links.count
      let known = context.links(of: node.storage, slot: slot)
      try known.forEach { links.append(($0, try target($1, property, context))) }
      addLinks(from: start, slot, of: node)
    case .targets(let targets):
      let start = links.count
      for target in targets {
        links.append((target.key, try self.target(target, node, property)))
      }
      if property.isLinked {
        addLinks(from: start, slot, of: node)
      } else {
        let target = links.popLast()?.target ?? .none
        addObject(target, slot, of: node)
      }
    case .live(let live):
      if property.role.isLazy, let lazy = live.value as? any LazyValue {
        try add(lazy, slot, of: node)
      } else {
        try add(live, slot, of: node)
      }
    }
  }

  /// Returns whether a property of the object whose values are being taken was set or changed since the object was saved
  /// or fetched.
  private func isChanged(_ slot: Int, in node: SaveGraph.Node) -> Bool {
    isChanged(slot, in: node, lazies[node.lazies.lowerBound...])
  }

  private func isChanged(
    _ slot: Int, in node: SaveGraph.Node, _ lazies: ArraySlice<SaveGraph.Lazy>
  ) -> Bool {
    values.isSet(slot, in: node) || lazies.contains { $0.slot == slot && $0.state.isChanged }
  }

  /// Adds a relation to one object.
  private mutating func addObject(
    _ target: SaveGraph.Target, _ slot: Int, of node: SaveGraph.Node
  ) {
    if case .node(let index) = target { noteReference(from: node, to: index) }
    late.append((slot, .object(target)))
  }

  /// Adds the links of a property, which are the last ones.
  private mutating func addLinks(from start: Int, _ slot: Int, of node: SaveGraph.Node) {
    late.append((slot, .links(start..<links.count, isSet: isChanged(slot, in: node))))
  }

  private mutating func add(
    _ live: LiveValue, _ slot: Int, of node: SaveGraph.Node
  ) throws {
    let plan = node.plan
    let property = plan.properties[slot]
    switch property.role.kind {
    case .object:
      if let target = try target(of: live, property) { return addObject(target, slot, of: node) }
    case .links:
      let start = links.count
      if try addLinks(of: live, property) { return addLinks(from: start, slot, of: node) }
    case .column, .asset, .reverse: break
    }
    if live.unresolvedKeys != nil {
      throw MagicError.unresolvedRelation(type: plan.typeName, property: property.name)
    }
    try plan.refusing(property) {
      switch property.role.kind {
      case .column: values[node.first + slot] = .stored(try plan.stored(live, slot))
      case .object: addObject(try add(live, plan, property), slot, of: node)
      case .links:
        guard let collection = live.value as? any MagicCollection else {
          return late.append((slot, .missing))
        }
        let start = links.count
        try addLinks(of: collection)
        addLinks(from: start, slot, of: node)
      case .asset:
        guard let asset = live.value as? any AssetValue else {
          return late.append((slot, .missing))
        }
        guard let pending = try asset.pending else { return late.append((slot, .untouched)) }
        if case .stored(let handle, nil) = pending, handle.isOf(node.storage, slot) {
          late.append((slot, .kept(handle)))
        } else {
          late.append((slot, .asset(pending)))
        }
      case .reverse: break
      }
    }
  }

  /// Adds an object that is nothing but cells, where it lies in memory: a copy would count a reference for each of its
  /// properties (benchmark `import`).
  ///
  /// - Returns: Nil if it must be added otherwise.
  private mutating func target(
    of live: LiveValue, _ property: ObjectPlan.Property
  ) throws -> SaveGraph.Target? {
    guard let type = property.role.target else { return nil }
    return try unsafe live.withMemory(of: ObjectIdentifier(type)) { memory in
      let kind = try kind(of: type)
      guard let layout = kinds[kind].plan.layout else { return nil }
      return .node(try unsafe layout.withCells(at: memory) { try add(kind, $0) })
    } ?? nil
  }

  /// Adds the objects of a collection that are nothing but cells, where they lie in memory.
  ///
  /// - Returns: False if they must be added otherwise.
  private mutating func addLinks(
    of live: LiveValue, _ property: ObjectPlan.Property
  ) throws -> Bool {
    guard let type = property.role.target, let collection = property.role.collection else {
      return false
    }
    return try unsafe collection.withObjects(of: live) { objects in
      if unsafe objects.isEmpty { return true }
      let kind = try kind(of: type)
      guard let layout = kinds[kind].plan.layout else { return false }
      try unsafe layout.forEach(objects) { links.append((.null, .node(try add(kind, $0)))) }
      return true
    } ?? false
  }

  private mutating func addLinks(of collection: some MagicCollection) throws {
    for link in try collection.magicLinks {
      links.append((link.key, .node(try add(link.object))))
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
    case .other(let live):
      return try self.target(of: live, property) ?? add(live, node.plan, property)
    case .companion(let companion):
      guard let owner = node.context else { throw Companion.Released(companion: companion) }
      let (context, row) = try owner.context(of: companion)
      return .node(add(context.storage(atRow: row), context))
    }
  }

  /// Adds an object that a property references, if it may have changed.
  private mutating func target(
    _ zIndex: Int64, _ property: ObjectPlan.Property, _ context: FetchContext?
  ) throws -> SaveGraph.Target {
    guard let type = property.role.target, let context else { return .stored(zIndex) }
    guard context.store == store.identity else {
      // An object of another store has another z_index here, or none yet.
      return .node(add(try context.storage(type, zIndex: zIndex), context))
    }
    // Only objects that somebody has looked at can have changed.
    return context.handedOutStorage(type, zIndex: zIndex).map { .node(add($0, context)) }
      ?? .stored(zIndex)
  }

  /// Finds the rings that the relations of the objects may have closed or opened.
  func tieRings() {
    guard !related.isEmpty else { return }
    // Without a fetch, whose objects are held together, only these relations can be part of a ring.
    let isFetched = waiting.contains { $0.context.map { !$0.group.isMade } ?? false }
    let ringProperties = isFetched ? nil : kinds.map(\.plan).ringProperties
    if let ringProperties, ringProperties.isEmpty { return }
    RingFinder.tie(
      related.compactMap { index in
        let node = nodes[index]
        guard let context = node.context else { return nil }
        let slots = node.plan.properties.indices.filter { slot in
          context.group.isHolding(node.plan.properties[slot])
            && (!node.snapshot.isKnown || isChanged(slot, in: node, lazies[node.lazies]))
            && ringProperties?.contains(PropertyKey(type: node.plan.id, slot: slot)) ?? true
        }
        return slots.isEmpty ? nil : (node.storage, context, slots)
      }, through: ringProperties)
  }
}

extension [ObjectPlan] {
  /// The relations by which objects of these types can reference each other in a ring.
  fileprivate var ringProperties: Set<PropertyKey> {
    /// The types that the objects of each type reference, however far.
    var reached: [ObjectIdentifier: Set<ObjectIdentifier>] = [:]
    let known = Set(map(\.id))
    for plan in self {
      let targets = plan.properties.compactMap { property in
        property.isRelation ? property.role.target.map { ObjectIdentifier($0) } : nil
      }
      reached[plan.id] = known.intersection(targets)
    }
    for middle in known {
      for start in known where reached[start]?.contains(middle) ?? false {
        let further = reached[middle] ?? []
        reached[start]?.formUnion(further)
      }
    }
    return Set(
      flatMap { plan in
        plan.properties.indices.compactMap { slot in
          guard plan.properties[slot].isRelation, let target = plan.properties[slot].role.target,
            reached[ObjectIdentifier(target)]?.contains(plan.id) ?? false
          else { return nil }
          return PropertyKey(type: plan.id, slot: slot)
        }
      })
  }
}

// Lazy values.
extension SaveGraph.Walk {
  /// Adds a lazy value to its node as it is at this moment.
  private mutating func add(
    _ lazy: any LazyValue, _ slot: Int, of node: SaveGraph.Node
  ) throws {
    let storage = node.storage
    let property = node.plan.properties[slot]
    let state = try node.plan.refusing(property) { try lazy.folded() }
    if state.keys != nil {
      throw MagicError.unresolvedRelation(type: node.plan.typeName, property: property.name)
    }
    // A lazy asset is saved as any other asset.
    if let live = property.role.isAsset ? LiveValue(lazy) : state.live {
      lazies.append(.init(slot: slot, value: lazy, state: state, isOwn: true))
      return try add(live, slot, of: node)
    }
    guard let source = state.source else {
      return late.append((slot, property.missingValue))
    }
    let isOwn =
      source.slot == slot && source.shape === storage.shape
      && storage.zIndex(in: source.content.identity) == source.zIndex
    // Another object's value remains to be saved with that object, too.
    lazies.append(.init(slot: slot, value: lazy, state: state, isOwn: isOwn))
    let isWritten = isOwn || isChanged(slot, in: node) || !node.snapshot.isKnown
    if isWritten, !state.edits.isEmpty {
      let edits = try edits(of: state, node.plan, property)
      self.edits.append(.init(slot: slot, collection: lazy, edits: edits))
    }
    late.append((slot, isOwn ? .untouched : .copy(source)))
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
    return isLinked ? .links(0..<0, isSet: false) : .object(.none)
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

  /// The index of a storage, or nil.
  func index(of key: ObjectIdentifier) -> Int? {
    let slot = slot(of: key)
    return slots[slot].key == nil ? nil : slots[slot].index
  }

  /// Gives a storage an index, unless it has one, and returns the index that it has.
  mutating func index(of key: ObjectIdentifier, orElse next: Int) -> Int {
    if count * 2 >= slots.count { grow() }
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
