import SQLiteAssets
import SQLiteCore
import SQLiteRelations
import Synchronization

/// The rows of one type that a fetch brought.
struct FetchedRows: Sendable {
  /// The values of the plan's columns, row after row.
  var values: [Value] = []
  /// The rows' places by z_index.
  var places: [Int64: Int] = [:]
  /// The z_index values in the order of the query.
  var order: [Int64] = []
}

/// The links of one property that a fetch brought, in the order of each owner.
struct FetchedLinks: Sendable {
  var byOwner: [Int64: [Link]] = [:]
}

/// A property of a type, as a key.
struct PropertyKey: Hashable, Sendable {
  let type: ObjectIdentifier
  let slot: Int
}

/// Everything that one fetch brought, as of one snapshot.
struct FetchedGraph: Sendable {
  var plans: [ObjectIdentifier: ObjectPlan] = [:]
  var rows: [ObjectIdentifier: FetchedRows] = [:]
  var links: [PropertyKey: FetchedLinks] = [:]
}

/// One fetch: what it brought, and the objects made of it so far, one for each z_index.
///
/// The objects' cells keep the context alive, the context keeps the objects' storages, and these keep
/// neither: relations in them are z_index values. So cycles of objects do not leak.
package final class FetchContext: Sendable {
  private struct ObjectKey: Hashable {
    let type: ObjectIdentifier
    let zIndex: Int64
  }

  /// An instance of a class, as long as somebody has it.
  ///
  /// Proof: an object is handed out only to the isolation domain that
  /// its cells are in, which all belong to one fetch; the type of an object that is not Sendable makes
  /// the owners that lead to it not Sendable either.
  private struct Instance: @unchecked Sendable {
    weak var object: AnyObject?
  }

  let store: MagicData
  private let graph: FetchedGraph
  private let storages = Mutex<[ObjectKey: ObjectStorage]>([:])
  private let instances = Mutex<[ObjectKey: Instance]>([:])

  init(store: MagicData, _ graph: FetchedGraph) {
    self.store = store
    self.graph = graph
  }

  /// All objects of a type, in the order of the query.
  func objects<Object: MagicObject>(of type: Object.Type) throws -> [Object] {
    guard let rows = graph.rows[ObjectIdentifier(type)] else { return [] }
    return try rows.order.map { zIndex in
      guard let object = try make(type, zIndex) else {
        throw MagicError.missingTarget(type: "\(type)", zIndex: zIndex)
      }
      return object
    }
  }

  /// An object that a relation leads to, or nil if the fetch did not bring it.
  ///
  /// What is stored was checked when the fetch's objects were made.
  func object<Object: MagicObject>(_ type: Object.Type, zIndex: Int64) -> Object? {
    try? make(type, zIndex)
  }

  /// The objects that an object's links lead to.
  func collection<Collection: LinkCollection>(
    _ type: Collection.Type, of storage: ObjectStorage, slot: Int
  ) -> Collection? {
    guard let owner = storage.zIndex(in: store.identity) else { return nil }
    let key = PropertyKey(type: ObjectIdentifier(storage.plan.type), slot: slot)
    let links = graph.links[key]?.byOwner[owner] ?? []
    return try? Collection(
      links: links.compactMap { link in
        object(Collection.Target.self, zIndex: link.target).map { (link.place, $0) }
      })
  }

  /// The z_index values that an object's links lead to, with their places.
  func links(of storage: ObjectStorage, slot: Int) -> [Link] {
    guard let owner = storage.zIndex(in: store.identity) else { return [] }
    let key = PropertyKey(type: ObjectIdentifier(storage.plan.type), slot: slot)
    return graph.links[key]?.byOwner[owner] ?? []
  }

  /// The storages made so far that have changes, to be saved with what leads to them.
  func madeStorage(_ type: any MagicObject.Type, zIndex: Int64) -> ObjectStorage? {
    storages.withLock { $0[ObjectKey(type: ObjectIdentifier(type), zIndex: zIndex)] }
  }

  func make<Object: MagicObject>(_ type: Object.Type, _ zIndex: Int64) throws -> Object? {
    let key = ObjectKey(type: ObjectIdentifier(type), zIndex: zIndex)
    if let instance = instances.withLock({ $0[key] })?.object as? Object { return instance }
    guard let storage = try storage(key) else { return nil }
    let object = Object()
    try storage.plan.bind(object, to: storage, context: self)
    if type is AnyObject.Type {
      let instance = Instance(object: object as AnyObject)
      instances.withLock { $0[key] = instance }
    }
    return object
  }

  private func storage(_ key: ObjectKey) throws -> ObjectStorage? {
    if let storage = storages.withLock({ $0[key] }) { return storage }
    guard let plan = graph.plans[key.type], let rows = graph.rows[key.type],
      let place = rows.places[key.zIndex]
    else { return nil }
    let made = try plan.storage(
      zIndex: key.zIndex, rows.values[(place * plan.columns.count)...], in: store)
    return storages.withLock { storages in
      if let first = storages[key] { return first }
      storages[key] = made
      return made
    }
  }
}

extension ObjectPlan {
  /// Makes an object's storage of a row, and checks each value.
  ///
  /// - Parameters:
  ///   - zIndex: The row's key.
  ///   - values: The row's values, and whatever follows them.
  ///   - magic: Where the row is from.
  func storage(
    zIndex: Int64, _ values: ArraySlice<Value>, in magic: MagicData
  ) throws -> ObjectStorage {
    var forms: [CellContent.Form] = []
    forms.reserveCapacity(properties.count)
    var next = values.startIndex
    for property in properties {
      if property.role.countsUp {
        forms.append(.stored(.integer(zIndex)))
      } else if property.hasColumn {
        forms.append(try form(of: values[next], property, zIndex))
        next += 1
      } else if case .links = property.role.kind {
        forms.append(property.role.isLazy ? .lazy : .links)
      } else {
        forms.append(.unset)
      }
    }
    return ObjectStorage(self, forms, identity: .init(magic: magic, zIndex: zIndex))
  }

  private func form(
    of value: Value, _ property: Property, _ zIndex: Int64
  ) throws -> CellContent.Form {
    func refuse(_ reason: String) -> MagicError {
      .unreadableValue(
        type: typeName, property: property.name, zIndex: zIndex, reason: reason)
    }
    switch property.role.kind {
    case .object:
      if property.role.isLazy { return .lazy }
      switch value {
      case .integer(let target): return .reference(target)
      case .null where property.role.isOptional: return .stored(.null)
      case .null: return .unset
      default: throw refuse("it is no reference but \(value.storageClass)")
      }
    case .asset:
      do {
        // Checked here, so that only what the file does can fail later.
        if !value.isNull { _ = try AssetID(databaseValue: value) }
        return .stored(value)
      } catch {
        throw refuse(error.message)
      }
    case .column, .links, .reverse:
      do {
        return try property.type.content(from: value).form
      } catch let error as SQLiteError {
        throw refuse(error.message)
      } catch {
        throw refuse("\(error)")
      }
    }
  }

  /// Makes an object's cells lead to a storage.
  func bind<Object: MagicObject>(
    _ object: Object, to storage: ObjectStorage, context: FetchContext?
  ) throws {
    guard try PropertyCollector.bind(object, to: storage, context) == properties.count else {
      throw MagicError.unsuitableType(
        type: typeName, reason: "its encode(to:) does not always encode the same properties")
    }
  }
}
