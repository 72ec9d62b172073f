import SQLiteCore

/// Objects to be saved with all that they lead to, each once.
///
/// The values are taken where the objects live, and travel from then on: first ``stagingAssets(for:)`` copies
/// files, then ``write(on:in:)`` writes the rows and links in a transaction.
struct SaveGraph: Sendable {
  /// The objects that were asked to be saved, and behind them those that they lead to.
  var nodes: [Node]
  /// The values and changes of the objects when the graph was made.
  let values: Values
  /// The nodes of the objects that were asked to be saved, in the order in which they were named.
  let roots: [Int]
  /// How many nodes there are of these objects: one that was named twice is one node.
  let rootCount: Int
  /// The types of the objects.
  let plans: [ObjectPlan]
  /// Whether a new object must not give its values to one with the same primary value.
  let insertsOnly: Bool
  /// The unique properties by which an object that the store does not know is found in it, and gets its row;
  /// none to find it by its primary value.
  let matching: [String]
  /// The content of the store that the objects belong to.
  let generation: Int

  /// Takes the values of objects.
  ///
  /// - Parameters:
  ///   - objects: The objects to save.
  ///   - store: The store to save them in.
  ///   - isUnchanged: Whether the objects' rows must be as they were.
  ///   - insertsOnly: Whether the objects must be new in the store.
  ///   - matching: The properties by which objects that the store does not know are found in it.
  init<Object: MagicObject>(
    _ objects: some Sequence<Object>, for store: any ObjectStore,
    ifUnchanged isUnchanged: Bool = false, insertsOnly: Bool = false, matching: [String] = []
  ) throws {
    self.insertsOnly = insertsOnly
    self.matching = matching
    generation = store.generation
    var walk = Walk(store, capacity: objects.underestimatedCount)
    roots = try walk.add(contentsOf: objects)
    rootCount = walk.count
    nodes = try walk.nodes()
    walk.tieRings(nodes)
    values = walk.values
    plans = walk.plans
    if isUnchanged {
      for root in roots { nodes[root].expected = try nodes[root].expectedRow(in: store.identity) }
    }
  }

  /// Whether no object leads to others or has assets.
  var isPlain: Bool { plans.allSatisfy(\.isPlain) }
}

extension SaveGraph {
  /// One object to be saved.
  struct Node: Sendable {
    let plan: ObjectPlan
    let storage: ObjectStorage
    /// What the store knew of the object when the graph was made.
    let snapshot: ObjectStorage.Snapshot
    /// The place of the object's first property in ``SaveGraph/values``.
    let first: Int
    /// What objects of plain values have not: one, or nil.
    private var details: [Details]?

    init(
      _ plan: ObjectPlan, _ storage: ObjectStorage, _ context: FetchContext?,
      _ snapshot: ObjectStorage.Snapshot, first: Int
    ) {
      self.plan = plan
      self.storage = storage
      self.snapshot = snapshot
      self.first = first
      details = context.map { [Details(context: $0)] }
    }

    /// The fetch that knows the objects that this one leads to.
    var context: FetchContext? { details?[0].context }

    /// The properties whose columns or links depend on other objects, on assets or on the store.
    var late: [(slot: Int, value: LateValue)] {
      get { details?[0].late ?? [] }
      set { change { $0.late = newValue } }
    }

    /// The lazy values, which count their changes themselves; also those that belong to another object.
    var lazy: [(slot: Int, value: any LazyValue, state: LazyState, isOwn: Bool)] {
      get { details?[0].lazy ?? [] }
      set { change { $0.lazy = newValue } }
    }

    /// The changes of lazy collections whose links were left in the store.
    var edits: [Edits] {
      get { details?[0].edits ?? [] }
      set { change { $0.edits = newValue } }
    }

    /// The values that the columns must have for the object to be saved, if it must be unchanged.
    var expected: [(slot: Int, value: Value)]? {
      get { details?[0].expected }
      set { change { $0.expected = newValue } }
    }

    /// Whether there is nothing to know but the values.
    @inline(__always) var isPlain: Bool { details == nil }

    private mutating func change(_ change: (inout Details) -> Void) {
      var own = details ?? [Details()]
      details = nil
      change(&own[0])
      details = own
    }

    private struct Details: Sendable {
      var context: FetchContext?
      var late: [(slot: Int, value: LateValue)] = []
      var lazy: [(slot: Int, value: any LazyValue, state: LazyState, isOwn: Bool)] = []
      var edits: [Edits] = []
      var expected: [(slot: Int, value: Value)]?
    }
  }

  /// An object that a relation leads to.
  enum Target: Sendable {
    /// One that is saved too.
    case node(Int)
    /// One that is in the store and unchanged.
    case stored(Int64)
    /// None: the relation is optional.
    case none
  }

  /// The value of a property whose stored form is not known before the graph is written.
  enum LateValue: Sendable {
    /// A relation to one object.
    case object(Target)
    /// Links. Those that were not set are written only if the object is new.
    case links([(key: Value, target: Target)], isSet: Bool)
    /// The targets of another object's lazy relation.
    case copy(LazySource)
    /// An asset that was set.
    case asset(PendingAsset)
    /// An asset that is in a store. It stays as it is, unless the object is new there.
    case kept(AssetHandle)
    /// The store keeps what it has.
    case untouched
    /// Nothing was ever set.
    case missing

    /// Whether it is the present value of some object in the store.
    var isCopy: Bool {
      switch self {
      case .copy, .asset(.stored): true
      case .object, .links, .asset, .kept, .untouched, .missing: false
      }
    }
  }

  /// The changes of a lazy collection whose links were left in the store.
  struct Edits: Sendable {
    let slot: Int
    /// The collection, which knows which of the changes were saved meanwhile.
    let collection: any LazyValue
    let edits: [(number: Int, change: LinkEdit<EditTarget>)]
  }

  /// An object that a lazy collection is to lead to, or to lead to no longer.
  enum EditTarget: Sendable {
    /// One that is saved too.
    case saved(Target)
    /// One that is not saved, and may not be in the store.
    case known(ObjectStorage)
  }
}

extension SaveGraph {
  /// The values of objects in their stored forms, and their changes: in one array, since most graphs are of many small
  /// objects (benchmarks `insert` and `update`). The forms of the properties in ``Node/late`` become known
  /// while the graph is written.
  struct Values: Sendable {
    /// The properties. Only these values change them, when nobody else has them.
    private(set) var slots = SlotCopies(capacity: 16)

    func reserve(_ count: Int) { slots.reserve(count) }

    /// The number of properties of all objects.
    var count: Int { slots.count }

    /// Takes the values of an object, while nobody else has these.
    func take(_ storage: ObjectStorage, for store: StoreIdentity) -> ObjectStorage.Snapshot {
      storage.snapshot(for: store, to: slots)
    }

    /// Gives a new object's values to its storage, and takes them unless the object has to wait.
    @inline(__always) func take(
      _ storage: ObjectStorage, of cells: FoundCells, isTaken: Bool, in context: FetchContext?
    ) -> ObjectStorage.Adoption {
      storage.adopt(cells, to: isTaken ? slots : nil, in: context)
    }

    /// The number of values that were taken and are more than SQLite stores.
    var liveCount: Int { slots.liveCount }

    /// Binds the value of a property at its place; returns false for a form that is none.
    @inline(__always)
    func bind(_ place: Int, to handle: StatementHandle, at parameter: Int32) throws -> Bool {
      try slots.bind(place, to: handle, at: parameter)
    }

    /// The value of a property at its place.
    subscript(place: Int) -> CellValue.Form {
      @inline(__always) get { slots[place] }
      set {
        if !isKnownUniquelyReferenced(&slots) { slots = slots.copy }
        slots[place] = newValue
      }
    }

    /// The number of the last change of a property, 0 for none.
    func lastChange(of slot: Int, in node: Node) -> Int { slots.change(node.first + slot) }

    /// Returns whether a property was set since the object was saved or fetched.
    @inline(__always) func isSet(_ slot: Int, in node: Node) -> Bool {
      slots.change(node.first + slot) > node.snapshot.savedCount
    }

    /// Returns whether a property was set or changed since the object was saved or fetched.
    func isChanged(_ slot: Int, in node: Node) -> Bool {
      if isSet(slot, in: node) { return true }
      return !node.isPlain && node.lazy.contains { $0.slot == slot && $0.state.isChanged }
    }

    /// Returns whether the properties that were set are these, of those that have columns.
    func isChange(of wanted: [Int], among columns: [Int], first: Int, since count: Int) -> Bool {
      var index = 0
      for slot in columns where slots.change(first + slot) > count {
        guard index < wanted.count, wanted[index] == slot else { return false }
        index += 1
      }
      return index == wanted.count
    }

    /// The key that an object brings with it: its Int primary value.
    func key(of plan: ObjectPlan, first: Int) -> Int64? {
      guard let counting = plan.counting, case .stored(.integer(let key)) = self[first + counting]
      else { return nil }
      return key
    }

    /// The stored value of the primary property, if the object has one.
    func primaryValue(of node: Node) -> Value? {
      guard let primary = node.plan.primary, case .stored(let value) = self[node.first + primary]
      else {
        return nil
      }
      return value
    }
  }
}

extension SaveGraph.Node {

  /// The nodes that the columns of this one refer to.
  var references: [Int] {
    late.compactMap { late in
      if case .object(.node(let target)) = late.value { target } else { nil }
    }
  }

  func missingValue(_ slot: Int) -> MagicError {
    .missingValue(type: plan.typeName, property: plan.properties[slot].name)
  }
}
