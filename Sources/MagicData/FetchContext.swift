import Synchronization

/// One fetch: what it brought, and the objects made of it so far, one for each z_index.
///
/// The objects' cells keep the context alive, the context keeps the objects' storages, and these keep
/// neither: relations in them are z_index values. So cycles of objects do not leak.
package final class FetchContext: Sendable {
  /// An instance of a class, as long as somebody has it.
  ///
  /// Proof: an object is handed out only to the isolation domain that
  /// its cells are in, which all belong to one fetch; the type of an object that is not Sendable makes
  /// the owners that lead to it not Sendable either.
  private struct Instance: @unchecked Sendable {
    weak var object: AnyObject?
  }

  /// What was made so far of the rows of one type.
  private struct Made {
    /// Which rows were made objects of, by their places.
    var places: [Bool] = []
    /// The instances, if the type is a class.
    var instances: [Int64: Instance] = [:]
  }

  private struct State {
    var graph: FetchedGraph
    /// How often the graph has grown.
    var version = 0
    var made: [ObjectIdentifier: Made] = [:]
  }

  let store: MagicData
  private let state: Mutex<State>

  /// Takes what was read.
  init(store: MagicData, _ graph: FetchedGraph) {
    self.store = store
    state = Mutex(State(graph: graph))
  }

  /// All objects that the query found, in its order.
  func objects<Object: MagicObject>(of type: Object.Type) throws -> [Object] {
    try objects(type, state.withLock { $0.graph.rows[ObjectIdentifier(type)]?.found } ?? [])
  }

  /// Objects that the fetch brought.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if it did not bring one of them.
  func objects<Object: MagicObject>(
    _ type: Object.Type, _ zIndexes: ArraySlice<Int64>
  ) throws -> [Object] {
    let storages = storages(ObjectIdentifier(type), zIndexes)
    guard storages.count == zIndexes.count else {
      throw MagicError.missingTarget(
        type: "\(type)", zIndex: zIndexes[zIndexes.startIndex + storages.count])
    }
    guard let plan = storages.first?.plan else { return [] }
    let context = plan.needsContext ? self : nil
    if type is AnyObject.Type {
      return try zip(storages, zIndexes).map { try instance(type, of: $0, $1, in: context) }
    }
    return try Construction.objects(type, plan, of: storages, in: context)
  }

  /// An object that the fetch brought.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if it did not.
  func object<Object: MagicObject>(_ type: Object.Type, _ zIndex: Int64) throws -> Object {
    guard let object = try make(type, zIndex) else {
      throw MagicError.missingTarget(type: "\(type)", zIndex: zIndex)
    }
    return object
  }

  /// The object that a property of another one leads to, or nil if it is gone.
  func object<Object: MagicObject>(
    _ type: Object.Type, zIndex: Int64, from storage: ObjectStorage
  ) -> Object? {
    // What is stored was checked when it was fetched, so nothing is thrown here.
    if let object = try? make(type, zIndex) { return object }
    return follow(storage.plan) ? try? make(type, zIndex) : nil
  }

  /// What the links of an object's property lead to, in their order; nil if they cannot be read.
  func links(of storage: ObjectStorage, slot: Int) -> LinkTargets? {
    // As it was fetched, whatever has become of the object since.
    guard let owner = storage.fetchedZIndex else { return LinkTargets.none }
    let type = ObjectIdentifier(storage.plan.type)
    func known() -> LinkTargets? {
      state.withLock { state in
        if state.graph.unfollowed[type]?.contains(owner) == true { return nil }
        return state.graph.links[PropertyKey(type: type, slot: slot)]?[owner]
          ?? LinkTargets.none
      }
    }
    if let links = known() { return links }
    return follow(storage.plan) ? known() : nil
  }

  /// The storage of an object that somebody has looked at, since only those can have changed.
  func madeStorage(_ type: any MagicObject.Type, zIndex: Int64) -> ObjectStorage? {
    let type = ObjectIdentifier(type)
    return state.withLock { state in
      guard let rows = state.graph.rows[type], let place = rows.places[zIndex],
        let made = state.made[type]?.places, place < made.count, made[place]
      else { return nil }
      return rows.storages[place]
    }
  }

  /// The storage of an object, looked at or not.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if the fetch did not bring it.
  func storage(_ type: any MagicObject.Type, zIndex: Int64) throws -> ObjectStorage {
    guard let storage = storages(ObjectIdentifier(type), [zIndex]).first else {
      throw MagicError.missingTarget(type: "\(type)", zIndex: zIndex)
    }
    return storage
  }

  private func make<Object: MagicObject>(_ type: Object.Type, _ zIndex: Int64) throws -> Object? {
    guard let storage = storages(ObjectIdentifier(type), [zIndex]).first else { return nil }
    let context = storage.plan.needsContext ? self : nil
    if type is AnyObject.Type { return try instance(type, of: storage, zIndex, in: context) }
    return try Construction.object(type, of: storage, in: context)
  }

  /// The instance of a class for a row, the same one as long as somebody has it.
  private func instance<Object: MagicObject>(
    _ type: Object.Type, of storage: ObjectStorage, _ zIndex: Int64, in context: FetchContext?
  ) throws -> Object {
    let key = ObjectIdentifier(type)
    if let known = state.withLock({ $0.made[key]?.instances[zIndex] })?.object as? Object {
      return known
    }
    let object = try Construction.object(type, of: storage, in: context)
    let instance = Instance(object: object as AnyObject)
    state.withLock { $0.made[key, default: Made()].instances[zIndex] = instance }
    return object
  }

  /// The storages of rows that objects are to be made of, up to the first that the fetch did not bring.
  private func storages(
    _ type: ObjectIdentifier, _ zIndexes: ArraySlice<Int64>
  ) -> [ObjectStorage] {
    state.withLock { state in
      guard let rows = state.graph.rows[type] else { return [] }
      var made = state.made.removeValue(forKey: type) ?? Made()
      defer { state.made[type] = made }
      let lacking = rows.storages.count - made.places.count
      if lacking > 0 { made.places.append(contentsOf: repeatElement(false, count: lacking)) }
      var storages: [ObjectStorage] = []
      storages.reserveCapacity(zIndexes.count)
      for zIndex in zIndexes {
        guard let place = rows.places[zIndex] else { break }
        made.places[place] = true
        storages.append(rows.storages[place])
      }
      return storages
    }
  }

  /// Reads on from where the fetch ended, for all objects of a type at once.
  private func follow(_ plan: ObjectPlan) -> Bool {
    let type = ObjectIdentifier(plan.type)
    while true {
      let (graph, version) = state.withLock { ($0.graph, $0.version) }
      guard graph.unfollowed[type] != nil else { return true }
      // The property is reported as one without a value.
      guard let more = try? resumed(graph, type) else { return false }
      let isFirst = state.withLock { state in
        // What another task has read on meanwhile stays: there is one storage for each z_index.
        guard state.version == version else { return false }
        state.graph = more
        state.version += 1
        return true
      }
      if isFirst { return true }
    }
  }

  private func resumed(_ graph: FetchedGraph, _ type: ObjectIdentifier) throws -> FetchedGraph {
    try store.read { connection in
      let loader = GraphLoader(store, connection, graph, depth: 1)
      try loader.resume(type)
      return loader.graph
    }
  }
}
