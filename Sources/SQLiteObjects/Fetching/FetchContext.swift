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

  let store: MagicData
  /// All that the objects lead to; it does not grow, since nothing is read behind a property.
  private let graph: FetchedGraph
  private let made = Mutex<[ObjectIdentifier: Made]>([:])

  /// Takes what was read.
  init(store: MagicData, _ graph: FetchedGraph) {
    self.store = store
    self.graph = graph
  }

  /// All objects that the query found, in its order.
  func objects<Object: MagicObject>(of type: Object.Type) throws -> [Object] {
    try objects(type, graph.rows[ObjectIdentifier(type)]?.found ?? [])
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
    let storage = try storage(type, zIndex: zIndex)
    let context = storage.plan.needsContext ? self : nil
    if type is AnyObject.Type { return try instance(type, of: storage, zIndex, in: context) }
    return try Construction.object(type, of: storage, in: context)
  }

  /// What the links of an object's property lead to, in their order: as they were fetched, whatever has
  /// become of the object since.
  func links(of storage: ObjectStorage, slot: Int) -> LinkTargets {
    guard let owner = storage.fetchedZIndex else { return .none }
    return graph.links[PropertyKey(type: ObjectIdentifier(storage.plan.type), slot: slot)]?[owner]
      ?? .none
  }

  /// The storage of an object that somebody has looked at, since only those can have changed.
  func madeStorage(_ type: any MagicObject.Type, zIndex: Int64) -> ObjectStorage? {
    let type = ObjectIdentifier(type)
    guard let rows = graph.rows[type], let place = rows.places[zIndex] else { return nil }
    let isMade = made.withLock { made in
      guard let places = made[type]?.places else { return false }
      return place < places.count && places[place]
    }
    return isMade ? rows.storages[place] : nil
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

  /// The instance of a class for a row, the same one as long as somebody has it.
  private func instance<Object: MagicObject>(
    _ type: Object.Type, of storage: ObjectStorage, _ zIndex: Int64, in context: FetchContext?
  ) throws -> Object {
    let key = ObjectIdentifier(type)
    if let known = made.withLock({ $0[key]?.instances[zIndex] })?.object as? Object {
      return known
    }
    let object = try Construction.object(type, of: storage, in: context)
    let instance = Instance(object: object as AnyObject)
    made.withLock { $0[key, default: Made()].instances[zIndex] = instance }
    return object
  }

  /// The storages of rows that objects are to be made of, up to the first that the fetch did not bring.
  private func storages(
    _ type: ObjectIdentifier, _ zIndexes: ArraySlice<Int64>
  ) -> [ObjectStorage] {
    guard let rows = graph.rows[type] else { return [] }
    return made.withLock { allMade in
      var made = allMade.removeValue(forKey: type) ?? Made()
      defer { allMade[type] = made }
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
}
