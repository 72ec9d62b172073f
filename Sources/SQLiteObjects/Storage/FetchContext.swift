import SQLiteCore
import Synchronization

/// The context of an object's cells: it holds the object's group and resolves the object's
/// relations.
///
/// Cells hold the context, and the context holds the storages of the group. Storages hold neither
/// cells nor contexts: they represent relations by z_index values, or by references to objects of
/// other groups. References within a reference cycle are weak, so that cycles of objects don't
/// leak.
package final class FetchContext: Sendable {
  let group: ObjectGroup
  // The group's arrays, stored again to save an indirection in each access to a property.
  let storages: [ObjectStorage]
  let tables: [FetchedTable]
  private let heldCycle: Mutex<ReferenceCycle?>

  /// Creates the context of the result of a ``GraphLoader``.
  convenience init(_ token: any StoreToken, _ graph: FetchedGraph) {
    self.init(of: ObjectGroup(token.identity, graph), in: nil)
  }

  init(of group: ObjectGroup, in cycle: ReferenceCycle?) {
    self.group = group
    storages = group.storages
    tables = group.tables
    heldCycle = Mutex(cycle)
  }

  /// The store that the objects were fetched from, or nil for an object that the program created.
  var store: StoreIdentity? { group.store }

  /// The reference cycle that the group belongs to, or nil if it belongs to none.
  var cycle: ReferenceCycle? { heldCycle.withLock { $0 } }

  /// Replaces the reference cycle that the context holds.
  ///
  /// - Parameter cycle: The new cycle, or nil for none.
  /// - Returns: The previous cycle, or nil if there was none. The caller must release it outside of
  ///   locks.
  func hold(_ cycle: ReferenceCycle?) -> ReferenceCycle? {
    heldCycle.withLock { held in
      defer { held = cycle }
      return held
    }
  }

  /// Returns the storage at the row of an index.
  @inline(__always)
  func storage(at index: CellIndex) -> ObjectStorage { storages[index.row] }

  /// Returns the storage of an object, whether or not an instance was created from it.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if the fetch doesn't contain the object.
  func storage(_ type: any MagicObject.Type, zIndex: Int64) throws -> ObjectStorage {
    storages[try row(zIndex, in: tables[table(of: type, zIndex)])]
  }

  /// Returns the storage of an object, or nil if the fetch doesn't contain the object or no
  /// instance was created from the storage. Without an instance, the object can't have changed.
  func instantiatedStorage(_ type: any MagicObject.Type, zIndex: Int64) -> ObjectStorage? {
    guard let index = group.tableIndexes[ObjectIdentifier(type)],
      let number = tables[index].numbers[zIndex]
    else { return nil }
    let storage = storages[tables[index].start + number]
    return storage.isInstantiated ? storage : nil
  }

  /// Returns the fetched links of a property, in their order.
  func links(of storage: ObjectStorage, slot: Int) -> LinkTargets {
    guard let owner = storage.fetchedZIndex,
      let table = group.tableIndexes[ObjectIdentifier(storage.shape.type)]
    else { return .none }
    return tables[table].links[slot]?[owner] ?? .none
  }

  /// Returns the context and the row of another object of the same reference cycle.
  ///
  /// - Throws: ``WeakObjectReference/Released`` if the object was released, because the reference
  ///   has been replaced since it was read.
  func context(
    of weakReference: WeakObjectReference
  ) throws(WeakObjectReference.Released) -> (context: FetchContext, row: Int) {
    let (group, row) = try weakReference.place()
    if group === self.group { return (self, row) }
    return (group.context(in: cycle?.cycle(of: group)), row)
  }

  /// Returns the storage of the object at a row of the group.
  func storage(atRow row: Int) -> ObjectStorage { storages[row] }

  /// Returns the index of a type in ``tables``.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if the fetch contains no objects of the
  ///   type.
  func table(of type: any MagicObject.Type, _ zIndex: Int64) throws -> Int {
    guard let table = group.tableIndexes[ObjectIdentifier(type)] else {
      throw MagicError.missingTarget(type: "\(type)", zIndex: zIndex)
    }
    return table
  }

  /// Returns the row of an object in ``storages``.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if the fetch doesn't contain the object.
  func row(_ zIndex: Int64, in table: FetchedTable) throws -> Int {
    guard let number = table.numbers[zIndex] else {
      throw MagicError.missingTarget(type: table.shape.typeName, zIndex: zIndex)
    }
    return table.start + number
  }
}
