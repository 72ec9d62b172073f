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
  /// The reference by which objects know the store.
  var link: StoreLink { get }
}

/// A reference to a store that does not keep it open. Each store has one.
package final class StoreLink: Sendable {
  /// The store; nil if it was released.
  weak let token: (any StoreToken)?
  fileprivate let identity: StoreIdentity
  /// The folder of the store's assets.
  let assetPath: String
  /// The number of the store's present content.
  fileprivate let present: ContentGeneration

  init(to token: any StoreToken) {
    self.token = token
    identity = token.identity
    assetPath = token.assets.path
    present = token.database.content
  }
}

/// A store with the content that it had at some moment; another content may have taken its place since.
///
/// Objects reference the store through this, and so never keep it open. It is a class, so that each object of
/// a fetch has one reference to it.
package final class StoreContent: Sendable {
  let link: StoreLink
  let identity: StoreIdentity
  /// The number of the content.
  let generation: Int

  /// The present content of a store.
  init(of token: any StoreToken) {
    link = token.link
    identity = link.identity
    generation = token.generation
  }

  /// Whether no other content has taken its place.
  var isCurrent: Bool { generation == link.present.current }
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
