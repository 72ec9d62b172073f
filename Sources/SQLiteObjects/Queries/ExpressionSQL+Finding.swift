import SQLiteCore
import SQLiteRelations

// The rows of a statement, found by the condition that the fewest rows match.
//
// Which of several indexes finds the fewest rows isn't known when the SQL is written, and SQLite assumes the same number
// for each. So the statement compares the numbers when it runs: it counts up to 16, 128, 1,024, … rows of each condition,
// and begins at the first condition with fewer. Counting takes a small part of the time that the rows themselves take.
extension ExpressionSQL {
  /// The number of rows that a condition is evaluated for, as far as its shape tells.
  enum Narrowing: Comparable {
    /// All rows of a table, or an unknown number.
    case all
    /// The rows that an index finds for a value, or the first rows of an order.
    case few
    /// One row.
    case one
  }

  /// The rows that a statement reads in an order, up to a number.
  struct Window {
    let order: [QueryOrder]
    /// The number of rows that are read or skipped.
    let count: Int

    init?(order: [QueryOrder], limit: Int?, offset: Int) {
      guard let limit, limit >= 0 else { return nil }
      let (count, isTooLarge) = max(offset, 0).addingReportingOverflow(limit)
      if isTooLarge { return nil }
      self.order = order
      self.count = count
    }
  }

  /// How a statement finds its rows.
  struct Finding {
    /// The conditions that all hold.
    let terms: [QueryNode]
    /// The terms whose rows an index finds: first those on the rows themselves, which are the fastest to count.
    let sought: [Int]
    /// The rows in the order of an index, of which the first ones that match are read; nil if all are read.
    let stream: Window?
    /// The number of rows that a term is evaluated for after another one has found them.
    let narrowing: Narrowing
    /// Whether the statement compares the numbers of rows, and begins at the fewest.
    let compares: Bool

    /// The terms that no index serves.
    fileprivate var rest: [Int] { terms.indices.filter { !sought.contains($0) } }
  }

  /// Decides how a statement finds the rows that a filter selects: the only place that does.
  ///
  /// - Parameters:
  ///   - filter: The filter, or nil if all rows are read.
  ///   - plan: The rows' type.
  ///   - window: The part of the rows that is read, or nil for all.
  ///   - isOfRelation: Whether the first term of the filter selects the objects of a relation.
  func finding(
    _ filter: QueryNode?, _ plan: ObjectPlan, _ window: Window? = nil, isOfRelation: Bool = false
  ) throws -> Finding {
    let stream = window.flatMap { $0.isInOrderOfIndex(of: plan) ? $0 : nil }
    let terms = filter?.terms ?? []
    var sought: [Int] = []
    // A filter that is deeper than this is refused when it is written.
    if let filter, filter.depth <= QueryNode.greatestLevel {
      for (index, term) in terms.enumerated() {
        guard try isOfRelation && index == 0 || isSought(term, plan) else { continue }
        sought.insert(index, at: term.isOfOthers ? sought.count : 0)
      }
    }
    let isOfOneRow = sought.contains { plan.isOfOneRow(terms[$0]) }
    let isOfOthers = terms.contains(where: \.isOfOthers)
    let hasChoice =
      stream != nil || sought.count > 1 || !sought.isEmpty && sought.count < terms.count
    return Finding(
      terms: terms, sought: sought, stream: stream,
      narrowing: isOfOneRow ? .one : sought.isEmpty && stream == nil ? .all : .few,
      compares: !isOfOneRow && isOfOthers && hasChoice)
  }

  /// Writes the condition of a statement.
  ///
  /// SQL of the user's may name a column that joined rows have, too: such a condition is asked in a subquery, where the
  /// rows are alone.
  ///
  /// - Parameters:
  ///   - filter: The filter.
  ///   - rows: The rows of the statement.
  ///   - finding: How the rows that the filter selects are found.
  ///   - isAlone: Whether the rows aren't joined with others.
  mutating func write(
    where filter: QueryNode, _ rows: Rows, _ finding: Finding, isAlone: Bool = true,
    to sql: inout SQL
  ) throws {
    if finding.compares {
      sql.append(text: "\(rows.key) IN (")
      try writeChoice(filter, rows.plan, finding, to: &sql)
      return sql.append(text: ")")
    }
    if !isAlone, filter.hasLiteral {
      let plan = rows.plan
      sql.append(text: "\(rows.key) IN (SELECT \(rows.key) FROM \(plan.quotedTable.text) WHERE ")
      try write(where: filter, Rows(of: plan), finding, to: &sql)
      return sql.append(text: ")")
    }
    // A single term finds the rows itself.
    rows.narrowing = finding.terms.count == 1 ? .all : finding.narrowing
    try write(filter, rows, to: &sql)
    rows.narrowing = finding.narrowing
  }

  /// Writes a query for the keys of the rows that match a filter. It begins at the term that the fewest rows match, or at
  /// number 0: the first rows of an order, or all rows.
  private mutating func writeChoice(
    _ filter: QueryNode, _ plan: ObjectPlan, _ finding: Finding, to sql: inout SQL
  ) throws {
    let (table, key) = (plan.quotedTable, SQL(unchecked: plan.qualifiedKey))
    let (all, few) = (Rows(of: plan), Rows(of: plan, narrowing: .few))
    let choice = alias()
    let names = finding.sought.map { _ in alias() }
    sql.append(text: "WITH ")
    for (name, index) in zip(names, finding.sought) {
      let keys = try keys(of: finding.terms[index], all)
      sql.append("\(SQL(unchecked: name)) (start) AS NOT MATERIALIZED (\(keys)), ")
    }
    sql.append(text: "\(choice) (number) AS MATERIALIZED (SELECT CASE")
    let rest = finding.rest
    if finding.sought.isEmpty, let stream = finding.stream {
      // Nothing tells how many rows match, but the first ones.
      sql.append(" WHEN EXISTS (SELECT 1 FROM (SELECT * FROM \(table) ORDER BY ")
      try write(stream.order, few, to: &sql)
      sql.append(" LIMIT 256) AS \(table) WHERE ")
      try write(filter, few, to: &sql)
      sql.append(text: ") THEN 0 ELSE 1 END)")
    } else {
      for size in [16, 128, 1_024, 8_192, 65_536] {
        // The first rows are found after about `count * rows / matches` rows.
        let limit = finding.stream == nil ? rest.isEmpty ? 0 : size * 8 : size * size
        if limit > 0 { sql.append(text: " WHEN size < \(limit) THEN 0") }
        for (index, name) in names.enumerated() {
          sql.append(
            text:
              " WHEN NOT EXISTS (SELECT 1 FROM \(name) LIMIT 1 OFFSET \(size)) THEN \(index + 1)")
        }
      }
      let isCounted = finding.stream == nil && rest.isEmpty
      sql.append(text: " ELSE \(isCounted ? 1 : 0) END")
      if !isCounted {
        let count = finding.stream?.count ?? 1
        sql.append(" FROM (SELECT max(\(key)) * \(count) AS size FROM \(table))")
      }
      sql.append(text: ")")
    }
    var isFirst = true
    func begin(_ number: Int) {
      sql.append(text: isFirst ? " " : " UNION ALL ")
      isFirst = false
      sql.append(
        "SELECT \(key) FROM \(SQL(unchecked: choice)) CROSS JOIN \(table) WHERE number = \(SQL(unchecked: "\(number)")) AND "
      )
    }
    for (number, index) in finding.sought.enumerated() {
      begin(number + 1)
      try write(finding.terms[index], all, to: &sql)
      try write(finding, finding.terms.indices.filter { $0 != index }, few, to: &sql)
    }
    if let stream = finding.stream {
      if finding.sought.isEmpty {
        begin(1)
        try write(filter, all, to: &sql)
      }
      sql.append(" UNION ALL SELECT * FROM (SELECT \(key) FROM \(table) WHERE ")
      try write(filter, few, to: &sql)
      sql.append(text: " ORDER BY ")
      try write(stream.order, few, to: &sql)
      sql.append(
        " LIMIT (SELECT CASE number WHEN 0 THEN \(stream.count) ELSE 0 END FROM \(SQL(unchecked: choice))))"
      )
    } else if !rest.isEmpty {
      begin(0)
      try write(rest.map { finding.terms[$0] }[...], joinedBy: " AND ", all, to: &sql)
      try write(finding, finding.sought, few, to: &sql)
    }
  }

  /// Writes further terms, by which no index shall find the rows.
  private mutating func write(
    _ finding: Finding, _ indices: [Int], _ rows: Rows, to sql: inout SQL
  ) throws {
    if indices.isEmpty { return }
    sql.append(text: " AND +(")
    try write(indices.map { finding.terms[$0] }[...], joinedBy: " AND ", rows, to: &sql)
    sql.append(text: ")")
  }

  /// Writes sort keys, of which the key is the last.
  private mutating func write(_ order: [QueryOrder], _ rows: Rows, to sql: inout SQL) throws {
    for order in order {
      try write(order.node, rows, to: &sql)
      sql.append(text: order.isDescending ? " DESC, " : ", ")
    }
    sql.append(text: rows.key)
  }

  /// Writes a query for the keys of the rows that match a term, which finds them one by one. It may find others, too, and
  /// keys several times.
  private mutating func keys(of term: QueryNode, _ rows: Rows) throws -> SQL {
    if let query = term.soughtRelation, let starts = try starts(of: query, rows) { return starts }
    var sql: SQL = "SELECT \(SQL(unchecked: rows.key)) FROM "
    if let reference = try reference(term, rows) {
      sql.append(
        text:
          "\(reference.table) CROSS JOIN \(rows.plan.quotedTable.text) ON \(reference.column) = \(reference.rows.key) WHERE "
      )
      try write(reference.condition, reference.rows, to: &sql)
    } else {
      sql.append("\(rows.plan.quotedTable) WHERE ")
      try write(term, rows, to: &sql)
    }
    return sql
  }
}

// Conditions on a referenced object.
extension ExpressionSQL {
  /// A comparison with a property of a referenced object.
  private struct Reference {
    /// The column that references the object.
    let column: String
    /// The objects that are referenced.
    let rows: Rows
    let table: String
    /// The condition on these.
    let condition: QueryNode
    /// Whether the comparison holds for all rows but those that reference such an object.
    let isNegated: Bool
  }

  /// Writes a comparison with a property of a referenced object as `reference IN (SELECT key …)`, which reads the referenced
  /// rows once. A scalar subquery would look up the object of each row.
  ///
  /// - Returns: False if the node has another form.
  mutating func writeByReference(
    _ node: QueryNode, _ rows: Rows, to sql: inout SQL
  ) throws -> Bool {
    guard rows.narrowing == .all, let reference = try reference(node, rows) else { return false }
    sql.append(
      text:
        "\(reference.isNegated ? "(" : "")\(reference.column) IN (SELECT \(reference.rows.key) FROM \(reference.table) WHERE "
    )
    try write(reference.condition, reference.rows, to: &sql)
    sql.append(text: reference.isNegated ? ")) IS NOT 1" : ")")
    return true
  }

  private mutating func reference(_ node: QueryNode, _ rows: Rows) throws -> Reference? {
    guard let slots = node.comparedColumn, slots.count > 1,
      case .object(let type) = rows.plan.properties[slots[0]].role.kind
    else { return nil }
    let plan = try store.plan(type)
    let rest = Array(slots[1...])
    guard rest != plan.counting.map({ [$0] }) else { return nil }
    let target = try Rows(plan, alias: alias(), isVisitedOnce: true)
    let (condition, isNegated) = node.comparing(rest)
    return Reference(
      column: try rows.column(slots[0]), rows: target,
      table: "\(plan.quotedTable.text) AS \(target.alias ?? "")", condition: condition,
      isNegated: isNegated)
  }
}

// Conditions that an index serves.
extension ExpressionSQL {
  /// Returns whether a statement can begin at the rows that match a term, found by an index.
  private func isSought(_ term: QueryNode, _ plan: ObjectPlan) throws -> Bool {
    guard let query = term.soughtRelation else { return try isIndexed(term, plan) }
    guard let filter = query.filter, let first = query.route.first,
      let end = try destination(of: query.route, plan)
    else { return false }
    if case .object = plan.properties[first].role.kind { return false }
    return try isIndexed(filter, end)
  }

  /// Returns whether an index finds the rows that a condition holds for.
  private func isIndexed(_ node: QueryNode, _ plan: ObjectPlan) throws -> Bool {
    switch node {
    case .comparing, .isIn: try node.soughtColumn.map { try isIndexed($0[...], plan) } ?? false
    case .all(let list): try list.conditions.contains { try isIndexed($0, plan) }
    case .any(let list): try list.conditions.allSatisfy { try isIndexed($0, plan) }
    case .related(let query, _):
      if case .exists = query.answer, let filter = query.filter,
        let end = try destination(of: query.route, plan)
      {
        try isIndexed(filter, end)
      } else {
        false
      }
    default: false
    }
  }

  /// Returns whether an index finds the rows by a column, and each relation on the way has one, as references do.
  private func isIndexed(_ slots: ArraySlice<Int>, _ plan: ObjectPlan) throws -> Bool {
    guard let slot = slots.first else { return true }
    guard slots.count > 1 else { return plan.indexed.contains(slot) }
    guard case .object(let type) = plan.properties[slot].role.kind else { return false }
    return try isIndexed(slots.dropFirst(), store.plan(type))
  }

  /// The type at the end of a route; nil if the route goes through something else than relations.
  private func destination(of route: [Int], _ start: ObjectPlan) throws -> ObjectPlan? {
    var plan = start
    for slot in route {
      switch plan.properties[slot].role.kind {
      case .column, .asset: return nil
      case .object(let type): plan = try store.plan(type)
      case .links, .reverse: plan = try store.relation(of: plan.shape, slot).destination
      }
    }
    return plan
  }
}

extension ExpressionSQL.Window {
  /// Whether an index of a type, or its key, has the rows in this order.
  fileprivate func isInOrderOfIndex(of plan: ObjectPlan) -> Bool {
    guard let first = order.first else { return true }
    guard case .column(let slots) = first.node, slots.count <= 1 else { return false }
    return slots.allSatisfy(plan.indexed.contains)
  }
}

extension ObjectPlan {
  /// Whether a condition holds for one row at most.
  fileprivate func isOfOneRow(_ term: QueryNode) -> Bool {
    guard case .comparing = term, let slots = term.soughtColumn, slots.count <= 1 else {
      return false
    }
    return slots.allSatisfy(unique.contains)
  }
}

extension QueryNode {
  /// The conditions of which all hold where it holds.
  fileprivate var terms: [QueryNode] {
    if case .all(let list) = self { list.conditions } else { [self] }
  }

  /// The column that is equal to a value, or to one of some values, where the condition holds.
  fileprivate var soughtColumn: [Int]? {
    switch self {
    case .comparing(.column(let slots), .equal, .value(let value), _):
      value.isNull ? nil : slots
    case .comparing(.column(let slots), .equal, .object, _): slots
    case .isIn(.column(let slots), _): slots
    default: nil
    }
  }

  /// The relation that leads to objects where the condition holds.
  fileprivate var soughtRelation: RelatedQuery? {
    switch self {
    case .related(let query, _):
      if case .exists = query.answer { query } else { nil }
    case .comparing(.related(let query, _), let comparison, .value(let value), _):
      if case .aggregate(let form) = query.answer, form.holdsForNone(comparison, value) == false {
        query
      } else {
        nil
      }
    default: nil
    }
  }

  /// The column of a comparison with a value, which holds for no row without one unless it is ``QueryComparison/notEqual``.
  fileprivate var comparedColumn: [Int]? {
    if case .comparing(.column(let slots), _, .value(let value), _) = self, !value.isNull {
      return slots
    }
    return soughtColumn
  }

  /// The same comparison with another column; of ``QueryComparison/notEqual`` its negation.
  fileprivate func comparing(_ slots: [Int]) -> (QueryNode, isNegated: Bool) {
    switch self {
    case .comparing(_, .notEqual, let value, let depth):
      (.comparing(.column(slots), .equal, value, depth: depth), true)
    case .comparing(_, let comparison, let value, let depth):
      (.comparing(.column(slots), comparison, value, depth: depth), false)
    case .isIn(_, let values): (.isIn(.column(slots), values), false)
    default: (self, false)
    }
  }

  /// Whether it reads rows of other types.
  fileprivate var isOfOthers: Bool {
    switch self {
    case .related: true
    case .column(let slots): slots.count > 1
    case .value, .object, .failure: false
    case .comparing(let left, _, let right, _): left.isOfOthers || right.isOfOthers
    case .isIn(let operand, _), .negation(let operand, _): operand.isOfOthers
    case .calculation, .writing, .literal, .choice, .all, .any: parts.contains(where: \.isOfOthers)
    }
  }

  /// Whether SQL of the user is a part of it.
  var hasLiteral: Bool {
    switch self {
    case .literal: true
    // A subquery has names of its own.
    case .related, .value, .column, .object, .failure: false
    case .comparing(let left, _, let right, _): left.hasLiteral || right.hasLiteral
    case .isIn(let operand, _), .negation(let operand, _): operand.hasLiteral
    case .calculation, .writing, .choice, .all, .any: parts.contains(where: \.hasLiteral)
    }
  }

  /// Whether the condition is that the row has a key.
  var isOfKey: Bool { soughtColumn == [] }
}
