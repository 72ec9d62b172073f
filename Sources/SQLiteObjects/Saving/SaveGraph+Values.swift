import SQLiteCore
import SQLiteMapping

// The values of relations and assets, and the objects that they reference.
extension SaveGraph.Walk {
  /// Adds a node's values that aren't plain columns to the graph, and the objects that these values
  /// reference.
  mutating func addValues(of index: Int) throws {
    let plan = nodes[index].plan
    let isClean = nodes[index].isClean
    let starts = (deferred: deferred.count, links: links.count, edits: edits.count)
    nodes[index].lazies = lazies.count..<lazies.count
    for slot in isClean ? plan.relations : plan.deferredSlots {
      let form = isClean ? nodes[index].storage[slot] : values[nodes[index].first + slot]
      do {
        try add(form, slot, of: index)
      } catch is WeakObjectReference.Released {
        // Another task has set the property since its value was read.
        let storage = nodes[index].storage
        try storage.reading(slot) { form, _ in try add(form, slot, of: index) }
      }
    }
    if isClean {
      deferred.removeLast(deferred.count - starts.deferred)
      links.removeLast(links.count - starts.links)
    } else {
      nodes[index].deferred = starts.deferred..<deferred.count
      nodes[index].edits = starts.edits..<edits.count
    }
  }

  private mutating func add(_ form: _CellValue.Form, _ slot: Int, of index: Int) throws {
    let property = nodes[index].plan.properties[slot]
    switch form {
    case .unset:
      if property.isLinked { deferred.append((slot, property.missingValue)) }
    case .stored(let value):
      if property.role.isAsset {
        if let handle = nodes[index].storage.assetHandle(at: slot) {
          deferred.append((slot, .kept(handle)))
        } else if !value.isNull {
          // The object was removed, and the content was deleted with it.
          deferred.append((slot, .untouched))
        }
      } else if property.isLinked {
        // An optional collection that is nil is saved as an empty one.
        addLinks(from: links.count, slot, of: index)
      } else if value.isNull, case .object = property.role.kind, !property.role.isOptional {
        deferred.append((slot, .missing))
      }
    case .data: break
    case .lazy: deferred.append((slot, .untouched))
    case .reference(let zIndex):
      addObject(try target(zIndex, property, nodes[index].context), slot, of: index)
    case .links:
      guard let context = nodes[index].context else { return deferred.append((slot, .untouched)) }
      let start = links.count
      let known = context.links(of: nodes[index].storage, slot: slot)
      try known.forEach { links.append(($0, try target($1, property, context))) }
      addLinks(from: start, slot, of: index)
    case .targets(let targets):
      let start = links.count
      for target in targets {
        links.append((target.key, try self.target(target, property, of: index)))
      }
      if property.isLinked {
        addLinks(from: start, slot, of: index)
      } else {
        addObject(links.popLast()?.target ?? .none, slot, of: index)
      }
    case .live(let live):
      if property.role.isLazy, let lazy = live.value as? any LazyValue {
        try add(lazy, slot, of: index)
      } else {
        try add(live, slot, of: index)
      }
    }
  }

  /// Adds a value that was assigned to a node's property to the graph, and the objects that the
  /// value references.
  mutating func add(_ live: _LiveValue, _ slot: Int, of index: Int) throws {
    let plan = nodes[index].plan
    let property = plan.properties[slot]
    try plan.namingProperty(property) {
      switch property.role.kind {
      case .column: values[nodes[index].first + slot] = .stored(try plan.stored(live, slot))
      case .object: addObject(try target(live, plan, property), slot, of: index)
      case .links:
        let start = links.count
        guard try addLinks(of: live, plan, property) else {
          return deferred.append((slot, .missing))
        }
        addLinks(from: start, slot, of: index)
      case .asset: deferred.append((slot, try deferredValue(of: live, slot, nodes[index].storage)))
      case .reverse: break
      }
    }
  }

  private func deferredValue(
    of live: _LiveValue, _ slot: Int, _ storage: ObjectStorage
  ) throws -> SaveGraph.DeferredValue {
    guard let asset = live.value as? any AssetValue else { return .missing }
    guard let pending = try asset.pending else { return .untouched }
    guard case .stored(let handle, nil) = pending, handle.isAssetOf(storage, slot) else {
      return .asset(pending)
    }
    return .kept(handle)
  }

  /// Returns whether a property of a node has been set or changed since the object was saved or
  /// fetched.
  func isChanged(_ slot: Int, of index: Int) -> Bool {
    !nodes[index].isClean && values.isChanged(slot, in: nodes[index])
  }

  /// Adds the target of a node's to-one relation to the deferred values.
  private mutating func addObject(_ target: SaveGraph.Target, _ slot: Int, of index: Int) {
    if case .node(let other) = target { recordReference(from: index, to: other) }
    deferred.append((slot, .object(target)))
  }

  /// Adds the links of a node's property to the deferred values: all links from `start` to the end
  /// of ``links``.
  private mutating func addLinks(from start: Int, _ slot: Int, of index: Int) {
    deferred.append((slot, .links(start..<links.count, isSet: isChanged(slot, of: index))))
  }

  /// Adds the objects of a collection to the graph, and their links to ``links``.
  ///
  /// - Returns: False if the value is not a collection.
  private mutating func addLinks(
    of live: _LiveValue, _ plan: ObjectPlan, _ property: ObjectProperty
  ) throws -> Bool {
    func add(_ collection: some MagicCollection) throws {
      for link in try collection.magicLinks {
        links.append((link.key, .node(try self.add(link.object))))
      }
    }
    if try addLinksInPlace(of: live, property) { return true }
    try plan.checkIsResolved(live, property)
    guard let collection = live.value as? any MagicCollection else { return false }
    try add(collection)
    return true
  }

  /// Adds the objects of a collection to the graph, and their links to ``links``, without copying
  /// the objects. This requires that they consist only of cells.
  ///
  /// - Returns: False if the objects must be added in another way.
  private mutating func addLinksInPlace(
    of live: _LiveValue, _ property: ObjectProperty
  ) throws -> Bool {
    guard let type = property.role.target, let collection = property.role.collection else {
      return false
    }
    return try unsafe collection.withObjects(of: live) { objects in
      if unsafe objects.isEmpty { return true }
      let kind = try kind(of: type)
      guard let layout = kinds[kind].plan.layout else { return false }
      try unsafe layout.forEach(objects) { links.append((.null, .node(try add(kind, $0)))) }
      return true
    } ?? false
  }

  /// Adds an object that was assigned to a property to the graph, and returns the object as a
  /// target.
  mutating func target(
    _ live: _LiveValue, _ plan: ObjectPlan, _ property: ObjectProperty
  ) throws -> SaveGraph.Target {
    if let target = try targetInPlace(live, property) { return target }
    try plan.checkIsResolved(live, property)
    guard let object = live.value as? any MagicObject else {
      throw MagicError.missingValue(type: plan.typeName, property: property.name)
    }
    if let target = property.role.target { try ObjectPlan.refuse(type(of: object), as: target) }
    return .node(try add(object))
  }

  /// Adds an object to the graph without copying it if it consists only of cells. A copy would
  /// retain a reference for each property (benchmark `import`).
  ///
  /// - Returns: The object as a target, or nil if it must be added in another way.
  private mutating func targetInPlace(
    _ live: _LiveValue, _ property: ObjectProperty
  ) throws -> SaveGraph.Target? {
    guard let type = property.role.target else { return nil }
    return try unsafe live.withMemory(of: ObjectIdentifier(type)) { memory in
      let kind = try kind(of: type)
      guard let layout = kinds[kind].plan.layout else { return nil }
      return .node(try unsafe layout.withCells(at: memory) { try add(kind, $0) })
    } ?? nil
  }

  /// Adds an object that has been assigned to a property since the fetch to the graph, and returns
  /// the object as a target.
  private mutating func target(
    _ target: RelationTarget, _ property: ObjectProperty, of index: Int
  ) throws -> SaveGraph.Target {
    switch target.end {
    case .fetched(let zIndex): return try self.target(zIndex, property, nodes[index].context)
    case .other(let live): return try self.target(live, nodes[index].plan, property)
    case .weakReference(let weakReference):
      guard let owner = nodes[index].context else {
        throw WeakObjectReference.Released(weakReference: weakReference)
      }
      let (context, row) = try owner.context(of: weakReference)
      return .node(try add(context.storage(atRow: row), context))
    }
  }

  /// Returns the target of a fetched relation, and adds it to the graph if it may have changed.
  private mutating func target(
    _ zIndex: Int64, _ property: ObjectProperty, _ context: FetchContext?
  ) throws -> SaveGraph.Target {
    guard let type = property.role.target, let context else { return .stored(zIndex) }
    guard context.store == identity else {
      // An object of another store has another z_index in this one, or none yet.
      return .node(try add(try context.storage(type, zIndex: zIndex), context))
    }
    // Only objects that were returned to the program can have changed.
    return try context.instantiatedStorage(type, zIndex: zIndex).map { .node(try add($0, context)) }
      ?? .stored(zIndex)
  }
}

extension ObjectProperty {
  /// The deferred value of a relation that was never set: no objects for an optional relation,
  /// ``SaveGraph/DeferredValue/missing`` for any other.
  var missingValue: SaveGraph.DeferredValue {
    guard role.isOptional else { return .missing }
    return isLinked ? .links(0..<0, isSet: false) : .object(.none)
  }
}
