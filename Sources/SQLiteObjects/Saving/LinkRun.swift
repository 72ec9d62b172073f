import SQLiteCore
import SQLiteRelations

/// Writes the links of a request whose objects are written, and tells what leads nowhere.
struct LinkRun {
  private let store: MagicData
  private let connection: Connection
  private let nodes: [SaveNode]
  private var results: [SaveResult?]
  private let isNew: [Bool]
  private var tables: [PropertyKey: LinkTable] = [:]

  init(
    _ store: MagicData, _ connection: Connection, _ nodes: [SaveNode], _ results: [SaveResult?],
    _ isNew: [Bool]
  ) {
    self.store = store
    self.connection = connection
    self.nodes = nodes
    self.results = results
    self.isNew = isNew
  }

  /// Writes what has changed of the links that were set, and all links of new objects.
  ///
  /// - Returns: What saving gives the objects, with the links that were written.
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if one of them leads to an object that is gone.
  mutating func run() throws -> [SaveResult?] {
    for index in nodes.indices {
      if nodes[index].expected != nil { try expectUnchanged(index) }
    }
    for index in nodes.indices { try write(index) }
    if connection.hasDeferredViolations { try findMissingTarget() }
    return results
  }

  /// Compares the links of an object with what it knows of them.
  ///
  /// - Throws: ``MagicError/conflict(type:zIndex:)`` if somebody has changed them.
  private mutating func expectUnchanged(_ index: Int) throws {
    let node = nodes[index]
    guard let owner = results[index]?.zIndex, !isNew[index] else { return }
    for slot in node.plan.links {
      guard let known = known(node, slot) else { continue }
      let table = try table(node.plan, slot)
      let present = LinkTargets(
        try connection.links(table, of: [owner]).map { ($0.place, $0.target) }, table.arrangement)
      guard present.isSame(as: known, table.arrangement) else {
        throw MagicError.conflict(type: node.plan.typeName, zIndex: owner)
      }
    }
  }

  /// What an object knows of the links of a property; nil if nothing.
  private func known(_ node: SaveNode, _ slot: Int) -> LinkTargets? {
    if node.plan.properties[slot].role.isLazy {
      guard let owner = node.storage.zIndex(in: store.identity) else { return nil }
      return node.lazy.first { $0.slot == slot }?.value.state.base?
        .links(of: owner, in: store.identity)
    }
    return node.storage.knownLinks(slot, in: store.identity, node.context)?.links
  }

  private mutating func write(_ index: Int) throws {
    let node = nodes[index]
    guard let owner = results[index]?.zIndex else { return }
    for slot in node.plan.links {
      switch node.values[slot] {
      case .links(let links, let isSet) where isSet || isNew[index]:
        let links = try links.map { (place: $0.place, target: try zIndex(of: $0.target)) }
        try write(links, owner, index, slot)
      case .missing:
        throw MagicError.missingValue(
          type: node.plan.typeName, property: node.plan.properties[slot].name)
      case .links, .copy, .untouched, .value, .object, .asset, .kept: break
      }
    }
    for edits in node.edits { try write(edits, owner, index) }
  }

  /// Writes links that were set.
  private mutating func write(
    _ links: [(place: Value, target: Int64)], _ owner: Int64, _ index: Int, _ slot: Int
  ) throws {
    let node = nodes[index]
    let table = try table(node.plan, slot)
    if table.arrangement == .dictionary { try refuseUnstorableKeys(links.map(\.place), node, slot) }
    let links = LinkTargets(links, table.arrangement)
    var base: LinkTargets?
    if !isNew[index] {
      // Another task may have saved these, or later ones, since the values were taken.
      if isSaved(node, slot) { return }
      base = known(node, slot)
    }
    try connection.write(table, of: owner, from: base, to: links)
    // Of an object that was made, what is not known is none.
    if !links.targets.isEmpty || node.storage.fetchedZIndex != nil
      || node.storage.zIndex(in: store.identity) != nil || node.plan.properties[slot].role.isLazy
    {
      results[index]?.links.append(KnownLinks(slot: slot, links: links))
    }
  }

  /// Says whether another task has saved a property since the values were taken, or one set later.
  private func isSaved(_ node: SaveNode, _ slot: Int) -> Bool {
    if let lazy = node.lazy.first(where: { $0.slot == slot && $0.isOwn }) {
      return lazy.state.isChanged && lazy.value.state.saved >= lazy.state.number
    }
    guard let known = node.storage.knownLinks(slot, in: store.identity, node.context) else {
      return false
    }
    let changes = node.snapshot.changes.isEmpty ? 0 : node.snapshot.changes[slot]
    return Int32(bitPattern: known.changes &- changes) >= 0
  }

  /// Makes the changes of a lazy collection to what it is now.
  private mutating func write(_ edits: SaveEdits, _ owner: Int64, _ index: Int) throws {
    let node = nodes[index]
    let table = try table(node.plan, edits.slot)
    // Another task may have saved some of them.
    let saved = edits.value.state.saved
    var changes: [LinkEdit<Int64>] = []
    for (number, change) in edits.edits where number > saved {
      switch change {
      case .add(let targets, let place):
        changes.append(.add(try targets.compactMap(zIndex), at: place))
      case .put(let target, let key):
        if let zIndex = try zIndex(of: target) { changes.append(.put(zIndex, key: key)) }
      case .remove(let target):
        if let zIndex = try zIndex(of: target) { changes.append(.remove(zIndex)) }
      case .removeKey(let key): changes.append(.removeKey(key))
      case .removeAll: changes.append(.removeAll)
      }
    }
    for change in LinkEdit.joined(changes) { try connection.write(table, of: owner, change) }
    if let known = known(node, edits.slot) {
      let links = try known.applying(changes, table.arrangement)
      results[index]?.links.append(KnownLinks(slot: edits.slot, links: links))
    }
  }

  private func zIndex(of target: EditTarget) throws -> Int64? {
    switch target {
    case .saved(let target): try zIndex(of: target)
    case .known(let storage): storage.zIndex(in: store.identity)
    }
  }

  private func refuseUnstorableKeys(_ keys: [Value], _ node: SaveNode, _ slot: Int) throws {
    func refuse(_ reason: String) -> MagicError {
      .unstorableValue(
        type: node.plan.typeName, property: node.plan.properties[slot].name, reason: reason)
    }
    guard !keys.contains(where: \.isNull) else { throw refuse("one of its keys is nil") }
    guard Set(keys).count == keys.count else {
      throw refuse("two of its keys are stored alike")
    }
  }

  /// The link table of a property, looked up once.
  private mutating func table(_ plan: ObjectPlan, _ slot: Int) throws -> LinkTable {
    let key = PropertyKey(type: ObjectIdentifier(plan.type), slot: slot)
    if let known = tables[key] { return known }
    guard let table = try plan.linkTable(slot, store.plan) else {
      throw MagicError.unsuitableType(
        type: plan.typeName, reason: "“\(plan.properties[slot].name)” has no links")
    }
    tables[key] = table
    return table
  }

  private func zIndex(of target: SaveTarget) throws -> Int64 {
    switch target {
    case .stored(let zIndex): return zIndex
    case .node(let index):
      guard let result = results[index] else {
        throw MagicError.notSaved(type: nodes[index].plan.typeName)
      }
      return result.zIndex
    }
  }

  /// Names the object that is gone, which SQLite does not.
  private func findMissingTarget() throws {
    var seen: Set<ObjectIdentifier> = []
    for node in nodes where seen.insert(ObjectIdentifier(node.plan.type)).inserted {
      for (slot, property) in node.plan.properties.enumerated() {
        guard let type = property.role.target else { continue }
        let target = try store.plan(type)
        let table = try node.plan.linkTable(slot, store.plan)?.name ?? node.plan.table
        let column = property.isLinked ? "target" : property.name
        let lost = try connection.firstRow(
          "SELECT \(identifier: column) FROM \(identifier: table) WHERE \(identifier: column) IS NOT NULL AND \(identifier: column) NOT IN (SELECT \(identifier: target.key) FROM \(identifier: target.table)) LIMIT 1",
          as: Int64.self)
        if let lost { throw MagicError.missingTarget(type: target.typeName, zIndex: lost) }
      }
    }
  }
}
