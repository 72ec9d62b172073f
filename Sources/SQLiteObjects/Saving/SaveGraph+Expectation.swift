import SQLiteCore
import SQLiteMapping

extension SaveGraph.Node {
  /// Returns the values that the object's columns had when it was last saved in a store or fetched
  /// from it. The result is empty if the store doesn't know the object.
  func expectedRow(in store: StoreIdentity) throws -> [(slot: Int, value: Value)] {
    guard let originals = storage.originals(in: store) else { return [] }
    let shape = storage.shape
    return try shape.properties.indices.compactMap { slot in
      guard shape.properties[slot].hasColumn, slot != shape.autoIncrementSlot else { return nil }
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

  /// Converts the z_index of a related object in the store of the fetch to its z_index in `store`.
  /// Returns nil if the object isn't in `store`.
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
      // The related object was assigned before this object was saved. It may have been saved since.
      guard let object = live.value as? any MagicObject, let zIndex = object.zIndex(in: store)
      else { return nil }
      return (slot, .integer(zIndex))
    case .links, .asset, .reverse: return nil
    }
  }
}
