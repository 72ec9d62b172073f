import SQLiteCore
import SQLiteRelations

// Links are written after all rows.
extension SaveGraph.Transaction {
  /// Writes the changes of links that were set, and all links of new objects.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if a relation references an object that
  ///   doesn't exist.
  mutating func writeLinks() throws {
    for index in graph.expected.keys.sorted() { try expectUnchangedLinks(index) }
    for index in nodes.indices where !nodes[index].deferred.isEmpty { try writeLinks(of: index) }
    try connection.checkTargetsExist { try changedRelations() }
  }

  /// Checks that the links of an object haven't changed since it was fetched or saved.
  ///
  /// - Throws: ``MagicError/conflict(type:zIndex:)`` if they have changed.
  private func expectUnchangedLinks(_ index: Int) throws {
    let node = nodes[index]
    guard let owner = saved[index]?.zIndex, !isNew[index] else { return }
    for slot in node.plan.links {
      guard let known = knownLinks(node, slot) else { continue }
      let table = try linkTable(index, slot)
      let present = LinkTargets(
        try connection.links(table, of: [owner]).map { ($0.place, $0.target) }, table.arrangement)
      guard present.isSame(as: known, table.arrangement) else {
        throw MagicError.conflict(type: node.plan.typeName, zIndex: owner)
      }
    }
  }

  /// Returns the links that a property had at the last fetch or save, or nil if they are unknown.
  private func knownLinks(_ node: SaveGraph.Node, _ slot: Int) -> LinkTargets? {
    if node.plan.properties[slot].role.isLazy {
      guard let owner = node.storage.zIndex(in: store.identity) else { return nil }
      return lazy(slot, of: node)?.box.state.base?
        .links(of: owner, in: store.identity)
    }
    return node.storage.knownLinks(slot, in: store.identity, node.context)
  }

  private func lazy(_ slot: Int, of node: SaveGraph.Node) -> SaveGraph.Lazy? {
    graph.lazies[node.lazies].first { $0.slot == slot }
  }

  private mutating func writeLinks(of index: Int) throws {
    guard let owner = saved[index]?.zIndex else { return }
    for place in nodes[index].deferred {
      let slot = deferred[place].slot
      guard nodes[index].plan.properties[slot].isLinked else { continue }
      switch deferred[place].value {
      case .links(let range, let isSet) where isSet || isNew[index]:
        let hasKeys = nodes[index].plan.properties[slot].isDictionary
        let links = try LinkTargets(
          targets: graph.links[range].map { try zIndex(of: $0.target) }[...],
          keys: hasKeys ? graph.links[range].map(\.key)[...] : [])
        try write(links, owner, index, slot)
      case .copied(let links):
        let hasKeys = nodes[index].plan.properties[slot].isDictionary
        let targets = LinkTargets(
          targets: links.map(\.target)[...], keys: hasKeys ? links.map(\.place)[...] : [])
        try write(targets, owner, index, slot)
      case .missing: throw nodes[index].missingValue(slot)
      case .object, .links, .copy, .asset, .kept, .untouched: break
      }
    }
    for edits in graph.edits[nodes[index].edits] { try write(edits, owner, index) }
  }

  /// Writes the links of an object's property. If the links at the last fetch or save are known,
  /// writes only the difference from them.
  private mutating func write(
    _ links: LinkTargets, _ owner: Int64, _ index: Int, _ slot: Int
  ) throws {
    // The node is copied only if the links are compared with known ones.
    if !isInserted[index] {
      let node = nodes[index]
      let table = try linkTable(index, slot)
      if table.arrangement == .dictionary { try checkKeysAreStorable(links.keys, node, slot) }
      var base: LinkTargets?
      if !isNew[index] {
        // Another task may have saved these values, or newer ones, since they were read.
        if let position = node.storage.position(in: identity),
          isSaved(node, slot, position.savedCount)
        {
          return
        }
        base = knownLinks(node, slot)
      }
      try connection.write(table, of: owner, from: base, to: links)
    } else if !links.targets.isEmpty {
      if !links.keys.isEmpty { try checkKeysAreStorable(links.keys, nodes[index], slot) }
      try linkInsertion(index, slot).insert(links.targets, keys: links.keys, of: owner)
    }
    // Empty links of a new object aren't recorded, because unknown links of an object that wasn't
    // fetched count as empty.
    if !links.targets.isEmpty || nodes[index].storage.fetchedZIndex != nil
      || nodes[index].storage.zIndex(in: identity) != nil
      || nodes[index].plan.properties[slot].role.isLazy
    {
      saved[index]?.register(KnownLinks(slot: slot, links: links))
    }
  }

  /// Returns whether another task has saved the value of a changed property, or a newer value, since
  /// this save read it. Writing the value would then overwrite the newer one, which no later save
  /// would write again.
  ///
  /// - Parameter savedCount: The object's change count at its last save in the store.
  func isSaved(_ node: SaveGraph.Node, _ slot: Int, _ savedCount: Int) -> Bool {
    let present = node.storage.slot(slot).change
    if present > node.snapshot.changeCount, present <= savedCount { return true }
    if let lazy = lazy(slot, of: node), lazy.isOwn, lazy.state.isChanged(in: identity) {
      let save = lazy.box.state.save(in: identity)
      return save.map { save in
        save.number >= lazy.state.number
          && save.source.isProperty(slot, of: node.plan.shape, node.storage.zIndex(in: identity))
      } ?? false
    }
    return values.change(node.first + slot) <= savedCount
  }

  /// Applies the pending changes of a lazy collection to its current links.
  private mutating func write(_ edits: SaveGraph.Edits, _ owner: Int64, _ index: Int) throws {
    let node = nodes[index]
    let table = try linkTable(index, edits.slot)
    // Another task may have saved some of them.
    let savedNumber = edits.collection.state.savedNumber(in: store.identity)
    var changes: [LinkEdit<Int64>] = []
    for (number, change) in edits.edits where number > savedNumber {
      switch change {
      case .add(let targets, let position):
        changes.append(.add(try targets.compactMap { try zIndex(of: $0) }, at: position))
      case .put(let target, let key):
        if let zIndex = try zIndex(of: target) { changes.append(.put(zIndex, key: key)) }
      case .remove(let target):
        if let zIndex = try zIndex(of: target) { changes.append(.remove(zIndex)) }
      case .removeKey(let key): changes.append(.removeKey(key))
      case .removeAll: changes.append(.removeAll)
      }
    }
    for change in LinkEdit.joined(changes) { try connection.write(table, of: owner, change) }
    if let known = knownLinks(node, edits.slot) {
      let links = try known.applying(changes, table.arrangement)
      saved[index]?.register(KnownLinks(slot: edits.slot, links: links))
    }
  }

  private func zIndex(of target: SaveGraph.EditTarget) throws -> Int64? {
    switch target {
    case .saved(let target): try zIndex(of: target)
    case .known(let storage): storage.zIndex(in: store.identity)
    }
  }

  private func zIndex(of target: SaveGraph.Target) throws -> Int64 {
    switch target {
    case .stored(let zIndex): return zIndex
    case .node(let index):
      if let zIndex = zIndex(of: index) { return zIndex }
      throw MagicError.notSaved(type: nodes[index].plan.typeName)
    case .none: throw MagicError.notSaved(type: "object")
    }
  }

  private func checkKeysAreStorable(
    _ keys: ArraySlice<Value>, _ node: SaveGraph.Node, _ slot: Int
  ) throws {
    func refuse(_ reason: String) -> MagicError {
      .unstorableValue(
        type: node.plan.typeName, property: node.plan.properties[slot].name, reason: reason)
    }
    guard !keys.contains(where: \.isNull) else { throw refuse("one of its keys is nil") }
    guard Set(keys).count == keys.count else {
      throw refuse("two of its keys have the same stored form")
    }
  }

  /// Returns the link table of a property of a node.
  private func linkTable(_ index: Int, _ slot: Int) throws -> LinkTable {
    let plan = nodes[index].plan
    guard let table = try store.relation(of: plan.shape, slot).table else {
      throw MagicError.unsuitableType(
        type: plan.typeName,
        reason: "“\(plan.properties[slot].name)” is not a collection of objects")
    }
    return table
  }

  /// Returns the statement that inserts the links of a property of new objects, and prepares it on
  /// first use.
  private mutating func linkInsertion(_ index: Int, _ slot: Int) throws -> LinkInsertion {
    let key = PropertyKey(type: nodes[index].plan.id, slot: slot)
    if let known = linkInsertions.first(where: { $0.key == key }) { return known.insertion }
    let insertion = try LinkInsertion(linkTable(index, slot), connection)
    linkInsertions.append((key, insertion))
    return insertion
  }

  /// Returns the relations that this save may have changed, with the keys of the saved owners.
  private func changedRelations() throws -> [(ObjectRelation, owners: [Int64]?)] {
    var owners: [ObjectIdentifier: (plan: ObjectPlan, keys: [Int64])] = [:]
    for (index, node) in nodes.enumerated() {
      guard let key = saved[index]?.zIndex else { continue }
      let isChanged =
        !node.edits.isEmpty
        || deferred[node.deferred].contains { slot, _ in
          node.plan.properties[slot].isRelation && (isNew[index] || self.isChanged(slot, index))
        }
      if isChanged {
        owners[ObjectIdentifier(node.plan.type), default: (node.plan, [])].keys.append(key)
      }
    }
    return try owners.values.flatMap { plan, keys in
      try plan.relations.map {
        (try store.relation(of: plan.shape, $0), keys)
      }
    }
  }
}

extension ObjectStorage {
  /// Returns the links that a property had when the object was last saved in a store or fetched
  /// from it.
  ///
  /// - Parameters:
  ///   - slot: The property.
  ///   - store: The store.
  ///   - context: The context of the fetch that loaded the object.
  /// - Returns: The links, or nil if the object isn't in the store.
  func knownLinks(
    _ slot: Int, in store: StoreIdentity, _ context: FetchContext?
  ) -> LinkTargets? {
    let identity = withState { state, _ in state.identity(in: store) }
    guard let identity else { return nil }
    if let known = identity.state?.links?.first(where: { $0.slot == slot }) { return known.links }
    guard let context, context.store == store, identity.zIndex == fetchedZIndex else {
      return LinkTargets.none
    }
    return context.links(of: self, slot: slot)
  }
}
