import SQLiteCore
import SQLiteRelations

// Conditions and calculations on related objects.
//
// SQLite has no statistics unless the user runs ANALYZE, so its planner guesses: of two indexes it may choose the
// one whose key half of the table has. The SQL therefore leaves it no choice that could cost more than reading each
// row of the relation once.
extension ExpressionSQL {
  /// The form of the SQL that reads related rows.
  enum RelatedShape {
    /// A correlated subquery: it finds the related rows of one row by the index on the start of the relation.
    /// Its condition is hidden from the planner, which could prefer an index that serves the condition.
    case lookUp
    /// An uncorrelated subquery, evaluated once for the whole statement: the keys from which matching rows are
    /// reached, or the aggregate of each key. The planner is free to begin at the condition.
    case materialized
  }

  /// A subquery that reads related rows.
  private struct RelatedSelection {
    let path: RelatedPath
    let shape: RelatedShape
    /// The value that is calculated of the rows; `1` if only their existence is asked.
    let result: SQL
    /// FROM and WHERE.
    let source: SQL
    /// Whether groups are read by the index on the start. It reads other columns at random places, so reading the rows in
    /// their own order and sorting them is faster, unless SQLite would find no index for a subquery then.
    let isSortedByStart: Bool

    var key: SQL { SQL(unchecked: path.key) }
    var start: SQL { SQL(unchecked: path.start) }
    /// The term of GROUP BY.
    var group: SQL { isSortedByStart ? start : "+\(start)" }
  }

  /// Chooses the form: the only place that does.
  ///
  /// A materialized set reads the related rows by an index on the condition, or all of them in the order of their table.
  /// Looking up reads them in a random order, and is quadratic where one row is visited again and again, such as a hub that
  /// half of all references reach. So it is chosen only if each row is visited at most once, and few rows are asked about
  /// or the index on the start of the relation has all that is asked for.
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
      write(query.answer, ofNone: &sql)
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
      if let other, let holdsForNone = form.holdsForNone(other.0, other.1) {
        // The groups for which the comparison has another result than for no rows.
        var having = SQL(unchecked: holdsForNone ? "(" : "")
        having.append(result)
        having.append(other.0, other.1)
        if holdsForNone { having.append(text: ") IS NOT 1") }
        sql.append(
          "(\(key) IN (SELECT \(start)\(source) GROUP BY \(selection.group) HAVING \(having))"
        )
        sql.append(text: holdsForNone ? " IS NOT 1)" : ")")
        return
      }
      let groups = SQL(unchecked: alias())
      sql.append(
        "(WITH \(groups) (start, result) AS MATERIALIZED (SELECT \(start), \(result)\(source) GROUP BY \(selection.group))"
      )
      sql.append(" SELECT CASE WHEN count(*) THEN max(result) ELSE ")
      write(query.answer, ofNone: &sql)
      sql.append(" END FROM \(groups) WHERE start = \(key))")
    }
    if let other { sql.append(other.0, other.1) }
  }

  /// Writes a query for the keys from which matching related objects are reached.
  ///
  /// - Returns: Nil if nothing was ever stored for one of the relations.
  mutating func starts(of query: RelatedQuery, _ rows: Rows) throws -> SQL? {
    var query = query
    (query.answer, query.operand) = (.exists, nil)
    return try selection(query, rows).map { "SELECT \($0.start)\($0.source)" }
  }

  /// Writes the subquery that reads related rows.
  ///
  /// - Returns: Nil if nothing was ever stored for one of the relations.
  private mutating func selection(
    _ query: RelatedQuery, _ rows: Rows
  ) throws -> RelatedSelection? {
    // It takes the stack of five levels.
    level += 4
    defer { level -= 4 }
    let query = try nested(query, rows.plan)
    guard let path = try path(query.route, rows) else { return nil }
    let shape = shape(query, path, rows)
    if shape == .lookUp, rows.narrowing != .all { path.rows.narrowing = .few }
    // Written first: then it is known which tables are read.
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
      let hidesIndexes = shape == .lookUp && !filter.isOfKey
      var condition = SQL(unchecked: hidesIndexes ? "+(" : "")
      if shape == .materialized, path.rows.isVisitedOnce {
        try write(where: filter, path.rows, finding(filter, path.rows.plan), to: &condition)
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
      isSortedByStart: !(query.operand?.isOfOneRow ?? true)
        || query.operand == nil && query.filter?.isOfKey ?? true)
  }

  /// Writes the result for no related objects.
  private func write(_ answer: RelatedQuery.Answer, ofNone sql: inout SQL) {
    switch answer {
    case .exists: sql.append(text: "(1 = 0)")
    case .aggregate(let form):
      sql.append(text: "(SELECT \(form.pieces.joined(separator: "NULL")) WHERE 1 = 0)")
    }
  }

  /// Splits a query at the relation that its route may start from several times at one row: what follows is then
  /// calculated once for each row, and not once for each path, of which there may be a square.
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

  /// The tables along a route.
  ///
  /// - Returns: Nil if nothing was ever stored for one of the relations.
  private mutating func path(_ route: [Int], _ rows: Rows) throws -> RelatedPath? {
    var plan = rows.plan
    var path: RelatedPath?
    for (index, slot) in route.enumerated() {
      let property = plan.properties[slot]
      switch property.role.kind {
      case .column, .asset: throw plan.refuse(property, "leads to no object")
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
        type: rows.plan.typeName, reason: "a path in a filter leads to no collection of objects")
    }
    return path
  }

  /// Returns whether there are tables of a relation, and adds to them what they lack. The first query of a
  /// type looks at its tables.
  func isStored(_ relation: ObjectRelation) throws -> Bool {
    if store.isReady(relation.owner) { return true }
    guard ExpressionSQL.mayLookAtTables else { throw UnknownTables() }
    if try store.makeReady(relation.owner) { return true }
    return try store.read { try relation.isStored(store.tables, $0) }
  }
}

/// The tables of a subquery along a route of relations and references.
private struct RelatedPath {
  /// A relation or a reference.
  struct Step {
    /// The rows of the relation, or the rows that are referenced.
    let table: String
    /// The condition that joins them to the rows before; empty for the first step.
    var condition: String
    /// The condition that holds for one of several rows between the same two objects, if there may be several.
    var distinction: String?
    /// The related rows and the condition that joins them to `table`, unless they are the same rows.
    var target: (table: String, condition: String)?
    /// The related rows.
    let rows: ExpressionSQL.Rows
  }

  var steps: [Step]
  /// The key of the object that the route starts at, in the surrounding query.
  let key: String
  /// Whether that is the key of the surrounding row and not a reference, which many rows share.
  let startsAtKey: Bool
  /// The column of the first relation that holds this key.
  let start: String

  /// The rows at its end.
  var rows: ExpressionSQL.Rows { steps[steps.count - 1].rows }

  /// FROM and its tables, for a subquery of which all other parts were written.
  func source(_ shape: ExpressionSQL.RelatedShape) -> String {
    // The tables of CROSS JOIN are read in their order.
    let join = shape == .lookUp ? " CROSS JOIN " : " JOIN "
    var text = ""
    for step in steps {
      text += text.isEmpty ? " FROM \(step.table)" : "\(join)\(step.table) ON \(step.condition)"
      // If no column of the rows was asked for, their key in the relation suffices.
      if let target = step.target, step.rows.isRead {
        text += "\(join)\(target.table) ON \(target.condition)"
      }
    }
    return text
  }
}

extension RelatedQuery {
  /// The same query in two: one on the objects after a part of the route, by one that goes on from each of them.
  ///
  /// - Parameter index: The index of the last relation of the first query.
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
