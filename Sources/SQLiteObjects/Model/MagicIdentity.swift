import SQLiteCore

/// The identity of an object among others of its type.
enum MagicIdentity: Hashable {
  /// By its z_index in a store.
  case saved(store: String, zIndex: Int64)
  /// By its primary value.
  case primary(Value)
  /// By itself.
  case instance(ObjectIdentifier)
  /// Not at all: it has no property.
  case none

  init<Object: MagicObject>(_ object: Object) {
    let first = PropertyCollector.firstCell(of: object)
    if let identity = first?.address?.storage.lastIdentity {
      self = .saved(store: identity.store.uuid, zIndex: identity.zIndex)
      return
    }
    // An object that cannot be encoded is refused when it is saved.
    let entries = (try? PropertyCollector.entries(of: object)) ?? []
    if let primary = entries.first(where: { $0.type.role.isPrimary }),
      let value = primary.cell.primaryForm(primary.type)
    {
      self = .primary(value)
    } else if let first {
      self = .instance(first.identity)
    } else {
      self = .none
    }
  }

  var isSaved: Bool {
    if case .saved = self { true } else { false }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .saved(_, let zIndex): hasher.combine(zIndex)
    case .primary(let value): hasher.combine(value)
    case .instance(let instance): hasher.combine(instance)
    case .none: hasher.combine(0)
    }
  }
}

extension MagicIdentity {
  /// Looks at an object as one of a store, if it is there.
  init<Object: MagicObject>(_ object: Object, in store: StoreIdentity?) {
    if let store, let zIndex = object.zIndex(in: store) {
      self = .saved(store: store.uuid, zIndex: zIndex)
    } else {
      self.init(object)
    }
  }

  init(_ live: _LiveValue, in store: StoreIdentity?) {
    if let object = live.value as? any MagicObject {
      self.init(object, in: store)
    } else {
      self = .none
    }
  }
}

extension MagicObject {
  /// The object's z_index in a store, or nil if it is not there.
  package func zIndex(in store: StoreIdentity) -> Int64? {
    PropertyCollector.firstCell(of: self)?.address?.storage.zIndex(in: store)
  }
}
