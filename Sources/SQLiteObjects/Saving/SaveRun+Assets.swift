import SQLiteAssets
import SQLiteCore

extension SaveRun {
  /// Gives a column its asset, and returns what it shall hold, or nil to leave it alone.
  mutating func asset(
    _ pending: PendingAsset, _ slot: Int, of index: Int, zIndex: Int64?
  ) throws -> Value? {
    let present = try zIndex.flatMap { try assetID(slot, of: index, $0) }
    let id: AssetID?
    do {
      id = try store.assets.save(pending, over: present, in: connection)
    } catch AssetError.noAsset where zIndex == nil {
      // It went with the object's row.
      let plan = nodes[index].plan
      throw MagicError.lostValue(type: plan.typeName, property: plan.properties[slot].name)
    }
    let value = id.map { Value.text($0.description) } ?? .null
    if zIndex == nil {
      pendingAssets.append((slot, .stored(value)))
    } else {
      results[index]?.settled.append((slot, .stored(value)))
    }
    if id == present, zIndex != nil, !pending.isContent { return nil }
    // The id of a replaced content is written too, so that observers of the object learn of it.
    return value
  }

  private func assetID(_ slot: Int, of index: Int, _ zIndex: Int64) throws -> AssetID? {
    let plan = nodes[index].plan
    return try connection.firstRow(
      "SELECT \(identifier: plan.properties[slot].name) FROM \(identifier: plan.table) WHERE \(identifier: plan.key) = \(zIndex)",
      as: AssetID?.self) ?? nil
  }
}
