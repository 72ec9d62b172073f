import Synchronization

/// Finds the property that a path leads to, by an object that is there for nothing else.
enum Prototype<Object: MagicObject> {
  /// The slots of the properties on a path, or nil if a part of it is no property.
  static func slots(_ path: KeyPath<Object, some MagicColumn>) -> [Int]? {
    let storage = PrototypeStorages.storage(of: Object.self)
    guard let storage, let object = try? storage.shape.object(Object.self, of: storage)
    else { return nil }
    let route = object[keyPath: path].route
    guard let rest = route.rest, let address = route.cell.address, address.storage === storage
    else {
      return nil
    }
    return [address.slot] + rest
  }
}

/// For each type that was asked about a storage without values, which the wrappers of its prototypes
/// lead to, each at its property's slot.
///
/// The storage follows from the type alone, so that it serves all stores. To make each object anew
/// and to find its wrappers by its `encode(to:)` costs more than the query (benchmark `filter`).
private enum PrototypeStorages {
  private static let known = Mutex<[ObjectIdentifier: ObjectStorage]>([:])

  /// The storage of a type, or nil if it is no type for a store: its plan says why.
  static func storage<Object: MagicObject>(of type: Object.Type) -> ObjectStorage? {
    let key = ObjectIdentifier(type)
    if let storage = known.withLock({ $0[key] }) { return storage }
    guard let plan = try? ObjectPlan(type) else { return nil }
    let forms = Array(repeating: CellValue.Form.unset, count: plan.properties.count)
    let storage = ObjectStorage(plan.shape, forms, identity: nil)
    return known.withLock { known in
      if let first = known[key] { return first }
      known[key] = storage
      return storage
    }
  }
}
