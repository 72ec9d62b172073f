import SQLiteAssets
import SQLiteCore

/// The parts of a store that the cells of its objects need.
package protocol StoreToken: AnyObject, Sendable {
  /// The identity that distinguishes the store from others.
  var identity: StoreIdentity { get }
  /// The generation of the store's contents. It changes when all contents are replaced.
  var generation: Int { get }
  /// The database that contains the objects.
  var database: Database { get }
  /// The assets of the objects.
  var assets: AssetStore { get }
  /// The weak reference through which objects reference the store.
  var link: StoreLink { get }
}

/// A weak reference to a store, which doesn't keep the store open. Each store has one.
package final class StoreLink: Sendable {
  /// The store, or nil if it was released.
  weak let token: (any StoreToken)?
  fileprivate let identity: StoreIdentity
  /// The path of the folder with the store's assets.
  let assetPath: String
  /// The current generation of the store's contents.
  fileprivate let currentGeneration: ContentGeneration

  init(to token: any StoreToken) {
    self.token = token
    identity = token.identity
    assetPath = token.assets.path
    currentGeneration = token.database.content
  }
}

/// A reference to a store and to one generation of its contents, which may have been replaced in
/// the meantime.
///
/// Objects reference their store through this class, so they don't keep it open. It is a class, so
/// that each object of a fetch stores only one pointer.
package final class StoreContent: Sendable {
  let link: StoreLink
  let identity: StoreIdentity
  /// The generation of the store's contents that this value references.
  let generation: Int

  /// Creates a reference to the current contents of a store.
  init(of token: any StoreToken) {
    link = token.link
    identity = link.identity
    generation = token.generation
  }

  /// Whether the store still has the contents that this value references.
  var isCurrent: Bool { generation == link.currentGeneration.current }
}

/// The identity that distinguishes a store from others: the UUID in its database.
package final class StoreIdentity: Sendable, Equatable {
  let uuid: String

  init(uuid: String) {
    self.uuid = uuid
  }

  package static func == (left: StoreIdentity, right: StoreIdentity) -> Bool {
    left === right || left.uuid == right.uuid
  }
}
