import SQLiteCore
import SQLiteMapping

extension SaveCollector {
  /// What is to be written of a property.
  mutating func value(
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
      if let handle = storage.assetHandle(at: slot) { return .kept(handle) }
      // The content of an object that was removed went with it.
      return value.isNull ? .value(.null) : .untouched
    case .data(let data): return .value(data.databaseValue)
    case .lazy: return .untouched
    case .reference(let zIndex): return .object(try target(zIndex, property, context))
    case .links:
      guard let context else { return .untouched }
      let links = context.links(of: storage, slot: slot)
      return .links(
        try links.map { ($0, try target($1, property, context)) }, isSet: isSet)
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

  mutating func add(
    _ live: LiveValue, _ storage: ObjectStorage, _ property: ObjectPlan.Property
  ) throws -> SaveTarget {
    guard let object = live.value as? any MagicObject else {
      throw MagicError.missingValue(type: storage.plan.typeName, property: property.name)
    }
    if let target = property.role.target { try ObjectPlan.refuse(type(of: object), as: target) }
    return .node(try add(object))
  }

  private mutating func target(
    _ zIndex: Int64, _ property: ObjectPlan.Property, _ context: FetchContext?
  ) throws -> SaveTarget {
    guard let type = property.role.target, let context else { return .stored(zIndex) }
    guard context.store.identity == store.identity else {
      // An object of another store has another z_index here, or none yet.
      return .node(add(try context.storage(type, zIndex: zIndex), context))
    }
    // Only objects that somebody has looked at can have changed.
    return context.madeStorage(type, zIndex: zIndex).map { .node(add($0, context)) }
      ?? .stored(zIndex)
  }

  private mutating func value(
    of live: LiveValue, _ property: ObjectPlan.Property, isSet: Bool, _ storage: ObjectStorage,
    _ slot: Int
  ) throws -> SaveValue {
    if live.unresolvedKeys != nil {
      throw MagicError.unresolvedRelation(type: storage.plan.typeName, property: property.name)
    }
    return try storage.plan.refusing(property) {
      switch property.role.kind {
      case .column: return .value(try storage.plan.stored(live, slot))
      case .object: return .object(try add(live, storage, property))
      case .links:
        guard let collection = live.value as? any MagicCollection else { return .missing }
        return .links(try links(of: collection), isSet: isSet)
      case .asset:
        guard let asset = live.value as? any AssetValue else { return .missing }
        guard let pending = try asset.pending else { return .untouched }
        guard case .stored(let handle, nil) = pending, handle.isOf(storage, slot) else {
          return .asset(pending)
        }
        return .kept(handle)
      case .reverse: return .untouched
      }
    }
  }

  private mutating func links<Collection: MagicCollection>(
    of collection: Collection
  ) throws -> [(place: Value, target: SaveTarget)] {
    try collection.magicLinks.map { ($0.place, .node(try add($0.object))) }
  }
}

extension ObjectPlan {
  /// Names the property if its value cannot be stored.
  func refusing<Result>(_ property: Property, _ body: () throws -> Result) throws -> Result {
    func refuse(_ reason: String) -> MagicError {
      .unstorableValue(type: typeName, property: property.name, reason: reason)
    }
    do {
      return try body()
    } catch let error as SQLiteError {
      throw refuse(error.message)
    } catch let error as EncodingError {
      throw refuse("\(error)")
    }
  }
}
