package import Essentials
import SQLiteAssets
import SQLiteCore

/// An asset with content of any type: a `MagicAsset`, or an `AsyncMagical` of one.
package protocol AssetValue {
  /// Creates the asset that `handle` references in a store, or an asset without content if `handle`
  /// is nil.
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
  /// The shape of the type of the object that has the asset.
  let shape: ObjectShape
  /// The slot of the asset's property.
  let slot: Int
  /// The z_index of the object that has the asset.
  let zIndex: Int64
  /// The id of the asset when the object was fetched or saved, or nil if it had none.
  let lastID: AssetID?
  /// The cache that shares the loaded content between copies of the asset.
  let cache: AssetCache
}

/// Stored content that a save will copy to another asset, located before the save writes anything.
package struct AssetSource: Sendable {
  let record: AssetRecord
  /// The opened content if it is stored in a row, because the save may change that row. Nil for
  /// content in a file, which exists at least until the transaction ends.
  let reader: AssetReader?
}

/// The content of an asset to save. A `pathExtension` of nil leaves the asset's extension
/// unchanged, and `""` removes it.
package indirect enum PendingAsset: Sendable {
  case empty
  case content(Data, pathExtension: String?)
  /// A user's file, which the save copies.
  case file(path: String, pathExtension: String?)
  case staged(StagedAsset, pathExtension: String?)
  /// The content that the asset of an object has in a store before the save.
  case stored(AssetHandle, pathExtension: String?)
  /// The content of a ``stored(_:pathExtension:)``, located at the start of the save.
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
