import SQLiteAssets
import SQLiteCore
import Synchronization

package import Essentials

/// An asset, whatever its type of content is.
package protocol AssetValue {
  /// Makes the asset of a store, or one without content.
  init(_ handle: AssetHandle?)
  /// What is to be saved; nil if nothing was set.
  var pending: PendingAsset? { get throws }
  /// The same without what was read, for an object to keep.
  var resting: Self { get }
  /// The same with what others hold of it, for a user.
  var handedOut: Self { get }
}

/// The asset of an object in a store, whatever content it has at the moment.
package struct AssetHandle: Sendable {
  let store: any StoreToken
  /// The property, and what the store knows its object by.
  let shape: ObjectShape
  let slot: Int
  let zIndex: Int64
  /// Of which content of the store the object is.
  let generation: Int
  /// The id that the asset had when the object was fetched or saved; nil for none.
  let lastID: AssetID?
  /// What somebody may have read of it.
  let cache: AssetCache

  /// What the store knows of the content; nil if there is none.
  ///
  /// - Throws: ``AssetError/noAsset(_:)`` if the asset went with its object.
  func record(in connection: Connection) throws -> AssetRecord? {
    guard generation == store.generation else {
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
    guard let record = try store.assets.record(id, in: connection) else {
      throw AssetError.noAsset(id)
    }
    return record
  }

  /// Opens the content; nil if there is none.
  func open(in connection: Connection) throws -> AssetReader? {
    try record(in: connection).map { try store.assets.open($0, in: connection) }
  }

  func record() throws -> AssetRecord? { try store.database.read { try record(in: $0) } }

  func open() throws -> AssetReader? { try store.database.read { try open(in: $0) } }

  nonisolated(nonsending) func record() async throws -> AssetRecord? {
    try await store.database.read { try record(in: $0) }
  }

  nonisolated(nonsending) func open() async throws -> AssetReader? {
    try await store.database.read { try open(in: $0) }
  }

  /// Finds the content as it is now, for a save that has written nothing yet; nil if there is none.
  func source(in connection: Connection) throws -> AssetSource? {
    guard let record = try record(in: connection) else { return nil }
    // A file stays to the transaction's end, a content in a row only as long as the row has it.
    let reader = record.isInRow ? try store.assets.open(record, in: connection) : nil
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

/// What is to be saved of an asset. An extension that is nil is left as it is; `""` is none.
package enum PendingAsset: Sendable {
  case empty
  case content(Data, pathExtension: String?)
  /// A copy of a user's file.
  case file(path: String, pathExtension: String?)
  case staged(StagedAsset, pathExtension: String?)
  /// The content that an object's asset has in a store before the save.
  case stored(AssetHandle, pathExtension: String?)
  /// That content, once it was looked up.
  case found(AssetSource, pathExtension: String?)

  /// Says whether it makes a file.
  var isContent: Bool {
    if case .empty = self { false } else { true }
  }
}

/// Knows what was last read of an asset as long as somebody holds the asset.
///
/// A value like a `String` or a `Data` cannot be referred to weakly. So the value belongs to a holder,
/// each `MagicAsset` that was handed out has the holder, and the object knows the holder weakly.
package final class AssetCache: Sendable {
  /// What was read of a content.
  final class Holder: Sendable {
    private let read = Mutex<(record: AssetRecord, value: LiveValue)?>(nil)

    /// What was read of exactly this content: a replaced one has another file.
    func value(of record: AssetRecord) -> LiveValue? {
      read.withLock { $0?.record == record ? $0?.value : nil }
    }

    func set(_ value: LiveValue, of record: AssetRecord) {
      // What was read before goes outside of the lock: its deinit may ask for it.
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
