import Synchronization

/// The storages of objects that are held together: all that one fetch has brought, or one object that was made.
///
/// Objects hold their group through a ``FetchContext``. A group holds no context, and its storages hold no other
/// group in a ring: see ``Ring``. So rings of objects do not leak.
final class ObjectGroup: Sendable {
  /// An instance of a class, as long as somebody has it.
  ///
  /// Proof: an object is handed out only to the isolation domain that
  /// its cells are in, which all belong to one group; the type of an object that is not Sendable makes
  /// the owners that reference it not Sendable either.
  private struct Instance: @unchecked Sendable {
    weak var object: AnyObject?
  }

  private struct WeakRing {
    weak var ring: Ring?
  }

  private struct State {
    /// The context by which objects of the group are held, once the group was in a ring.
    weak var context: FetchContext?
    /// The instances of classes by their rows.
    var instances: [Int: Instance] = [:]
    /// The storages that may hold objects of other groups.
    var holders: [ObjectIdentifier: ObjectStorage] = [:]
    /// The rings that the group is or was a member of.
    var rings: [WeakRing] = []
  }

  /// The store that the objects were fetched from; nil for an object that was made.
  let store: StoreIdentity?
  /// The rows of all types, table after table.
  let storages: [ObjectStorage]
  let tables: [FetchedTable]
  let tableIndexes: [ObjectIdentifier: Int]
  private let state: Mutex<State>

  /// Takes over the result of a fetch.
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

  /// Makes the group of an object that the program has made.
  init(of storage: ObjectStorage) {
    store = nil
    storages = [storage]
    tables = []
    tableIndexes = [:]
    state = Mutex(State())
  }

  /// Whether the group is one object that the program has made.
  var isMade: Bool { store == nil }

  /// Whether a property may hold objects of other groups. A lazy one of a fetched object is left in the store when
  /// it is saved.
  func isHolding(_ property: ObjectProperty) -> Bool {
    property.isEager || isMade && property.isRelation
  }

  /// The row of a storage of the group.
  func row(of storage: ObjectStorage) -> Int? {
    guard let zIndex = storage.fetchedZIndex else { return isMade ? 0 : nil }
    guard let index = tableIndexes[ObjectIdentifier(storage.shape.type)],
      let number = tables[index].numbers[zIndex]
    else { return nil }
    return tables[index].start + number
  }

  /// The instance of a class at a row, if somebody has it.
  func instance(at row: Int) -> AnyObject? { state.withLock { $0.instances[row] }?.object }

  /// Notes the instance of a class at a row.
  func note(_ object: AnyObject, at row: Int) {
    let instance = Instance(object: object)
    state.withLock { $0.instances[row] = instance }
  }

  /// Notes that a storage may hold objects of other groups.
  func note(holder storage: ObjectStorage) {
    state.withLock { $0.holders[ObjectIdentifier(storage)] = storage }
  }

  /// The storages that may hold objects of other groups.
  var holders: [ObjectStorage] {
    isMade ? storages : state.withLock { Array($0.holders.values) }
  }

  /// The context by which objects of the group are held: the present one, or a new one.
  ///
  /// - Parameter ring: The ring that holds the group if there is no context.
  func context(in ring: Ring?) -> FetchContext {
    state.withLock { state in
      if let context = state.context { return context }
      let context = FetchContext(of: self, in: ring)
      state.context = context
      return context
    }
  }

  /// Notes the context by which objects of the group are held. There is only one at any time.
  func note(_ context: FetchContext) { state.withLock { $0.context = context } }

  /// Notes the ring that the group belongs to from now on; nil for none.
  func join(_ ring: Ring?) {
    let former = state.withLock { state -> [Ring] in
      let former = state.rings.compactMap(\.ring)
      state.rings = (former + (ring.map { [$0] } ?? [])).map { WeakRing(ring: $0) }
      return former
    }
    for other in former { other.note(ring, of: self) }
  }
}

/// Groups whose objects reference each other in rings.
///
/// The storages of the groups reference each other by ``Companion``, which holds nothing. A context of each group
/// holds the ring, and the ring holds the groups.
final class Ring: Sendable {
  let members: [ObjectGroup]
  /// The rings that members have joined since: storages of other members may still reference them.
  private let joined = Mutex<[ObjectIdentifier: Ring]>([:])

  init(_ members: [ObjectGroup]) {
    self.members = members
  }

  /// The ring that holds what a member references.
  func ring(of member: ObjectGroup) -> Ring {
    joined.withLock { $0[ObjectIdentifier(member)] } ?? self
  }

  fileprivate func note(_ ring: Ring?, of member: ObjectGroup) {
    // What is replaced is released after the lock.
    _ = joined.withLock { joined in
      let former = joined[ObjectIdentifier(member)]
      joined[ObjectIdentifier(member)] = ring
      return former
    }
  }
}

extension Companion {
  /// The object's group and its row there.
  ///
  /// - Throws: ``Released`` if the reference was replaced since it was read.
  func place() throws(Released) -> (group: ObjectGroup, row: Int) {
    guard let group = group as? ObjectGroup else { throw Released(companion: self) }
    return (group, row)
  }

  /// A reference was replaced since it was read, and the object that it led to is gone.
  struct Released: Error {
    let companion: Companion
  }
}

extension ObjectStorage {
  /// Lends the form of a property and the number of its last change, again if a reference in it was replaced meanwhile.
  ///
  /// Proof that this ends: the reader has a context of the owner, which holds the owner's ring. ``RingFinder`` lets
  /// the context hold another ring, then replaces the references in the properties, and only then releases the
  /// former ring. A reference to a released object has therefore left the property: each further round reads another
  /// form, which another task has set or tied in between. If the same reference is read again, that order was
  /// violated, and an error is thrown.
  func reading<Result>(
    _ slot: Int, _ body: (_CellValue.Form, _ change: Int) throws -> Result
  ) throws -> Result {
    var released: Companion?
    while true {
      let (form, change) = self.slot(slot)
      do {
        return try body(form, change)
      } catch let error as Companion.Released {
        guard error.companion !== released else { break }
        released = error.companion
      }
    }
    throw MagicError.lostTarget(
      type: shape.typeName, property: shape.properties[slot].name,
      zIndex: lastIdentity?.zIndex ?? 0)
  }
}
