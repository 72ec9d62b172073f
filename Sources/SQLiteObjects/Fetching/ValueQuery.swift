import SQLiteCore

/// A query for values of objects or of groups of them: one statement, in which references are joins.
struct ValueQuery: Sendable {
  let plan: ObjectPlan
  /// The statement.
  private let sql: SQL

  /// As ``PreparedRequest/filter``.
  let rowFilter: QueryNode?

  /// Writes a query.
  ///
  /// - Parameters:
  ///   - nodes: The columns.
  ///   - names: The names of the columns, if they matter.
  ///   - query: The objects.
  ///   - groups: How the objects are grouped; nil for a row of each object.
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
    // Of groups, and of distinct rows, all objects are read.
    let isPart = groups == nil && !isDistinct
    let finding = try writer.finding(
      filter, plan,
      isPart ? .init(order: order, limit: query.limit, offset: query.offset) : nil,
      isOfRelation: query.origin != nil && groups == nil)
    let rows = ExpressionSQL.Rows(
      of: plan, narrowing: finding.narrowing, joinsReferences: true)
    var sql = SQL(unchecked: isDistinct ? "SELECT DISTINCT " : "SELECT ")
    for (index, node) in nodes.enumerated() {
      if index > 0 { sql.append(text: ", ") }
      try writer.write(node, rows, to: &sql)
      if let names { sql.append(text: " AS \(try SQL.escapeIdentifier(names[index]))") }
    }
    // The joins stand before what is written now, and are known after it.
    var tail = SQL(unchecked: "")
    if let filter {
      tail.append(text: " WHERE ")
      try writer.write(where: filter, rows, finding, isAlone: false, to: &tail)
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
    // The keys decide between equals, so that pages do not overlap.
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
      nodes.allSatisfy(\.isOfOneRow) && (groups?.isOfOneRow ?? true)
      ? query.rowFilter(plan) : nil
  }

  /// The first columns by their numbers: an expression with a bound value is not equal to its second writing.
  private static func numbers(_ count: Int) -> String {
    (1...count).map { "\($0)" }.joined(separator: ", ")
  }

  /// Reads the rows as values of a type.
  ///
  /// - Parameter print: If it isn't nil, receives the stored values.
  func objects<Row: Decodable & SendableMetatype>(
    of type: Row.Type, _ connection: Connection, in store: any ObjectStore,
    _ print: inout ResultPrint?
  ) throws -> [Row] {
    guard try store.isThere(plan, connection) else { return [] }
    var values = print.map { _ in [Value]() }
    let rows = try RecordQuery.sql(sql, as: type).objects.read(connection, &values)
    print = values.map { ResultPrint(values: $0) }
    return rows
  }

  /// Lends the rows one by one.
  func forEachRow(
    _ connection: Connection, in store: any ObjectStore,
    _ body: (StatementHandle) throws -> Void
  ) throws {
    guard try store.isThere(plan, connection) else { return }
    try connection.forEachRow(sql) { try body($0.handle) }
  }

  /// Reads the rows as tuples.
  ///
  /// - Parameter print: If it isn't nil, receives the stored values.
  func rows<Tuple>(
    _ layout: TupleLayout, as _: Tuple.Type, from connection: Connection, in store: any ObjectStore,
    _ print: inout ResultPrint?
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
    if isObserved { print = ResultPrint(values: values) }
    return rows.array()
  }
}
