/// A condition on groups of objects, which the database evaluates.
///
///     .count > 3 && .sum(\.$goals) >= 10
///
/// It compares aggregates of each group. To exclude objects before they are grouped, use a
/// ``Filter``.
public struct GroupFilter<Object: MagicObject>: Sendable {
  let node: QueryNode

  init(_ node: QueryNode) {
    self.node = node
  }

  /// Returns a condition that is true if both conditions are true.
  public static func && (left: GroupFilter, right: GroupFilter) -> GroupFilter {
    GroupFilter(.and(left.node, right.node))
  }

  /// Returns a condition that is true if at least one of the two conditions is true.
  public static func || (left: GroupFilter, right: GroupFilter) -> GroupFilter {
    GroupFilter(.or(left.node, right.node))
  }

  /// Returns a condition that is true if the given condition isn't true.
  public static prefix func ! (operand: GroupFilter) -> GroupFilter {
    GroupFilter(.not(operand.node))
  }
}

// Comparisons of aggregates.
extension Aggregate {
  /// Returns a condition for the groups whose aggregate is equal to a value.
  public static func == (left: Aggregate, right: Result) -> GroupFilter<Object>
  where Result: Codable {
    GroupFilter(.comparison(left.node, .equal, QueryNode(right)))
  }

  /// Returns a condition for the groups whose aggregate differs from a value. Nil differs from
  /// every other value.
  public static func != (left: Aggregate, right: Result) -> GroupFilter<Object>
  where Result: Codable {
    GroupFilter(.comparison(left.node, .notEqual, QueryNode(right)))
  }

  /// Returns a condition for the groups whose aggregate is less than a value. Nil doesn't match.
  public static func < (left: Aggregate, right: Result) -> GroupFilter<Object>
  where Result: Codable {
    GroupFilter(.comparison(left.orderedNode, .less, QueryNode(right)))
  }

  /// Returns a condition for the groups whose aggregate is less than or equal to a value. Nil
  /// doesn't match.
  public static func <= (left: Aggregate, right: Result) -> GroupFilter<Object>
  where Result: Codable {
    GroupFilter(.comparison(left.orderedNode, .lessOrEqual, QueryNode(right)))
  }

  /// Returns a condition for the groups whose aggregate is greater than a value. Nil doesn't match.
  public static func > (left: Aggregate, right: Result) -> GroupFilter<Object>
  where Result: Codable {
    GroupFilter(.comparison(left.orderedNode, .greater, QueryNode(right)))
  }

  /// Returns a condition for the groups whose aggregate is greater than or equal to a value. Nil
  /// doesn't match.
  public static func >= (left: Aggregate, right: Result) -> GroupFilter<Object>
  where Result: Codable {
    GroupFilter(.comparison(left.orderedNode, .greaterOrEqual, QueryNode(right)))
  }
}

/// A sort key for groups of objects: an aggregate, or a key that the objects are grouped by.
public struct GroupSortKey<Object: MagicObject>: Sendable {
  let order: QueryOrder

  /// Returns a sort key that orders groups by an aggregate, smallest value first. Nil precedes all
  /// values.
  ///
  /// - Parameter aggregate: An aggregate of the group, such as `.count`.
  public static func ascending(_ aggregate: Aggregate<Object, some Any>) -> GroupSortKey {
    GroupSortKey(order: QueryOrder(aggregate.orderedNode, isDescending: false))
  }

  /// Returns a sort key that orders groups by an aggregate, greatest value first. Nil follows all
  /// values.
  ///
  /// - Parameter aggregate: An aggregate of the group, such as `.count`.
  public static func descending(_ aggregate: Aggregate<Object, some Any>) -> GroupSortKey {
    GroupSortKey(order: QueryOrder(aggregate.orderedNode, isDescending: true))
  }

  /// Returns a sort key that orders groups by one of their keys, smallest first. Nil precedes all
  /// values.
  ///
  /// - Parameter path: One of the properties that the objects are grouped by.
  public static func ascending<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> GroupSortKey where Column.Element: MagicComparable {
    GroupSortKey(
      order: QueryOrder(QueryNode(path).ordered(as: Column.Element.self), isDescending: false))
  }

  /// Returns a sort key that orders groups by one of their keys, greatest first. Nil follows all
  /// values.
  ///
  /// - Parameter path: One of the properties that the objects are grouped by.
  public static func descending<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> GroupSortKey where Column.Element: MagicComparable {
    GroupSortKey(
      order: QueryOrder(QueryNode(path).ordered(as: Column.Element.self), isDescending: true))
  }

  /// Returns a sort key that orders groups by one of their keys, smallest first. Nil precedes all
  /// values.
  ///
  /// - Parameter expression: One of the expressions that the objects are grouped by.
  public static func ascending(
    _ expression: MagicExpression<Object, some Codable>
  ) -> GroupSortKey {
    GroupSortKey(order: QueryOrder(expression.orderedNode, isDescending: false))
  }

  /// Returns a sort key that orders groups by one of their keys, greatest first. Nil follows all
  /// values.
  ///
  /// - Parameter expression: One of the expressions that the objects are grouped by.
  public static func descending(
    _ expression: MagicExpression<Object, some Codable>
  ) -> GroupSortKey {
    GroupSortKey(order: QueryOrder(expression.orderedNode, isDescending: true))
  }
}
