import SQLiteCore
import SQLiteMapping

// Each object's row: an UPDATE with its changes, or an INSERT if it is new.
extension SaveGraph.Transaction {
  /// Writes the row of an object.
  ///
  /// - Parameters:
  ///   - index: The index of the object's node.
  ///   - known: The object's key and change count in the store, or nil if the object is new.
  mutating func write(_ index: Int, _ known: (zIndex: Int64, savedCount: Int)?) throws {
    if let (zIndex, savedCount) = known {
      if insertsOnly, index < graph.rootCount {
        guard try !isPresent(nodes[index].plan, zIndex) else { throw alreadySaved(index) }
      } else {
        if let autoIncrementSlot = nodes[index].plan.autoIncrementSlot,
          isChanged(autoIncrementSlot, index)
        {
          try checkKeyIsUnchanged(index, zIndex)
        }
        if try update(index, zIndex, savedCount) { return }
      }
    }
    // The object is new, or its row was removed since it was fetched or saved.
    try insert(index)
  }

  /// Throws ``MagicError/unstorableValue(type:property:reason:)`` if the `Int` primary value of an
  /// object was changed, because that is the key that identifies the object in the store.
  private func checkKeyIsUnchanged(_ index: Int, _ zIndex: Int64) throws {
    let node = nodes[index]
    guard key(index) != zIndex, let autoIncrementSlot = node.plan.autoIncrementSlot else { return }
    throw MagicError.unstorableValue(
      type: node.plan.typeName, property: node.plan.properties[autoIncrementSlot].name,
      reason: "the auto-incremented number of a saved object cannot be changed")
  }

  private func isPresent(_ plan: ObjectPlan, _ zIndex: Int64) throws -> Bool {
    try UpdateStatement(plan, [], connection).run(values, 0, zIndex)
  }

  /// Writes the changes of an object that is in the store.
  ///
  /// - Returns: False if its row no longer exists.
  private mutating func update(
    _ index: Int, _ zIndex: Int64, _ savedCount: Int
  ) throws -> Bool {
    let plan = nodes[index].plan
    singleCount += 1
    try resolveChanges(index, zIndex, savedCount)
    guard try update(index, plan, zIndex) else {
      forwardReferences.removeAll { $0.node == index }
      return false
    }
    saved[index] = SaveGraph.Saved(zIndex: zIndex, assigned: assigned, isUpdate: true)
    return true
  }

  private mutating func update(_ index: Int, _ plan: ObjectPlan, _ zIndex: Int64) throws -> Bool {
    let first = nodes[index].first
    if !graph.expected.isEmpty, let expected = graph.expected[index] {
      let update = try UpdateStatement(plan, changed, ifStill: expected.map(\.slot), connection)
      guard try update.run(values, first, zIndex, resolved, ifStill: expected.map(\.value)) else {
        throw MagicError.conflict(type: plan.typeName, zIndex: zIndex)
      }
      return true
    }
    if changed.isEmpty {
      let isReferenced = index >= graph.rootCount
      if isReferenced, !plan.links.contains(where: { isChanged($0, index) }) { return true }
      return try isPresent(plan, zIndex)
    }
    if let lastUpdate, lastUpdate.plan === plan, lastUpdate.slots == changed {
      return try lastUpdate.run(values, first, zIndex, resolved)
    }
    let update = try UpdateStatement(plan, changed, connection)
    lastUpdate = update
    return try update.run(values, first, zIndex, resolved)
  }

  /// Determines which columns of an object in the store must be written, and the stored forms of
  /// their deferred values. Stores the results in ``changed`` and ``resolved``.
  private mutating func resolveChanges(
    _ index: Int, _ zIndex: Int64, _ savedCount: Int
  ) throws {
    beginRow()
    changed.removeAll(keepingCapacity: true)
    let mayBeSaved =
      savedCount > nodes[index].snapshot.savedCount || !nodes[index].lazies.isEmpty
    for slot in nodes[index].plan.columns where isChanged(slot, index) {
      if mayBeSaved, isSaved(nodes[index], slot, savedCount) { continue }
      if let place = nodes[index].deferred.first(where: { deferred[$0].slot == slot }) {
        guard let value = try value(of: deferred[place].value, slot, index, zIndex) else {
          continue
        }
        resolved.append((slot, value))
      }
      changed.append(slot)
    }
  }

  /// Discards the deferred values of the previous object. Tests whether the arrays are empty first,
  /// because clearing an empty array is as slow as clearing a full one.
  private mutating func beginRow() {
    if !resolved.isEmpty { resolved.removeAll(keepingCapacity: true) }
    if !assigned.isEmpty { assigned.removeAll(keepingCapacity: true) }
  }

  /// Determines the stored forms of a new object's deferred values, and stores them in
  /// ``resolved``.
  mutating func resolve(_ index: Int) throws {
    beginRow()
    for place in nodes[index].deferred {
      let slot = deferred[place].slot
      let property = nodes[index].plan.properties[slot]
      if property.isStored { try checkValueIsAvailable(deferred[place].value, slot, index) }
      guard property.hasColumn, let value = try value(of: deferred[place].value, slot, index, nil)
      else { continue }
      resolved.append((slot, value))
    }
  }

  /// Inserts an object that the store doesn't know. If the store contains an object with the same
  /// values in the properties ``SaveGraph/matching`` or, without such properties, with the same
  /// primary value, overwrites that object.
  ///
  /// - Throws: ``MagicError/alreadySaved(type:primary:)`` if the store contains an object with the
  ///   same primary value that the save must not overwrite, ``MagicError/conflict(type:zIndex:)``
  ///   if the object must be unchanged in the store, or another error.
  mutating func insert(_ index: Int) throws {
    isNew[index] = true
    singleCount += 1
    let plan = nodes[index].plan
    if !graph.expected.isEmpty, graph.expected[index] != nil { try checkRowIsNew(index) }
    let first = nodes[index].first
    try resolve(index)
    let isMatched = index < graph.rootCount && !graph.matching.isEmpty
    if isMatched, let match = try match(index) {
      try overwrite(match.zIndex, plan, first)
      if let primary = plan.primary { assigned.append((primary, .stored(match.primary))) }
      saved[index] = SaveGraph.Saved(zIndex: match.zIndex, assigned: assigned)
      return
    }
    let key = reservedKey(index)
    let insertion = try insertion(index, hasKey: key != nil, mustBeNew: insertsOnly || isMatched)
    try insertion.bind(values, first, key: key, resolved)
    saved[index] = SaveGraph.Saved(zIndex: try run(insertion, key, index), assigned: assigned)
    // An object with its own key may have updated an existing row.
    if self.key(index) != nil, !insertion.mustBeNew { isInserted[index] = false }
  }

  /// Returns the key and primary value of the object in the store that has the same values in the
  /// properties ``SaveGraph/matching``, or nil if there is none. As in a unique index, nil equals
  /// no other value.
  private func match(_ index: Int) throws -> (zIndex: Int64, primary: Value)? {
    let plan = nodes[index].plan
    let primary = plan.primary.map { plan.properties[$0].name } ?? plan.key
    var sql: SQL =
      "SELECT \(identifier: plan.key), \(identifier: primary) FROM \(identifier: plan.table) WHERE 1"
    for name in graph.matching {
      guard let slot = plan.properties.firstIndex(where: { $0.name == name }),
        let value = resolved.first(where: { $0.slot == slot })?.value
          ?? values[nodes[index].first + slot].boundValue, !value.isNull
      else { return nil }
      sql.append(" AND \(identifier: name) = \(value)")
    }
    return try connection.firstRow(sql, as: Int64.self, Value.self).map { ($0, $1) }
  }

  /// Writes all values except the primary value to an existing row.
  private func overwrite(
    _ zIndex: Int64, _ plan: ObjectPlan, _ first: Int
  ) throws {
    let slots = plan.columns.filter { slot in
      slot != plan.primary && !graph.matching.contains(plan.properties[slot].name)
    }
    guard !slots.isEmpty else { return }
    guard try UpdateStatement(plan, slots, connection).run(values, first, zIndex, resolved) else {
      throw MagicError.notSaved(type: plan.typeName)
    }
  }

  /// Inserts the bound object and returns its z_index.
  ///
  /// - Parameters:
  ///   - insertion: The statement to which the object is bound.
  ///   - key: The bound key, or nil if none is bound.
  ///   - index: The index of the object's node.
  private mutating func run(
    _ insertion: InsertStatement, _ key: Int64?, _ index: Int
  ) throws -> Int64 {
    do {
      if let zIndex = try insertion.run(key: key) {
        isInserted[index] = true
        return zIndex
      }
    } catch let error as SQLiteError
      where insertion.mustBeNew && error.code.primary == .constraint
    {
      // The error may come from another unique column.
      guard try existing(index) != nil else { throw error }
      throw alreadySaved(index)
    }
    guard let present = try existing(index) else {
      throw MagicError.notSaved(type: nodes[index].plan.typeName)
    }
    if insertion.mustBeNew { throw alreadySaved(index) }
    return present
  }

  /// Returns the statement that inserts a single object. Reuses the last such statement of the
  /// object's type if it has the same options.
  private mutating func insertion(
    _ index: Int, hasKey: Bool, mustBeNew: Bool
  ) throws -> InsertStatement {
    let kind = nodes[index].kind
    if let known = inserts[kind].single, known.hasKey == hasKey, known.mustBeNew == mustBeNew {
      return known
    }
    let insertion = try InsertStatement(
      nodes[index].plan, hasKey: hasKey, mustBeNew: mustBeNew, connection)
    inserts[kind].single = insertion
    return insertion
  }

  /// Returns the error for an object that must be new but already exists.
  private func alreadySaved(_ index: Int) -> MagicError {
    let primary: String? =
      switch values.primaryValue(of: nodes[index]) {
      case .text(let text): text
      case .integer(let number): "\(number)"
      case nil, .null, .real, .blob: nil
      }
    return .alreadySaved(type: nodes[index].plan.typeName, primary: primary)
  }

  /// Throws if an object to insert has a value that was never fetched:
  /// ``MagicError/lostValue(type:property:)`` if the value was deleted when the object was removed
  /// from this store, or ``MagicError/foreignValue(type:property:)`` if the value is in another
  /// store.
  private func checkValueIsAvailable(_ value: SaveGraph.DeferredValue, _ slot: Int, _ index: Int)
    throws
  {
    switch value {
    case .untouched, .copy:
      let plan = nodes[index].plan
      let (type, property) = (plan.typeName, plan.properties[slot].name)
      throw nodes[index].storage.lastIdentity.map { $0.store == identity } ?? true
        ? MagicError.lostValue(type: type, property: property)
        : MagicError.foreignValue(type: type, property: property)
    case .object, .links, .copied, .asset, .kept, .missing: break
    }
  }

  /// Throws ``MagicError/conflict(type:zIndex:)`` if the store contains a row with the primary
  /// value of a new object that must be unchanged. The object was never fetched from that row, so
  /// the row counts as changed.
  private func checkRowIsNew(_ index: Int) throws {
    guard let other = try existing(index) else { return }
    throw MagicError.conflict(type: nodes[index].plan.typeName, zIndex: other)
  }

  /// Returns the z_index of the object in the store with the same primary value, or nil if there is
  /// none.
  private func existing(_ index: Int) throws -> Int64? {
    let plan = nodes[index].plan
    guard let primary = plan.primary, let value = values.primaryValue(of: nodes[index]) else {
      return nil
    }
    return try connection.firstRow(
      "SELECT \(identifier: plan.key) FROM \(identifier: plan.table) WHERE \(identifier: plan.properties[primary].name) = \(value)",
      as: Int64.self)
  }

  /// Returns the stored form of a deferred value, or nil to leave the column unchanged.
  ///
  /// - Parameters:
  ///   - value: The deferred value.
  ///   - slot: The property.
  ///   - index: The index of the object's node.
  ///   - zIndex: The object's z_index, or nil for a new object.
  private mutating func value(
    of value: SaveGraph.DeferredValue, _ slot: Int, _ index: Int, _ zIndex: Int64?
  ) throws -> Value? {
    switch value {
    case .object(.none): return .null
    case .object(.stored(let target)): return .integer(target)
    case .object(.node(let target)):
      if let known = self.zIndex(of: target) { return .integer(known) }
      guard let key = nodes[target].storage.zIndex(in: identity) ?? reservedKey(target)
      else { throw MagicError.notSaved(type: nodes[target].plan.typeName) }
      forwardReferences.append((index, slot, target, key))
      return .integer(key)
    case .asset(let pending): return try asset(pending, slot, index, zIndex)
    case .kept(let handle):
      guard zIndex == nil else { return nil }
      return try asset(.stored(handle, pathExtension: nil), slot, index, nil)
    case .untouched, .copy, .copied, .links: return nil
    case .missing: throw nodes[index].missingValue(slot)
    }
  }

  /// Corrects references to objects that received other keys than the reserved ones.
  func correctReferences() throws {
    for (node, slot, target, key) in forwardReferences {
      // An existing object with the same primary value has kept its key. A removed one has got a
      // new key.
      guard let owner = saved[node], let other = saved[target], other.zIndex != key else {
        continue
      }
      let plan = nodes[node].plan
      try connection.executeChange(
        "UPDATE \(identifier: plan.table) SET \(identifier: plan.properties[slot].name) = \(other.zIndex) WHERE \(identifier: plan.key) = \(owner.zIndex)"
      )
    }
  }
}
