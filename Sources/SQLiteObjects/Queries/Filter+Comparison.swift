import SQLiteCore

/// Returns a filter for the objects whose property is equal to a value.
public func == <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: Equatable {
  Filter(.equality(QueryNode(left), QueryNode(right), as: Column.Element.self))
}

/// Returns a filter for the objects in which two properties are equal. Two nil properties are
/// equal.
public func == <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: Equatable, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left), .equal, QueryNode(right)))
}

/// Returns a filter for the objects whose property is nil.
public func == <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: _OptionalNilComparisonType
) -> Filter<Object> where Column.Value: ExpressibleByNilLiteral {
  Filter(.comparison(QueryNode(left), .equal, .value(.null)))
}

/// Returns a filter for the objects whose relation references an object.
///
/// Fetching throws ``MagicError/notSaved(type:)`` if `right` isn't in the store.
public func == <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicObject {
  Filter(.comparison(QueryNode(left), .equal, QueryNode(object: right)))
}

/// Returns a filter for the objects in which two relations reference the same object, or in which
/// both are nil.
@_disfavoredOverload  // Objects may be Equatable, too.
public func == <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicObject, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left), .equal, QueryNode(right)))
}

/// Returns a filter for the objects whose property differs from a value. A nil property matches.
public func != <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: Equatable {
  Filter(.comparison(QueryNode(left), .notEqual, QueryNode(right)))
}

/// Returns a filter for the objects in which two properties differ. A nil property differs from
/// every value, but not from another nil property.
public func != <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: Equatable, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left), .notEqual, QueryNode(right)))
}

/// Returns a filter for the objects whose property isn't nil.
public func != <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: _OptionalNilComparisonType
) -> Filter<Object> where Column.Value: ExpressibleByNilLiteral {
  Filter(.comparison(QueryNode(left), .notEqual, .value(.null)))
}

/// Returns a filter for the objects whose relation references a different object or is nil.
///
/// Fetching throws ``MagicError/notSaved(type:)`` if `right` isn't in the store.
public func != <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicObject {
  Filter(.comparison(QueryNode(left), .notEqual, QueryNode(object: right)))
}

/// Returns a filter for the objects in which two relations reference different objects, or in which
/// only one of them is nil.
@_disfavoredOverload  // Objects may be Equatable, too.
public func != <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicObject, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left), .notEqual, QueryNode(right)))
}

/// Returns a filter for the objects whose property is less than a value. A nil property doesn't
/// match.
public func < <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(.comparison(QueryNode(left).ordered(as: Column.Element.self), .less, QueryNode(right)))
}

/// Returns a filter for the objects in which the left property is less than the right one. Nil
/// properties don't match.
public func < <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left).ordered(as: Left.Element.self), .less, QueryNode(right)))
}

/// Returns a filter for the objects whose property is less than or equal to a value. A nil property
/// doesn't match.
public func <= <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(
    .comparison(QueryNode(left).ordered(as: Column.Element.self), .lessOrEqual, QueryNode(right)))
}

/// Returns a filter for the objects in which the left property is less than or equal to the right
/// one. Nil properties don't match.
public func <= <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(
    .comparison(QueryNode(left).ordered(as: Left.Element.self), .lessOrEqual, QueryNode(right)))
}

/// Returns a filter for the objects whose property is greater than a value. A nil property doesn't
/// match.
public func > <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(.comparison(QueryNode(left).ordered(as: Column.Element.self), .greater, QueryNode(right)))
}

/// Returns a filter for the objects in which the left property is greater than the right one. Nil
/// properties don't match.
public func > <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left).ordered(as: Left.Element.self), .greater, QueryNode(right)))
}

/// Returns a filter for the objects whose property is greater than or equal to a value. A nil
/// property doesn't match.
public func >= <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(
    .comparison(QueryNode(left).ordered(as: Column.Element.self), .greaterOrEqual, QueryNode(right))
  )
}

/// Returns a filter for the objects in which the left property is greater than or equal to the
/// right one. Nil properties don't match.
public func >= <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(
    .comparison(QueryNode(left).ordered(as: Left.Element.self), .greaterOrEqual, QueryNode(right)))
}

// Comparisons of expressions. A key path without its root type, such as `\.$width`, needs an
// operator that takes key paths.

/// Returns a filter for the objects for which an expression is equal to a value.
public func == <Object: MagicObject, Element: Equatable>(
  left: MagicExpression<Object, Element>, right: Element
) -> Filter<Object> {
  Filter(.comparison(left.node, .equal, QueryNode(right)))
}

/// Returns a filter for the objects for which two expressions are equal. Two nil results are equal.
public func == <Object: MagicObject, Element: Equatable>(
  left: MagicExpression<Object, Element>, right: MagicExpression<Object, Element>
) -> Filter<Object> {
  Filter(.comparison(left.node, .equal, right.node))
}

/// Returns a filter for the objects whose property is equal to an expression. Two nil values are
/// equal.
public func == <Object: MagicObject, Column: MagicColumn, Element: Equatable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(QueryNode(left), .equal, right.node))
}

/// Returns a filter for the objects for which an expression is equal to a property. Two nil values
/// are equal.
public func == <Object: MagicObject, Column: MagicColumn, Element: Equatable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(left.node, .equal, QueryNode(right)))
}

/// Returns a filter for the objects for which an expression differs from a value. A nil result
/// matches.
public func != <Object: MagicObject, Element: Equatable>(
  left: MagicExpression<Object, Element>, right: Element
) -> Filter<Object> {
  Filter(.comparison(left.node, .notEqual, QueryNode(right)))
}

/// Returns a filter for the objects for which two expressions differ. Nil differs from every value,
/// but not from nil.
public func != <Object: MagicObject, Element: Equatable>(
  left: MagicExpression<Object, Element>, right: MagicExpression<Object, Element>
) -> Filter<Object> {
  Filter(.comparison(left.node, .notEqual, right.node))
}

/// Returns a filter for the objects whose property differs from an expression. Nil differs from
/// every value, but not from nil.
public func != <Object: MagicObject, Column: MagicColumn, Element: Equatable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(QueryNode(left), .notEqual, right.node))
}

/// Returns a filter for the objects for which an expression differs from a property. Nil differs
/// from every value, but not from nil.
public func != <Object: MagicObject, Column: MagicColumn, Element: Equatable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(left.node, .notEqual, QueryNode(right)))
}

/// Returns a filter for the objects for which an expression is less than a value. A nil result
/// doesn't match.
public func < <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: Element
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .less, QueryNode(right)))
}

/// Returns a filter for the objects for which the left expression is less than the right one. Nil
/// results don't match.
public func < <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: MagicExpression<Object, Element>
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .less, right.node))
}

/// Returns a filter for the objects whose property is less than an expression. Nil values don't
/// match.
public func < <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(QueryNode(left).ordered(as: Element.self), .less, right.node))
}

/// Returns a filter for the objects for which an expression is less than a property. Nil values
/// don't match.
public func < <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(left.orderedNode, .less, QueryNode(right)))
}

/// Returns a filter for the objects for which an expression is less than or equal to a value. A nil
/// result doesn't match.
public func <= <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: Element
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .lessOrEqual, QueryNode(right)))
}

/// Returns a filter for the objects for which the left expression is less than or equal to the
/// right one. Nil results don't match.
public func <= <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: MagicExpression<Object, Element>
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .lessOrEqual, right.node))
}

/// Returns a filter for the objects whose property is less than or equal to an expression. Nil
/// values don't match.
public func <= <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(QueryNode(left).ordered(as: Element.self), .lessOrEqual, right.node))
}

/// Returns a filter for the objects for which an expression is less than or equal to a property.
/// Nil values don't match.
public func <= <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(left.orderedNode, .lessOrEqual, QueryNode(right)))
}

/// Returns a filter for the objects for which an expression is greater than a value. A nil result
/// doesn't match.
public func > <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: Element
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .greater, QueryNode(right)))
}

/// Returns a filter for the objects for which the left expression is greater than the right one.
/// Nil results don't match.
public func > <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: MagicExpression<Object, Element>
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .greater, right.node))
}

/// Returns a filter for the objects whose property is greater than an expression. Nil values don't
/// match.
public func > <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(QueryNode(left).ordered(as: Element.self), .greater, right.node))
}

/// Returns a filter for the objects for which an expression is greater than a property. Nil values
/// don't match.
public func > <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(left.orderedNode, .greater, QueryNode(right)))
}

/// Returns a filter for the objects for which an expression is greater than or equal to a value. A
/// nil result doesn't match.
public func >= <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: Element
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .greaterOrEqual, QueryNode(right)))
}

/// Returns a filter for the objects for which the left expression is greater than or equal to the
/// right one. Nil results don't match.
public func >= <Object: MagicObject, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: MagicExpression<Object, Element>
) -> Filter<Object> {
  Filter(.comparison(left.orderedNode, .greaterOrEqual, right.node))
}

/// Returns a filter for the objects whose property is greater than or equal to an expression. Nil
/// values don't match.
public func >= <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(QueryNode(left).ordered(as: Element.self), .greaterOrEqual, right.node))
}

/// Returns a filter for the objects for which an expression is greater than or equal to a property.
/// Nil values don't match.
public func >= <Object: MagicObject, Column: MagicColumn, Element: MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element == Element {
  Filter(.comparison(left.orderedNode, .greaterOrEqual, QueryNode(right)))
}

extension MagicExpression {
  /// Returns a filter for the objects for which an expression is nil.
  public static func == (
    left: MagicExpression, right: _OptionalNilComparisonType
  ) -> Filter<Object> { Filter(.comparison(left.node, .equal, .value(.null))) }

  /// Returns a filter for the objects for which an expression isn't nil.
  public static func != (
    left: MagicExpression, right: _OptionalNilComparisonType
  ) -> Filter<Object> { Filter(.comparison(left.node, .notEqual, .value(.null))) }
}
