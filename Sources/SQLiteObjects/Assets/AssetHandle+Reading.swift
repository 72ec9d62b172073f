import SQLiteAssets
import SQLiteCore

// Reading the current content of an asset from the database.
extension AssetHandle {
  /// Returns the record of the asset's current content, or nil if it has no content.
  ///
  /// - Throws: ``MagicError/restored(type:)`` if the store's contents have been replaced since the
  ///   object was fetched or saved, ``AssetError/noAsset(_:)`` if the asset was deleted together
  ///   with its object, or `SQLiteError`.
  func record(in assets: AssetStore, _ connection: Connection) throws -> AssetRecord? {
    guard content.isCurrent else {
      throw MagicError.restored(type: shape.typeName)
    }
    let column = shape.properties[slot].name
    let row = try connection.firstRow(
      "SELECT \(identifier: column) FROM \(identifier: shape.table) WHERE \(identifier: shape.key) = \(zIndex)",
      as: AssetID?.self)
    guard let row else {
      if let lastID { throw AssetError.noAsset(lastID) }
      return nil
    }
    guard let id = row else { return nil }
    guard let record = try assets.record(id, in: connection) else {
      throw AssetError.noAsset(id)
    }
    return record
  }

  /// Opens the content. Returns nil if the asset has no content.
  private func open(in assets: AssetStore, _ connection: Connection) throws -> AssetReader? {
    try record(in: assets, connection).map { try assets.open($0, in: connection) }
  }

  func record() throws -> AssetRecord? {
    let store = try content.store
    return try store.read { try record(in: store.assets, $0) }
  }

  func open() throws -> AssetReader? {
    let store = try content.store
    return try store.read { try open(in: store.assets, $0) }
  }

  nonisolated(nonsending) func record() async throws -> AssetRecord? {
    let store = try content.store
    return try await store.read { try record(in: store.assets, $0) }
  }

  nonisolated(nonsending) func open() async throws -> AssetReader? {
    let store = try content.store
    return try await store.read { try open(in: store.assets, $0) }
  }

  /// Returns the current content, for a save that has written nothing yet. Returns nil if there is
  /// no content.
  func source(in assets: AssetStore, _ connection: Connection) throws -> AssetSource? {
    guard let record = try record(in: assets, connection) else { return nil }
    // A file exists until the end of the transaction. Content in a row must be opened before the
    // row changes.
    let reader = record.isInRow ? try assets.open(record, in: connection) : nil
    return AssetSource(record: record, reader: reader)
  }
}

extension AssetSource {
  func open(_ assets: AssetStore, in connection: Connection) throws -> AssetReader {
    try reader ?? assets.open(record, in: connection)
  }
}
