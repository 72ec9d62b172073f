import SQLiteCore
import SQLiteMapping

extension SaveGraph.Node {
  /// The values of the object's columns in a store if nobody has changed them since it was saved there or
  /// fetched from there; empty if the store does not know the object.
  func expectedRow(in store: StoreIdentity) throws -> [(slot: Int, value: Value)] {
    guard let originals = storage.originals(in: store) else { return [] }
    let shape = storage.shape
    return try shape.properties.indices.compactMap { slot in
      guard shape.properties[slot].hasColumn, slot != shape.counting else { return nil }
      switch originals[slot] {
      case .stored(let value): return (slot, value)
      case .reference(let zIndex):
        return try reference(zIndex, slot, in: store).map { (slot, .integer($0)) }
      case .unset: return shape.properties[slot].role.isAsset ? nil : (slot, .null)
      case .data(let data): return (slot, data.databaseValue)
      case .live(let live): return try expected(live, slot, in: store)
      case .targets(let targets):
        return targets.first?.zIndex(in: store).map { (slot, .integer($0)) }
      case .links, .lazy: return nil
      }
    }
  }

  /// The z_index in a store of an object that the store of the fetch knows by another.
  private func reference(
    _ zIndex: Int64, _ slot: Int, in store: StoreIdentity
  ) throws -> Int64? {
    guard let context, let fetched = context.store, fetched != store,
      let type = storage.shape.properties[slot].role.target
    else { return zIndex }
    return try context.storage(type, zIndex: zIndex).zIndex(in: store)
  }

  private func expected(
    _ live: _LiveValue, _ slot: Int, in store: StoreIdentity
  ) throws -> (slot: Int, value: Value)? {
    switch plan.properties[slot].role.kind {
    case .column: return (slot, try plan.wrappers[slot].stored(live))
    case .object:
      // One that was set before the object was saved; it may have been saved since.
      guard let object = live.value as? any MagicObject, let zIndex = object.zIndex(in: store)
      else { return nil }
      return (slot, .integer(zIndex))
    case .links, .asset, .reverse: return nil
    }
  }
}
