import SQLiteMapping

/// A property that filters compare with values of its own type, or of the type that it may be nil of.
public protocol MagicColumn: MagicProperty {
  /// The type without the optional.
  associatedtype Element: Codable
}

extension MagicValue: MagicColumn {
  /// The type of the property.
  public typealias Element = Value
}

extension OptionMagicValue: MagicColumn {
  /// The type of the property without the optional.
  public typealias Element = Wrapped
}

extension PrimaryMagicValue: MagicColumn {
  /// The type of the property.
  public typealias Element = Value
}

/// True if the property has the value.
public func == <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: Equatable {
  .comparison(left, .equal, right)
}

/// True if the property has another value, or none.
public func != <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: Equatable {
  .comparison(left, .notEqual, right)
}

/// True if the property is nil.
public func == <Object: MagicObject, Wrapped>(
  left: KeyPath<Object, OptionMagicValue<Wrapped>>, right: _OptionalNilComparisonType
) -> Filter<Object> {
  Filter(.comparison(Filter.column(left), .equal, .null))
}

/// True if the property is not nil.
public func != <Object: MagicObject, Wrapped>(
  left: KeyPath<Object, OptionMagicValue<Wrapped>>, right: _OptionalNilComparisonType
) -> Filter<Object> {
  Filter(.comparison(Filter.column(left), .notEqual, .null))
}

/// True if the property has a smaller value.
public func < <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: Comparable {
  .comparison(left, .less, right)
}

/// True if the property has the value or a smaller one.
public func <= <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: Comparable {
  .comparison(left, .lessOrEqual, right)
}

/// True if the property has a greater value.
public func > <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: Comparable {
  .comparison(left, .greater, right)
}

/// True if the property has the value or a greater one.
public func >= <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Filter<Object> where Column.Element: Comparable {
  .comparison(left, .greaterOrEqual, right)
}
