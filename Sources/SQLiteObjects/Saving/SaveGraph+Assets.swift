import SQLiteAssets
import SQLiteCore

extension SaveGraph {
  /// Returns a copy of the graph in which staged copies replace the user's files and the assets
  /// from other stores. Copies files, so call it before the transaction begins. Blocks the thread.
  func stagingAssets(for store: any ObjectStore) throws -> SaveGraph {
    guard !isPlain, plans.contains(where: \.hasAssets) else { return self }
    var graph = self
    for node in nodes where node.plan.hasAssets {
      for place in node.deferred {
        // An asset that isn't written doesn't need to be opened.
        let slot = deferred[place].slot
        guard !node.snapshot.isKnown || values.isChanged(slot, in: node) else { continue }
        graph.deferred[place].value = try staged(deferred[place].value, store)
      }
    }
    return graph
  }

  private func staged(_ value: DeferredValue, _ store: any ObjectStore) throws -> DeferredValue {
    switch value {
    case .asset(.file(let path, let pathExtension)):
      let staged = try store.assets.stageOnce(contentsOf: path, extension: pathExtension)
      return .asset(.staged(staged, pathExtension: pathExtension))
    case .asset(.stored(let handle, let pathExtension)) where handle.isForeign(to: store):
      return try copy(handle, pathExtension, to: store)
    case .kept(let handle) where handle.isForeign(to: store):
      return try copy(handle, nil, to: store)
    default: return value
    }
  }

  /// Copies the content of an asset from another store. The copy has the extension of the asset
  /// unless `pathExtension` replaces it.
  private func copy(
    _ handle: AssetHandle, _ pathExtension: String?, to store: any ObjectStore
  ) throws -> DeferredValue {
    guard let reader = try handle.open() else { return .asset(.empty) }
    let wanted = pathExtension ?? reader.record.fileExtension ?? ""
    let staged = try store.assets.stageOnce(copyOf: reader, extension: wanted)
    return .asset(.staged(staged, pathExtension: wanted))
  }
}

extension SaveGraph.Transaction {
  /// Saves the asset of a property.
  ///
  /// - Parameters:
  ///   - pending: The content to save.
  ///   - slot: The property.
  ///   - index: The index of the object's node.
  ///   - zIndex: The object's z_index, or nil for a new object.
  /// - Returns: The value to write to the column: the ID of the asset, or NULL if it has no
  ///   content. Nil to leave the column unchanged.
  /// - Throws: ``MagicError/lostValue(type:property:)`` if the content to copy was deleted together
  ///   with the object's row, `AssetError` or `SQLiteError`.
  mutating func asset(
    _ pending: PendingAsset, _ slot: Int, _ index: Int, _ zIndex: Int64?
  ) throws -> Value? {
    let present = try zIndex.flatMap { try assetID(slot, of: index, $0) }
    let id: AssetID?
    do {
      id = try store.assets.save(pending, over: present, in: connection)
    } catch AssetError.noAsset where zIndex == nil {
      // The asset was deleted together with the object's row.
      let plan = nodes[index].plan
      throw MagicError.lostValue(type: plan.typeName, property: plan.properties[slot].name)
    }
    let value = id.map { Value.text($0.description) } ?? .null
    assigned.append((slot, .stored(value)))
    if id == present, zIndex != nil, !pending.isContent { return nil }
    // If only the content was replaced, the ID is written too, so that observers of the object are
    // notified.
    return value
  }

  private func assetID(_ slot: Int, of index: Int, _ zIndex: Int64) throws -> AssetID? {
    let plan = nodes[index].plan
    return try connection.firstRow(
      "SELECT \(identifier: plan.properties[slot].name) FROM \(identifier: plan.table) WHERE \(identifier: plan.key) = \(zIndex)",
      as: AssetID?.self) ?? nil
  }
}

extension AssetHandle {
  /// Returns whether the handle references the asset of the property `slot` of the object with the
  /// given storage.
  func isAssetOf(_ storage: ObjectStorage, _ slot: Int) -> Bool {
    self.slot == slot && shape.type == storage.shape.type
      && storage.zIndex(in: content.identity) == zIndex
  }

  /// Returns whether the asset belongs to a store other than `other`. Compares the asset folders
  /// too, because a backup has the same identity as its store.
  func isForeign(to other: any ObjectStore) -> Bool {
    content.identity != other.identity || content.link.assetPath != other.assets.path
  }
}

extension AssetStore {
  /// Saves the pending content of an object's asset.
  ///
  /// - Parameters:
  ///   - pending: The content to save.
  ///   - present: The asset that the object has in the store.
  ///   - connection: The connection of the transaction.
  /// - Returns: The asset that the object has afterwards, or nil if it has no content.
  func save(
    _ pending: PendingAsset, over present: AssetID?, in connection: Connection
  ) throws -> AssetID? {
    switch pending {
    case .empty: return nil
    case .content(let data, let pathExtension):
      guard let present else {
        return try put(data, extension: pathExtension, in: connection).id
      }
      return try replace(present, with: data, extension: pathExtension, in: connection).id
    case .staged(let staged, let pathExtension):
      guard let present else {
        return try put(staged, extension: pathExtension, in: connection).id
      }
      return try replace(present, with: staged, extension: pathExtension, in: connection).id
    case .stored(let handle, let pathExtension):
      guard let source = try handle.source(in: self, connection) else { return nil }
      return try save(
        .found(source, pathExtension: pathExtension), over: present, in: connection)
    case .found(let source, let pathExtension):
      // Each object has its own asset, so an asset of another object is copied.
      let reader = try source.open(self, in: connection)
      guard let present else {
        return try put(copyOf: reader, extension: pathExtension, in: connection).id
      }
      return try replace(present, withCopyOf: reader, extension: pathExtension, in: connection).id
    case .file(let path, let pathExtension):
      let staged = try stage(contentsOf: path, extension: pathExtension)
      return try save(
        .staged(staged, pathExtension: pathExtension), over: present, in: connection)
    }
  }
}
