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
    /// The rows that an index finds for a value, or the rows that a statement with a limit reads in
    /// index order before it stops.
    case few
    /// At most one row, found by its key or by a unique column.
    case one
  }

  /// The order and the limit of a statement that stops after a number of rows.
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
    /// The terms of the filter, which must all be true. Empty for a filter that is a single
    /// comparison, which leaves no choice.
    let terms: [QueryNode]
    /// The indexes of the terms that a database index serves. Terms on the rows themselves come
    /// first, because their rows are the fastest to count.
    var indexedTerms: [Int] = []
    /// The indexes of the terms that no database index serves.
    var rest: [Int] = []
    /// The order and limit, if an index yields the rows in the order of the first sort key, so that
    /// the statement can stop after enough matches. Nil if it reads all rows.
    let stream: Window?
    /// The first term on a reverse relation whose condition no index serves; nil if an index serves
    /// one of the terms, or if there is no such term. If `stream` is nil, the statement first
    /// estimates how many related objects match.
    var probed: RelatedQuery?
    /// Whether reading all rows is one of the alternatives from which the statement chooses if
    /// `compares` is true.
    var scans = false
    /// Whether the statement compares the alternatives when it runs, and starts with the one that
    /// probably reads the fewest rows.
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

  /// The maximum nesting level of a condition for which a statement may compare alternatives. It is
  /// limited because a comparison repeats the SQL of its terms.
  private static var choiceLevel: Int { 5 }

  /// Decides how a statement finds the rows that a filter selects. No other code makes this
  /// decision.
  ///
  /// - Parameters:
  ///   - filter: The filter, or nil if all rows are read.
  ///   - plan: The plan of the rows' type.
  ///   - window: The order and limit of the statement, or nil if it reads all matching rows.
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
  /// these rows or, for a term on related objects, the related objects.
  private func isServedByIndex(_ term: QueryNode, _ plan: ObjectPlan) throws -> Bool {
    guard let query = term.requiredRelation else { return try isIndexed(term, plan) }
    guard let filter = query.filter, let first = query.route.first,
      let end = try destination(of: query.route, plan)
    else { return false }
    if case .object = plan.properties[first].role.kind { return false }
    return try isIndexed(filter, end)
  }

  /// Returns the query of a term, or of the condition that a term negates, if it tests whether a
  /// reverse relation contains an object that matches a condition, and no index serves this
  /// condition. Returns nil for all other terms, and if the relation uses a link table or isn't
  /// stored yet.
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

  /// Returns whether the last property of a path has an index, and all others are references, which
  /// always have one.
  private func isIndexed(_ slots: ArraySlice<Int>, _ plan: ObjectPlan) throws -> Bool {
    guard let slot = slots.first else { return true }
    guard slots.count > 1 else { return plan.indexed.contains(slot) }
    guard case .object(let type) = plan.properties[slot].role.kind else { return false }
    return try isIndexed(slots.dropFirst(), store.plan(type))
  }

  /// Returns the plan of the type at the end of a route, or nil if a property on the route isn't a
  /// relation.
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
  /// Returns whether an index of the type, or the key of its table, yields the rows in the order of
  /// the window's first sort key. Returns true if the window has no order.
  fileprivate func isInOrderOfIndex(of plan: ObjectPlan) -> Bool {
    guard let first = order.first else { return true }
    guard case .column(let slots) = first.node, slots.count <= 1 else { return false }
    return slots.allSatisfy(plan.indexed.contains)
  }
}

extension ObjectPlan {
  /// Returns whether a condition is an equality with a unique column or with the key, so that at
  /// most one row matches.
  fileprivate func matchesAtMostOneRow(_ term: QueryNode) -> Bool {
    guard case .comparing = term, let slots = term.equalityColumn, slots.count <= 1 else {
      return false
    }
    return slots.allSatisfy(unique.contains)
  }
}

extension ObjectPlan {
  /// Returns whether equalities are on different columns, and no index starts with two of these
  /// columns.
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

  /// The slots on the path of the column that the condition compares for equality with one or
  /// several values other than NULL. Empty for the key of the row; nil for all other conditions.
  var equalityColumn: [Int]? {
    switch self {
    case .comparing(.column(let slots), .equal, .value(let value), _):
      value.isNull ? nil : slots
    case .comparing(.column(let slots), .equal, .object, _): slots
    case .isIn(.column(let slots), _): slots
    default: nil
    }
  }

  /// The query that must find a related object for the condition to be true; nil if the condition
  /// can be true without one.
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
  /// the columns in them belong to other tables.
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
  /// - Parameter isFound: A closure that returns true if the search has found its node, false to
  ///   skip the children of the node, and nil to test them as well.
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

  /// Whether the condition compares the key of the row for equality with one or several values.
  var comparesKey: Bool { equalityColumn == [] }
}
