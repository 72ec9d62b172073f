import SQLiteCore
import SQLiteRelations

// Links, once all rows are written.
extension SaveGraph.Transaction {
  /// Writes the changes of the links that were set, and all links of new objects.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if one of them leads to an object that is gone.
  mutating func writeLinks() throws {
    for index in nodes.indices {
      if nodes[index].expected != nil { try expectUnchangedLinks(index) }
    }
    for index in nodes.indices where !nodes[index].late.isEmpty { try writeLinks(of: index) }
    try connection.expectTargets { try changedRelations() }
  }

  /// Compares the links of an object with those that it knows.
  ///
  /// - Throws: ``MagicError/conflict(type:zIndex:)`` if somebody has changed them.
  private mutating func expectUnchangedLinks(_ index: Int) throws {
    let node = nodes[index]
    guard let owner = saved[index]?.zIndex, !isNew[index] else { return }
    for slot in node.plan.links {
      guard let known = knownLinks(node, slot) else { continue }
      let table = try linkTable(node.plan, slot)
      let present = LinkTargets(
        try connection.links(table, of: [owner]).map { ($0.place, $0.target) }, table.arrangement)
      guard present.isSame(as: known, table.arrangement) else {
        throw MagicError.conflict(type: node.plan.typeName, zIndex: owner)
      }
    }
  }

  /// The links of a property as they were when the object was fetched or saved; nil if that is not known.
  private func knownLinks(_ node: SaveGraph.Node, _ slot: Int) -> LinkTargets? {
    if node.plan.properties[slot].role.isLazy {
      guard let owner = node.storage.zIndex(in: store.identity) else { return nil }
      return node.lazy.first { $0.slot == slot }?.value.state.base?
        .links(of: owner, in: store.identity)
    }
    return node.storage.knownLinks(slot, in: store.identity, node.context)?.links
  }

  private mutating func writeLinks(of index: Int) throws {
    let node = nodes[index]
    guard let owner = saved[index]?.zIndex else { return }
    for (slot, value) in node.late {
      guard node.plan.properties[slot].isLinked else { continue }
      switch value {
      case .links(let links, let isSet) where isSet || isNew[index]:
        let links = try links.map { (key: $0.key, target: try zIndex(of: $0.target)) }
        try write(links, owner, index, slot)
      case .missing: throw node.missingValue(slot)
      case .object, .links, .copy, .asset, .kept, .untouched: break
      }
    }
    for edits in node.edits { try write(edits, owner, index) }
  }

  /// Writes links that were set.
  private mutating func write(
    _ links: [(key: Value, target: Int64)], _ owner: Int64, _ index: Int, _ slot: Int
  ) throws {
    let node = nodes[index]
    let table = try linkTable(node.plan, slot)
    if table.arrangement == .dictionary { try refuseUnstorableKeys(links.map(\.key), node, slot) }
    let links = LinkTargets(links, table.arrangement)
    var base: LinkTargets?
    if !isNew[index] {
      // Another task may have saved these, or later ones, since the values were taken.
      if isSaved(node, slot) { return }
      base = knownLinks(node, slot)
    }
    try connection.write(table, of: owner, from: base, to: links)
    // The links of an object that was made and not fetched are none unless they are known.
    if !links.targets.isEmpty || node.storage.fetchedZIndex != nil
      || node.storage.zIndex(in: store.identity) != nil || node.plan.properties[slot].role.isLazy
    {
      saved[index]?.note(KnownLinks(slot: slot, links: links))
    }
  }

  /// Returns whether another task has saved a property since the values were taken, or one set later.
  private func isSaved(_ node: SaveGraph.Node, _ slot: Int) -> Bool {
    if let lazy = node.lazy.first(where: { $0.slot == slot && $0.isOwn }) {
      return lazy.state.isChanged && lazy.value.state.saved >= lazy.state.number
    }
    guard let known = node.storage.knownLinks(slot, in: store.identity, node.context) else {
      return false
    }
    return known.changeCount >= values.lastChange(of: slot, in: node)
  }

  /// Applies the changes of a lazy collection to its present links.
  private mutating func write(_ edits: SaveGraph.Edits, _ owner: Int64, _ index: Int) throws {
    let node = nodes[index]
    let table = try linkTable(node.plan, edits.slot)
    // Another task may have saved some of them.
    let savedNumber = edits.collection.state.saved
    var changes: [LinkEdit<Int64>] = []
    for (number, change) in edits.edits where number > savedNumber {
      switch change {
      case .add(let targets, let position):
        changes.append(.add(try targets.compactMap(zIndex), at: position))
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
      saved[index]?.note(KnownLinks(slot: edits.slot, links: links))
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
      if let zIndex = saved[index]?.zIndex { return zIndex }
      throw MagicError.notSaved(type: nodes[index].plan.typeName)
    case .none: throw MagicError.notSaved(type: "object")
    }
  }

  private func refuseUnstorableKeys(
    _ keys: [Value], _ node: SaveGraph.Node, _ slot: Int
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

  /// The link table of a property.
  private func linkTable(_ plan: ObjectPlan, _ slot: Int) throws -> LinkTable {
    guard let table = try store.relations.relation(plan, slot, in: store).table else {
      throw MagicError.unsuitableType(
        type: plan.typeName,
        reason: "“\(plan.properties[slot].name)” is not a collection of objects")
    }
    return table
  }

  /// The relations that this save may have changed, with the keys of the objects that they lead from.
  private func changedRelations() throws -> [(ObjectRelation, owners: [Int64]?)] {
    var owners: [ObjectIdentifier: (plan: ObjectPlan, keys: [Int64])] = [:]
    for (index, node) in nodes.enumerated() {
      guard let key = saved[index]?.zIndex else { continue }
      let isChanged =
        !node.edits.isEmpty
        || node.late.contains { slot, _ in
          node.plan.properties[slot].isRelation && (isNew[index] || self.isChanged(slot, index))
        }
      if isChanged {
        owners[ObjectIdentifier(node.plan.type), default: (node.plan, [])].keys.append(key)
      }
    }
    return try owners.values.flatMap { plan, keys in
      try plan.properties.indices.filter { plan.properties[$0].isRelation }.map {
        (try store.relations.relation(plan, $0, in: store), keys)
      }
    }
  }
}
