import SQLiteCore
import Synchronization

/// One fetch: its rows and links, and the objects made of the rows.
///
/// The objects' cells keep the context alive, the context keeps the objects' storages, and these keep
/// neither: relations in them are z_index values. So cycles of objects do not leak.
package final class FetchContext: Sendable {
  /// An instance of a class, as long as somebody has it.
  ///
  /// Proof: an object is handed out only to the isolation domain that
  /// its cells are in, which all belong to one fetch; the type of an object that is not Sendable makes
  /// the owners that lead to it not Sendable either.
  private struct Instance: @unchecked Sendable {
    weak var object: AnyObject?
  }

  /// The store that the objects were fetched from.
  let store: StoreIdentity
  /// The rows of all types, table after table.
  private let storages: [ObjectStorage]
  private let tables: [FetchedTable]
  private let tableIndexes: [ObjectIdentifier: Int]
  /// The instances of classes by their rows.
  private let instances = Mutex<[Int: Instance]>([:])

  /// Takes the result of a ``GraphLoader``.
  init(_ token: any StoreToken, _ graph: FetchedGraph) {
    store = token.identity
    tableIndexes = graph.indexes
    storages =
      graph.tables.count == 1
      ? graph.tables[0].storages : Array(graph.tables.map(\.storages).joined())
    var start = 0
    tables = graph.tables.map { rows in
      defer { start += rows.storages.count }
      return FetchedTable(rows, start: start, graph.indexes)
    }
  }

  /// The objects that the query itself found, in its order.
  func objects<Object: MagicObject>(of type: Object.Type) throws -> [Object] {
    try objects(type, tableIndexes[ObjectIdentifier(type)].map { tables[$0].found } ?? [])
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
    if table.shape.isClass, let known = instances.withLock({ $0[row] })?.object as? Object {
      return known
    }
    let storage = storages[row]
    storage.handOut()
    let object = try storage.shape.bound(
      type, to: storage, in: table.shape.needsContext ? self : nil)
    guard table.shape.isClass else { return object }
    let instance = Instance(object: object as AnyObject)
    instances.withLock { $0[row] = instance }
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
    guard let index = tableIndexes[ObjectIdentifier(type)],
      let number = tables[index].numbers[zIndex]
    else { return nil }
    let storage = storages[tables[index].start + number]
    return storage.isHandedOut ? storage : nil
  }

  /// The links of an object's property as they were fetched, in their order.
  func links(of storage: ObjectStorage, slot: Int) -> LinkTargets {
    guard let owner = storage.fetchedZIndex,
      let table = tableIndexes[ObjectIdentifier(storage.shape.type)]
    else { return .none }
    return tables[table].links[slot]?[owner] ?? .none
  }

  private func table(of type: any MagicObject.Type, _ zIndex: Int64) throws -> Int {
    guard let table = tableIndexes[ObjectIdentifier(type)] else {
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
private final class FetchedTable: Sendable {
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
    guard property.isRelation, !property.role.isLazy, case .live(let live) = form else {
      return form
    }
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
        switch target.end {
        case .fetched(let zIndex):
          MagicLink(target.key, try object(Collection.Target.self, zIndex))
        case .other(let live):
          MagicLink(target.key, try live.object(Collection.Target.self))
        }
      })
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
    // One that was removed and saved anew has another z_index than the fetch knows it by.
    let zIndex = address.storage.zIndex(in: store)
    return zIndex == address.storage.fetchedZIndex ? zIndex : nil
  }
}

extension LiveValue {
  fileprivate func object<Object: MagicObject>(_ type: Object.Type) throws -> Object {
    guard let object = value as? Object else { throw MagicError.notSaved(type: "\(type)") }
    return object
  }
}
