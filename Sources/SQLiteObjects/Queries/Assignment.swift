public import Essentials
import SQLiteCore

/// A new value for a property of many objects, for `MagicData.updateAll(_:set:)`.
///
///     try magic.updateAll(Article.all, set: [\.$stock -= 1, \.$price *= 1.1, .set(\.$note, to: nil)])
///
/// All values are calculated of what the object had before: no assignment sees another one of the same call.
public struct Assignment<Object: MagicObject>: Sendable {
  /// The property.
  let target: QueryNode
  let value: QueryNode
  /// The integers that the property's type has, if the value is one that is calculated.
  let range: ClosedRange<Int64>?

  private init<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>, _ value: QueryNode, isCalculated: Bool = true
  ) {
    target = QueryNode(path)
    self.value = value
    range = isCalculated ? storedRange(of: Column.Element.self) : nil
  }

  /// Sets a property.
  ///
  /// - Parameters:
  ///   - path: A property that is a column: a plain value, or a relation to one object. An asset can be set to
  ///     nil, no other way.
  ///   - value: The value. An object must be in the store.
  public static func set<Column: MagicColumn & MagicProperty>(
    _ path: KeyPath<Object, Column>, to value: Column.Value
  ) -> Assignment {
    Assignment(path, Assignment.node(value, Column.self), isCalculated: false)
  }

  /// Sets a property to the value of another one.
  ///
  /// - Parameters:
  ///   - path: A property that is a column.
  ///   - other: A property of the same type, or one that a relation leads to.
  public static func set<Column: MagicColumn & MagicProperty, Other: MagicColumn>(
    _ path: KeyPath<Object, Column>, to other: KeyPath<Object, Other>
  ) -> Assignment where Other.Element == Column.Element {
    Assignment(path, QueryNode(other))
  }

  /// Sets a property to a value that is calculated of each object.
  ///
  /// - Parameters:
  ///   - path: A property that is a column.
  ///   - expression: The value. One that does not fit the property is an error.
  public static func set<Column: MagicColumn & MagicProperty>(
    _ path: KeyPath<Object, Column>, to expression: MagicExpression<Object, Column.Element>
  ) -> Assignment {
    Assignment(path, expression.node)
  }

  fileprivate init<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>, _ arithmetic: QueryArithmetic, _ right: QueryNode
  ) {
    self.init(
      path,
      QueryNode.calculation(QueryNode(path), arithmetic, right, as: Column.Element.self))
  }

  /// The stored form of a value.
  private static func node<Column: MagicProperty>(
    _ value: Column.Value, _ column: Column.Type
  ) -> QueryNode {
    // An optional that is nil holds nothing to cast.
    if let nothing = value as? any OptionalValue, nothing.isNone { return .value(.null) }
    if let object = value as? any MagicObject { return node(object) }
    guard case .column = Column.role.kind else {
      return .failure(
        MagicError.unsuitableType(
          type: "\(Object.self)", reason: "\(Column.self) cannot be set of many objects at once"))
    }
    do {
      return .value(try Column.stored(_LiveValue(value)))
    } catch {
      return .failure(error)
    }
  }

  private static func node(_ object: some MagicObject) -> QueryNode { QueryNode(object: object) }
}

/// The integers that a type has, as far as they are stored; nil for a type of something else.
private func storedRange(of type: Any.Type) -> ClosedRange<Int64>? {
  func range<Integer: FixedWidthInteger>(_ type: Integer.Type) -> ClosedRange<Int64> {
    Int64(clamping: type.min)...Int64(clamping: type.max)
  }
  return (type as? any FixedWidthInteger.Type).map { range($0) }
}

/// Adds to a property; a text is put behind it.
public func += <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Assignment<Object> where Column.Element: MagicAddable {
  Assignment(left, .sum, QueryNode(right))
}

/// Adds another property to a property; a text is put behind it.
public func += <Object: MagicObject, Column: MagicColumn & MagicProperty, Other: MagicColumn>(
  left: KeyPath<Object, Column>, right: KeyPath<Object, Other>
) -> Assignment<Object> where Column.Element: MagicAddable, Other.Element == Column.Element {
  Assignment(left, .sum, QueryNode(right))
}

/// Adds what is calculated to a property; a text is put behind it.
public func += <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Column.Element>
) -> Assignment<Object> where Column.Element: MagicAddable {
  Assignment(left, .sum, right.node)
}

/// Subtracts from a property.
public func -= <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Assignment<Object> where Column.Element: Numeric & MagicComparable {
  Assignment(left, .difference, QueryNode(right))
}

/// Subtracts another property from a property.
public func -= <Object: MagicObject, Column: MagicColumn & MagicProperty, Other: MagicColumn>(
  left: KeyPath<Object, Column>, right: KeyPath<Object, Other>
) -> Assignment<Object>
where Column.Element: Numeric & MagicComparable, Other.Element == Column.Element {
  Assignment(left, .difference, QueryNode(right))
}

/// Subtracts what is calculated from a property.
public func -= <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Column.Element>
) -> Assignment<Object> where Column.Element: Numeric & MagicComparable {
  Assignment(left, .difference, right.node)
}

/// Multiplies a property.
public func *= <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Assignment<Object> where Column.Element: Numeric & MagicComparable {
  Assignment(left, .product, QueryNode(right))
}

/// Multiplies a property by another one.
public func *= <Object: MagicObject, Column: MagicColumn & MagicProperty, Other: MagicColumn>(
  left: KeyPath<Object, Column>, right: KeyPath<Object, Other>
) -> Assignment<Object>
where Column.Element: Numeric & MagicComparable, Other.Element == Column.Element {
  Assignment(left, .product, QueryNode(right))
}

/// Multiplies a property by what is calculated.
public func *= <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Column.Element>
) -> Assignment<Object> where Column.Element: Numeric & MagicComparable {
  Assignment(left, .product, right.node)
}

/// Divides a property; an integer without the fraction. A division by zero is nil, which a property that is not
/// optional refuses.
public func /= <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Assignment<Object> where Column.Element: Numeric & MagicComparable {
  Assignment(left, .quotient, QueryNode(right))
}

/// Divides a property by another one; an integer without the fraction. A division by zero is nil, which a property
/// that is not optional refuses.
public func /= <Object: MagicObject, Column: MagicColumn & MagicProperty, Other: MagicColumn>(
  left: KeyPath<Object, Column>, right: KeyPath<Object, Other>
) -> Assignment<Object>
where Column.Element: Numeric & MagicComparable, Other.Element == Column.Element {
  Assignment(left, .quotient, QueryNode(right))
}

/// Makes a date so many seconds later. The call throws if one is not in the years 0000 to 9999.
///
///     try magic.updateAll(Loan.all, set: [\.$due += 7 * 86_400])
public func += <Object: MagicObject, Column: MagicColumn<Date> & MagicProperty>(
  left: KeyPath<Object, Column>, right: TimeInterval
) -> Assignment<Object> { Assignment.set(left, to: left + right) }

/// Makes a date so many seconds earlier. The call throws if one is not in the years 0000 to 9999.
public func -= <Object: MagicObject, Column: MagicColumn<Date> & MagicProperty>(
  left: KeyPath<Object, Column>, right: TimeInterval
) -> Assignment<Object> { Assignment.set(left, to: left - right) }
