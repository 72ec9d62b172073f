import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// Where the owners of a relation to one object are to be found.
struct ReverseSource<Owner: MagicObject>: Sendable {
  let store: MagicData
  let relation: RelationQueries
  let target: Int64

  /// Which of the owners are meant.
  struct Page: Sendable {
    /// SQL on the columns of the owners' table.
    var condition: SQL?
    var last: Int64?
    var limit: Int?
    var offset = 0

    /// Says whether all are meant.
    var isWhole: Bool { condition == nil && last == nil && limit == nil && offset <= 0 }
  }

  private var plan: ObjectPlan { relation.plan }

  /// Reads some of the owners, in the order of their z_index, with all that they lead to.
  func load(_ page: Page) throws -> Fetched {
    if try store.makeReady(plan), page.isWhole, !plan.needsContext {
      return try store.select { try loadAll($0) }
    }
    return .graph(try store.read { try load(page, $0) })
  }

  /// As the blocking form, suspending the task.
  nonisolated(nonsending) func load(_ page: Page) async throws -> Fetched {
    if try await store.makeReady(plan), page.isWhole, !plan.needsContext {
      return try await store.select { try loadAll($0) }
    }
    return .graph(try await store.read { try load(page, $0) })
  }

  /// Counts the owners.
  func count(where condition: SQL?) throws -> Int {
    if try store.makeReady(plan), condition == nil {
      return try store.select { try relation.ownerCount(of: target, $0) }
    }
    return try store.read { try count(where: condition, $0) }
  }

  /// As the blocking form, suspending the task.
  nonisolated(nonsending) func count(where condition: SQL?) async throws -> Int {
    if try await store.makeReady(plan), condition == nil {
      return try await store.select { try relation.ownerCount(of: target, $0) }
    }
    return try await store.read { try count(where: condition, $0) }
  }

  /// Reads all owners, whose tables are as they shall be, and which bring no others.
  private func loadAll(_ connection: Connection) throws -> Fetched {
    var storages: [ObjectStorage] = []
    try relation.forEachOwner(of: target, connection) {
      storages.append(try plan.storage(of: $0, in: store))
    }
    store.forgetFetched(storages[...], afterRollbackOn: connection)
    return .plain(storages)
  }

  private func load(_ page: Page, _ connection: Connection) throws -> FetchedGraph {
    let loader = GraphLoader(store, connection)
    if page.limit != nil, let table = relation.table, try store.tables.has(table, connection) {
      // By the links' index, which goes on where the last page ended.
      let owners = try connection.owners(
        table, of: target, where: page.condition.map { exists(table, $0) }, after: page.last,
        limit: page.limit, offset: page.offset)
      try loader.load(Owner.self, tail: "WHERE \(key) IN \(owners) ORDER BY \(key)")
      return loader.graph
    }
    guard let leading = try leading(connection) else { return loader.graph }
    var tail: SQL = "WHERE \(leading)"
    if let condition = page.condition { tail.append(" AND (\(condition))") }
    if let last = page.last { tail.append(" AND \(key) > \(last)") }
    tail.append(" ORDER BY \(key)")
    if page.limit != nil || page.offset > 0 {
      tail.append(" LIMIT \(page.limit ?? -1) OFFSET \(page.offset)")
    }
    try loader.load(Owner.self, tail: tail)
    return loader.graph
  }

  private func count(where condition: SQL?, _ connection: Connection) throws -> Int {
    guard let leading = try leading(connection) else { return 0 }
    var sql: SQL = "SELECT count(*) FROM \(identifier: plan.table) WHERE \(leading)"
    if let condition { sql.append(" AND (\(condition))") }
    return try connection.firstRow(sql, as: Int.self) ?? 0
  }

  private var key: SQL { SQL(unchecked: plan.qualifiedKey) }

  /// SQL on the columns of the link table for a condition on the owners.
  private func exists(_ table: LinkTable, _ condition: SQL) -> SQL {
    "EXISTS (SELECT 1 FROM \(identifier: plan.table) WHERE \(key) = \(identifier: table.name).owner AND (\(condition)))"
  }

  /// SQL that is true of the owners, or nil if there is no table of them yet.
  private func leading(_ connection: Connection) throws -> SQL? {
    guard let columns = try store.tables.columns(of: plan, connection) else { return nil }
    guard let table = relation.table else {
      let name = plan.properties[relation.slot].name
      guard columns.contains(asciiLowercased(name)) else { return nil }
      return "\(identifier: plan.table).\(identifier: name) = \(target)"
    }
    guard try store.tables.has(table, connection) else { return nil }
    return
      "\(key) IN (SELECT owner FROM \(identifier: table.name) WHERE target = \(target))"
  }

  /// The objects of what was read.
  func objects(_ fetched: Fetched) throws -> [Owner] {
    try fetched.objects(Owner.self, plan, in: store)
  }
}
