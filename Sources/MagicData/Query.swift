import SQLiteCore
import SQLiteMapping

/// A question for objects of a type, as values that may travel.
struct Query<Object: MagicObject>: Sendable {
  private let store: MagicData
  private let condition: Predicate?
  private let order: [SQL]
  private let limit: Int?
  private let offset: Int
  private let depth: Int?

  init(
    _ store: MagicData, _ filter: Filter<Object>?, _ order: [SortKey<Object>], _ limit: Int?,
    _ offset: Int, depth: Int? = nil
  ) {
    self.depth = depth
    self.store = store
    condition = filter?.predicate
    self.order = order.map(\.sql)
    self.limit = limit
    self.offset = offset
  }

  init(_ store: MagicData, primary: some MagicPrimaryValue) throws {
    let plan = try store.plan(Object.self)
    guard let slot = plan.primary else {
      throw MagicError.missingPrimaryValue(type: plan.typeName)
    }
    self.store = store
    condition = .comparison(plan.properties[slot].name, .equal, try ValueCoding.stored(primary))
    order = []
    limit = nil
    offset = 0
    depth = nil
  }

  /// Reads the objects and what they lead to.
  func load(_ connection: Connection) throws -> FetchedGraph {
    let plan = try store.plan(Object.self)
    let loader = GraphLoader(store, connection, depth: depth)
    try loader.load(Object.self, tail: tail(plan))
    return loader.graph
  }

  /// Counts the objects.
  func count(_ connection: Connection) throws -> Int {
    let plan = try store.plan(Object.self)
    guard try !connection.columnNames(of: plan.table).isEmpty else { return 0 }
    return try connection.firstRow(
      "SELECT count(*) FROM \(identifier: plan.table) \(clause)", as: Int.self) ?? 0
  }

  /// Deletes the objects, and returns how many there were.
  func delete(_ connection: Connection) throws -> Int {
    let plan = try store.plan(Object.self)
    guard try !connection.columnNames(of: plan.table).isEmpty else { return 0 }
    return try plan.refusingRestricted {
      try connection.executeChange("DELETE FROM \(identifier: plan.table) \(clause)").rows
    }
  }

  private var clause: SQL {
    condition.map { "WHERE \($0.sql())" } ?? ""
  }

  private func tail(_ plan: ObjectPlan) -> SQL {
    // The key decides between equals, so that pages do not overlap.
    var tail: SQL =
      "\(clause) ORDER BY \(SQL(joining: order + ["\(identifier: plan.key)"], separator: ", "))"
    if limit != nil || offset > 0 { tail.append(" LIMIT \(limit ?? -1) OFFSET \(offset)") }
    return tail
  }
}
