import SQLiteCore
import SQLiteRelations

/// Writes the links of a request whose objects are written, and tells what leads nowhere.
struct LinkRun {
  private let store: MagicData
  private let connection: Connection
  private let nodes: [SaveNode]
  private let results: [SaveResult?]
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

  /// Writes the links that were set, and all links of new objects.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if one of them leads to an object that is gone.
  mutating func run() throws {
    for index in nodes.indices { try write(index) }
    if connection.hasDeferredViolations { try findMissingTarget() }
  }

  private mutating func write(_ index: Int) throws {
    let node = nodes[index]
    guard let owner = results[index]?.zIndex else { return }
    for slot in node.plan.links {
      let table = try table(node.plan, slot)
      switch node.values[slot] {
      case .links(let links, let isSet) where isSet || isNew[index]:
        try write(try links.map { ($0.place, try zIndex(of: $0.target)) }, owner, table, node, slot)
      case .copy(let source):
        guard source.store.identity == store.identity, let other = try source.table(connection)
        else { throw MagicError.notSaved(type: source.plan.typeName) }
        let links = try connection.links(other, of: [source.zIndex])
        try write(links.map { ($0.place, $0.target) }, owner, table, node, slot)
      case .missing:
        throw MagicError.missingValue(
          type: node.plan.typeName, property: node.plan.properties[slot].name)
      case .links, .untouched, .value, .object, .asset, .kept: break
      }
    }
  }

  private func write(
    _ links: [(place: Value, target: Int64)], _ owner: Int64, _ table: LinkTable, _ node: SaveNode,
    _ slot: Int
  ) throws {
    switch table.arrangement {
    case .list: try connection.setList(table, of: owner, to: links.map(\.target))
    case .set: try connection.setSet(table, of: owner, to: Set(links.map(\.target)))
    case .dictionary:
      func refuse(_ reason: String) -> MagicError {
        .unstorableValue(
          type: node.plan.typeName, property: node.plan.properties[slot].name, reason: reason)
      }
      guard !links.contains(where: \.place.isNull) else { throw refuse("one of its keys is nil") }
      let targets = Dictionary(links.map { ($0.place, $0.target) }, uniquingKeysWith: { $1 })
      guard targets.count == links.count else {
        throw refuse("two of its keys are stored alike")
      }
      try connection.setDictionary(table, of: owner, to: targets)
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
