import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// Where a lazy value is to be fetched from.
package struct LazySource: Sendable {
  let store: MagicData
  let plan: ObjectPlan
  let slot: Int
  let zIndex: Int64
  /// Of which content of the store the owner is.
  let generation: Int

  /// Throws if the content of the store was replaced since the owner was fetched.
  func checkIsCurrent() throws {
    guard generation == store.content.current else {
      throw MagicError.restored(type: plan.typeName)
    }
  }

  /// Which of the links are meant.
  struct Page: Sendable {
    /// SQL on the columns of the link table.
    var condition: SQL?
    var last: Link?
    var limit: Int?
    var offset = 0
  }

  /// Reads what a relation to one object leads to.
  func loadObject(_ connection: Connection) throws -> LoadedTargets {
    let loader = GraphLoader(store, connection)
    let property = plan.properties[slot]
    guard let target = try reference(connection), case .object(let type) = property.role.kind else {
      return LoadedTargets(graph: loader.graph, links: [])
    }
    try loader.load(type, [target])
    return LoadedTargets(
      graph: loader.graph, links: [Link(owner: zIndex, place: .null, target: target)])
  }

  /// The z_index that a relation to one object leads to, or nil.
  func reference(_ connection: Connection) throws -> Int64? {
    try checkIsCurrent()
    let name = plan.properties[slot].name
    guard
      let target = try connection.firstRow(
        "SELECT \(identifier: name) FROM \(identifier: plan.table) WHERE \(identifier: plan.key) = \(zIndex)",
        as: Int64?.self)
    else { throw MagicError.missingTarget(type: plan.typeName, zIndex: zIndex) }
    return target
  }

  /// Reads some of the links, with all that they lead to.
  func load(_ page: Page, _ connection: Connection) throws -> LoadedTargets {
    let loader = GraphLoader(store, connection)
    guard case .links(_, let type) = plan.properties[slot].role.kind,
      let table = try table(connection)
    else { return LoadedTargets(graph: loader.graph, links: []) }
    let links = try connection.links(
      table, of: zIndex, where: page.condition, after: page.last, limit: page.limit,
      offset: page.offset)
    try loader.load(type, links.map(\.target))
    return LoadedTargets(graph: loader.graph, links: links)
  }

  /// Reads the links, without what they lead to.
  ///
  /// - Parameter place: The key that a link of a dictionary has, or nil for all links.
  func links(_ place: Value? = nil, _ connection: Connection) throws -> [Link] {
    guard let table = try table(connection) else { return [] }
    return try connection.links(
      table, of: zIndex, where: place.map { "\(identifier: "key") = \($0)" as SQL })
  }

  /// Reads what some links lead to that were read before; what is gone since is passed over.
  func loadTargets(of links: [Link], _ connection: Connection) throws -> LoadedTargets {
    let loader = GraphLoader(store, connection)
    guard !links.isEmpty, case .links(_, let type) = plan.properties[slot].role.kind else {
      return LoadedTargets(graph: loader.graph, links: [])
    }
    let target = try store.plan(type)
    let there = Set(
      try connection.rows(
        "SELECT \(identifier: target.key) FROM \(identifier: target.table) WHERE \(identifier: target.key) IN \(links.map(\.target))",
        as: Int64.self))
    let links = links.filter { there.contains($0.target) }
    try loader.load(type, links.map(\.target))
    return LoadedTargets(graph: loader.graph, links: links)
  }

  /// Counts the links.
  func count(where condition: SQL?) throws -> Int {
    try checkIsCurrent()
    if try store.makeReady(plan), condition == nil {
      let relation = try store.tables.relation(plan, slot, store)
      return try store.select { try relation.targetCount(of: zIndex, $0) }
    }
    return try store.read { try count(where: condition, $0) }
  }

  /// As the blocking form, suspending the task.
  nonisolated(nonsending) func count(where condition: SQL?) async throws -> Int {
    try checkIsCurrent()
    if try await store.makeReady(plan), condition == nil {
      let relation = try store.tables.relation(plan, slot, store)
      return try await store.select { try relation.targetCount(of: zIndex, $0) }
    }
    return try await store.read { try count(where: condition, $0) }
  }

  private func count(where condition: SQL?, _ connection: Connection) throws -> Int {
    guard let table = try table(connection) else { return 0 }
    return try connection.linkCount(table, of: zIndex, where: condition)
  }

  /// Reads one of the links by chance, of all or of those at some places.
  func loadRandom(_ range: Range<Int>?, _ connection: Connection) throws -> LoadedTargets {
    let count = try count(where: nil, connection)
    let range = range ?? 0..<count
    guard range.lowerBound >= 0, range.upperBound <= count else {
      throw MagicError.outOfRange(count: count)
    }
    return try load(
      Page(limit: range.isEmpty ? 0 : 1, offset: range.randomElement() ?? 0), connection)
  }

  /// The link table, or nil if it was not made yet.
  func table(_ connection: Connection) throws -> LinkTable? {
    try checkIsCurrent()
    guard let table = try store.tables.relation(plan, slot, store).table,
      try store.tables.has(table, connection)
    else { return nil }
    return table
  }

  /// SQL on the columns of the link table for a condition on what the links lead to.
  func condition<Object: MagicObject>(_ filter: Filter<Object>?) throws -> SQL? {
    guard let condition = try store.condition(filter) else { return nil }
    let target = try store.plan(Object.self)
    guard let linkTable = try plan.linkTable(slot, store.plan)?.name else { return condition }
    // By a look-up for each link, so that a page costs no more than its links.
    return
      "EXISTS (SELECT 1 FROM \(identifier: target.table) WHERE \(identifier: target.table).\(identifier: target.key) = \(identifier: linkTable).target AND (\(condition)))"
  }
}

extension MagicData {
  /// SQL on the columns of a type's table for a condition.
  func condition<Object: MagicObject>(_ filter: Filter<Object>?) throws -> SQL? {
    try filter?.sql(in: self)
  }
}

/// What a relation leads to, as read from a snapshot.
package struct LoadedTargets: Sendable {
  let graph: FetchedGraph
  let links: [Link]

  /// The objects with their places.
  func objects<Object: MagicObject>(
    _ type: Object.Type, in store: MagicData
  ) throws -> [MagicLink<Object>] {
    let context = FetchContext(store: store, graph)
    let objects = try context.objects(type, links.map(\.target)[...])
    return zip(links, objects).map { MagicLink($0.place, $1) }
  }
}
