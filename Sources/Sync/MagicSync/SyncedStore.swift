import SQLiteAssets
import SQLiteCore
import SQLiteObjects

/// The parts of a store that a ``Sync`` uses.
///
/// They don't retain the `MagicData`, which may own the ``Sync``.
struct SyncedStore: Sendable {
  let database: Database
  let assets: AssetStore

  init(_ magic: MagicData) {
    database = magic.database
    assets = magic.assets
  }
}
