import SQLiteAssets
import SQLiteCore

extension SaveRequest {
  /// Copies what is to be copied, before the transaction begins: files of the user's and assets of other
  /// stores. Blocks the thread.
  func resolvingAssets(for store: MagicData) throws -> SaveRequest {
    guard !isPlain, plans.contains(where: \.hasAssets) else { return self }
    var request = self
    for index in nodes.indices where nodes[index].plan.hasAssets {
      for (slot, value) in nodes[index].values.enumerated() {
        // What is not written needs not be opened.
        guard nodes[index].isChanged(slot) || nodes[index].isNew(in: store) else { continue }
        request.nodes[index].values[slot] = try resolve(value, store)
      }
    }
    return request
  }

  private func resolve(_ value: SaveValue, _ store: MagicData) throws -> SaveValue {
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

  /// Copies the content of another store's asset, its extension included unless another is given.
  private func copy(
    _ handle: AssetHandle, _ pathExtension: String?, to store: MagicData
  ) throws -> SaveValue {
    guard let reader = try handle.open() else { return .asset(.empty) }
    let wanted = pathExtension ?? reader.record.fileExtension ?? ""
    let staged = try store.assets.stageOnce(copyOf: reader, extension: wanted)
    return .asset(.staged(staged, pathExtension: wanted))
  }
}

extension SaveNode {
  /// Says whether the store does not know the object yet.
  fileprivate func isNew(in store: MagicData) -> Bool {
    storage.zIndex(in: store.identity) == nil
  }
}

extension AssetHandle {
  /// Says whether the asset is that of an object's property.
  func isOf(_ storage: ObjectStorage, _ slot: Int) -> Bool {
    self.slot == slot && plan.type == storage.plan.type
      && storage.zIndex(in: store.identity) == zIndex
  }

  /// Says whether the asset is in another store than this one. A backup has this one's identity, but
  /// a folder of its own.
  func isForeign(to other: MagicData) -> Bool {
    store.identity != other.identity || store.assets.path != other.assets.path
  }
}

extension AssetStore {
  /// Gives an object's asset what is to be saved.
  ///
  /// - Parameters:
  ///   - pending: What is to be saved.
  ///   - present: The asset that the object has in the store.
  ///   - connection: The transaction's.
  /// - Returns: The object's asset from now on.
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
      guard let source = try handle.source(in: connection) else { return nil }
      return try save(
        .found(source, pathExtension: pathExtension), over: present, in: connection)
    case .found(let source, let pathExtension):
      // Each object has an asset of its own: what belongs to another one is copied.
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
