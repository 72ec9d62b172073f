import SQLiteCore
import SQLiteMapping

/// A query for objects whose SQL was written for a store.
struct ObjectQuery: Sendable {
  private let store: any ObjectStore
  let plan: ObjectPlan
  /// The primary value, in a query for one object.
  private var primary: Value?
  private var condition: SQL?
  private var order: [SQL] = []
  /// The joins with referenced objects that the order needs.
  private var joins = SQL(unchecked: "")
  private var limit: Int?
  private var offset = 0
  /// As ``PreparedRequest/filter``.
  private(set) var rowFilter: QueryNode?

  init(_ store: any ObjectStore, _ query: QueryParts) throws {
    let plan = try store.plan(query.type)
    self.store = store
    self.plan = plan
    let filter = try query.unlimitedCondition(in: store)
    let keys = try query.sortKeys(in: store)
    var writer = ExpressionSQL(store)
    let finding = try writer.finding(
      filter, plan, .init(order: keys, limit: query.limit, offset: query.offset),
      isOfRelation: query.origin != nil)
    // A name in SQL of the user could be one of the joined objects, too.
    let mayJoin = !keys.contains { $0.node.hasLiteral }
    let rows = ExpressionSQL.Rows(
      of: plan, narrowing: finding.narrowing, joinsReferences: mayJoin)
    for key in keys {
      var sql = SQL(unchecked: "")
      try writer.write(key.node, rows, to: &sql)
      order.append(key.isDescending ? "\(sql) DESC" : sql)
    }
    joins = SQL(unchecked: try writer.joins(of: rows))
    if let filter {
      var sql = SQL(unchecked: "")
      let isAlone = joins.text.isEmpty
      try writer.write(
        where: filter, .init(of: plan), finding, isAlone: isAlone, to: &sql)
      condition = sql
    }
    limit = query.limit
    offset = query.offset
    rowFilter = query.rowFilter(plan)
  }

  init(
    _ store: any ObjectStore, _ type: any MagicObject.Type, primary: any MagicPrimaryValue
  ) throws {
    plan = try store.plan(type)
    self.store = store
    self.primary = try plan.stored(primary: primary)
  }

  /// Reads the objects and what they lead to.
  func load(_ connection: Connection) throws -> FetchedGraph {
    let loader = GraphLoader(store, connection)
    try loader.load(
      plan, from: "\(plan.quotedTable)\(joins) \(tail)",
      isWhole: primary == nil && condition == nil && limit == nil && offset <= 0)
    return loader.graph
  }

  /// The one query that brings the objects, if their type leads to no others.
  var plainSelection: SQL? {
    guard !plan.needsContext, store.isReady(plan) else { return nil }
    if let primary { return SQL(plan.selectionByPrimary, [primary]) }
    if !joins.text.isEmpty { return selection(of: plan.qualifiedList { _ in true }) }
    var sql = plan.selection
    sql.append(tail)
    return sql
  }

  /// Reads the objects, with what they lead to if they lead anywhere.
  func fetch(_ connection: Connection) throws -> Fetched {
    if let sql = plainSelection {
      let content = StoreContent(of: store)
      var storages: [ObjectStorage] = []
      try connection.forEachRow(sql) { storages.append(try plan.storage(of: $0, in: content)) }
      store.forgetFetched(storages[...], afterRollbackOn: connection)
      return .plain(storages)
    }
    return .graph(try load(connection))
  }

  /// Passes the objects to a closure, fetched in batches.
  func forEach<Object: MagicObject>(
    _ connection: Connection, _ batch: Int, _ body: (Object) throws -> Void
  ) throws {
    guard try store.isThere(plan, connection) else { return }
    var rest = try connection.rows(keys, as: Int64.self)[...]
    while !rest.isEmpty {
      let part = rest.prefix(Swift.max(1, batch))
      rest = rest.dropFirst(part.count)
      let loader = GraphLoader(store, connection)
      try loader.load(plan.type, Array(part))
      for object in try FetchContext(store, loader.graph).objects(Object.self, part) {
        try body(object)
      }
    }
  }

  /// Makes the objects of what was read.
  func objects<Object: MagicObject>(_ type: Object.Type, _ fetched: Fetched) throws -> [Object] {
    try fetched.objects(type, plan, in: store)
  }

  /// Counts the objects.
  func count(_ connection: Connection) throws -> Int {
    guard try store.isThere(plan, connection) else { return 0 }
    let rows: SQL = isLimited ? "(\(keys))" : "\(plan.quotedTable) \(clause)"
    return try connection.firstRow("SELECT count(*) FROM \(rows)", as: Int.self) ?? 0
  }

  /// Deletes the objects, and returns their number.
  func delete(_ connection: Connection) throws -> Int {
    // Others may have dropped the table since it was known, and this runs once.
    guard try !connection.columnNames(of: plan.table).isEmpty else { return 0 }
    // The filter may name a property that the table lacks.
    try store.prepareTables([plan], connection)
    let clause: SQL = isLimited ? "WHERE \(key) IN (\(keys))" : clause
    return try connection.deletingTogether {
      try plan.namingRestrictions(of: keys, connection) {
        try connection.executeChange("DELETE FROM \(plan.quotedTable) \(clause)").rows
      }
    }
  }

  private var isLimited: Bool { limit != nil || offset > 0 }

  /// A SELECT of the objects' keys, in their order.
  var keys: SQL { selection(of: key) }

  /// A SELECT of columns of the objects, in their order.
  func selection(of columns: SQL) -> SQL {
    "SELECT \(columns) FROM \(plan.quotedTable)\(joins) \(tail)"
  }

  var key: SQL { SQL(unchecked: plan.qualifiedKey) }

  private var clause: SQL {
    if let primary, let slot = plan.primary {
      return "WHERE \(identifier: plan.properties[slot].name) = \(primary)"
    }
    guard let condition else { return "" }
    var clause: SQL = "WHERE "
    clause.append(condition)
    return clause
  }

  private var tail: SQL {
    var tail = clause
    tail.append(" ORDER BY ")
    // The key decides between equals, so that pages do not overlap.
    tail.append(order.isEmpty ? key : SQL(joining: order + [key], separator: ", "))
    tail.append(limit: limit, offset: offset)
    return tail
  }
}

extension QueryParts {
  /// The filter, the relation, the limit and the offset.
  func limitedCondition(in store: any ObjectStore) throws -> QueryNode? {
    guard limit != nil || offset > 0 else { return try unlimitedCondition(in: store) }
    let query = try ObjectQuery(store, self)
    return .sql(["\(query.key) IN (\(query.keys))"])
  }
}

/// The result of a query.
enum Fetched: Sendable {
  /// The values of objects whose types lead to no others.
  case plain([ObjectStorage])
  /// Rows and links of objects and all that they lead to.
  case graph(FetchedGraph)
}

extension Fetched {
  /// The storage of the first object, of a type that leads to no others.
  var firstStorage: ObjectStorage? {
    switch self {
    case .plain(let storages): storages.first
    case .graph(let graph): graph.tables.first?.storages.first
    }
  }

  /// The rows of each type, those of the query first.
  var rows: [FetchedRows] {
    switch self {
    case .graph(let graph): return graph.tables
    case .plain(let storages):
      guard let shape = storages.first?.shape else { return [] }
      var rows = FetchedRows(shape)
      for storage in storages {
        if let zIndex = storage.lastIdentity?.zIndex, rows.note(zIndex) { rows.append(storage) }
      }
      rows.foundCount = rows.storages.count
      return [rows]
    }
  }

  /// The z_index values of the objects that were found, in their order.
  func zIndexes(_ type: any MagicObject.Type) -> [Int64] {
    switch self {
    case .plain(let storages): storages.compactMap { $0.lastIdentity?.zIndex }
    case .graph(let graph): Array(graph.found(type))
    }
  }

  /// Makes the objects of what was read.
  func objects<Object: MagicObject>(
    _ type: Object.Type, _ plan: ObjectPlan, in store: any ObjectStore
  ) throws -> [Object] {
    switch self {
    case .plain(let storages):
      return try plan.shape.objects(type, of: storages)
    case .graph(let graph):
      return try FetchContext(store, graph).objects(of: type)
    }
  }
}

extension ObjectStore {
  /// Returns whether the table of a type is there.
  func isThere(_ plan: ObjectPlan, _ connection: Connection) throws -> Bool {
    if isReady(plan) { return true }
    return try tables.columns(of: plan, connection) != nil
  }
}
