import SQLiteCore
import SQLiteRelations

// Conditions and calculations on the objects of a collection or a reverse relation. For a single
// referenced object, see `ExpressionSQL+References.swift`.
//
// SQLite has no statistics unless the user runs ANALYZE, so its planner guesses. Of two indexes, it
// may use one in which half of the table has the same key. So the SQL leaves the planner no choice
// that could cost more than reading each row of the relation once.
extension ExpressionSQL {
  /// The form of the SQL that reads related rows.
  enum RelatedShape {
    /// A correlated subquery. It finds the related rows of one row through the index on the start
    /// of the relation, the column that stores the key of this row. Its condition is hidden from
    /// the planner, which could otherwise use an index on the condition.
    case lookUp
    /// An uncorrelated subquery, evaluated once for the whole statement. It returns the keys from
    /// which matching rows are reached, or the aggregate for each key. The planner may use an index
    /// on the condition.
    case materialized
  }

  /// A subquery that reads related rows.
  private struct RelatedSelection {
    let path: RelatedPath
    let shape: RelatedShape
    /// The SQL of the value that is calculated from the rows; `1` if the query tests only whether a
    /// row exists.
    let result: SQL
    /// The FROM and WHERE clauses of the subquery.
    let source: SQL
    /// Whether groups are read through the index on the start of the relation.
    ///
    /// This reads all other columns at random positions. So reading the rows in table order and
    /// sorting them is faster, unless SQLite would then find no index for a subquery.
    let isSortedByStart: Bool

    var key: SQL { SQL(unchecked: path.key) }
    var start: SQL { SQL(unchecked: path.start) }
    /// The expression of the GROUP BY clause. If ``isSortedByStart`` is false, it starts with a
    /// unary `+`, which prevents SQLite from reading the groups through an index.
    var group: SQL { isSortedByStart ? start : "+\(start)" }
  }

  /// Chooses the form of the SQL for a query of related objects. No other code makes this decision.
  ///
  /// A materialized set reads the related rows through an index on the condition, or all of them in
  /// table order. Lookups read them in random order, and take quadratic time if one row is visited
  /// repeatedly, such as a hub that half of all references reach. So lookups are chosen in only two
  /// cases: the query is evaluated for at most one row; or each row is visited at most once, and
  /// the query is evaluated for few rows or the index on the start of the relation contains
  /// everything that is read.
  private func shape(_ query: RelatedQuery, _ path: RelatedPath, _ rows: Rows) -> RelatedShape {
    let isVisitedOnce = rows.isVisitedOnce && path.startsAtKey
    guard isVisitedOnce || rows.narrowing == .one else { return .materialized }
    let isOfIndex = query.filter == nil && query.operand == nil
    return rows.narrowing != .all || isOfIndex ? .lookUp : .materialized
  }

  /// Writes a condition or a calculation on related objects, or the comparison of a calculation with a value.
  mutating func write(
    _ query: RelatedQuery, comparedWith other: (QueryComparison, Value)? = nil, _ rows: Rows,
    to sql: inout SQL
  ) throws {
    guard let selection = try selection(query, rows) else {
      write(query.answer, forNoRows: &sql)
      if let other { sql.append(other.0, other.1) }
      return
    }
    let (key, start) = (selection.key, selection.start)
    let (result, source) = (selection.result, selection.source)
    switch (selection.shape, query.answer) {
    case (.lookUp, .exists): sql.append("EXISTS (SELECT \(result)\(source))")
    case (.lookUp, .aggregate): sql.append("(SELECT \(result)\(source))")
    case (.materialized, .exists):
      sql.append("(\(key) IN (SELECT \(start)\(source)))")
    case (.materialized, .aggregate(let form)):
      if let other, let holdsForNoRows = form.holdsForNoRows(other.0, other.1) {
        // Select the groups for which the comparison has a different result than for no rows.
        var having = SQL(unchecked: holdsForNoRows ? "(" : "")
        having.append(result)
        having.append(other.0, other.1)
        if holdsForNoRows { having.append(text: ") IS NOT 1") }
        sql.append(
          "(\(key) IN (SELECT \(start)\(source) GROUP BY \(selection.group) HAVING \(having))"
        )
        sql.append(text: holdsForNoRows ? " IS NOT 1)" : ")")
        return
      }
      let groups = SQL(unchecked: alias())
      sql.append(
        "(WITH \(groups) (start, result) AS MATERIALIZED (SELECT \(start), \(result)\(source) GROUP BY \(selection.group))"
      )
      sql.append(" SELECT CASE WHEN count(*) THEN max(result) ELSE ")
      write(query.answer, forNoRows: &sql)
      sql.append(" END FROM \(groups) WHERE start = \(key))")
    }
    if let other { sql.append(other.0, other.1) }
  }

  /// Returns a query for the keys from which matching related objects are reached.
  ///
  /// - Returns: The query, or nil if a table of one of the relations doesn't exist yet.
  mutating func starts(of query: RelatedQuery, _ rows: Rows) throws -> SQL? {
    var query = query
    (query.answer, query.operand) = (.exists, nil)
    return try selection(query, rows).map { "SELECT \($0.start)\($0.source)" }
  }

  /// Returns the subquery that reads related rows.
  ///
  /// - Returns: The subquery, or nil if a table of one of the relations doesn't exist yet.
  private mutating func selection(
    _ query: RelatedQuery, _ rows: Rows
  ) throws -> RelatedSelection? {
    // This function needs as much stack as five levels.
    level += 4
    defer { level -= 4 }
    let query = try nested(query, rows.plan)
    guard let path = try path(query.route, rows) else { return nil }
    let shape = shape(query, path, rows)
    if shape == .lookUp, rows.narrowing != .all { path.rows.narrowing = .few }
    // Written first, because this determines which tables are read.
    var result = SQL(unchecked: "1")
    if case .aggregate(let form) = query.answer {
      result = SQL(unchecked: form.pieces[0])
      if let operand = query.operand {
        try write(operand: operand, path.rows, to: &result)
        result.append(text: form.pieces.last ?? "")
      }
    }
    var conditions: [SQL] = []
    if shape == .lookUp { conditions.append(SQL(unchecked: "\(path.start) = \(path.key)")) }
    if case .aggregate = query.answer {
      conditions += path.steps.compactMap(\.distinction).map { SQL(unchecked: $0) }
    }
    if let filter = query.filter {
      let hidesIndexes = shape == .lookUp && !filter.comparesKey
      var condition = SQL(unchecked: hidesIndexes ? "+(" : "")
      if shape == .materialized, path.rows.isVisitedOnce {
        try write(where: filter, path.rows, rowStrategy(filter, path.rows.plan), to: &condition)
      } else {
        try write(filter, path.rows, to: &condition)
      }
      if hidesIndexes { condition.append(text: ")") }
      conditions.append(condition)
    }
    var source = SQL(unchecked: path.source(shape))
    if !conditions.isEmpty {
      source.append(text: " WHERE ")
      source.append(SQL(joining: conditions, separator: " AND "))
    }
    return RelatedSelection(
      path: path, shape: shape, result: result, source: source,
      isSortedByStart: !(query.operand?.readsOwnRowOnly ?? true)
        || query.operand == nil && query.filter?.comparesKey ?? true)
  }

  /// Writes the result that the query has if no related objects exist.
  private func write(_ answer: RelatedQuery.Answer, forNoRows sql: inout SQL) {
    switch answer {
    case .exists: sql.append(text: "(1 = 0)")
    case .aggregate(let form):
      sql.append(text: "(SELECT \(form.pieces.joined(separator: "NULL")) WHERE 1 = 0)")
    }
  }

  /// Splits a query before the first relation that its route may follow several times from the same
  /// row. The rest of the route is then evaluated once for each row, not once for each path,
  /// because the number of paths may be quadratic. A query whose aggregate can't be split is
  /// returned unchanged.
  private func nested(_ query: RelatedQuery, _ start: ObjectPlan) throws -> RelatedQuery {
    var (plan, last, isVisitedOnce) = (start, -1, true)
    for (index, slot) in query.route.enumerated() {
      switch plan.properties[slot].role.kind {
      case .column, .asset: return query
      case .object(let type):
        plan = try store.plan(type)
        if last >= 0 { isVisitedOnce = false }
      case .links, .reverse:
        if !isVisitedOnce { return query.split(after: last) }
        let relation = try store.relation(of: plan.shape, slot)
        (plan, last) = (relation.destination, index)
        isVisitedOnce = relation.keys.isInDestination
      }
    }
    return query
  }

  /// Returns the tables along a route and the conditions that join them.
  ///
  /// - Returns: The tables, or nil if a table of one of the relations doesn't exist yet.
  private mutating func path(_ route: [Int], _ rows: Rows) throws -> RelatedPath? {
    var plan = rows.plan
    var path: RelatedPath?
    for (index, slot) in route.enumerated() {
      let property = plan.properties[slot]
      switch property.role.kind {
      case .column, .asset: throw plan.unsuitableProperty(property, "does not reference an object")
      case .object(let type):
        plan = try store.plan(type)
        guard let before = path?.rows else { continue }
        let target = try Rows(plan, alias: alias())
        path?.steps.append(
          .init(
            table: "\(plan.quotedTable.text) AS \(target.alias ?? "")",
            condition: "\(target.key) = \(try before.column(slot))", rows: target))
      case .links, .reverse:
        let relation = try store.relation(of: plan.shape, slot)
        guard try isStored(relation) else { return nil }
        let keys = relation.keys
        let name = alias()
        plan = relation.destination
        let isVisitedOnce = keys.isInDestination && path?.rows.isVisitedOnce ?? true
        let target =
          keys.isInDestination
          ? try Rows(plan, alias: name, isVisitedOnce: isVisitedOnce)
          : try Rows(plan, alias: alias(), key: keys.end(as: name))
        let start = keys.start(as: name)
        var step = RelatedPath.Step(
          table: keys.rows(as: name), condition: "", distinction: keys.isFirst(as: name),
          target: keys.isInDestination ? nil : keys.destination(as: target.alias ?? "", of: name),
          rows: target)
        if let before = path?.rows {
          step.condition = "\(start) = \(before.key)"
          path?.steps.append(step)
        } else {
          let key = try column(route[..<index], rows)
          path = RelatedPath(steps: [step], key: key, startsAtKey: index == 0, start: start)
        }
      }
    }
    guard let path else {
      throw MagicError.unsuitableType(
        type: rows.plan.typeName,
        reason: "a key path in a filter does not reference a collection of objects")
    }
    return path
  }

  /// Returns whether the tables of a relation exist, and adds the columns, indexes and delete rules
  /// that they lack. The first query of a type inspects its tables.
  ///
  /// - Throws: ``UnknownTables`` if the tables haven't been inspected and ``mayInspectTables`` is
  ///   false, or an error of the database.
  func isStored(_ relation: ObjectRelation) throws -> Bool {
    if store.isReady(relation.owner) { return true }
    guard ExpressionSQL.mayInspectTables else { throw UnknownTables() }
    if try store.makeReady(relation.owner) { return true }
    return try store.read { try relation.isStored(store.tables, $0) }
  }
}

/// The tables of a subquery along a route of relations and references.
private struct RelatedPath {
  /// One relation or reference of the route.
  struct Step {
    /// The table that stores the relation, or the table of the referenced objects, with its name in
    /// the subquery.
    let table: String
    /// The condition that joins the table to the rows of the preceding step; empty for the first
    /// step.
    var condition: String
    /// A condition that selects one of several rows that link the same two objects; nil if only one
    /// can exist.
    var distinction: String?
    /// The table of the related objects and the condition that joins it to `table`; nil if `table`
    /// is their table.
    var target: (table: String, condition: String)?
    /// The rows of the related objects.
    let rows: ExpressionSQL.Rows
  }

  var steps: [Step]
  /// The key of the object that has the first to-many relation of the route, in the surrounding
  /// query.
  let key: String
  /// Whether ``key`` is the key of the surrounding row, and not a reference, which many rows may
  /// have in common.
  let startsAtKey: Bool
  /// The column that stores ``key`` in the rows of the first to-many relation.
  let start: String

  /// The rows of the related objects at the end of the route.
  var rows: ExpressionSQL.Rows { steps[steps.count - 1].rows }

  /// Returns the FROM clause. Call it after all other parts of the subquery are written, because it
  /// joins only the tables whose columns they use.
  func source(_ shape: ExpressionSQL.RelatedShape) -> String {
    // SQLite reads the tables of a CROSS JOIN in the given order.
    let join = shape == .lookUp ? " CROSS JOIN " : " JOIN "
    var text = ""
    for step in steps {
      text += text.isEmpty ? " FROM \(step.table)" : "\(join)\(step.table) ON \(step.condition)"
      // If only the key of the related rows is used, the relation's own table suffices.
      if let target = step.target, step.rows.isRead {
        text += "\(join)\(target.table) ON \(target.condition)"
      }
    }
    return text
  }
}

extension RelatedQuery {
  /// Returns the query as two nested ones: the outer one follows the first part of the route, and
  /// evaluates the inner one, which follows the rest, for each object. Returns the query unchanged
  /// if its aggregate, such as an average, can't be combined from partial results.
  ///
  /// - Parameter index: The index of the last relation of the outer query.
  fileprivate func split(after index: Int) -> RelatedQuery {
    var (outer, inner) = (self, self)
    outer.route = Array(route.prefix(index + 1))
    inner.route = Array(route.dropFirst(index + 1))
    switch answer {
    case .exists: outer.filter = .related(inner)
    case .aggregate(let form):
      guard let combining = form.combining else { return self }
      outer.answer = .aggregate(QueryForm(combining, mayBeNull: form.mayBeNull))
      outer.operand = .related(inner)
      outer.filter = nil
    }
    return outer
  }
}
