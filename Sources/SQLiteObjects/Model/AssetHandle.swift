package import Essentials
import SQLiteAssets
import SQLiteCore

/// An asset with content of any type: a `MagicAsset`, or a lazy one.
package protocol AssetValue {
  /// Creates the asset that a handle references in a store, or an asset without content if it is
  /// nil.
  init(_ handle: AssetHandle?)
  /// The content to save, or nil if none was set.
  var pending: PendingAsset? { get throws }
  /// A copy without the loaded content, for an object to store.
  var withoutContent: Self { get }
  /// A copy that shares its loaded content with other copies, for getters to return.
  var sharingContent: Self { get }
}

/// A reference to the asset of an object in a store. It always resolves to the current content.
package struct AssetHandle: Sendable {
  /// The store, and the generation of its contents that contains the object.
  let content: StoreContent
  /// The type of the object, the property, and the object's key.
  let shape: ObjectShape
  let slot: Int
  let zIndex: Int64
  /// The id of the asset when the object was fetched or saved, or nil if it had none.
  let lastID: AssetID?
  /// The cache of the loaded content.
  let cache: AssetCache
}

/// The content of an asset before a save writes anything. The save copies it in the same
/// transaction.
package struct AssetSource: Sendable {
  let record: AssetRecord
  /// The opened content, or nil for a file, which exists until the transaction ends.
  let reader: AssetReader?
}

/// The content of an asset to save. If `pathExtension` is nil, the extension remains. If it is
/// `""`, the extension is removed.
package indirect enum PendingAsset: Sendable {
  case empty
  case content(Data, pathExtension: String?)
  /// A copy of a user's file.
  case file(path: String, pathExtension: String?)
  case staged(StagedAsset, pathExtension: String?)
  /// The content that the asset of an object has in a store before the save.
  case stored(AssetHandle, pathExtension: String?)
  /// The same content after its lookup.
  case found(AssetSource, pathExtension: String?)

  /// Whether the asset has content.
  var isContent: Bool {
    if case .empty = self { false } else { true }
  }
}

extension ObjectStorage {
  /// Returns a reference to the asset of a property, or nil if the object is in no store or the
  /// property has an unsaved nil.
  ///
  /// An asset without content has a reference too, because another connection may have stored
  /// content since the fetch.
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
