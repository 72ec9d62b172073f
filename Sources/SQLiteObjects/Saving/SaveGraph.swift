import SQLiteCore
import SQLiteRelations

/// Objects to be saved and everything that they reference, each object once.
///
/// The initializer reads the values in the isolation domain of the objects. The graph can then move
/// to another thread: first ``stagingAssets(for:)`` copies files, then ``write(on:in:)`` writes the
/// rows and links in a transaction.
struct SaveGraph: Sendable {
  /// The objects that were passed to the save, followed by the objects that they reference.
  let nodes: [Node]
  /// The values of the nodes that aren't clean: those of all properties of the first node, then
  /// those of the next one, and so on.
  let values: SlotCopies
  /// The property values with stored forms that are determined only while the graph is written.
  /// Each node has a contiguous range of them.
  var deferred: [(slot: Int, value: DeferredValue)]
  /// The links that the ``deferred`` values refer to.
  let links: [(key: Value, target: Target)]
  /// The lazy values of the nodes.
  let lazies: [Lazy]
  /// The pending changes of lazy collections that weren't set. They are applied to the links in the
  /// store.
  let edits: [Edits]
  /// The values that the columns of each root must have in the store, by the index of its node.
  /// Empty if the objects needn't be unchanged.
  private(set) var expected: [Int: [(slot: Int, value: Value)]] = [:]
  /// The indexes of the nodes of the objects that were passed to the save, in the same order.
  let roots: [Int]
  /// The number of different nodes in ``roots``. An object that was passed twice has one node.
  let rootCount: Int
  /// The types of the nodes, each once.
  let kinds: [Kind]
  /// Whether a new object must not overwrite an existing one with the same primary value.
  let insertsOnly: Bool
  /// The names of the unique properties by which the save finds the object in the store that an
  /// unknown object overwrites. Empty if it finds that object by the primary value.
  let matching: [String]
  /// The generation of the store's content that the objects belong to.
  let generation: Int

  /// Creates a graph with the current values of objects.
  ///
  /// - Parameters:
  ///   - objects: The objects to save.
  ///   - store: The store to save them in.
  ///   - isUnchanged: Whether the objects must be unchanged in the store.
  ///   - insertsOnly: Whether the objects must be new in the store.
  ///   - matching: The names of the unique properties by which the save finds the object in the
  ///     store that an unknown object overwrites. Empty to find it by the primary value.
  init<Object: MagicObject>(
    _ objects: some Sequence<Object>, for store: any ObjectStore,
    ifUnchanged isUnchanged: Bool = false, insertsOnly: Bool = false, matching: [String] = []
  ) throws {
    var walk = Walk(store, capacity: objects.underestimatedCount)
    let roots = try walk.addRoots(objects)
    try self.init(
      walk, roots, in: store.identity, ifUnchanged: isUnchanged, insertsOnly: insertsOnly,
      matching: matching)
  }

  /// Creates a graph with the values that the objects of another graph have now.
  init(rereading graph: SaveGraph, for store: any ObjectStore) throws {
    var walk = Walk(store, capacity: graph.nodes.count)
    let roots = try walk.addRoots(of: graph)
    try self.init(
      walk, roots, in: store.identity, ifUnchanged: !graph.expected.isEmpty,
      insertsOnly: graph.insertsOnly, matching: graph.matching)
  }

  private init(
    _ start: consuming Walk, _ roots: [Int], in store: StoreIdentity,
    ifUnchanged isUnchanged: Bool, insertsOnly: Bool, matching: [String]
  ) throws {
    self.insertsOnly = insertsOnly
    self.matching = matching
    self.roots = roots
    var walk = start
    generation = walk.generation
    rootCount = walk.nodes.count
    try walk.run()
    walk.joinCycles()
    nodes = walk.nodes
    values = walk.values
    deferred = walk.deferred
    links = walk.links
    lazies = walk.lazies
    edits = walk.edits
    kinds = walk.kinds
    if isUnchanged {
      for root in roots { expected[root] = try nodes[root].expectedRow(in: store) }
    }
  }

  /// Whether none of the objects has relations or assets.
  var isPlain: Bool { kinds.allSatisfy(\.plan.isPlain) }

  /// The plans of the objects' types.
  var plans: [ObjectPlan] { kinds.map(\.plan) }
}

extension SaveGraph {
  /// An error that is thrown if an earlier save of an object, whose values a graph doesn't contain,
  /// was rolled back after the graph was created.
  struct Outdated: Error {}

  /// One object to be saved.
  struct Node: Sendable {
    let plan: ObjectPlan
    /// The index of the object's type in ``SaveGraph/kinds``.
    let kind: Int
    let storage: ObjectStorage
    /// The context for reading the object's relations, or nil if it needs none.
    let context: FetchContext?
    /// The state of the object in the store when the graph was created.
    let snapshot: ObjectStorage.Snapshot
    /// The index of the object's first property in ``SaveGraph/values``.
    let first: Int
    /// Whether the object is in the store and unchanged. It isn't written, and ``SaveGraph/values``
    /// doesn't contain it.
    var isClean = false
    /// The index of the object among the new objects of its type that have no key of their own, or
    /// nil if it isn't one of them.
    var ordinal: Int?
    /// The range of the object's values in ``SaveGraph/deferred``.
    var deferred = 0..<0
    /// The range of the object's lazy values in ``SaveGraph/lazies``.
    var lazies = 0..<0
    /// The range of the object's pending changes in ``SaveGraph/edits``.
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

  /// A type of objects in a graph, with a summary of its new objects.
  struct Kind: Sendable {
    let plan: ObjectPlan
    let id: ObjectIdentifier
    /// The number of new objects of the type that have no key of their own.
    var newCount = 0
    /// The greatest key that a new object already has, or nil if none has a key.
    var greatestOwnKey: Int64?
    /// Whether a new object of the type references a new object by a column, or is itself
    /// referenced by a column.
    var isInReferences = false

    init(_ plan: ObjectPlan) {
      self.plan = plan
      id = plan.id
    }

    /// Whether keys are reserved before the first row is written, because other objects reference
    /// the new ones or because a new object already has a key that no other one may get.
    var needsKeys: Bool { newCount > 0 && (isInReferences || greatestOwnKey != nil) }
  }

  /// The lazy value of a node's property, with its state when the graph was created. A value that
  /// was assigned from another object belongs to that object: `isOwn` is then false.
  struct Lazy: Sendable {
    let slot: Int
    let box: LazyBox
    let state: LazyState
    let isOwn: Bool
    /// Whether the value was set and references an object of the same reference cycle.
    var isInCycle = false
  }

  /// An object that a relation references.
  enum Target: Sendable {
    /// An object that the same graph saves, identified by the index of its node.
    case node(Int)
    /// An object that is in the store and unchanged, identified by its z_index.
    case stored(Int64)
    /// No object: an optional relation that is nil.
    case none
  }

  /// A property value with a stored form that is determined only while the graph is written.
  enum DeferredValue: Sendable {
    /// The target of a to-one relation.
    case object(Target)
    /// A range of ``SaveGraph/links``. Links that were not set are written only for a new object.
    case links(Range<Int>, isSet: Bool)
    /// The targets of another object's lazy relation, which aren't read from the store yet.
    indirect case copy(LazySource)
    /// The targets of another object's lazy relation, as read from the store at the start of the
    /// save.
    case copied([StoredLink])
    /// An asset that was set.
    case asset(PendingAsset)
    /// An asset that is already in a store. It is written only for a new object.
    indirect case kept(AssetHandle)
    /// A lazy value that hasn't been loaded. It stays unchanged in its store and is not written.
    case untouched
    /// A value that was never set, although it is required.
    case missing

    /// Whether the value is a copy of a relation or an asset that another property has in the
    /// store, and that isn't read yet.
    var isCopy: Bool {
      switch self {
      case .copy, .asset(.stored): true
      case .object, .links, .copied, .asset, .kept, .untouched, .missing: false
      }
    }
  }

  /// The pending changes of a lazy collection that wasn't set. They are applied to its links in the
  /// store.
  struct Edits: Sendable {
    let slot: Int
    /// The collection, which records which of the changes have been saved since.
    let collection: LazyBox
    let edits: [(number: Int, change: LinkEdit<EditTarget>)]
  }

  /// An object to add to a lazy collection or to remove from it.
  enum EditTarget: Sendable {
    /// An object that the same graph saves.
    case saved(Target)
    /// An object to remove, which the graph doesn't save. It may not be in the store.
    case known(ObjectStorage)
  }
}

extension SlotCopies {
  /// Returns whether a property has been set, or its lazy value changed, since the object was saved
  /// or fetched.
  @inline(__always) func isChanged(_ slot: Int, in node: SaveGraph.Node) -> Bool {
    change(node.first + slot) > node.snapshot.savedCount
  }

  /// Returns the `Int` primary value of an object, which is its key. Returns nil if the type has
  /// none, or if the database hasn't assigned the value yet.
  func key(of plan: ObjectPlan, first: Int) -> Int64? {
    guard let autoIncrementSlot = plan.autoIncrementSlot,
      case .stored(.integer(let key)) = self[first + autoIncrementSlot]
    else { return nil }
    return key
  }

  /// Returns the stored form of the primary value, or nil if the object has no primary value or it
  /// isn't in stored form.
  func primaryValue(of node: SaveGraph.Node) -> Value? {
    guard let primary = node.plan.primary, case .stored(let value) = self[node.first + primary]
    else { return nil }
    return value
  }
}
