/// A sort key for objects: a property or an expression, in ascending or descending order.
public struct SortKey<Object: MagicObject>: Sendable {
  let order: QueryOrder

  private init(_ node: QueryNode, isDescending: Bool) {
    order = QueryOrder(node, isDescending: isDescending)
  }

  /// Returns a sort key that orders objects by a property, smallest value first. Nil precedes all
  /// values.
  ///
  /// - Parameter path: A property, such as `\.$name` or `\.$owner.$name`.
  public static func ascending<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> SortKey where Column.Element: MagicComparable {
    SortKey(QueryNode(path).ordered(as: Column.Element.self), isDescending: false)
  }

  /// Returns a sort key that orders objects by a property, greatest value first. Nil follows all
  /// values.
  ///
  /// - Parameter path: A property, such as `\.$name` or `\.$owner.$name`.
  public static func descending<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> SortKey where Column.Element: MagicComparable {
    SortKey(QueryNode(path).ordered(as: Column.Element.self), isDescending: true)
  }

  /// Returns a sort key that orders objects by an expression, smallest value first. Nil precedes
  /// all values.
  ///
  /// - Parameter expression: The value that is calculated for each object.
  public static func ascending(_ expression: MagicExpression<Object, some Codable>) -> SortKey {
    SortKey(expression.orderedNode, isDescending: false)
  }

  /// Returns a sort key that orders objects by an expression, greatest value first. Nil follows all
  /// values.
  ///
  /// - Parameter expression: The value that is calculated for each object.
  public static func descending(_ expression: MagicExpression<Object, some Codable>) -> SortKey {
    SortKey(expression.orderedNode, isDescending: true)
  }

}

/// An expression that rows are sorted by, and its direction.
struct QueryOrder: Sendable {
  let node: QueryNode
  let isDescending: Bool

  init(_ node: QueryNode, isDescending: Bool) {
    self.node = node
    self.isDescending = isDescending
  }
}
