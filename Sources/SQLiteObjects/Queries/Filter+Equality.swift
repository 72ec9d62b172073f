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
    let storage = PropertyCollector.firstCell(of: object)?.place?.storage
    self = .known(.object(storage, type: "\(Object.self)"))
  }
}
