import SQLiteCore
import Synchronization

/// What the cells of an object hold: the group of the object, with which its relations are read.
///
/// The cells keep the context alive, the context keeps the group's storages, and these keep neither: relations
/// in them are z_index values, or references to objects of other groups, which hold those unless they are in a
/// ring. So cycles of objects do not leak.
package final class FetchContext: Sendable {
  let group: ObjectGroup
  // The same as the group's: each property that is read looks here.
  let storages: [ObjectStorage]
  let tables: [FetchedTable]
  private let heldRing: Mutex<Ring?>

  /// Takes the result of a ``GraphLoader``.
  convenience init(_ token: any StoreToken, _ graph: FetchedGraph) {
    self.init(of: ObjectGroup(token.identity, graph), in: nil)
  }

  init(of group: ObjectGroup, in ring: Ring?) {
    self.group = group
    storages = group.storages
    tables = group.tables
    heldRing = Mutex(ring)
  }

  /// The store that the objects were fetched from; nil for an object that was made.
  var store: StoreIdentity? { group.store }

  /// The ring that the group is in.
  var ring: Ring? { heldRing.withLock { $0 } }

  /// Holds another ring, or none.
  ///
  /// - Returns: The former one, for the caller to release.
  func hold(_ ring: Ring?) -> Ring? {
    heldRing.withLock { held in
      defer { held = ring }
      return held
    }
  }

  /// The storage at a row.
  @inline(__always)
  func storage(at index: CellIndex) -> ObjectStorage { storages[index.row] }

  /// The storage of an object, handed out or not.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if the fetch did not bring it.
  func storage(_ type: any MagicObject.Type, zIndex: Int64) throws -> ObjectStorage {
    storages[try row(zIndex, in: tables[table(of: type, zIndex)])]
  }

  /// The storage of an object that somebody has looked at, since only those can have changed.
  func handedOutStorage(_ type: any MagicObject.Type, zIndex: Int64) -> ObjectStorage? {
    guard let index = group.tableIndexes[ObjectIdentifier(type)],
      let number = tables[index].numbers[zIndex]
    else { return nil }
    let storage = storages[tables[index].start + number]
    return storage.isHandedOut ? storage : nil
  }

  /// The links of an object's property as they were fetched, in their order.
  func links(of storage: ObjectStorage, slot: Int) -> LinkTargets {
    guard let owner = storage.fetchedZIndex,
      let table = group.tableIndexes[ObjectIdentifier(storage.shape.type)]
    else { return .none }
    return tables[table].links[slot]?[owner] ?? .none
  }

  /// The context and the row of another object of the same ring.
  ///
  /// - Throws: ``Companion/Released``.
  func context(
    of companion: Companion
  ) throws(Companion.Released) -> (context: FetchContext, row: Int) {
    let (group, row) = try companion.place()
    if group === self.group { return (self, row) }
    return (group.context(in: ring?.ring(of: group)), row)
  }

  /// The storage at a row.
  func storage(atRow row: Int) -> ObjectStorage { storages[row] }

  /// The index of the table of a type.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if the fetch brought no objects of the type.
  func table(of type: any MagicObject.Type, _ zIndex: Int64) throws -> Int {
    guard let table = group.tableIndexes[ObjectIdentifier(type)] else {
      throw MagicError.missingTarget(type: "\(type)", zIndex: zIndex)
    }
    return table
  }

  /// The row of an object.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if the fetch did not bring it.
  func row(_ zIndex: Int64, in table: FetchedTable) throws -> Int {
    guard let number = table.numbers[zIndex] else {
      throw MagicError.missingTarget(type: table.shape.typeName, zIndex: zIndex)
    }
    return table.start + number
  }
}
