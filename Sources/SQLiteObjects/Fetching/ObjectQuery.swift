import SQLiteCore
import SQLiteMapping

/// A query for objects, whose SQL has been written for one store.
struct ObjectQuery: Sendable {
  private let store: any ObjectStore
  let plan: ObjectPlan
  /// The primary value, if the query selects a single object by it; otherwise nil.
  private var primary: Value?
  private var condition: SQL?
  private var order: [SQL] = []
  /// The joins with the referenced objects that the sort keys use.
  private var joins = SQL(unchecked: "")
  private var limit: Int?
  private var offset = 0
  /// The query's filter if the result depends only on the rows that match it; otherwise nil. It
  /// becomes ``PreparedRequest/filter``.
  private(set) var rowFilter: QueryNode?

  init(_ store: any ObjectStore, _ query: QueryParts) throws {
    let plan = try store.plan(query.type)
    self.store = store
    self.plan = plan
    let filter = try query.unlimitedCondition(in: store)
    let keys = try query.sortKeys(in: store)
    var writer = ExpressionSQL(store)
    let rowStrategy = try writer.rowStrategy(
      filter, plan, .init(order: keys, limit: query.limit, offset: query.offset),
      hasRelationTerm: query.origin != nil)
    // A column name in the user's SQL could also be a column of a joined table.
    let mayJoin = !keys.contains { $0.node.hasLiteral }
    let rows = ExpressionSQL.Rows(
      of: plan, narrowing: rowStrategy.narrowing, joinsReferences: mayJoin)
    for key in keys {
      var sql = SQL(unchecked: "")
      try writer.write(key.node, rows, to: &sql)
      order.append(key.isDescending ? "\(sql) DESC" : sql)
    }
    joins = SQL(unchecked: try writer.joins(of: rows))
    if let filter {
      var sql = SQL(unchecked: "")
      let hasNoJoins = joins.text.isEmpty
      try writer.write(
        where: filter, .init(of: plan), rowStrategy, hasNoJoins: hasNoJoins, to: &sql)
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

  /// Fetches the objects and their related objects as a graph.
  func load(_ connection: Connection) throws -> FetchedGraph {
    let loader = GraphLoader(store, connection)
    try loader.load(
      plan, from: "\(plan.quotedTable)\(joins) \(tail)",
      isWhole: primary == nil && condition == nil && limit == nil && offset <= 0)
    return loader.graph
  }

  /// The single SELECT that fetches the objects. Nil if their type has eager relations, or if the
  /// type's table may lack columns.
  var plainSelection: SQL? {
    guard !plan.needsContext, store.isReady(plan) else { return nil }
    if let primary { return SQL(plan.selectionByPrimary, [primary]) }
    if !joins.text.isEmpty { return selection(of: plan.qualifiedList { _ in true }) }
    var sql = plan.selection
    sql.append(tail)
    return sql
  }

  /// Fetches the rows of the objects and, if their type has eager relations, of their related
  /// objects.
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

  /// Calls a closure with each object, in the order of the query. First reads the keys of all
  /// objects, then fetches the objects in batches.
  func forEach<Object: MagicObject>(
    _ connection: Connection, _ batch: Int, _ body: (Object) throws -> Void
  ) throws {
    guard try store.tableExists(plan, connection) else { return }
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

  /// Creates the objects from the fetched rows.
  func objects<Object: MagicObject>(_ type: Object.Type, _ fetched: Fetched) throws -> [Object] {
    try fetched.objects(type, plan, in: store)
  }

  /// Returns the number of objects that the query selects.
  func count(_ connection: Connection) throws -> Int {
    guard try store.tableExists(plan, connection) else { return 0 }
    let rows: SQL = isLimited ? "(\(keys))" : "\(plan.quotedTable) \(clause)"
    return try connection.firstRow("SELECT count(*) FROM \(rows)", as: Int.self) ?? 0
  }

  /// Deletes the rows of the objects that the query selects, and returns their number. First adds
  /// the columns that the table lacks, because the filter may use them.
  func delete(_ connection: Connection) throws -> Int {
    // Another connection may have dropped the table, and a deletion isn't retried like a fetch.
    guard try !connection.columnNames(of: plan.table).isEmpty else { return 0 }
    // The filter may use a column that the table doesn't have yet.
    try store.prepareTables([plan], connection)
    let clause: SQL = isLimited ? "WHERE \(key) IN (\(keys))" : clause
    return try connection.deferringRestrictions {
      try plan.namingRestrictingProperties(of: keys, connection) {
        try connection.executeChange("DELETE FROM \(plan.quotedTable) \(clause)").rows
      }
    }
  }

  private var isLimited: Bool { limit != nil || offset > 0 }

  /// The SQL of a SELECT that returns the keys of the objects, in their order.
  var keys: SQL { selection(of: key) }

  /// Returns the SQL of a SELECT that returns columns of the objects, in their order.
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
    // The key breaks ties, so that pages don't overlap.
    tail.append(order.isEmpty ? key : SQL(joining: order + [key], separator: ", "))
    tail.append(limit: limit, offset: offset)
    return tail
  }
}

extension QueryParts {
  /// Returns the condition that combines the filter, the relation, the limit and the offset, or nil
  /// if the query has none of them.
  func limitedCondition(in store: any ObjectStore) throws -> QueryNode? {
    guard limit != nil || offset > 0 else { return try unlimitedCondition(in: store) }
    let query = try ObjectQuery(store, self)
    return .sql(["\(query.key) IN (\(query.keys))"])
  }
}

/// The rows that a query has fetched.
enum Fetched: Sendable {
  /// The rows of a type that has no eager relations.
  case plain([ObjectStorage])
  /// The rows and links of the objects and their related objects.
  case graph(FetchedGraph)
}

extension Fetched {
  /// The storage of the first object that the query selected, or nil if the query selected none.
  var firstStorage: ObjectStorage? {
    switch self {
    case .plain(let storages): storages.first
    case .graph(let graph): graph.tables.first?.storages.first
    }
  }

  /// The fetched rows by type. The rows that the query itself selected come first.
  var rows: [FetchedRows] {
    switch self {
    case .graph(let graph): return graph.tables
    case .plain(let storages):
      guard let shape = storages.first?.shape else { return [] }
      var rows = FetchedRows(shape)
      for storage in storages {
        if let zIndex = storage.lastIdentity?.zIndex, rows.register(zIndex) { rows.append(storage) }
      }
      rows.foundCount = rows.storages.count
      return [rows]
    }
  }

  /// Returns the z_index values of the objects that the query selected, in its order.
  func zIndexes(_ type: any MagicObject.Type) -> [Int64] {
    switch self {
    case .plain(let storages): storages.compactMap { $0.lastIdentity?.zIndex }
    case .graph(let graph): Array(graph.found(type))
    }
  }

  /// Creates the objects from the fetched rows.
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
  /// Returns whether the table for the objects of a type exists.
  func tableExists(_ plan: ObjectPlan, _ connection: Connection) throws -> Bool {
    if isReady(plan) { return true }
    return try tables.columns(of: plan, connection) != nil
  }
}
