import Synchronization

/// The storages of objects that are kept alive together: all objects of a fetch, or one object that
/// the program created.
///
/// Objects hold their group through a ``FetchContext``. A group doesn't hold a context, and its
/// storages don't hold other groups of the same reference cycle (see ``ReferenceCycle``). Cycles of
/// objects therefore don't leak.
final class ObjectGroup: Sendable {
  /// A weak reference to an instance of a class.
  ///
  /// Proof: an instance is returned only in the isolation domain of its cells, which all belong to
  /// one group. If the type of an object isn't Sendable, the types that reference it aren't
  /// Sendable either.
  private struct Instance: @unchecked Sendable {
    weak var object: AnyObject?
  }

  private struct WeakCycle {
    weak var cycle: ReferenceCycle?
  }

  private struct State {
    /// A weak reference to the context that holds the group, set once the group was in a reference
    /// cycle; nil before.
    weak var context: FetchContext?
    /// The instances of classes that were created from the group's storages, by row.
    var instances: [Int: Instance] = [:]
    /// The storages that may hold objects of other groups.
    var holders: [ObjectIdentifier: ObjectStorage] = [:]
    /// The reference cycles that the group belongs to or has belonged to.
    var cycles: [WeakCycle] = []
  }

  /// The store that the objects were fetched from, or nil for an object that the program created.
  let store: StoreIdentity?
  /// The storages of the rows of all types, one table after another.
  let storages: [ObjectStorage]
  let tables: [FetchedTable]
  let tableIndexes: [ObjectIdentifier: Int]
  private let state: Mutex<State>

  /// Creates the group of all objects of a fetch.
  init(_ store: StoreIdentity, _ graph: FetchedGraph) {
    self.store = store
    tableIndexes = graph.indexes
    storages =
      graph.tables.count == 1
      ? graph.tables[0].storages : Array(graph.tables.map(\.storages).joined())
    var start = 0
    tables = graph.tables.map { rows in
      defer { start += rows.storages.count }
      return FetchedTable(rows, start: start, graph.indexes)
    }
    state = Mutex(State())
  }

  /// Creates the group of one object that the program created.
  init(of storage: ObjectStorage) {
    store = nil
    storages = [storage]
    tables = []
    tableIndexes = [:]
    state = Mutex(State())
  }

  /// Whether the group consists of one object that the program created.
  var isCreatedByProgram: Bool { store == nil }

  /// Returns whether a property of the group's objects may hold objects of other groups. A lazy
  /// property of a fetched object doesn't, because a save leaves its value in the store.
  func isHolding(_ property: ObjectProperty) -> Bool {
    property.isEager || isCreatedByProgram && property.isRelation
  }

  /// Returns the row of a storage, or nil if the storage isn't in the group.
  func row(of storage: ObjectStorage) -> Int? {
    guard let zIndex = storage.fetchedZIndex else { return isCreatedByProgram ? 0 : nil }
    guard let index = tableIndexes[ObjectIdentifier(storage.shape.type)],
      let number = tables[index].numbers[zIndex]
    else { return nil }
    return tables[index].start + number
  }

  /// Returns the instance of a class at a row, or nil if none is alive.
  func instance(at row: Int) -> AnyObject? { state.withLock { $0.instances[row] }?.object }

  /// Records the instance of a class at a row, unless another task has recorded one that is alive.
  ///
  /// - Returns: The recorded instance.
  @discardableResult
  func register(_ object: AnyObject, at row: Int) -> AnyObject {
    // The known object leaves the lock, because its `deinit` may access the group if this is its
    // last reference.
    let known = state.withLock { state -> AnyObject? in
      if let known = state.instances[row]?.object { return known }
      state.instances[row] = Instance(object: object)
      return nil
    }
    return known ?? object
  }

  /// Records that a storage may hold objects of other groups.
  func register(holder storage: ObjectStorage) {
    state.withLock { $0.holders[ObjectIdentifier(storage)] = storage }
  }

  /// The storages that may hold objects of other groups.
  var holders: [ObjectStorage] {
    isCreatedByProgram ? storages : state.withLock { Array($0.holders.values) }
  }

  /// Returns the context that holds the group, and creates it if necessary.
  ///
  /// - Parameter cycle: The reference cycle that a new context holds.
  func context(in cycle: ReferenceCycle?) -> FetchContext {
    state.withLock { state in
      if let context = state.context { return context }
      let context = FetchContext(of: self, in: cycle)
      state.context = context
      return context
    }
  }

  /// Records the context that holds the group. Only one exists at any time.
  func register(_ context: FetchContext) { state.withLock { $0.context = context } }

  /// Records the reference cycle that the group belongs to from now on, or nil for none.
  func join(_ cycle: ReferenceCycle?) {
    let former = state.withLock { state -> [ReferenceCycle] in
      let former = state.cycles.compactMap(\.cycle)
      state.cycles = (former + (cycle.map { [$0] } ?? [])).map { WeakCycle(cycle: $0) }
      return former
    }
    for other in former { other.register(cycle, of: self) }
  }
}

/// A reference cycle of groups, formed by references between their objects.
///
/// Storages in these groups reference each other through ``WeakObjectReference``, which is a weak
/// reference. The context of each group holds the cycle, and the cycle holds the groups.
final class ReferenceCycle: Sendable {
  let members: [ObjectGroup]
  /// The cycles that members have joined after they left this cycle, by member. Storages of the
  /// remaining members may still reference members that have left.
  private let joined = Mutex<[ObjectIdentifier: ReferenceCycle]>([:])

  init(_ members: [ObjectGroup]) {
    self.members = members
  }

  /// Returns the cycle that a member belongs to now.
  func cycle(of member: ObjectGroup) -> ReferenceCycle {
    joined.withLock { $0[ObjectIdentifier(member)] } ?? self
  }

  fileprivate func register(_ cycle: ReferenceCycle?, of member: ObjectGroup) {
    // The previous value is released after the lock.
    _ = joined.withLock { joined in
      let former = joined[ObjectIdentifier(member)]
      joined[ObjectIdentifier(member)] = cycle
      return former
    }
  }
}

extension WeakObjectReference {
  /// Returns the object's group and its row there.
  ///
  /// - Throws: ``Released`` if the object was released, because the reference has been replaced
  ///   since it was read.
  func place() throws(Released) -> (group: ObjectGroup, row: Int) {
    guard let group = group as? ObjectGroup else { throw Released(weakReference: self) }
    return (group, row)
  }

  /// An error that is thrown if the referenced object was released, because the reference has been
  /// replaced since it was read.
  struct Released: Error {
    let weakReference: WeakObjectReference
  }
}

extension ObjectStorage {
  /// Calls `body` with the form of a property and the number of its last change, and calls it again
  /// if a reference in the form was replaced in the meantime.
  ///
  /// Proof that this terminates: the reader has a context of the owner, which holds the owner's
  /// cycle. ``CycleFinder`` first makes the context hold the new cycle, then replaces the
  /// references in the properties, and only then releases the previous cycle. A reference to a
  /// released object is therefore no longer in the property. Each further iteration reads another
  /// form, which another task has stored in between. If an iteration reads the same reference
  /// again, that order was violated, and this method throws an error.
  func reading<Result>(
    _ slot: Int, _ body: (_CellValue.Form, _ change: Int) throws -> Result
  ) throws -> Result {
    var released: WeakObjectReference?
    while true {
      let (form, change) = self.slot(slot)
      do {
        return try body(form, change)
      } catch let error as WeakObjectReference.Released {
        guard error.weakReference !== released else { break }
        released = error.weakReference
      }
    }
    throw MagicError.lostTarget(
      type: shape.typeName, property: shape.properties[slot].name,
      zIndex: lastIdentity?.zIndex ?? 0)
  }
}
