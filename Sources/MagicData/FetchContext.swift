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
    /// The storages, by the places of the rows.
    var storages: [ObjectStorage?] = []
    /// The instances, if the type is a class.
    var instances: [Int64: Instance] = [:]
  }

  private struct State {
    var graph: FetchedGraph
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
    guard let first = storages.lazy.compactMap(\.self).first ?? nil else {
      if let missing = zIndexes.first {
        throw MagicError.missingTarget(type: "\(type)", zIndex: missing)
      }
      return []
    }
    var construction = Construction(first.plan)
    var objects: [Object] = []
    objects.reserveCapacity(storages.count)
    for (storage, zIndex) in zip(storages, zIndexes) {
      guard let storage else {
        throw MagicError.missingTarget(type: "\(type)", zIndex: zIndex)
      }
      objects.append(try object(type, of: storage, zIndex, by: &construction))
    }
    return objects
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
  func links(of storage: ObjectStorage, slot: Int) -> FetchedLinks.Targets? {
    guard let owner = storage.zIndex(in: store.identity) else { return FetchedLinks.Targets.none }
    let type = ObjectIdentifier(storage.plan.type)
    func known() -> FetchedLinks.Targets? {
      state.withLock { state in
        if state.graph.unfollowed[type]?.contains(owner) == true { return nil }
        return state.graph.links[PropertyKey(type: type, slot: slot)]?[owner]
          ?? FetchedLinks.Targets.none
      }
    }
    if let links = known() { return links }
    return follow(storage.plan) ? known() : nil
  }

  /// The storage of an object that somebody has looked at, since only those can have changed.
  func madeStorage(_ type: any MagicObject.Type, zIndex: Int64) -> ObjectStorage? {
    let type = ObjectIdentifier(type)
    return state.withLock { state in
      guard let place = state.graph.rows[type]?.places[zIndex],
        let storages = state.made[type]?.storages, place < storages.count
      else { return nil }
      return storages[place]
    }
  }

  private func make<Object: MagicObject>(_ type: Object.Type, _ zIndex: Int64) throws -> Object? {
    guard let storage = storages(ObjectIdentifier(type), [zIndex])[0] else { return nil }
    var construction = Construction(storage.plan)
    return try object(type, of: storage, zIndex, by: &construction)
  }

  private func object<Object: MagicObject>(
    _ type: Object.Type, of storage: ObjectStorage, _ zIndex: Int64,
    by construction: inout Construction
  ) throws -> Object {
    let isClass = type is AnyObject.Type
    let key = ObjectIdentifier(type)
    if isClass,
      let known = state.withLock({ $0.made[key]?.instances[zIndex] })?.object as? Object
    {
      return known
    }
    let object = try construction.object(
      type, of: storage, in: storage.plan.needsContext ? self : nil)
    if isClass {
      let instance = Instance(object: object as AnyObject)
      state.withLock { $0.made[key, default: Made()].instances[zIndex] = instance }
    }
    return object
  }

  /// The storages of rows, nil for those that the fetch did not bring.
  private func storages(
    _ type: ObjectIdentifier, _ zIndexes: ArraySlice<Int64>
  ) -> [ObjectStorage?] {
    state.withLock { state in
      guard let plan = state.graph.plans[type], let rows = state.graph.rows[type] else {
        return zIndexes.map { _ in nil }
      }
      var made = state.made.removeValue(forKey: type) ?? Made()
      defer { state.made[type] = made }
      let lacking = rows.places.count - made.storages.count
      if lacking > 0 { made.storages.append(contentsOf: repeatElement(nil, count: lacking)) }
      return zIndexes.map { zIndex in
        guard let place = rows.places[zIndex] else { return nil }
        if let known = made.storages[place] { return known }
        let storage = ObjectStorage(
          plan, rows.forms(at: place, of: plan), identity: .init(magic: store, zIndex: zIndex))
        made.storages[place] = storage
        return storage
      }
    }
  }

  /// Reads on from where the fetch ended, for all objects of a type at once.
  private func follow(_ plan: ObjectPlan) -> Bool {
    let type = ObjectIdentifier(plan.type)
    let graph = state.withLock { $0.graph }
    guard graph.unfollowed[type] != nil else { return false }
    do {
      let more = try store.read { connection in
        let loader = GraphLoader(store, connection, graph, depth: 1)
        try loader.resume(type)
        return loader.graph
      }
      state.withLock { $0.graph = more }
      return true
    } catch {
      // The property is reported as one without a value.
      return false
    }
  }
}
