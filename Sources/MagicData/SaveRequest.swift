import SQLiteAssets
import SQLiteCore
import SQLiteMapping

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An object that a relation leads to.
enum SaveTarget: Sendable {
  /// One that is saved too, by its place in the request.
  case node(Int)
  /// One that is in the store and unchanged.
  case stored(Int64)
}

/// What is to be written of one property.
enum SaveValue: Sendable {
  case value(Value)
  case object(SaveTarget)
  /// Links; those that were not set are written only if the object is new.
  case links([(place: Value, target: SaveTarget)], isSet: Bool)
  /// What a lazy value of another object leads to.
  case copy(LazySource)
  /// An asset that was set.
  case asset(PendingAsset)
  /// An asset that is in a store: it stays as it is, unless the object is a new one there.
  case kept(AssetHandle)
  /// What the store has stays as it is.
  case untouched
  /// Nothing was ever set.
  case missing
}

/// One object to be saved, as values that may travel.
struct SaveNode: Sendable {
  let plan: ObjectPlan
  let storage: ObjectStorage
  /// What the values were taken from.
  let snapshot: ObjectStorage.Snapshot
  /// One for each property.
  var values: [SaveValue]
  /// Lazy values that were set, which the object does not notice.
  let lazy: [(slot: Int, value: any LazyValue, changes: Int)]
  /// What the columns must hold for the object to be saved, if it must be unchanged.
  var expected: [(slot: Int, value: Value)]?

  func isChanged(_ slot: Int) -> Bool {
    snapshot.isChanged(slot) || lazy.contains { $0.slot == slot && $0.changes > 0 }
  }
}

/// Objects to be saved with all that they lead to, each once: taken where the objects live.
struct SaveRequest: Sendable {
  var nodes: [SaveNode] = []
  private(set) var roots: [Int] = []

  /// Takes the values of objects.
  ///
  /// - Parameters:
  ///   - objects: What was asked to be saved.
  ///   - store: Where it shall be saved.
  ///   - isUnchanged: Whether the objects' rows must be as they were.
  init<Object: MagicObject>(
    _ objects: some Sequence<Object>, for store: MagicData, ifUnchanged isUnchanged: Bool = false
  ) throws {
    var collector = SaveCollector(store)
    roots = try objects.map { try collector.add($0) }
    nodes = try collector.finish()
    if isUnchanged {
      for root in roots { nodes[root].expected = try nodes[root].storage.expectedRow }
    }
  }

  /// The types of the objects.
  var plans: [ObjectPlan] {
    var seen: Set<ObjectIdentifier> = []
    return nodes.map(\.plan).filter { seen.insert(ObjectIdentifier($0.type)).inserted }
  }
}

/// Walks the graph of objects, without recursion: a chain may be as long as memory is.
private struct SaveCollector {
  let store: MagicData
  var places: [ObjectIdentifier: Int] = [:]
  /// Objects that were met, with the context that their relations are known in.
  var found: [(storage: ObjectStorage, context: FetchContext?)] = []

  init(_ store: MagicData) {
    self.store = store
  }

  mutating func add<Object: MagicObject>(_ object: Object) throws -> Int {
    if let place = PropertyCollector.firstCell(of: object)?.place {
      return add(place.storage, place.context)
    }
    let entries = try PropertyCollector.entries(of: object)
    let plan = try store.plan(Object.self)
    guard entries.count == plan.properties.count else {
      throw MagicError.unsuitableType(
        type: plan.typeName, reason: "its encode(to:) does not always encode the same properties")
    }
    if let primary = plan.primary { _ = entries[primary].cell.primaryForm(entries[primary].type) }
    let storage = ObjectStorage(plan, entries.map(\.cell.form), identity: nil)
    for (slot, entry) in entries.enumerated() {
      _ = entry.cell.bind(to: storage, slot: slot, context: nil)
    }
    return add(storage, nil)
  }

  private mutating func add(_ storage: ObjectStorage, _ context: FetchContext?) -> Int {
    if let place = places[ObjectIdentifier(storage)] { return place }
    places[ObjectIdentifier(storage)] = found.count
    found.append((storage, context))
    return found.count - 1
  }

  /// Takes the values of all objects that were added, and of those that are met meanwhile.
  mutating func finish() throws -> [SaveNode] {
    var nodes: [SaveNode] = []
    while nodes.count < found.count {
      let (storage, context) = found[nodes.count]
      let snapshot = storage.snapshot(for: store.identity)
      let forms = snapshot.forms
      var values: [SaveValue] = []
      var lazy: [(slot: Int, value: any LazyValue, changes: Int)] = []
      values.reserveCapacity(forms.count)
      for (slot, form) in forms.enumerated() {
        if case .live(let live) = form, let value = live.value as? any LazyValue {
          lazy.append((slot, value, value.changes))
        }
        let isSet =
          snapshot.isChanged(slot) || lazy.last.map { $0.slot == slot && $0.changes > 0 } == true
        values.append(try value(of: form, slot, isSet: isSet, storage, context))
      }
      nodes.append(
        SaveNode(
          plan: storage.plan, storage: storage, snapshot: snapshot, values: values, lazy: lazy))
    }
    return nodes
  }

  private mutating func value(
    of form: CellContent.Form, _ slot: Int, isSet: Bool, _ storage: ObjectStorage,
    _ context: FetchContext?
  ) throws -> SaveValue {
    let property = storage.plan.properties[slot]
    switch form {
    case .unset:
      return property.role.isOptional && !property.isLinked ? .value(.null) : .missing
    case .stored(let value):
      // An optional collection without a value is one without objects.
      guard property.role.isAsset else {
        return property.isLinked ? .links([], isSet: isSet) : .value(value)
      }
      return storage.assetHandle(of: value, at: slot).map { .kept($0) } ?? .value(.null)
    case .data(let data): return .value(data.databaseValue)
    case .lazy: return .untouched
    case .reference(let zIndex): return .object(try target(zIndex, property, context))
    case .links:
      guard let context, let links = context.links(of: storage, slot: slot) else {
        return .untouched
      }
      return .links(
        try links.map { ($0.place, try target($0.target, property, context)) }, isSet: isSet)
    case .targets(let targets):
      let links = try targets.map { target in
        switch target.end {
        case .fetched(let zIndex):
          (target.place, try self.target(zIndex, property, context))
        case .other(let live):
          (target.place, try add(live, storage, property))
        }
      }
      return .links(links, isSet: isSet)
    case .live(let live):
      return try value(of: live, property, isSet: isSet, storage, slot)
    }
  }

  private mutating func add(
    _ live: LiveValue, _ storage: ObjectStorage, _ property: ObjectPlan.Property
  ) throws -> SaveTarget {
    guard let object = live.value as? any MagicObject else {
      throw MagicError.missingValue(type: storage.plan.typeName, property: property.name)
    }
    return .node(try add(object))
  }

  private mutating func target(
    _ zIndex: Int64, _ property: ObjectPlan.Property, _ context: FetchContext?
  ) throws -> SaveTarget {
    // Only objects that somebody has looked at can have changed.
    guard let type = property.role.target, let context,
      let made = context.madeStorage(type, zIndex: zIndex)
    else { return .stored(zIndex) }
    return .node(add(made, context))
  }

  private mutating func value(
    of live: LiveValue, _ property: ObjectPlan.Property, isSet: Bool, _ storage: ObjectStorage,
    _ slot: Int
  ) throws -> SaveValue {
    if live.value is RelationKeys {
      throw MagicError.unresolvedRelation(type: storage.plan.typeName, property: property.name)
    }
    do {
      if let lazy = live.value as? any LazyValue, !property.role.isAsset {
        if let set = lazy.live { return try value(of: set, property, isSet: isSet, storage, slot) }
        guard let source = lazy.source else { return .missing }
        let isOwn =
          source.slot == slot && source.plan === storage.plan
          && storage.zIndex(in: source.store.identity) == source.zIndex
        return isOwn ? .untouched : .copy(source)
      }
      switch property.role.kind {
      case .column: return .value(try property.type.stored(live))
      case .object: return .object(try add(live, storage, property))
      case .links:
        guard let collection = live.value as? any MagicCollection else { return .missing }
        return .links(try links(of: collection), isSet: isSet)
      case .asset:
        guard let asset = live.value as? any AssetValue else { return .missing }
        return try asset.pending.map { .asset($0) } ?? .untouched
      case .reverse: return .untouched
      }
    } catch let error as SQLiteError {
      throw MagicError.unstorableValue(
        type: storage.plan.typeName, property: property.name, reason: error.message)
    } catch let error as EncodingError {
      throw MagicError.unstorableValue(
        type: storage.plan.typeName, property: property.name, reason: "\(error)")
    }
  }

  private mutating func links<Collection: MagicCollection>(
    of collection: Collection
  ) throws -> [(place: Value, target: SaveTarget)] {
    try collection.magicLinks.map { ($0.place, .node(try add($0.object))) }
  }
}

extension PropertyRole {
  /// The type of the objects that a relation leads to.
  var target: (any MagicObject.Type)? {
    switch kind {
    case .object(let type), .links(_, let type): type
    case .column, .asset, .reverse: nil
    }
  }

  var isAsset: Bool {
    if case .asset = kind { true } else { false }
  }
}
