import SQLiteCore

/// Objects to be saved with all that they lead to, each once.
///
/// The values are taken where the objects live, and travel from then on: first ``stagingAssets(for:)`` copies
/// files, then ``write(on:in:)`` writes the rows and links in a transaction.
struct SaveGraph: Sendable {
  /// The objects that were asked to be saved, and behind them those that they lead to.
  var nodes: [Node]
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
    /// The fetch that knows the objects that this one leads to.
    let context: FetchContext?
    /// The values and changes of the object when the graph was made.
    let snapshot: ObjectStorage.Snapshot
    /// The stored forms of the values, one for each property. Those of the properties in ``late`` become
    /// known while the graph is written.
    var parameters: [CellValue.Form]
    /// The properties whose columns or links depend on other objects, on assets or on the store.
    var late: [(slot: Int, value: LateValue)] = []
    /// The lazy values, which count their changes themselves; also those that belong to another object.
    var lazy: [(slot: Int, value: any LazyValue, state: LazyState, isOwn: Bool)] = []
    /// The changes of lazy collections whose links were left in the store.
    var edits: [Edits] = []
    /// The values that the columns must have for the object to be saved, if it must be unchanged.
    var expected: [(slot: Int, value: Value)]?
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

extension SaveGraph.Node {
  /// Returns whether a property was set or changed since the object was saved or fetched.
  func isChanged(_ slot: Int) -> Bool {
    if snapshot.isChanged(slot) { return true }
    return !lazy.isEmpty && lazy.contains { $0.slot == slot && $0.state.isChanged }
  }

  /// The key that the object brings with it: its Int primary value.
  var key: Int64? {
    guard let counting = plan.counting, case .stored(.integer(let key)) = parameters[counting]
    else { return nil }
    return key
  }

  /// The stored value of the primary property, if the object has one.
  var primaryValue: Value? {
    guard let primary = plan.primary, case .stored(let value) = parameters[primary] else {
      return nil
    }
    return value
  }

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
