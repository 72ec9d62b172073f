import SQLiteCore

/// True if the property has the value.
public func == <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: Equatable {
  Filter(.equality(QueryNode(left), QueryNode(right), as: Column.Element.self))
}

/// True if the properties have the same value; nil is one.
public func == <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: Equatable, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left), .equal, QueryNode(right)))
}

/// True if the property is nil.
public func == <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: _OptionalNilComparisonType
) -> Filter<Object> where Column.Value: ExpressibleByNilLiteral {
  Filter(.comparison(QueryNode(left), .equal, .value(.null)))
}

/// True if the relation leads to the object.
public func == <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicObject {
  Filter(.comparison(QueryNode(left), .equal, QueryNode(object: right)))
}

/// True if both relations reference the same object, or none.
@_disfavoredOverload  // Objects may be Equatable, too.
public func == <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicObject, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left), .equal, QueryNode(right)))
}

/// True if the property has another value, or none.
public func != <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: Equatable {
  Filter(.comparison(QueryNode(left), .notEqual, QueryNode(right)))
}

/// True if the properties have different values; nil is one.
public func != <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: Equatable, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left), .notEqual, QueryNode(right)))
}

/// True if the property is not nil.
public func != <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: _OptionalNilComparisonType
) -> Filter<Object> where Column.Value: ExpressibleByNilLiteral {
  Filter(.comparison(QueryNode(left), .notEqual, .value(.null)))
}

/// True if the relation leads to another object, or nowhere.
public func != <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicObject {
  Filter(.comparison(QueryNode(left), .notEqual, QueryNode(object: right)))
}

/// True if the relations reference different objects, or one of them references none.
@_disfavoredOverload  // Objects may be Equatable, too.
public func != <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicObject, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left), .notEqual, QueryNode(right)))
}

/// True if the property has a smaller value.
public func < <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(.comparison(QueryNode(left).ordered(as: Column.Element.self), .less, QueryNode(right)))
}

/// True if the left property has a smaller value than the right one.
public func < <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left).ordered(as: Left.Element.self), .less, QueryNode(right)))
}

/// True if the property has the value or a smaller one.
public func <= <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(
    .comparison(QueryNode(left).ordered(as: Column.Element.self), .lessOrEqual, QueryNode(right)))
}

/// True if the left property has the value or a smaller one compared with the right one.
public func <= <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(
    .comparison(QueryNode(left).ordered(as: Left.Element.self), .lessOrEqual, QueryNode(right)))
}

/// True if the property has a greater value.
public func > <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(.comparison(QueryNode(left).ordered(as: Column.Element.self), .greater, QueryNode(right)))
}

/// True if the left property has a greater value than the right one.
public func > <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left).ordered(as: Left.Element.self), .greater, QueryNode(right)))
}

/// True if the property has the value or a greater one.
public func >= <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(
    .comparison(QueryNode(left).ordered(as: Column.Element.self), .greaterOrEqual, QueryNode(right))
  )
}

/// True if the left property has the value or a greater one compared with the right one.
public func >= <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(
    .comparison(QueryNode(left).ordered(as: Left.Element.self), .greaterOrEqual, QueryNode(right)))
}

// Values that are calculated. A path without its type, such as `\.$width`, needs an operator that takes key paths.

/// True if what is calculated is equal.
public func == <Object: MagicObject, Element: Equatable>(
  left: MagicExpression<Object, Element>, right: Element
) -> Filter<Object> {
  Filter(.comparison(left.node, .equal, QueryNode(right)))
}

/// True if what is calculated on the left is equal.
public func == <Object: MagicObject, Element: Equatable>(
  left: MagicExpression<Object, Element>, right: MagicExpression<Object, Element>
) -> Filter<Object> {
  Filter(.comparison(left.node, .equal, right.node))
}

/// True if the property is equal.
public func == <Object: MagicObject, Column: MagicColumn, Element: Equatable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(QueryNode(left), .equal, right.node))
}

/// True if what is calculated is equal.
public func == <Object: MagicObject, Column: MagicColumn, Element: Equatable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(left.node, .equal, QueryNode(right)))
}

/// True if what is calculated is another one, or nil.
public func != <Object: MagicObject, Element: Equatable>(
  left: MagicExpression<Object, Element>, right: Element
) -> Filter<Object> {
  Filter(.comparison(left.node, .notEqual, QueryNode(right)))
}

/// True if what is calculated on the left is another one, or nil.
public func != <Object: MagicObject, Element: Equatable>(
  left: MagicExpression<Object, Element>, right: MagicExpression<Object, Element>
) -> Filter<Object> {
  Filter(.comparison(left.node, .notEqual, right.node))
}

/// True if the property is another one, or nil.
public func != <Object: MagicObject, Column: MagicColumn, Element: Equatable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(QueryNode(left), .notEqual, right.node))
}

/// True if what is calculated is another one, or nil.
public func != <Object: MagicObject, Column: MagicColumn, Element: Equatable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(left.node, .notEqual, QueryNode(right)))
}

/// True if what is calculated is less.
public func < <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: Element
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .less, QueryNode(right)))
}

/// True if what is calculated on the left is less.
public func < <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: MagicExpression<Object, Element>
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .less, right.node))
}

/// True if the property is less.
public func < <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(QueryNode(left).ordered(as: Element.self), .less, right.node))
}

/// True if what is calculated is less.
public func < <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(left.orderedNode, .less, QueryNode(right)))
}

/// True if what is calculated is less or equal.
public func <= <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: Element
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .lessOrEqual, QueryNode(right)))
}

/// True if what is calculated on the left is less or equal.
public func <= <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: MagicExpression<Object, Element>
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .lessOrEqual, right.node))
}

/// True if the property is less or equal.
public func <= <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(QueryNode(left).ordered(as: Element.self), .lessOrEqual, right.node))
}

/// True if what is calculated is less or equal.
public func <= <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(left.orderedNode, .lessOrEqual, QueryNode(right)))
}

/// True if what is calculated is greater.
public func > <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: Element
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .greater, QueryNode(right)))
}

/// True if what is calculated on the left is greater.
public func > <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: MagicExpression<Object, Element>
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .greater, right.node))
}

/// True if the property is greater.
public func > <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(QueryNode(left).ordered(as: Element.self), .greater, right.node))
}

/// True if what is calculated is greater.
public func > <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(left.orderedNode, .greater, QueryNode(right)))
}

/// True if what is calculated is greater or equal.
public func >= <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: Element
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .greaterOrEqual, QueryNode(right)))
}

/// True if what is calculated on the left is greater or equal.
public func >= <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: MagicExpression<Object, Element>
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .greaterOrEqual, right.node))
}

/// True if the property is greater or equal.
public func >= <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(QueryNode(left).ordered(as: Element.self), .greaterOrEqual, right.node))
}

/// True if what is calculated is greater or equal.
public func >= <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(left.orderedNode, .greaterOrEqual, QueryNode(right)))
}

extension MagicExpression {
  /// True if what is calculated is nil.
  public static func == (
    left: MagicExpression, right: _OptionalNilComparisonType
  ) -> Filter<Object> { Filter(.comparison(left.node, .equal, .value(.null))) }

  /// True if what is calculated is not nil.
  public static func != (
    left: MagicExpression, right: _OptionalNilComparisonType
  ) -> Filter<Object> { Filter(.comparison(left.node, .notEqual, .value(.null))) }
}
