import SQLiteCore
import SQLiteMapping

/// Walks the graph of objects, without recursion: a chain may be as long as memory is.
struct SaveCollector {
  let store: MagicData
  /// The types that were met.
  private(set) var plans: [ObjectPlan] = []
  private var places: PlaceTable
  /// Objects that were met, with the context that their relations are known in.
  private var found: [(storage: ObjectStorage, context: FetchContext?)] = []

  init(_ store: MagicData, capacity: Int) {
    self.store = store
    places = PlaceTable(capacity: capacity)
    found.reserveCapacity(capacity)
  }

  /// Adds an object, and returns its place in the request.
  mutating func add<Object: MagicObject>(_ object: Object) throws -> Int {
    let plan = try plan(of: Object.self)
    if plan.isClass { try ObjectPlan.refuse(Swift.type(of: object), as: Object.self) }
    if let layout = plan.layout {
      return try layout.withCells(of: object) { try add(plan, $0) }
    }
    let cells = try plan.cells(of: object)
    guard let place = try FoundCells.with(cells, { try add(plan, $0) }) else {
      throw MagicError.unsuitableType(type: plan.typeName, reason: "it has no property")
    }
    return place
  }

  private mutating func add(_ plan: ObjectPlan, _ cells: FoundCells) throws -> Int {
    if let place = cells[0].place { return add(place.storage, place.context) }
    if let primary = plan.primary, plan.counting == nil {
      _ = cells[primary].primaryForm(plan.properties[primary].type)
    }
    let storage = ObjectStorage(plan)
    switch storage.adopt(cells) {
    case .all: return add(storage, nil)
    case .none:
      // Another task that saves the object was first.
      if let place = cells[0].place { return add(place.storage, place.context) }
    case .some: break
    }
    throw MagicError.unsuitableType(
      type: plan.typeName, reason: "it has wrappers of more than one object")
  }

  mutating func add(_ storage: ObjectStorage, _ context: FetchContext?) -> Int {
    let place = places.place(of: storage, orElse: found.count)
    if place == found.count {
      found.append((storage, context))
      note(storage.plan)
    }
    return place
  }

  /// Looks a plan up once in a row of objects of one type.
  private mutating func plan(of type: any MagicObject.Type) throws -> ObjectPlan {
    if let last = plans.last, last.type == type { return last }
    return try store.plan(type)
  }

  private mutating func note(_ plan: ObjectPlan) {
    if plans.last === plan { return }
    // The last is the one that was met last.
    plans.removeAll { $0 === plan }
    plans.append(plan)
  }

  /// Takes the values of all objects that were added, and of those that are met meanwhile.
  mutating func finish() throws -> [SaveNode] {
    var nodes: [SaveNode] = []
    nodes.reserveCapacity(found.count)
    while nodes.count < found.count {
      let (storage, context) = found[nodes.count]
      let snapshot = storage.snapshot(for: store.identity)
      let plan = storage.plan
      if snapshot.isOutdated { throw MagicError.restored(type: plan.typeName) }
      if plan.isPlain {
        let forms = try plan.stored(snapshot.forms)
        nodes.append(SaveNode(plan: plan, storage: storage, snapshot: snapshot, forms: forms))
      } else {
        nodes.append(try node(of: storage, snapshot, context))
      }
    }
    return nodes
  }

  /// What an object's row holds in the store if nobody has changed it.
  func expectedRow(_ place: Int) throws -> [(slot: Int, value: Value)] {
    try found[place].storage.expectedRow(in: store.identity, found[place].context)
  }

  private mutating func node(
    of storage: ObjectStorage, _ snapshot: ObjectStorage.Snapshot, _ context: FetchContext?
  ) throws -> SaveNode {
    let forms = snapshot.forms
    var node = SaveNode(
      plan: storage.plan, storage: storage, context: context, snapshot: snapshot)
    node.values.reserveCapacity(forms.count)
    for (slot, form) in forms.enumerated() {
      if case .live(let live) = form, let lazy = live.value as? any LazyValue {
        node.add(try value(of: lazy, slot, form, &node), slot)
      } else {
        node.add(try value(of: form, slot, isSet: node.isChanged(slot), storage, context), slot)
      }
    }
    return node
  }
}

extension ObjectPlan {
  /// Refuses an object of a subclass: it has a table of its own, and more properties than are known here.
  static func refuse(
    _ subclass: any MagicObject.Type, as type: any MagicObject.Type
  ) throws {
    guard subclass != type else { return }
    throw MagicError.unsuitableType(
      type: "\(subclass)",
      reason: "it is a subclass of \(type), whose objects are others; save it as what it is")
  }

  /// The cells of an object's properties, found by its `encode(to:)`.
  fileprivate func cells<Object: MagicObject>(of object: Object) throws -> [MagicCell] {
    // Fetched objects are known by their first cell.
    if let first = PropertyCollector.firstCell(of: object), first.place != nil { return [first] }
    let entries = try PropertyCollector.entries(of: object)
    guard entries.count == properties.count else {
      throw MagicError.unsuitableType(
        type: typeName, reason: "its encode(to:) does not always encode the same properties")
    }
    return entries.map(\.cell)
  }

  /// The values in the form in which they are stored; the same if they are all.
  fileprivate func stored(_ forms: [CellContent.Form]) throws -> [CellContent.Form] {
    var stored = forms
    for slot in forms.indices {
      if case .live(let live) = forms[slot] { stored[slot] = .stored(try self.stored(live, slot)) }
    }
    return stored
  }

  /// The stored form of a value that a column is to hold.
  func stored(_ live: LiveValue, _ slot: Int) throws -> Value {
    try refusing(properties[slot]) { try properties[slot].type.stored(live) }
  }
}
