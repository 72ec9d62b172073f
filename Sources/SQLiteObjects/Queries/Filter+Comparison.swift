import SQLiteCore

/// True if the property has the value.
public func == <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: Equatable {
  Filter(.comparison(Operand(left), .equal, Operand(right)))
}

/// True if the properties have the same value; nil is one.
public func == <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: Equatable, Left.Element == Right.Element {
  Filter(.comparison(Operand(left), .equal, Operand(right)))
}

/// True if the property is nil.
public func == <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: _OptionalNilComparisonType
) -> Filter<Object> where Column.Value: ExpressibleByNilLiteral {
  Filter(.comparison(Operand(left), .equal, .value(.null)))
}

/// True if the relation leads to the object.
public func == <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicObject {
  Filter(.comparison(Operand(left), .equal, Operand(object: right)))
}

/// True if the property has another value, or none.
public func != <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: Equatable {
  Filter(.comparison(Operand(left), .notEqual, Operand(right)))
}

/// True if the properties have different values; nil is one.
public func != <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: Equatable, Left.Element == Right.Element {
  Filter(.comparison(Operand(left), .notEqual, Operand(right)))
}

/// True if the property is not nil.
public func != <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: _OptionalNilComparisonType
) -> Filter<Object> where Column.Value: ExpressibleByNilLiteral {
  Filter(.comparison(Operand(left), .notEqual, .value(.null)))
}

/// True if the relation leads to another object, or nowhere.
public func != <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicObject {
  Filter(.comparison(Operand(left), .notEqual, Operand(object: right)))
}

extension MagicExpression where Element: Equatable {
  /// True if the numbers are equal.
  public static func == (left: MagicExpression, right: Element) -> Filter<Object> {
    Filter(.comparison(left.operand, .equal, Operand(right)))
  }

  /// True if the numbers are equal.
  public static func == (left: MagicExpression, right: MagicExpression) -> Filter<Object> {
    Filter(.comparison(left.operand, .equal, right.operand))
  }

  /// True if the numbers are different.
  public static func != (left: MagicExpression, right: Element) -> Filter<Object> {
    Filter(.comparison(left.operand, .notEqual, Operand(right)))
  }

  /// True if the numbers are different.
  public static func != (left: MagicExpression, right: MagicExpression) -> Filter<Object> {
    Filter(.comparison(left.operand, .notEqual, right.operand))
  }
}

extension Operand {
  /// An object that the store knows.
  init<Object: MagicObject>(object: Object) {
    let storage = PropertyCollector.firstCell(of: object)?.address?.storage
    self = .known(.object(storage, type: "\(Object.self)"))
  }
}

/// True if the property has a smaller value.
public func < <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(.comparison(Operand(left), .less, Operand(right)))
}

/// True if the left property has a smaller value than the right one.
public func < <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(.comparison(Operand(left), .less, Operand(right)))
}

/// True if the property has the value or a smaller one.
public func <= <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(.comparison(Operand(left), .lessOrEqual, Operand(right)))
}

/// True if the left property has the value or a smaller one compared with the right one.
public func <= <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(.comparison(Operand(left), .lessOrEqual, Operand(right)))
}

/// True if the property has a greater value.
public func > <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(.comparison(Operand(left), .greater, Operand(right)))
}

/// True if the left property has a greater value than the right one.
public func > <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(.comparison(Operand(left), .greater, Operand(right)))
}

/// True if the property has the value or a greater one.
public func >= <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: MagicComparable {
  Filter(.comparison(Operand(left), .greaterOrEqual, Operand(right)))
}

/// True if the left property has the value or a greater one compared with the right one.
public func >= <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Filter<Object> where Left.Element: MagicComparable, Left.Element == Right.Element {
  Filter(.comparison(Operand(left), .greaterOrEqual, Operand(right)))
}

extension MagicExpression where Element: MagicComparable {
  /// True if the left number is less.
  public static func < (left: MagicExpression, right: Element) -> Filter<Object> {
    Filter(.comparison(left.operand, .less, Operand(right)))
  }

  /// True if the left number is less.
  public static func < (left: MagicExpression, right: MagicExpression) -> Filter<Object> {
    Filter(.comparison(left.operand, .less, right.operand))
  }

  /// True if the left number is less or equal.
  public static func <= (left: MagicExpression, right: Element) -> Filter<Object> {
    Filter(.comparison(left.operand, .lessOrEqual, Operand(right)))
  }

  /// True if the left number is less or equal.
  public static func <= (left: MagicExpression, right: MagicExpression) -> Filter<Object> {
    Filter(.comparison(left.operand, .lessOrEqual, right.operand))
  }

  /// True if the left number is greater.
  public static func > (left: MagicExpression, right: Element) -> Filter<Object> {
    Filter(.comparison(left.operand, .greater, Operand(right)))
  }

  /// True if the left number is greater.
  public static func > (left: MagicExpression, right: MagicExpression) -> Filter<Object> {
    Filter(.comparison(left.operand, .greater, right.operand))
  }

  /// True if the left number is greater or equal.
  public static func >= (left: MagicExpression, right: Element) -> Filter<Object> {
    Filter(.comparison(left.operand, .greaterOrEqual, Operand(right)))
  }

  /// True if the left number is greater or equal.
  public static func >= (left: MagicExpression, right: MagicExpression) -> Filter<Object> {
    Filter(.comparison(left.operand, .greaterOrEqual, right.operand))
  }
}
