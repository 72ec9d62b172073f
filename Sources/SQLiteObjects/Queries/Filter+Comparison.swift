import SQLiteCore

/// True if the property has the value.
public func == <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: Equatable {
  Filter(.comparison(QueryNode(left), .equal, QueryNode(right)))
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

extension MagicExpression where Element: Equatable {
  /// True if the numbers are equal.
  public static func == (left: MagicExpression, right: Element) -> Filter<Object> {
    Filter(.comparison(left.node, .equal, QueryNode(right)))
  }

  /// True if the numbers are equal.
  public static func == (left: MagicExpression, right: MagicExpression) -> Filter<Object> {
    Filter(.comparison(left.node, .equal, right.node))
  }

  /// True if the numbers are different.
  public static func != (left: MagicExpression, right: Element) -> Filter<Object> {
    Filter(.comparison(left.node, .notEqual, QueryNode(right)))
  }

  /// True if the numbers are different.
  public static func != (left: MagicExpression, right: MagicExpression) -> Filter<Object> {
    Filter(.comparison(left.node, .notEqual, right.node))
  }
}

/// True if the property has a smaller value.
public func < <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(.comparison(QueryNode(left), .less, QueryNode(right)))
}

/// True if the left property has a smaller value than the right one.
public func < <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left), .less, QueryNode(right)))
}

/// True if the property has the value or a smaller one.
public func <= <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(.comparison(QueryNode(left), .lessOrEqual, QueryNode(right)))
}

/// True if the left property has the value or a smaller one compared with the right one.
public func <= <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left), .lessOrEqual, QueryNode(right)))
}

/// True if the property has a greater value.
public func > <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(.comparison(QueryNode(left), .greater, QueryNode(right)))
}

/// True if the left property has a greater value than the right one.
public func > <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left), .greater, QueryNode(right)))
}

/// True if the property has the value or a greater one.
public func >= <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(.comparison(QueryNode(left), .greaterOrEqual, QueryNode(right)))
}

/// True if the left property has the value or a greater one compared with the right one.
public func >= <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(.comparison(QueryNode(left), .greaterOrEqual, QueryNode(right)))
}

extension MagicExpression where Element: MagicComparable {
  /// True if the left number is less.
  public static func < (left: MagicExpression, right: Element) -> Filter<Object> {
    Filter(.comparison(left.node, .less, QueryNode(right)))
  }

  /// True if the left number is less.
  public static func < (left: MagicExpression, right: MagicExpression) -> Filter<Object> {
    Filter(.comparison(left.node, .less, right.node))
  }

  /// True if the left number is less or equal.
  public static func <= (left: MagicExpression, right: Element) -> Filter<Object> {
    Filter(.comparison(left.node, .lessOrEqual, QueryNode(right)))
  }

  /// True if the left number is less or equal.
  public static func <= (left: MagicExpression, right: MagicExpression) -> Filter<Object> {
    Filter(.comparison(left.node, .lessOrEqual, right.node))
  }

  /// True if the left number is greater.
  public static func > (left: MagicExpression, right: Element) -> Filter<Object> {
    Filter(.comparison(left.node, .greater, QueryNode(right)))
  }

  /// True if the left number is greater.
  public static func > (left: MagicExpression, right: MagicExpression) -> Filter<Object> {
    Filter(.comparison(left.node, .greater, right.node))
  }

  /// True if the left number is greater or equal.
  public static func >= (left: MagicExpression, right: Element) -> Filter<Object> {
    Filter(.comparison(left.node, .greaterOrEqual, QueryNode(right)))
  }

  /// True if the left number is greater or equal.
  public static func >= (left: MagicExpression, right: MagicExpression) -> Filter<Object> {
    Filter(.comparison(left.node, .greaterOrEqual, right.node))
  }
}
