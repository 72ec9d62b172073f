import SQLiteAssets
import SQLiteCore
import Synchronization

package import Essentials

/// An asset of any type of content.
package protocol AssetValue {
  /// Makes the asset of a store, or one without content.
  init(_ handle: AssetHandle?)
  /// The content to be saved; nil if nothing was set.
  var pending: PendingAsset? { get throws }
  /// The same without the content that was read, for an object to keep.
  var resting: Self { get }
  /// The same with the content that others hold, for a user.
  var handedOut: Self { get }
}

/// The asset of an object in a store, with the content that the store has at each moment.
package struct AssetHandle: Sendable {
  /// The store, with the content that the object is of.
  let content: StoreContent
  /// The type of the object, the property, and the object's key.
  let shape: ObjectShape
  let slot: Int
  let zIndex: Int64
  /// The id that the asset had when the object was fetched or saved; nil for none.
  let lastID: AssetID?
  /// The content that somebody may hold.
  let cache: AssetCache

  /// The store's record of the content; nil if there is none.
  ///
  /// - Throws: ``AssetError/noAsset(_:)`` if the asset was deleted with its object.
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

  /// Opens the content; nil if there is none.
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

  /// Finds the present content for a save that has written nothing yet; nil if there is none.
  func source(in assets: AssetStore, _ connection: Connection) throws -> AssetSource? {
    guard let record = try record(in: assets, connection) else { return nil }
    // A file stays to the transaction's end, a content in a row only as long as the row has it.
    let reader = record.isInRow ? try assets.open(record, in: connection) : nil
    return AssetSource(record: record, reader: reader)
  }
}

/// A content as it was before a save wrote anything, to be copied in the same transaction.
package struct AssetSource: Sendable {
  let record: AssetRecord
  fileprivate let reader: AssetReader?

  func open(_ assets: AssetStore, in connection: Connection) throws -> AssetReader {
    try reader ?? assets.open(record, in: connection)
  }
}

/// An asset's content to be saved. An extension that is nil is left as it is; `""` is none.
package indirect enum PendingAsset: Sendable {
  case empty
  case content(Data, pathExtension: String?)
  /// A copy of a user's file.
  case file(path: String, pathExtension: String?)
  case staged(StagedAsset, pathExtension: String?)
  /// The content that an object's asset has in a store before the save.
  case stored(AssetHandle, pathExtension: String?)
  /// That content, once it was looked up.
  case found(AssetSource, pathExtension: String?)

  /// Whether there is a content.
  var isContent: Bool {
    if case .empty = self { false } else { true }
  }
}

/// The content that was last read of an asset, as long as somebody holds the asset.
///
/// A value like a `String` or a `Data` cannot be referred to weakly. So the value belongs to a holder,
/// each `MagicAsset` that was handed out has the holder, and the object knows the holder weakly.
package final class AssetCache: Sendable {
  /// A content that was read.
  final class Holder: Sendable {
    private let read = Mutex<(record: AssetRecord, value: LiveValue)?>(nil)

    /// The value of exactly this content: a new content has another record.
    func value(of record: AssetRecord) -> LiveValue? {
      read.withLock { $0?.record == record ? $0?.value : nil }
    }

    func set(_ value: LiveValue, of record: AssetRecord) {
      // The former value is released outside of the lock: its deinit may ask for the asset.
      _ = read.withLock { read in
        let former = read
        read = (record, value)
        return former
      }
    }
  }

  private struct State {
    weak var holder: Holder?
  }

  private let state = Mutex(State())

  /// The holder that somebody has, or a new one.
  var holder: Holder {
    state.withLock { state in
      if let holder = state.holder { return holder }
      let holder = Holder()
      state.holder = holder
      return holder
    }
  }
}
