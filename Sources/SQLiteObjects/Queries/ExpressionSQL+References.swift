import SQLiteCore

// Conditions on a referenced object.
extension ExpressionSQL {
  /// A comparison with a property of a referenced object.
  struct Reference {
    /// The column that stores the reference.
    let column: String
    /// The rows of the table of the referenced objects, in the subquery.
    let rows: Rows
    let table: String
    /// The condition on the referenced rows.
    let condition: QueryNode
    /// Whether the comparison is true for all rows except those that reference a matching object.
    let isNegated: Bool
  }

  /// Writes a comparison with a property of a referenced object as `reference IN (SELECT key …)`,
  /// which reads the referenced rows once. A scalar subquery would look up the object for each row.
  ///
  /// Tests for nil aren't written in this way, because an object that references nothing must
  /// match, too.
  ///
  /// - Returns: False if nothing was written, because the node isn't such a comparison or is
  ///   evaluated for few rows only.
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

  /// Returns the parts of a comparison with a property of a referenced object. Returns nil if the
  /// node isn't one, or if the property is the key, which the column of the reference already
  /// stores.
  mutating func reference(_ node: QueryNode, _ rows: Rows) throws -> Reference? {
    guard let slots = node.comparedColumn, slots.count > 1,
      case .object(let type) = rows.plan.properties[slots[0]].role.kind
    else { return nil }
    let plan = try store.plan(type)
    let rest = Array(slots[1...])
    guard rest != plan.autoIncrementSlot.map({ [$0] }) else { return nil }
    let target = try Rows(plan, alias: alias(), isVisitedOnce: true)
    let (condition, isNegated) = node.comparing(rest)
    return Reference(
      column: try rows.column(slots[0]), rows: target,
      table: "\(plan.quotedTable.text) AS \(target.alias ?? "")", condition: condition,
      isNegated: isNegated)
  }
}

extension QueryNode {
  /// The slots on the path of the column that the node compares with a value other than NULL or
  /// searches in a list; nil for all other nodes. Rows in which the column is NULL match only
  /// ``QueryComparison/notEqual``.
  fileprivate var comparedColumn: [Int]? {
    if case .comparing(.column(let slots), _, .value(let value), _) = self, !value.isNull {
      return slots
    }
    return equalityColumn
  }

  /// Returns the same comparison for another column. For ``QueryComparison/notEqual``, returns the
  /// equality, and true for `isNegated`.
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
}
