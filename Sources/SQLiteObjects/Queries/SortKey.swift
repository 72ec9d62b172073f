/// A property or a number that objects are sorted by.
public struct SortKey<Object: MagicObject>: Sendable {
  let order: QueryOrder

  private init(_ node: QueryNode, isDescending: Bool) {
    order = QueryOrder(node, isDescending: isDescending)
  }

  /// Smaller values first, nil before all.
  ///
  /// - Parameter path: A property, such as `\.$name` or `\.$owner.$name`.
  public static func ascending<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> SortKey where Column.Element: MagicComparable {
    SortKey(QueryNode(path).ordered(as: Column.Element.self), isDescending: false)
  }

  /// Greater values first, nil after all.
  ///
  /// - Parameter path: A property, such as `\.$name` or `\.$owner.$name`.
  public static func descending<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> SortKey where Column.Element: MagicComparable {
    SortKey(QueryNode(path).ordered(as: Column.Element.self), isDescending: true)
  }

  /// Smaller numbers first, nil before all.
  ///
  /// - Parameter expression: The number that is calculated of each object.
  public static func ascending(_ expression: MagicExpression<Object, some Codable>) -> SortKey {
    SortKey(expression.orderedNode, isDescending: false)
  }

  /// Greater numbers first, nil after all.
  ///
  /// - Parameter expression: The number that is calculated of each object.
  public static func descending(_ expression: MagicExpression<Object, some Codable>) -> SortKey {
    SortKey(expression.orderedNode, isDescending: true)
  }

}

/// An expression that rows are sorted by.
struct QueryOrder: Sendable {
  let node: QueryNode
  let isDescending: Bool

  init(_ node: QueryNode, isDescending: Bool) {
    self.node = node
    self.isDescending = isDescending
  }
}
