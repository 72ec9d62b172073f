import SQLiteCore

/// The identity of an object among the objects of its type.
enum MagicIdentity: Hashable {
  /// The object is in a store and identified by its z_index there.
  case saved(store: String, zIndex: Int64)
  /// The object is unsaved and identified by its primary value.
  case primary(Value)
  /// The object is unsaved and has no primary value. Only its copies are equal to it.
  case instance(ObjectIdentifier)
  /// There is no object, or the object has no properties that could identify it.
  case none

  init<Object: MagicObject>(_ object: Object) {
    if let known = WrapperLayout.of(object) {
      self = known.layout.withCells(of: object) { cells in
        MagicIdentity(cells[0], primary: known.primary.map { (cells[$0.slot], $0.type) })
      }
      return
    }
    // Saving an object that can't be encoded throws.
    let entries = (try? PropertyCollector.entries(of: object)) ?? []
    let primary = entries.first { $0.type.role.isPrimary }
    guard let first = entries.first?.cell ?? PropertyCollector.firstCell(of: object) else {
      self = .none
      return
    }
    self.init(first, primary: primary.map { ($0.cell, $0.type) })
  }

  /// Creates the identity of an object from its first cell and its primary property.
  private init(_ first: _MagicCell, primary: (cell: _MagicCell, type: any MagicProperty.Type)?) {
    if let identity = first.address?.storage.lastIdentity {
      self = .saved(store: identity.store.uuid, zIndex: identity.zIndex)
    } else if let value = primary.flatMap({ $0.cell.primaryForm($0.type) }) {
      self = .primary(value)
    } else {
      self = .instance(first.identity)
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
  /// Creates the identity of an object in a store. If the object isn't in the store, the identity
  /// is the one that ``init(_:)`` creates.
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
  /// Returns the object's z_index in a store, or nil if the object isn't in the store.
  package func zIndex(in store: StoreIdentity) -> Int64? {
    PropertyCollector.firstCell(of: self)?.address?.storage.zIndex(in: store)
  }
}
