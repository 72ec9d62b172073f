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
