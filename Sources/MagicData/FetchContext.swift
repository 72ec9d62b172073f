import SQLiteCore
import SQLiteRelations
import Synchronization

/// One fetch: what it brought, and the objects made of it so far, one for each z_index.
///
/// The objects' cells keep the context alive, the context keeps the objects' storages, and these keep
/// neither: relations in them are z_index values. So cycles of objects do not leak.
package final class FetchContext: Sendable {
  private struct ObjectKey: Hashable {
    let type: ObjectIdentifier
    let zIndex: Int64
  }

  /// An instance of a class, as long as somebody has it.
  ///
  /// Proof: an object is handed out only to the isolation domain that
  /// its cells are in, which all belong to one fetch; the type of an object that is not Sendable makes
  /// the owners that lead to it not Sendable either.
  private struct Instance: @unchecked Sendable {
    weak var object: AnyObject?
  }

  private struct State {
    var graph: FetchedGraph
    var storages: [ObjectKey: ObjectStorage] = [:]
    var instances: [ObjectKey: Instance] = [:]
  }

  let store: MagicData
  private let state: Mutex<State>

  /// Takes what was read.
  ///
  /// - Throws: ``MagicError/unreadableValue(type:property:zIndex:reason:)``: all that relations lead to
  ///   is checked now, so that reading a property later cannot fail.
  init(store: MagicData, _ graph: FetchedGraph) throws {
    self.store = store
    state = Mutex(State(graph: graph))
    try check(graph)
  }

  /// All objects that the query found, in its order.
  func objects<Object: MagicObject>(of type: Object.Type) throws -> [Object] {
    let found = state.withLock { $0.graph.rows[ObjectIdentifier(type)]?.found } ?? []
    return try found.map { try object(type, $0) }
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

  /// The links of an object's property, in their order; nil if they cannot be read.
  func links(of storage: ObjectStorage, slot: Int) -> ArraySlice<Link>? {
    guard let owner = storage.zIndex(in: store.identity) else { return [] }
    let type = ObjectIdentifier(storage.plan.type)
    func known() -> ArraySlice<Link>? {
      state.withLock { state in
        state.graph.unfollowed[type]?.contains(owner) == true
          ? nil : state.graph.links[PropertyKey(type: type, slot: slot)]?[owner] ?? []
      }
    }
    if let links = known() { return links }
    return follow(storage.plan) ? known() : nil
  }

  /// The storage of an object that somebody has looked at, since only those can have changed.
  func madeStorage(_ type: any MagicObject.Type, zIndex: Int64) -> ObjectStorage? {
    let key = ObjectKey(type: ObjectIdentifier(type), zIndex: zIndex)
    return state.withLock { $0.storages[key] }
  }

  private func make<Object: MagicObject>(_ type: Object.Type, _ zIndex: Int64) throws -> Object? {
    let key = ObjectKey(type: ObjectIdentifier(type), zIndex: zIndex)
    let isClass = type is AnyObject.Type
    if isClass, let instance = state.withLock({ $0.instances[key] })?.object as? Object {
      return instance
    }
    guard let storage = try storage(key) else { return nil }
    var construction = Construction(storage.plan)
    let object = try construction.object(type, of: storage, in: self)
    if isClass {
      let instance = Instance(object: object as AnyObject)
      state.withLock { $0.instances[key] = instance }
    }
    return object
  }

  private func storage(_ key: ObjectKey) throws -> ObjectStorage? {
    let (known, plan, values) = state.withLock { state -> (ObjectStorage?, ObjectPlan?, [Value]) in
      if let storage = state.storages[key] { return (storage, nil, []) }
      guard let plan = state.graph.plans[key.type], let rows = state.graph.rows[key.type],
        let place = rows.places[key.zIndex]
      else { return (nil, nil, []) }
      let width = plan.columns.count
      return (nil, plan, Array(rows.values[(place * width)..<((place + 1) * width)]))
    }
    guard let plan else { return known }
    return keep(try plan.storage(zIndex: key.zIndex, values[...], in: store), key)
  }

  private func keep(_ storage: ObjectStorage, _ key: ObjectKey) -> ObjectStorage {
    state.withLock { state in
      if let first = state.storages[key] { return first }
      state.storages[key] = storage
      return storage
    }
  }

  /// Checks the values of all rows that no object is made of at once.
  private func check(_ graph: FetchedGraph) throws {
    var forms: [CellContent.Form] = []
    for (type, rows) in graph.rows where rows.zIndexes.count > rows.foundCount {
      guard let plan = graph.plans[type] else { continue }
      let width = plan.columns.count
      for place in rows.foundCount..<rows.zIndexes.count {
        let zIndex = rows.zIndexes[place]
        let values = rows.values[(place * width)..<((place + 1) * width)]
        if try plan.makeForms(of: zIndex, values, in: &forms) {
          // What was made of a stored value is not made twice.
          let identity = ObjectStorage.Identity(magic: store, zIndex: zIndex)
          _ = keep(
            ObjectStorage(plan, forms, identity: identity), ObjectKey(type: type, zIndex: zIndex))
        }
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
      try check(more)
      state.withLock { $0.graph = more }
      return true
    } catch {
      // The property is reported as one without a value.
      return false
    }
  }
}
