import SQLiteCore

extension QueryParts {
  /// Returns the queries that together select the objects after a position, in order.
  ///
  /// The first query selects the objects with the same sort keys as the position and a greater row
  /// key. The second one selects the objects that share all sort keys but the last with the
  /// position, and follow it in the last one. Each further query shares one sort key fewer. For a
  /// sort key in descending order that may be nil, another query selects the objects with nil,
  /// which follow all others. If the sort keys have an index, each query reads one range of it, so
  /// all pages take the same time.
  ///
  /// - Parameters:
  ///   - start: The position, with a value for each sort key of this query.
  ///   - plan: The plan of the objects' type.
  func parts<Object>(after start: PagePosition<Object>, _ plan: ObjectPlan) -> [QueryParts] {
    func part(_ equalCount: Int, _ node: QueryNode, _ comparison: QueryComparison, _ value: Value)
      -> QueryParts
    {
      let equal = (0..<equalCount).map {
        QueryNode.comparison(order[$0].node, .equal, .value(start.values[$0]))
      }
      var part = self
      part.filter = (equal + [.comparison(node, comparison, .value(value))])
        .reduce(filter) { filter, next in filter.map { .and($0, next) } ?? next }
      part.order.removeFirst(equalCount)
      return part
    }
    var parts = [part(order.count, .column([]), .greater, .integer(start.key))]
    for index in order.indices.reversed() {
      let (node, value) = (order[index].node, start.values[index])
      switch (order[index].isDescending, value.isNull) {
      // NULL sorts before all other values.
      case (false, true): parts.append(part(index, node, .notEqual, .null))
      case (false, false): parts.append(part(index, node, .greater, value))
      case (true, true): break
      case (true, false):
        parts.append(part(index, node, .less, value))
        if node.mayBeNil(in: plan) { parts.append(part(index, node, .equal, .null)) }
      }
    }
    return parts
  }
}

extension QueryNode {
  /// Returns whether the value of the sort key may be nil.
  fileprivate func mayBeNil(in plan: ObjectPlan) -> Bool {
    guard case .column(let slots) = self, slots.count == 1 else { return mayBeNull }
    return plan.properties[slots[0]].role.isOptional
  }
}
