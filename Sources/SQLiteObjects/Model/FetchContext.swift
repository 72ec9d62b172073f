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
  private let storages: [ObjectStorage]
  private let tables: [FetchedTable]
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

  /// The objects that the query itself found, in its order.
  func objects<Object: MagicObject>(of type: Object.Type) throws -> [Object] {
    try objects(type, group.tableIndexes[ObjectIdentifier(type)].map { tables[$0].found } ?? [])
  }

  /// Objects of the fetch.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if the fetch did not bring one of them.
  func objects<Object: MagicObject>(
    _ type: Object.Type, _ zIndexes: ArraySlice<Int64>
  ) throws -> [Object] {
    // Room for nothing would be the empty array that all share, whose count the standard library
    // writes all the same: ThreadSanitizer sees that.
    if zIndexes.isEmpty { return [] }
    let index = try table(of: type, zIndexes[zIndexes.startIndex])
    let table = tables[index]
    return try unsafe Array(unsafeUninitializedCapacity: zIndexes.count) { objects, count in
      guard var object = objects.baseAddress else { return }
      for zIndex in zIndexes {
        let row = try row(zIndex, in: table)
        if let layout = table.shape.layout {
          unsafe initialize(UnsafeMutableRawPointer(object), layout, index, row)
        } else {
          unsafe object.initialize(to: try self.object(type, at: row, in: table))
        }
        count += 1
        unsafe object += 1
      }
    }
  }

  /// An object of the fetch.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if the fetch did not bring it.
  func object<Object: MagicObject>(_ type: Object.Type, _ zIndex: Int64) throws -> Object {
    guard let object = try objects(type, [zIndex]).first else {
      throw MagicError.missingTarget(type: "\(type)", zIndex: zIndex)
    }
    return object
  }

  /// Makes an object that a relation leads to.
  ///
  /// - Parameters:
  ///   - memory: Room for an object of the type.
  ///   - type: The object's type.
  ///   - zIndex: The object.
  ///   - relation: The property that leads to it.
  /// - Returns: False if the object is not known to be nothing but cells; then nothing is made.
  @unsafe func initialize(
    _ memory: UnsafeMutableRawPointer, _ type: ObjectIdentifier, _ zIndex: Int64,
    from relation: CellIndex
  ) -> Bool {
    guard relation.table < tables.count else { return false }
    let index = tables[relation.table].targets[relation.slot]
    guard index >= 0 else { return false }
    let table = tables[index]
    guard table.type == type, let layout = table.shape.layout, let row = table.numbers[zIndex]
    else { return false }
    unsafe initialize(memory, layout, index, row + table.start)
    return true
  }

  /// Makes an object that is nothing but cells.
  @unsafe private func initialize(
    _ memory: UnsafeMutableRawPointer, _ layout: CellLayout, _ table: Int, _ row: Int
  ) {
    let storage = storages[row]
    storage.handOut()
    if storage.shape.needsContext {
      unsafe layout.initialize(memory, .row(self), CellIndex(table: table, row: row))
    } else {
      unsafe layout.initialize(memory, .storage(storage), CellIndex(slot: 0))
    }
  }

  /// Makes an object by its `init()`; the instance of a class is the same one as long as somebody has it.
  private func object<Object: MagicObject>(
    _ type: Object.Type, at row: Int, in table: FetchedTable
  ) throws -> Object {
    try object(type, at: row)
  }

  private func object<Object: MagicObject>(_ type: Object.Type, at row: Int) throws -> Object {
    let storage = storages[row]
    let shape = storage.shape
    if shape.isClass, let known = group.instance(at: row) as? Object { return known }
    storage.handOut()
    let object = try shape.bound(
      type, to: storage, in: shape.needsContext || group.isMade ? self : nil)
    if shape.isClass { group.note(object as AnyObject, at: row) }
    return object
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

  private func table(of type: any MagicObject.Type, _ zIndex: Int64) throws -> Int {
    guard let table = group.tableIndexes[ObjectIdentifier(type)] else {
      throw MagicError.missingTarget(type: "\(type)", zIndex: zIndex)
    }
    return table
  }

  private func row(_ zIndex: Int64, in table: FetchedTable) throws -> Int {
    guard let number = table.numbers[zIndex] else {
      throw MagicError.missingTarget(type: table.shape.typeName, zIndex: zIndex)
    }
    return table.start + number
  }
}

/// The rows of one type in a fetch, once they are complete.
final class FetchedTable: Sendable {
  let shape: ObjectShape
  let type: ObjectIdentifier
  /// The first of the type's rows among those of all types.
  let start: Int
  /// The number of each row, by its z_index.
  let numbers: RowNumbers
  /// The z_index values that the query itself found, in its order.
  let found: ArraySlice<Int64>
  let links: [Int: FetchedLinks]
  /// For each property the table of the objects that it leads to, or -1.
  let targets: [Int]

  init(_ rows: FetchedRows, start: Int, _ indexes: [ObjectIdentifier: Int]) {
    shape = rows.shape
    type = ObjectIdentifier(rows.shape.type)
    self.start = start
    numbers = rows.numbers
    found = rows.found
    links = rows.links
    targets = rows.shape.properties.map { property in
      property.role.target.flatMap { indexes[ObjectIdentifier($0)] } ?? -1
    }
  }
}

// Relations that lead to objects of the same fetch.
extension FetchContext {
  /// The form of a relation that is set in one of the fetch's objects: objects of the same fetch as z_index values.
  func form(
    of form: CellValue.Form, for property: ObjectProperty
  ) -> CellValue.Form {
    guard !group.isMade, property.isEager, case .live(let live) = form else { return form }
    if let object = live.value as? any MagicObject {
      return zIndex(of: object).map { .reference($0) } ?? form
    }
    if let collection = live.value as? any MagicCollection, let targets = targets(of: collection) {
      return .targets(targets)
    }
    return form
  }

  /// Makes the collection of a property that was set since the fetch.
  func collection<Collection: MagicCollection>(
    _ type: Collection.Type, of targets: [RelationTarget]
  ) throws -> Collection {
    try Collection(
      magicLinks: targets.map { target in
        MagicLink(target.key, try object(Collection.Target.self, target))
      })
  }

  /// Makes the object that a property was set to since the fetch.
  ///
  /// - Throws: ``Companion/Released`` if the property was set again meanwhile.
  func object<Object: MagicObject>(
    _ type: Object.Type, _ target: RelationTarget
  ) throws -> Object {
    switch target.end {
    case .fetched(let zIndex): return try object(type, zIndex)
    case .other(let live):
      guard let object = live.value as? Object else { throw MagicError.notSaved(type: "\(type)") }
      return object
    case .companion(let companion):
      let (context, row) = try context(of: companion)
      return try context.object(type, at: row)
    }
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

  /// Makes the object at a row, to be held by a property.
  func live(at row: Int) throws -> LiveValue {
    func make<Object: MagicObject>(_ type: Object.Type) throws -> LiveValue {
      LiveValue(try object(type, at: row))
    }
    return try make(storages[row].shape.type)
  }

  /// Makes the collection of a property that was not set since the fetch.
  func collection<Collection: MagicCollection>(
    _ type: Collection.Type, of storage: ObjectStorage, slot: Int
  ) throws -> Collection {
    let links = links(of: storage, slot: slot)
    let objects = try objects(Collection.Target.self, links.targets)
    if let list = objects as? Collection { return list }
    var next = 0
    return try Collection(
      magicLinks: links.map { key, _ in
        next += 1
        return MagicLink(key, objects[next - 1])
      })
  }

  private func targets<Collection: MagicCollection>(
    of collection: Collection
  ) -> [RelationTarget]? {
    // A collection that cannot be stored is refused when it is saved.
    guard let links = try? collection.magicLinks else { return nil }
    return links.map { link in
      RelationTarget(
        key: link.key,
        end: zIndex(of: link.object).map { .fetched($0) } ?? .other(LiveValue(link.object)))
    }
  }

  /// The z_index of an object of this fetch.
  private func zIndex<Object: MagicObject>(of object: Object) -> Int64? {
    guard let address = PropertyCollector.firstCell(of: object)?.address, address.context === self
    else {
      return nil
    }
    guard let store else { return nil }
    // One that was removed and saved anew has another z_index than the fetch knows it by.
    let zIndex = address.storage.zIndex(in: store)
    return zIndex == address.storage.fetchedZIndex ? zIndex : nil
  }
}
