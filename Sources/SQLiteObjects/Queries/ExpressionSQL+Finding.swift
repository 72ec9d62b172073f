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
    fileprivate let terms: [QueryNode]
    /// The terms whose rows an index finds: first those on the rows themselves, which are the fastest to count.
    fileprivate var sought: [Int] = []
    /// The terms that no index serves.
    fileprivate var rest: [Int] = []
    /// The rows in the order of an index, of which the first ones that match are read; nil if all are read.
    fileprivate let stream: Window?
    /// A reverse relation with a condition that no index serves; nil if an index serves one of the terms.
    fileprivate var probed: RelatedQuery?
    /// Whether reading all rows is a choice, too.
    fileprivate var scans = false
    /// Whether the statement compares the numbers of rows, and begins at the fewest.
    fileprivate var compares = false
    /// The number of rows that the filter is evaluated for, unless the statement compares.
    fileprivate var visited = Narrowing.all
    /// The number of rows that are found.
    fileprivate(set) var narrowing = Narrowing.all
  }

  /// The greatest number of conditions that a statement chooses between. Its length grows by the square.
  private static var choiceLimit: Int { 4 }
  /// The greatest number of levels that a choice may be inside of: its terms are written several times.
  private static var choiceLevel: Int { 3 }

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
    if let filter, stream == nil, !isOfRelation, case .comparing = filter, !filter.isOfOthers {
      // The most frequent filter finds its rows by itself (benchmark `query`).
      let narrowing: Narrowing =
        plan.isOfOneRow(filter) ? .one : try isIndexed(filter, plan) ? .few : .all
      return Finding(terms: [], stream: nil, visited: narrowing, narrowing: narrowing)
    }
    var finding = Finding(terms: filter?.terms ?? [], stream: stream)
    var (isOfOneRow, isOfOthers, isOwn) = (false, false, false)
    // A filter that is deeper than this is refused when it is written.
    if let filter, filter.depth <= QueryNode.greatestLevel {
      for (index, term) in finding.terms.enumerated() {
        let isOther = term.isOfOthers
        isOfOthers = isOfOthers || isOther
        if try isOfRelation && index == 0 || isSought(term, plan) {
          finding.sought.insert(index, at: isOther ? finding.sought.count : 0)
          isOfOneRow = isOfOneRow || plan.isOfOneRow(term)
          isOwn = isOwn || !isOther
        } else {
          finding.rest.append(index)
          if finding.probed == nil { finding.probed = try probed(term, plan) }
        }
      }
    }
    // Between conditions on the rows themselves, one index on both leaves nothing to choose.
    let isContested =
      isOfOthers || plan.hasSeparateIndexes(finding.sought.map { finding.terms[$0] })
    let hasChoice: Bool
    if finding.sought.isEmpty {
      // The first rows are looked at in a subquery, which has not all names that SQL of the user may use.
      hasChoice = stream != nil ? filter?.hasLiteral == false : finding.probed != nil
    } else {
      hasChoice = stream != nil || finding.terms.count > 1
      finding.probed = nil
    }
    finding.scans = stream == nil && !(finding.rest.isEmpty && isOfOthers)
    finding.compares =
      !isOfOneRow && isContested && hasChoice && level <= ExpressionSQL.choiceLevel
    finding.visited = isOfOneRow ? .one : isOwn || stream != nil ? .few : .all
    finding.narrowing = finding.sought.isEmpty ? finding.visited : max(finding.visited, .few)
    return finding
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
    rows.narrowing = finding.visited
    try write(filter, rows, to: &sql)
    rows.narrowing = finding.narrowing
  }

  /// Writes a query for the keys of the rows that match a filter: a `UNION ALL` with a branch for each sought term, and a
  /// branch 0 for the first rows of an order or for all rows. All branches but one find nothing.
  private mutating func writeChoice(
    _ filter: QueryNode, _ plan: ObjectPlan, _ finding: Finding, to sql: inout SQL
  ) throws {
    let (table, key) = (plan.quotedTable, SQL(unchecked: plan.qualifiedKey))
    let (all, few) = (Rows(of: plan), Rows(of: plan, narrowing: .few))
    let sought = finding.sought.prefix(ExpressionSQL.choiceLimit)
    sql.append(text: "WITH ")
    var names: [String] = []
    for index in sought {
      let keys = try keys(of: finding.terms[index], all)
      names.append(alias())
      sql.append(text: "\(names[names.count - 1]) (start) AS NOT MATERIALIZED (")
      sql.append(keys)
      sql.append(text: "), ")
    }
    // No column of the rows has this name, by which SQL of the user could mean one.
    let (choice, number) = (alias(), alias())
    sql.append(text: "\(choice) (\(number)) AS MATERIALIZED (SELECT CASE")
    if !sought.isEmpty {
      writeComparison(names, plan, finding, to: &sql)
    } else if let stream = finding.stream {
      try writeProbe(filter, few, stream.order, to: &sql)
    } else if let probed = finding.probed {
      try writeProbe(probed, few, to: &sql)
    }
    sql.append(text: ")")
    var separator = " "
    func begin(_ branch: Int) {
      // The choice is in a table of one row: SQLite would evaluate a subquery in WHERE for each row.
      sql.append(
        text:
          "\(separator)SELECT \(key.text) FROM \(choice) CROSS JOIN \(table.text) WHERE \(number) = \(branch)"
      )
      separator = " UNION ALL "
    }
    for (branch, index) in sought.enumerated() {
      begin(branch + 1)
      sql.append(text: " AND ")
      try write(finding.terms[index], all, to: &sql)
      try write(finding, finding.terms.indices.filter { $0 != index }, few, to: &sql)
    }
    if sought.isEmpty {
      begin(1)
      sql.append(text: " AND ")
      try write(filter, all, to: &sql)
    }
    if let stream = finding.stream {
      sql.append(text: "\(separator)SELECT * FROM (SELECT \(key.text) FROM \(table.text) WHERE ")
      try write(filter, few, to: &sql)
      try write(stream.order, few, to: &sql)
      sql.append(text: " LIMIT (SELECT CASE \(number) WHEN 0 THEN ")
      sql.append("\(stream.count)")
      sql.append(text: " ELSE 0 END FROM \(choice)))")
    } else if finding.scans {
      begin(0)
      if !finding.rest.isEmpty {
        sql.append(text: " AND ")
        let rest = finding.rest.map { finding.terms[$0] }
        try write(rest[...], joinedBy: " AND ", sought.isEmpty ? few : all, to: &sql)
      }
      try write(finding, finding.sought, few, to: &sql)
    }
  }

  /// Writes the number of the branch with the fewest rows, or 0 if the first rows of an order, or all rows, are probably
  /// read sooner.
  private func writeComparison(
    _ names: [String], _ plan: ObjectPlan, _ finding: Finding, to sql: inout SQL
  ) {
    let hasOthers = finding.stream != nil || finding.scans
    for size in [16, 128, 1_024, 8_192, 65_536] {
      // The first rows are found after `count * rows / matches` rows, if the matches are spread evenly.
      let limit = finding.stream == nil ? size * 8 : size * size
      if hasOthers { sql.append(text: " WHEN size < \(limit) THEN 0") }
      for (index, name) in names.enumerated() {
        sql.append(
          text:
            " WHEN NOT EXISTS (SELECT 1 FROM \(name) LIMIT 1 OFFSET \(size)) THEN \(index + 1)")
      }
    }
    sql.append(text: hasOthers ? " ELSE 0 END" : " ELSE 1 END")
    if !hasOthers { return }
    let key = SQL(unchecked: plan.qualifiedKey)
    sql.append(
      " FROM (SELECT max(\(key)) * \(finding.stream?.count ?? 1) AS size FROM \(plan.quotedTable))")
  }

  /// Writes 0 if one of the first rows of an order matches a filter that no index serves, so that many of them probably do.
  private mutating func writeProbe(
    _ filter: QueryNode, _ rows: Rows, _ order: [QueryOrder], to sql: inout SQL
  ) throws {
    let table = rows.plan.quotedTable
    sql.append(" WHEN EXISTS (SELECT 1 FROM (SELECT * FROM \(table)")
    try write(order, rows, to: &sql)
    sql.append(" LIMIT 256) AS \(table) WHERE ")
    try write(filter, rows, to: &sql)
    sql.append(text: ") THEN 0 ELSE 1 END")
  }

  /// Writes 0 if there are so many related objects, and so many of them match, that looking at those of each row is faster
  /// than reading all.
  private mutating func writeProbe(
    _ query: RelatedQuery, _ rows: Rows, to sql: inout SQL
  ) throws {
    guard let filter = query.filter else { return sql.append(text: " WHEN 0 THEN 0 ELSE 1 END") }
    let plan = try store.relation(of: rows.plan.shape, query.route[0]).destination
    let related = try Rows(plan, alias: alias(), narrowing: .few)
    let (key, table) = (SQL(unchecked: plan.qualifiedKey), plan.quotedTable)
    sql.append(
      " WHEN (SELECT max(\(key)) FROM \(table)) > 256 * (SELECT max(\(SQL(unchecked: rows.key))) FROM \(rows.plan.quotedTable))"
    )
    sql.append(
      " AND EXISTS (SELECT 1 FROM (SELECT * FROM \(table) LIMIT 256) AS \(SQL(unchecked: related.alias ?? "")) WHERE "
    )
    try write(filter, related, to: &sql)
    sql.append(text: ") THEN 0 ELSE 1 END")
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

  /// Writes ORDER BY, of which the key is the last term.
  private mutating func write(_ order: [QueryOrder], _ rows: Rows, to sql: inout SQL) throws {
    sql.append(text: " ORDER BY ")
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

  /// Returns the relation of a term, or of its negation, if it leads from the rows directly to others with a
  /// condition that no index serves.
  private func probed(_ term: QueryNode, _ plan: ObjectPlan) throws -> RelatedQuery? {
    if case .negation(let operand, _) = term { return try probed(operand, plan) }
    guard case .related(let query, _) = term, case .exists = query.answer, query.route.count == 1,
      let filter = query.filter, !filter.hasLiteral,
      case .reverse = plan.properties[query.route[0]].role.kind
    else { return nil }
    let relation = try store.relation(of: plan.shape, query.route[0])
    guard try relation.keys.isInDestination && !isIndexed(filter, relation.destination) else {
      return nil
    }
    return try isStored(relation) ? query : nil
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

extension ObjectPlan {
  /// Whether terms compare several columns, of which no index has two.
  fileprivate func hasSeparateIndexes(_ terms: [QueryNode]) -> Bool {
    if terms.count < 2 { return false }
    let names = Set(terms.compactMap { $0.soughtColumn?.first.map { properties[$0].name } })
    return names.count > 1
      && !rows.indexes.contains { index in
        index.columns.count > 1 && index.columns.prefix(2).allSatisfy(names.contains)
      }
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
