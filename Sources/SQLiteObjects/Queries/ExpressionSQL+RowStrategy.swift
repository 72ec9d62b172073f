import SQLiteCore
import SQLiteRelations

// The condition through which a statement finds its rows.
//
// When the SQL is written, it isn't known which of several indexes has the fewest matching rows,
// and SQLite assumes the same number for all of them. So the statement compares the numbers when it
// runs: see `ExpressionSQL+Choice.swift`.
extension ExpressionSQL {
  /// An estimate of the number of rows for which a condition is evaluated, based on the form of the
  /// query.
  enum Narrowing: Comparable {
    /// All rows of a table, or an unknown number.
    case all
    /// The rows that an index finds for a value, or the first rows of an order.
    case few
    /// A single row, found by its key.
    case one
  }

  /// The order in which a statement reads rows, and the number of rows after which it stops.
  struct Window {
    let order: [QueryOrder]
    /// The number of rows after which the statement stops: those that it skips and those that it
    /// returns.
    let count: Int

    init?(order: [QueryOrder], limit: Int?, offset: Int) {
      guard let limit, limit >= 0 else { return nil }
      let (count, isTooLarge) = max(offset, 0).addingReportingOverflow(limit)
      if isTooLarge { return nil }
      self.order = order
      self.count = count
    }
  }

  /// The strategy by which a statement finds its rows.
  ///
  /// A class, because copying a struct would add 10 KiB of machine code.
  final class RowStrategy {
    /// The terms of the filter, which must all be true.
    let terms: [QueryNode]
    /// The indexes of the terms that a database index serves. Terms on the rows themselves come
    /// first, because their rows are the fastest to count.
    var indexedTerms: [Int] = []
    /// The indexes of the terms that no database index serves.
    var rest: [Int] = []
    /// The part of the rows to read, if an index has them in the required order and the first
    /// matches suffice; nil if all rows are read.
    let stream: Window?
    /// A reverse relation with a condition that no index serves. Nil if an index serves one of the
    /// terms.
    var probed: RelatedQuery?
    /// Whether reading all rows is one of the alternatives that the statement compares.
    var scans = false
    /// Whether the statement compares the numbers of rows when it runs, and starts with the fewest.
    var compares = false
    /// An estimate of the number of rows for which the filter is evaluated, if the statement
    /// doesn't compare.
    var visited = Narrowing.all
    /// An estimate of the number of rows that the statement finds.
    var narrowing = Narrowing.all

    fileprivate init(_ terms: [QueryNode], _ stream: Window?) {
      self.terms = terms
      self.stream = stream
    }
  }

  /// The maximum nesting level at which a statement may compare. A comparison repeats the SQL of
  /// its terms.
  private static var choiceLevel: Int { 5 }

  /// Decides how a statement finds the rows that a filter selects. No other code makes this
  /// decision.
  ///
  /// - Parameters:
  ///   - filter: The filter, or nil if all rows are read.
  ///   - plan: The type of the rows.
  ///   - window: The part of the rows that is read, or nil for all.
  ///   - hasRelationTerm: Whether the first term of the filter selects the objects of a relation.
  func rowStrategy(
    _ filter: QueryNode?, _ plan: ObjectPlan, _ window: Window? = nil, hasRelationTerm: Bool = false
  ) throws -> RowStrategy {
    let stream = window.flatMap { $0.isInOrderOfIndex(of: plan) ? $0 : nil }
    if let filter, stream == nil, !hasRelationTerm, case .comparing = filter, !filter.readsOtherRows
    {
      // Fast path for the most frequent filter, a single comparison (benchmark `query`).
      let rowStrategy = RowStrategy([], nil)
      rowStrategy.visited =
        plan.matchesAtMostOneRow(filter) ? .one : try isIndexed(filter, plan) ? .few : .all
      rowStrategy.narrowing = rowStrategy.visited
      return rowStrategy
    }
    let rowStrategy = RowStrategy(filter?.terms ?? [], stream)
    var (matchesAtMostOneRow, readsOtherRows, isOwn) = (false, false, false)
    // Writing a deeper filter throws.
    if let filter, filter.depth <= QueryNode.greatestLevel {
      for (index, term) in rowStrategy.terms.enumerated() {
        let isOther = term.readsOtherRows
        readsOtherRows = readsOtherRows || isOther
        if try hasRelationTerm && index == 0 || isServedByIndex(term, plan) {
          rowStrategy.indexedTerms.insert(index, at: isOther ? rowStrategy.indexedTerms.count : 0)
          matchesAtMostOneRow = matchesAtMostOneRow || plan.matchesAtMostOneRow(term)
          isOwn = isOwn || !isOther
        } else {
          rowStrategy.rest.append(index)
          if rowStrategy.probed == nil { rowStrategy.probed = try probed(term, plan) }
        }
      }
    }
    // If all conditions are on the rows themselves and one index covers two of them, there is
    // nothing to choose.
    let isContested =
      readsOtherRows
      || plan.hasSeparateIndexes(rowStrategy.indexedTerms.map { rowStrategy.terms[$0] })
    let hasChoice: Bool
    if rowStrategy.indexedTerms.isEmpty {
      // The first rows are read in a subquery, which lacks some names that SQL of the user may use.
      hasChoice = stream != nil ? filter?.hasLiteral == false : rowStrategy.probed != nil
    } else {
      hasChoice = stream != nil || rowStrategy.terms.count > 1
      rowStrategy.probed = nil
    }
    rowStrategy.scans = stream == nil && !(rowStrategy.rest.isEmpty && readsOtherRows)
    rowStrategy.compares =
      !matchesAtMostOneRow && isContested && hasChoice && level <= ExpressionSQL.choiceLevel
    rowStrategy.visited = matchesAtMostOneRow ? .one : isOwn || stream != nil ? .few : .all
    rowStrategy.narrowing =
      rowStrategy.indexedTerms.isEmpty ? rowStrategy.visited : max(rowStrategy.visited, .few)
    return rowStrategy
  }
}

// Conditions that an index serves.
extension ExpressionSQL {
  /// Returns whether a statement can start with the rows that match a term, because an index finds
  /// them.
  private func isServedByIndex(_ term: QueryNode, _ plan: ObjectPlan) throws -> Bool {
    guard let query = term.requiredRelation else { return try isIndexed(term, plan) }
    guard let filter = query.filter, let first = query.route.first,
      let end = try destination(of: query.route, plan)
    else { return false }
    if case .object = plan.properties[first].role.kind { return false }
    return try isIndexed(filter, end)
  }

  /// Returns the relation of a term or of its negation, if it is a single reverse relation with a
  /// condition that no index serves; otherwise nil.
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

  /// Returns whether an index finds the rows for which a condition is true.
  private func isIndexed(_ node: QueryNode, _ plan: ObjectPlan) throws -> Bool {
    switch node {
    case .comparing, .isIn: try node.equalityColumn.map { try isIndexed($0[...], plan) } ?? false
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

  /// Returns whether a column has an index, and each relation on its path has one, too. References
  /// always have one.
  private func isIndexed(_ slots: ArraySlice<Int>, _ plan: ObjectPlan) throws -> Bool {
    guard let slot = slots.first else { return true }
    guard slots.count > 1 else { return plan.indexed.contains(slot) }
    guard case .object(let type) = plan.properties[slot].role.kind else { return false }
    return try isIndexed(slots.dropFirst(), store.plan(type))
  }

  /// Returns the type at the end of a route, or nil if a property on the route isn't a relation.
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
  /// Returns whether an index of a type, or its key, has the rows in this order.
  fileprivate func isInOrderOfIndex(of plan: ObjectPlan) -> Bool {
    guard let first = order.first else { return true }
    guard case .column(let slots) = first.node, slots.count <= 1 else { return false }
    return slots.allSatisfy(plan.indexed.contains)
  }
}

extension ObjectPlan {
  /// Returns whether at most one row can match a condition.
  fileprivate func matchesAtMostOneRow(_ term: QueryNode) -> Bool {
    guard case .comparing = term, let slots = term.equalityColumn, slots.count <= 1 else {
      return false
    }
    return slots.allSatisfy(unique.contains)
  }
}

extension ObjectPlan {
  /// Returns whether terms compare several columns, and no index starts with two of them.
  fileprivate func hasSeparateIndexes(_ terms: [QueryNode]) -> Bool {
    if terms.count < 2 { return false }
    let names = Set(terms.compactMap { $0.equalityColumn?.first.map { properties[$0].name } })
    return names.count > 1
      && !rows.indexes.contains { index in
        index.columns.count > 1 && index.columns.prefix(2).allSatisfy(names.contains)
      }
  }
}

extension QueryNode {
  /// The conditions that must all be true for this condition to be true.
  var terms: [QueryNode] {
    if case .all(let list) = self { list.conditions } else { [self] }
  }

  /// The slots on the path of the column that must be equal to a value, or to one of several
  /// values, for the condition to be true; nil if no single column must.
  var equalityColumn: [Int]? {
    switch self {
    case .comparing(.column(let slots), .equal, .value(let value), _):
      value.isNull ? nil : slots
    case .comparing(.column(let slots), .equal, .object, _): slots
    case .isIn(.column(let slots), _): slots
    default: nil
    }
  }

  /// The relation that must have a matching object for the condition to be true, or nil if there is
  /// none.
  var requiredRelation: RelatedQuery? {
    switch self {
    case .related(let query, _):
      if case .exists = query.answer { query } else { nil }
    case .comparing(.related(let query, _), let comparison, .value(let value), _):
      if case .aggregate(let form) = query.answer, form.holdsForNoRows(comparison, value) == false {
        query
      } else {
        nil
      }
    default: nil
    }
  }

  /// Whether the node reads rows of other objects.
  fileprivate var readsOtherRows: Bool {
    containsPart { node in
      switch node {
      case .related: true
      case .column(let slots), .comparing(.column(let slots), _, .value, _): slots.count > 1
      case .value, .object, .failure: false
      default: nil
      }
    }
  }

  /// Whether the node contains SQL of the user. Subqueries on related objects don't count, because
  /// their names are separate.
  var hasLiteral: Bool {
    containsPart { node in
      switch node {
      case .literal: true
      case .related, .value, .column, .object, .failure, .comparing(.column, _, .value, _): false
      default: nil
      }
    }
  }

  /// Returns whether `isFound` returns true for the node or one of its descendants. This isn't
  /// recursive, because a sum is a tree of up to ``greatestDepth`` levels, and their stack frames
  /// would overflow a small stack.
  ///
  /// - Parameter isFound: A test of one node. It returns nil if the children of the node decide.
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

  /// Whether the condition compares the key of the row with a value.
  var comparesKey: Bool { equalityColumn == [] }
}
