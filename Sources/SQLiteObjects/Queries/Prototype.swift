import Synchronization

/// Finds out which property a path leads to, by an object that is there for nothing else.
enum Prototype<Object: MagicObject> {
  /// The places of the properties on the way, or nil if one is of no property.
  static func slots(_ path: KeyPath<Object, some MagicColumn>) -> [Int]? {
    let storage = PrototypeStorages.storage(of: Object.self)
    guard let storage, let object = try? storage.plan.object(Object.self, of: storage)
    else { return nil }
    let route = object[keyPath: path].route
    guard let rest = route.rest, let place = route.cell.place, place.storage === storage else {
      return nil
    }
    return [place.slot] + rest
  }

  /// The names of the properties that paths lead to; of a path to something else its own.
  ///
  /// For the traits of a type, which are a part of what is known of it.
  static func names<each Property: MagicProperty>(
    _ paths: repeat KeyPath<Object, each Property>
  ) -> [String] {
    let object = Object()
    // An object that cannot be encoded has no properties; its plan says so.
    let entries = (try? PropertyCollector.entries(of: object)) ?? []
    var names: [String] = []
    for path in repeat each paths {
      let cell = object[keyPath: path].cell
      names.append(entries.first { $0.cell == cell }?.name ?? "\(path)")
    }
    return names
  }
}

/// For each type that was asked about a storage without values, which the wrappers of its prototypes
/// lead to, each at its property's place.
///
/// What is kept follows from the type alone, so that it serves all stores. To make each object anew
/// and to find its wrappers by its `encode(to:)` costs more than the query (benchmark `filter`).
private enum PrototypeStorages {
  private static let known = Mutex<[ObjectIdentifier: ObjectStorage]>([:])

  /// The storage of a type, or nil if it is no type for a store: its plan says why.
  static func storage<Object: MagicObject>(of type: Object.Type) -> ObjectStorage? {
    let key = ObjectIdentifier(type)
    if let storage = known.withLock({ $0[key] }) { return storage }
    guard let plan = try? ObjectPlan(type) else { return nil }
    let forms = Array(repeating: CellContent.Form.unset, count: plan.properties.count)
    let storage = ObjectStorage(plan, forms, identity: nil)
    return known.withLock { known in
      if let first = known[key] { return first }
      known[key] = storage
      return storage
    }
  }
}
