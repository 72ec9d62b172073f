import Synchronization

/// Finds the property that a path leads to, by an object without values.
enum Prototype<Object: MagicObject> {
  /// The slots of the properties on a path, or nil if a part of it is no property.
  static func slots(_ path: KeyPath<Object, some MagicColumn>) -> [Int]? {
    guard let prototype = Prototypes.prototype(of: Object.self) else { return nil }
    let route = unsafe prototype.object[keyPath: path].route
    guard let rest = route.rest, let address = route.cell.address,
      address.storage === prototype.storage
    else { return nil }
    return rest.isEmpty ? [address.slot] : [address.slot] + rest
  }
}

/// An object without values, whose wrappers lead to a storage, each to its property's slot.
// Proof: the object is made here and never handed out. Of it, and of what its wrappers are made of, nothing is
// asked but the cells that `route` names, and those are Sendable.
private final class PrototypeObject<Object: MagicObject>: AnyPrototype, @unchecked Sendable {
  // Proof: as above.
  nonisolated(unsafe) let object: Object

  init(_ object: Object, _ storage: ObjectStorage) {
    unsafe self.object = object
    super.init(storage)
  }
}

/// The part that the prototypes of all types share.
// Proof: the storage is Sendable, and the one subclass has a proof of its own.
private class AnyPrototype: @unchecked Sendable {
  let storage: ObjectStorage

  init(_ storage: ObjectStorage) { self.storage = storage }
}

/// The prototypes of the types that were asked about.
///
/// They follow from the types alone, so that they serve all stores. To make each anew and to find its wrappers
/// by its `encode(to:)` costs more than the query (benchmarks `filter` and `query`).
private enum Prototypes {
  private static let known = Mutex<[ObjectIdentifier: AnyPrototype]>([:])

  /// The prototype of a type, or nil if it is no type for a store: its plan says why.
  static func prototype<Object: MagicObject>(of type: Object.Type) -> PrototypeObject<Object>? {
    let key = ObjectIdentifier(type)
    if let known = known.withLock({ $0[key] }) {
      // Each is kept under its own type.
      return unsafe unsafeDowncast(known, to: PrototypeObject<Object>.self)
    }
    guard let plan = try? ObjectPlan(type) else { return nil }
    let storage = ObjectStorage.make(plan.shape)
    guard let object = try? plan.shape.object(type, of: storage) else { return nil }
    let made = PrototypeObject(object, storage)
    known.withLock { known in
      if known[key] == nil { known[key] = made }
    }
    return made
  }
}
