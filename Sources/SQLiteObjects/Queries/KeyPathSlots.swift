import Synchronization

/// A namespace for looking up the properties that a key path accesses. The path is applied to an
/// object without values.
enum KeyPathSlots<Object: MagicObject> {
  /// Returns the slots of the properties on a path, or nil if a part of it isn't a property or the
  /// type can't be stored.
  static func slots(_ path: KeyPath<Object, some MagicColumn>) -> [Int]? {
    guard let prototype = Prototypes.prototype(of: Object.self) else { return nil }
    let route = unsafe prototype.object[keyPath: path].route
    guard let rest = route.rest, let address = route.cell.address,
      address.storage === prototype.storage
    else { return nil }
    return rest.isEmpty ? [address.slot] : [address.slot] + rest
  }
}

/// An object without values, whose wrappers are bound to the slots of their properties in a
/// storage.
// Proof: the object is created in this file and never leaves it. Only the cells in the `route` of
// its wrappers are accessed, and those are Sendable.
private final class PrototypeObject<Object: MagicObject>: AnyPrototype, @unchecked Sendable {
  // Proof: as above.
  nonisolated(unsafe) let object: Object

  init(_ object: Object, _ storage: ObjectStorage) {
    unsafe self.object = object
    super.init(storage)
  }
}

/// The base class of the prototypes of all types, so that one dictionary can contain them.
// Proof: the storage is Sendable, and the only subclass has its own proof.
private class AnyPrototype: @unchecked Sendable {
  let storage: ObjectStorage

  init(_ storage: ObjectStorage) { self.storage = storage }
}

/// The cached prototypes by type.
///
/// They depend only on the types, so all stores share them. Creating a prototype for each query,
/// and finding its wrappers by `encode(to:)`, would take longer than the query (benchmarks `filter`
/// and `query`).
private enum Prototypes {
  private static let known = Mutex<[ObjectIdentifier: AnyPrototype]>([:])

  /// Returns the prototype of a type, which is created on first use. Returns nil if the type can't
  /// be stored; creating a plan of the type then throws the reason.
  static func prototype<Object: MagicObject>(of type: Object.Type) -> PrototypeObject<Object>? {
    let key = ObjectIdentifier(type)
    if let known = known.withLock({ $0[key] }) {
      // Each prototype is stored under its own type.
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
