import SQLiteCore
import SQLiteRelations

/// Objects to be saved with all that they reference, each once.
///
/// The values are taken where the objects live, and travel from then on: first ``stagingAssets(for:)`` copies
/// files, then ``write(on:in:)`` writes the rows and links in a transaction.
struct SaveGraph: Sendable {
  /// The objects that were passed to the save, followed by the objects that they reference.
  let nodes: [Node]
  /// The values of the nodes, property by property.
  let values: SlotCopies
  /// The values of the nodes whose stored forms become known while the graph is written.
  var late: [(slot: Int, value: LateValue)]
  /// The links in ``late``.
  let links: [(key: Value, target: Target)]
  /// The lazy values of the nodes.
  let lazies: [Lazy]
  /// The changes of lazy collections whose links were left in the store.
  let edits: [Edits]
  /// The values that the columns of a node must have for the object to be saved, if it must be unchanged.
  private(set) var expected: [Int: [(slot: Int, value: Value)]] = [:]
  /// The nodes of the objects that were passed to the save, in their order.
  let roots: [Int]
  /// The number of these nodes: an object that was passed twice is one node.
  let rootCount: Int
  /// The types of the objects.
  let kinds: [Kind]
  /// Whether a new object must not give its values to one with the same primary value.
  let insertsOnly: Bool
  /// The unique properties by which an object that the store does not know is found in it, and gets its row;
  /// empty to find it by its primary value.
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
    roots = try walk.addRoots(objects)
    rootCount = walk.nodes.count
    try walk.run()
    walk.tieRings()
    nodes = walk.nodes
    values = walk.values
    late = walk.late
    links = walk.links
    lazies = walk.lazies
    edits = walk.edits
    kinds = walk.kinds
    if isUnchanged {
      for root in roots { expected[root] = try nodes[root].expectedRow(in: store.identity) }
    }
  }

  /// Whether no object references others or has assets.
  var isPlain: Bool { kinds.allSatisfy(\.plan.isPlain) }

  /// The plans of the objects' types.
  var plans: [ObjectPlan] { kinds.map(\.plan) }
}

extension SaveGraph {
  /// One object to be saved.
  struct Node: Sendable {
    let plan: ObjectPlan
    /// The index of the object's type in ``SaveGraph/kinds``.
    let kind: Int
    let storage: ObjectStorage
    /// The fetch that knows the objects that this one references.
    let context: FetchContext?
    /// What the store knew of the object when the graph was made.
    let snapshot: ObjectStorage.Snapshot
    /// The place of the object's first property in ``SaveGraph/values``.
    let first: Int
    /// Whether the object is in the store and was not changed, and so is not written. Its values weren't taken.
    var isClean = false
    /// The number of the object among the new ones of its type that have no key of their own.
    var ordinal: Int?
    /// The object's part of ``SaveGraph/late``.
    var late = 0..<0
    /// The object's part of ``SaveGraph/lazies``.
    var lazies = 0..<0
    /// The object's part of ``SaveGraph/edits``.
    var edits = 0..<0

    init(
      _ plan: ObjectPlan, _ kind: Int, _ storage: ObjectStorage, _ context: FetchContext?,
      _ snapshot: ObjectStorage.Snapshot, first: Int
    ) {
      self.plan = plan
      self.kind = kind
      self.storage = storage
      self.context = context
      self.snapshot = snapshot
      self.first = first
    }

    func missingValue(_ slot: Int) -> MagicError {
      .missingValue(type: plan.typeName, property: plan.properties[slot].name)
    }
  }

  /// A type of the objects, and what is known of those that are new.
  struct Kind: Sendable {
    let plan: ObjectPlan
    let id: ObjectIdentifier
    /// The number of new objects without a key of their own.
    var newCount = 0
    /// The greatest key that a new object brings with it.
    var greatestOwnKey: Int64?
    /// Whether a new object references another new one by a column, or is referenced by one.
    var isInReferences = false

    init(_ plan: ObjectPlan) {
      self.plan = plan
      id = plan.id
    }

    /// Whether the keys of new objects are chosen before the first one is written: others reference them, or must not
    /// get a key that one of them brings with it.
    var needsKeys: Bool { newCount > 0 && (isInReferences || greatestOwnKey != nil) }
  }

  /// A lazy value, which counts its changes itself. It may belong to another object.
  struct Lazy: Sendable {
    let slot: Int
    let value: any LazyValue
    let state: LazyState
    let isOwn: Bool
  }

  /// An object that a relation references.
  enum Target: Sendable {
    /// One that is saved too.
    case node(Int)
    /// One that is in the store and unchanged.
    case stored(Int64)
    /// No object: the relation is optional.
    case none
  }

  /// The value of a property whose stored form is not known before the graph is written.
  enum LateValue: Sendable {
    /// A relation to one object.
    case object(Target)
    /// A part of ``SaveGraph/links``. Links that were not set are written only if the object is new.
    case links(Range<Int>, isSet: Bool)
    /// The targets of another object's lazy relation.
    indirect case copy(LazySource)
    /// These targets, once they were looked up.
    case copied([StoredLink])
    /// An asset that was set.
    case asset(PendingAsset)
    /// An asset that is in a store. It stays as it is, unless the object is new there.
    indirect case kept(AssetHandle)
    /// The store keeps what it has.
    case untouched
    /// Nothing was ever set.
    case missing

    /// Whether it is the present value of some object in the store.
    var isCopy: Bool {
      switch self {
      case .copy, .asset(.stored): true
      case .object, .links, .copied, .asset, .kept, .untouched, .missing: false
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

  /// An object that a lazy collection is to contain, or to contain no longer.
  enum EditTarget: Sendable {
    /// One that is saved too.
    case saved(Target)
    /// One that is not saved, and may not be in the store.
    case known(ObjectStorage)
  }
}

extension SlotCopies {
  /// Returns whether a property was set, or its lazy value changed, since the object was saved or fetched.
  @inline(__always) func isChanged(_ slot: Int, in node: SaveGraph.Node) -> Bool {
    change(node.first + slot) > node.snapshot.savedCount
  }

  /// The key that an object brings with it: its Int primary value.
  func key(of plan: ObjectPlan, first: Int) -> Int64? {
    guard let counting = plan.counting, case .stored(.integer(let key)) = self[first + counting]
    else { return nil }
    return key
  }

  /// The stored value of the primary property, if the object has one.
  func primaryValue(of node: SaveGraph.Node) -> Value? {
    guard let primary = node.plan.primary, case .stored(let value) = self[node.first + primary]
    else { return nil }
    return value
  }
}
