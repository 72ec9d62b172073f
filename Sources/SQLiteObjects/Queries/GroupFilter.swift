/// A condition on groups of objects, which the database evaluates.
///
///     .count > 3 && .sum(\.$goals) >= 10
///
/// It is about what is calculated of the group: a condition on the objects is a ``Filter``, which leaves them out
/// before they are grouped.
public struct GroupFilter<Object: MagicObject>: Sendable {
  let node: QueryNode

  init(_ node: QueryNode) {
    self.node = node
  }

  /// True if both are.
  public static func && (left: GroupFilter, right: GroupFilter) -> GroupFilter {
    GroupFilter(.and(left.node, right.node))
  }

  /// True if one of them is.
  public static func || (left: GroupFilter, right: GroupFilter) -> GroupFilter {
    GroupFilter(.or(left.node, right.node))
  }

  /// True if the other is not.
  public static prefix func ! (operand: GroupFilter) -> GroupFilter {
    GroupFilter(.not(operand.node))
  }
}

// Conditions by what is calculated of the group.
extension Aggregate {
  /// True if the value of the group is equal.
  public static func == (left: Aggregate, right: Result) -> GroupFilter<Object>
  where Result: Codable {
    GroupFilter(.comparison(left.node, .equal, QueryNode(right)))
  }

  /// True if the value of the group is another one, or nil.
  public static func != (left: Aggregate, right: Result) -> GroupFilter<Object>
  where Result: Codable {
    GroupFilter(.comparison(left.node, .notEqual, QueryNode(right)))
  }

  /// True if the value of the group is less.
  public static func < (left: Aggregate, right: Result) -> GroupFilter<Object>
  where Result: Codable {
    GroupFilter(.comparison(left.orderedNode, .less, QueryNode(right)))
  }

  /// True if the value of the group is less or equal.
  public static func <= (left: Aggregate, right: Result) -> GroupFilter<Object>
  where Result: Codable {
    GroupFilter(.comparison(left.orderedNode, .lessOrEqual, QueryNode(right)))
  }

  /// True if the value of the group is greater.
  public static func > (left: Aggregate, right: Result) -> GroupFilter<Object>
  where Result: Codable {
    GroupFilter(.comparison(left.orderedNode, .greater, QueryNode(right)))
  }

  /// True if the value of the group is greater or equal.
  public static func >= (left: Aggregate, right: Result) -> GroupFilter<Object>
  where Result: Codable {
    GroupFilter(.comparison(left.orderedNode, .greaterOrEqual, QueryNode(right)))
  }
}

/// A value that groups of objects are sorted by.
public struct GroupSortKey<Object: MagicObject>: Sendable {
  let order: QueryOrder

  /// Smaller values first, nil before all.
  ///
  /// - Parameter aggregate: A value that is calculated of the group, such as `.count`.
  public static func ascending(_ aggregate: Aggregate<Object, some Any>) -> GroupSortKey {
    GroupSortKey(order: QueryOrder(aggregate.orderedNode, isDescending: false))
  }

  /// Greater values first, nil after all.
  ///
  /// - Parameter aggregate: A value that is calculated of the group, such as `.count`.
  public static func descending(_ aggregate: Aggregate<Object, some Any>) -> GroupSortKey {
    GroupSortKey(order: QueryOrder(aggregate.orderedNode, isDescending: true))
  }

  /// Smaller keys first, nil before all.
  ///
  /// - Parameter path: One of the properties that the objects are grouped by.
  public static func ascending<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> GroupSortKey where Column.Element: MagicComparable {
    GroupSortKey(
      order: QueryOrder(QueryNode(path).ordered(as: Column.Element.self), isDescending: false))
  }

  /// Greater keys first, nil after all.
  ///
  /// - Parameter path: One of the properties that the objects are grouped by.
  public static func descending<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> GroupSortKey where Column.Element: MagicComparable {
    GroupSortKey(
      order: QueryOrder(QueryNode(path).ordered(as: Column.Element.self), isDescending: true))
  }

  /// Smaller keys first, nil before all.
  ///
  /// - Parameter expression: One of the expressions that the objects are grouped by.
  public static func ascending(
    _ expression: MagicExpression<Object, some Codable>
  ) -> GroupSortKey {
    GroupSortKey(order: QueryOrder(expression.orderedNode, isDescending: false))
  }

  /// Greater keys first, nil after all.
  ///
  /// - Parameter expression: One of the expressions that the objects are grouped by.
  public static func descending(
    _ expression: MagicExpression<Object, some Codable>
  ) -> GroupSortKey {
    GroupSortKey(order: QueryOrder(expression.orderedNode, isDescending: true))
  }
}
