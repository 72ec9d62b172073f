import SQLiteAssets
import SQLiteCore

/// A store, as far as the cells of its objects know it.
package protocol StoreToken: AnyObject, Sendable {
  /// The identity of the store among others.
  var identity: StoreIdentity { get }
  /// The number of the store's content: another content may take its place.
  var generation: Int { get }
  /// The database with the objects.
  var database: Database { get }
  /// The files that objects keep.
  var assets: AssetStore { get }
}

/// A store with the content that it had at some moment; another content may have taken its place since.
///
/// Objects reference the store through this, and so never keep it open. It is a class, so that each object of
/// a fetch has one reference to it.
package final class StoreContent: Sendable {
  /// The store; nil if it was released.
  weak let token: (any StoreToken)?
  let identity: StoreIdentity
  /// The folder of the store's assets.
  let assetPath: String
  /// The number of the content.
  let generation: Int
  /// The number of the store's present content.
  private let present: ContentGeneration

  /// The present content of a store.
  init(of token: any StoreToken) {
    self.token = token
    identity = token.identity
    assetPath = token.assets.path
    generation = token.generation
    present = token.database.content
  }

  /// Whether no other content has taken its place.
  var isCurrent: Bool { generation == present.current }
}

/// The identity of a store among others: the UUID in its database.
package final class StoreIdentity: Sendable, Equatable {
  let uuid: String

  init(uuid: String) {
    self.uuid = uuid
  }

  package static func == (left: StoreIdentity, right: StoreIdentity) -> Bool {
    left === right || left.uuid == right.uuid
  }
}
