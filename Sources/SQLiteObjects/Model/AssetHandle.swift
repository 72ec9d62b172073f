package import Essentials
import SQLiteAssets
import SQLiteCore

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
}

/// A content as it was before a save wrote anything, to be copied in the same transaction.
package struct AssetSource: Sendable {
  let record: AssetRecord
  /// The open content; nil for a file, which stays to the transaction's end.
  let reader: AssetReader?
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

extension ObjectStorage {
  /// The asset of a property, if a store has the object: it may have got content there since. Nil for a
  /// property that was set to nil and not saved yet.
  func assetHandle(at slot: Int) -> AssetHandle? {
    let found = withState {
      state, slots -> (identity: Identity, value: Value, cache: AssetCache)? in
      guard let identity = state.identity, case .stored(let value) = slots[slot],
        !value.isNull || !slots.isChanged(slot, since: identity.savedCount)
      else { return nil }
      return (identity, value, state.assetCache(of: slot))
    }
    guard let (identity, value, cache) = found else { return nil }
    return AssetHandle(
      content: identity.content, shape: shape, slot: slot, zIndex: identity.zIndex,
      lastID: try? AssetID(databaseValue: value), cache: cache)
  }
}
