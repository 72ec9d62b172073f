import SQLiteCore

/// A query for values of objects, or of groups of objects, as one statement. References become
/// joins.
struct ValueQuery: Sendable {
  let plan: ObjectPlan
  private let sql: SQL

  /// The query's filter if the result depends only on the rows that match it; otherwise nil. It
  /// becomes ``PreparedRequest/filter``.
  let rowFilter: QueryNode?

  /// Creates a query and writes its SQL for a store.
  ///
  /// - Parameters:
  ///   - nodes: The columns.
  ///   - names: The names of the columns, or nil if names aren't needed.
  ///   - query: The query that selects the objects.
  ///   - groups: The grouping of the objects, or nil for one row per object.
  ///   - store: The store for which the SQL is written.
  init(
    _ nodes: [QueryNode], names: [String]? = nil, of query: QueryParts, _ groups: Groups? = nil,
    in store: any ObjectStore
  ) throws {
    let plan = try store.plan(query.type)
    self.plan = plan
    let filter =
      groups == nil
      ? try query.unlimitedCondition(in: store) : try query.limitedCondition(in: store)
    let order = try groups?.order ?? query.sortKeys(in: store)
    let isDistinct = groups == nil && query.isDistinct
    var writer = ExpressionSQL(store)
    // Groups and distinct rows are computed from all objects, so their limit doesn't bound the rows
    // that are read.
    let isPart = groups == nil && !isDistinct
    let rowStrategy = try writer.rowStrategy(
      filter, plan,
      isPart ? .init(order: order, limit: query.limit, offset: query.offset) : nil,
      hasRelationTerm: query.origin != nil && groups == nil)
    let rows = ExpressionSQL.Rows(
      of: plan, narrowing: rowStrategy.narrowing, joinsReferences: true)
    var sql = SQL(unchecked: isDistinct ? "SELECT DISTINCT " : "SELECT ")
    for (index, node) in nodes.enumerated() {
      if index > 0 { sql.append(text: ", ") }
      try writer.write(node, rows, to: &sql)
      if let names { sql.append(text: " AS \(try SQL.escapeIdentifier(names[index]))") }
    }
    // The joins precede this text, but only writing it determines which joins are needed.
    var tail = SQL(unchecked: "")
    if let filter {
      tail.append(text: " WHERE ")
      try writer.write(where: filter, rows, rowStrategy, hasNoJoins: false, to: &tail)
    }
    if let count = groups?.keyCount, count > 0 {
      tail.append(text: " GROUP BY \(ValueQuery.numbers(count))")
    }
    if let having = groups?.having {
      tail.append(text: " HAVING ")
      try writer.write(having, rows, to: &tail)
    }
    tail.append(text: " ORDER BY ")
    for key in order {
      try writer.write(key.node, rows, to: &tail)
      tail.append(text: key.isDescending ? " DESC, " : ", ")
    }
    // The keys break ties, so that pages don't overlap.
    if let count = groups?.keyCount {
      tail.append(text: ValueQuery.numbers(count == 0 ? 1 : count))
    } else if isDistinct {
      tail.append(text: ValueQuery.numbers(nodes.count))
    } else {
      tail.append(text: plan.qualifiedKey)
    }
    if let groups {
      tail.append(limit: groups.limit, offset: groups.offset)
    } else {
      tail.append(limit: query.limit, offset: query.offset)
    }
    sql.append(text: " FROM ")
    sql.append(text: plan.quotedTable.text)
    if rows.joined?.isEmpty == false { sql.append(text: try writer.joins(of: rows)) }
    sql.append(tail)
    self.sql = sql
    rowFilter =
      nodes.allSatisfy(\.readsOwnRowOnly) && (groups?.readsOwnRowOnly ?? true)
      ? query.rowFilter(plan) : nil
  }

  /// Returns the numbers of the first columns, separated by commas, for GROUP BY and ORDER BY. They
  /// replace the columns' expressions, because SQLite doesn't treat a repeated expression with
  /// bound values as the same expression.
  private static func numbers(_ count: Int) -> String {
    (1...count).map { "\($0)" }.joined(separator: ", ")
  }

  /// Reads the rows and decodes each as a type.
  ///
  /// - Parameters:
  ///   - type: The type to decode each row as.
  ///   - connection: The connection that runs the query.
  ///   - store: The store for which the SQL was written.
  ///   - print: If it isn't nil, it is set to the fingerprint of the stored values.
  func objects<Row: Decodable & SendableMetatype>(
    of type: Row.Type, _ connection: Connection, in store: any ObjectStore,
    _ print: inout ResultFingerprint?
  ) throws -> [Row] {
    guard try store.tableExists(plan, connection) else { return [] }
    var values = print.map { _ in [Value]() }
    let rows = try RecordQuery.sql(sql, as: type).objects.read(connection, &values)
    print = values.map { ResultFingerprint(values: $0) }
    return rows
  }

  /// Calls a closure with each row. The row is valid only inside the closure.
  func forEachRow(
    _ connection: Connection, in store: any ObjectStore,
    _ body: (StatementHandle) throws -> Void
  ) throws {
    guard try store.tableExists(plan, connection) else { return }
    try connection.forEachRow(sql) { try body($0.handle) }
  }

  /// Reads the rows as tuples.
  ///
  /// - Parameters:
  ///   - layout: The layout of a tuple in memory.
  ///   - connection: The connection that runs the query.
  ///   - store: The store for which the SQL was written.
  ///   - print: If it isn't nil, it is set to the fingerprint of the stored values.
  func rows<Tuple>(
    _ layout: TupleLayout, as _: Tuple.Type, from connection: Connection, in store: any ObjectStore,
    _ print: inout ResultFingerprint?
  ) throws -> [Tuple] {
    var rows = TupleRows<Tuple>(layout.columns)
    let isObserved = print != nil
    var values: [Value] = []
    do {
      try forEachRow(connection, in: store) { row in
        if isObserved {
          for column in layout.columns.indices { values.append(try row.value(at: Int32(column))) }
        }
        try rows.append(row)
      }
    } catch let error as SQLiteError {
      throw error.with(sql: sql.text)
    }
    if isObserved { print = ResultFingerprint(values: values) }
    return rows.array()
  }
}
