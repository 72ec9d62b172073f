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
/// A class, so that each object of a fetch has one reference to it.
package final class StoreContent: Sendable {
  let token: any StoreToken
  let identity: StoreIdentity
  /// The number of the content.
  let generation: Int

  /// The present content of a store.
  init(of token: any StoreToken) {
    self.token = token
    identity = token.identity
    generation = token.generation
  }

  /// Whether no other content has taken its place.
  var isCurrent: Bool { generation == token.generation }
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
