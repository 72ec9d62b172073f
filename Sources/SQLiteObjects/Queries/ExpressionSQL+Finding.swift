import SQLiteCore
import SQLiteRelations

// Which condition finds the rows of a statement.
//
// Which of several indexes finds the fewest rows isn't known when the SQL is written, and SQLite assumes the same number
// for each. So the statement compares the numbers when it runs, as `ExpressionSQL+Choice.swift` writes it.
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
  ///
  /// A class, whose copies are small: as a struct it takes 10 KiB of machine code for them.
  final class Finding {
    /// The conditions that all hold.
    let terms: [QueryNode]
    /// The terms whose rows an index finds: first those on the rows themselves, which are the fastest to count.
    var sought: [Int] = []
    /// The terms that no index serves.
    var rest: [Int] = []
    /// The rows in the order of an index, of which the first ones that match are read; nil if all are read.
    let stream: Window?
    /// A reverse relation with a condition that no index serves; nil if an index serves one of the terms.
    var probed: RelatedQuery?
    /// Whether reading all rows is a choice, too.
    var scans = false
    /// Whether the statement compares the numbers of rows, and begins at the fewest.
    var compares = false
    /// The number of rows that the filter is evaluated for, unless the statement compares.
    var visited = Narrowing.all
    /// The number of rows that are found.
    var narrowing = Narrowing.all

    fileprivate init(_ terms: [QueryNode], _ stream: Window?) {
      self.terms = terms
      self.stream = stream
    }
  }

  /// The greatest number of levels that a choice may be inside of: its terms are written several times.
  private static var choiceLevel: Int { 5 }

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
      let finding = Finding([], nil)
      finding.visited =
        plan.isOfOneRow(filter) ? .one : try isIndexed(filter, plan) ? .few : .all
      finding.narrowing = finding.visited
      return finding
    }
    let finding = Finding(filter?.terms ?? [], stream)
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
  var terms: [QueryNode] {
    if case .all(let list) = self { list.conditions } else { [self] }
  }

  /// The column that is equal to a value, or to one of some values, where the condition holds.
  var soughtColumn: [Int]? {
    switch self {
    case .comparing(.column(let slots), .equal, .value(let value), _):
      value.isNull ? nil : slots
    case .comparing(.column(let slots), .equal, .object, _): slots
    case .isIn(.column(let slots), _): slots
    default: nil
    }
  }

  /// The relation that leads to objects where the condition holds.
  var soughtRelation: RelatedQuery? {
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

  /// Whether it reads rows of other types.
  fileprivate var isOfOthers: Bool {
    containsPart { node in
      switch node {
      case .related: true
      case .column(let slots), .comparing(.column(let slots), _, .value, _): slots.count > 1
      case .value, .object, .failure: false
      default: nil
      }
    }
  }

  /// Whether SQL of the user is a part of it. A subquery has names of its own.
  var hasLiteral: Bool {
    containsPart { node in
      switch node {
      case .literal: true
      case .related, .value, .column, .object, .failure, .comparing(.column, _, .value, _): false
      default: nil
      }
    }
  }

  /// Returns whether `isFound` returns true for the node or one of its parts. Not recursive, because a sum is a tree of up
  /// to ``greatestDepth`` levels, whose frames would overflow a small stack.
  ///
  /// - Parameter isFound: Returns nil for a node whose parts decide.
  private func containsPart(_ isFound: (QueryNode) -> Bool?) -> Bool {
    if let isFound = isFound(self) { return isFound }
    var open = parts
    while let node = open.popLast() {
      switch isFound(node) {
      case true?: return true
      case false?: continue
      case nil: open += node.parts
      }
    }
    return false
  }

  /// Whether the condition is that the row has a key.
  var isOfKey: Bool { soughtColumn == [] }
}
