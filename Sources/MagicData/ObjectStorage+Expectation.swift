import SQLiteCore
import SQLiteMapping

extension ObjectStorage {
  /// What the object's columns hold if nobody has changed them since it was saved or fetched.
  var expectedRow: [(slot: Int, value: Value)] {
    get throws {
      let originals = originals
      return try plan.columns.compactMap { slot in
        switch originals[slot] {
        case .stored(let value): return (slot, value)
        case .reference(let zIndex): return (slot, .integer(zIndex))
        case .unset: return plan.properties[slot].role.isAsset ? nil : (slot, .null)
        case .data(let data): return (slot, data.databaseValue)
        case .live(let live): return try expected(live, slot)
        case .links, .targets, .lazy: return nil
        }
      }
    }
  }

  private func expected(_ live: LiveValue, _ slot: Int) throws -> (slot: Int, value: Value)? {
    switch plan.properties[slot].role.kind {
    case .column: return (slot, try plan.properties[slot].type.stored(live))
    case .object:
      // One that was set before the object was saved; it may have been saved since.
      guard let object = live.value as? any MagicObject, let identity = lastIdentity,
        let zIndex = object.zIndex(in: identity.store)
      else { return nil }
      return (slot, .integer(zIndex))
    case .links, .asset, .reverse: return nil
    }
  }
}

extension MagicObject {
  /// The object's z_index in a store, or nil if it is not there.
  func zIndex(in store: StoreIdentity) -> Int64? {
    PropertyCollector.firstCell(of: self)?.place?.storage.zIndex(in: store)
  }
}
