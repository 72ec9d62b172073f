import SQLiteCore
import SQLiteMapping

extension ObjectStorage {
  /// The values of the object's columns in a store if nobody has changed them since it was saved there or
  /// fetched from there; empty if the store does not know the object.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - context: The fetch that knows the object's relations.
  func expectedRow(
    in store: StoreIdentity, _ context: FetchContext?
  ) throws -> [(slot: Int, value: Value)] {
    guard let originals = originals(in: store) else { return [] }
    return try shape.properties.indices.compactMap { slot in
      guard shape.properties[slot].hasColumn, slot != shape.counting else { return nil }
      switch originals[slot] {
      case .stored(let value): return (slot, value)
      case .reference(let zIndex):
        return try reference(zIndex, slot, in: store, context).map { (slot, .integer($0)) }
      case .unset: return shape.properties[slot].role.isAsset ? nil : (slot, .null)
      case .data(let data): return (slot, data.databaseValue)
      case .live(let live): return try expected(live, slot, in: store)
      case .links, .targets, .lazy: return nil
      }
    }
  }

  /// The z_index in a store of an object that the store of the fetch knows by another.
  private func reference(
    _ zIndex: Int64, _ slot: Int, in store: StoreIdentity, _ context: FetchContext?
  ) throws -> Int64? {
    guard let context, context.token.identity != store,
      let type = shape.properties[slot].role.target
    else { return zIndex }
    return try context.storage(type, zIndex: zIndex).zIndex(in: store)
  }

  private func expected(
    _ live: LiveValue, _ slot: Int, in store: StoreIdentity
  ) throws -> (slot: Int, value: Value)? {
    switch shape.properties[slot].role.kind {
    case .column: return (slot, try shape.properties[slot].type.stored(live))
    case .object:
      // One that was set before the object was saved; it may have been saved since.
      guard let object = live.value as? any MagicObject, let zIndex = object.zIndex(in: store)
      else { return nil }
      return (slot, .integer(zIndex))
    case .links, .asset, .reverse: return nil
    }
  }
}

extension MagicObject {
  /// The object's z_index in a store, or nil if it is not there.
  func zIndex(in store: StoreIdentity) -> Int64? {
    PropertyCollector.firstCell(of: self)?.address?.storage.zIndex(in: store)
  }
}
