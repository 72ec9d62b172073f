public import Essentials
import SQLiteCore

/// A new value for a property of many objects, for `MagicData.updateAll(_:set:)`.
///
///     try magic.updateAll(Article.all, set: [\.$stock -= 1, \.$price *= 1.1, .set(\.$note, to: nil)])
///
/// All values are calculated from the values that the object had before: no assignment sees the
/// result of another one in the same call. The update throws `SQLiteError` with `ResultCode.range`
/// if a calculated number doesn't fit its property.
public struct Assignment<Object: MagicObject>: Sendable {
  /// The column of the property to set, or a failure if the key path doesn't reference one.
  let target: QueryNode
  let value: QueryNode
  /// The range of the property's type, if it is an integer type and the value is calculated;
  /// otherwise nil.
  let range: ClosedRange<Int64>?

  private init<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>, _ value: QueryNode, isCalculated: Bool = true
  ) {
    target = QueryNode(path)
    self.value = value
    range = isCalculated ? storedRange(of: Column.Element.self) : nil
  }

  /// Returns an assignment that sets a property to a value.
  ///
  /// - Parameters:
  ///   - path: A property that is stored in a column: a plain value or a to-one relation. An
  ///     optional asset can only be set to nil: for other values, the update throws
  ///     ``MagicError/unsuitableType(type:reason:)``.
  ///   - value: The value. The update throws ``MagicError/notSaved(type:)`` if it is an object that
  ///     isn't in the store, and another error if the value can't be stored in a column.
  public static func set<Column: MagicColumn & MagicProperty>(
    _ path: KeyPath<Object, Column>, to value: Column.Value
  ) -> Assignment {
    Assignment(path, Assignment.node(value, Column.self), isCalculated: false)
  }

  /// Returns an assignment that sets a property to the value of another property.
  ///
  /// - Parameters:
  ///   - path: A property that is stored in a column.
  ///   - other: A property of the same type, of the object itself or of a related object.
  public static func set<Column: MagicColumn & MagicProperty, Other: MagicColumn>(
    _ path: KeyPath<Object, Column>, to other: KeyPath<Object, Other>
  ) -> Assignment where Other.Element == Column.Element {
    Assignment(path, QueryNode(other))
  }

  /// Returns an assignment that sets a property to a value that is calculated for each object.
  ///
  /// - Parameters:
  ///   - path: A property that is stored in a column.
  ///   - expression: The value. The update throws `SQLiteError` if it is nil and the property isn't
  ///     optional.
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

  /// Returns a node for the stored form of a value, or a failure if the value can't be stored in a
  /// column.
  private static func node<Column: MagicProperty>(
    _ value: Column.Value, _ column: Column.Type
  ) -> QueryNode {
    // A nil optional has no wrapped value to cast.
    if let nothing = value as? any OptionalValue, nothing.isNone { return .value(.null) }
    if let object = value as? any MagicObject { return node(object) }
    guard case .column = Column.role.kind else {
      return .failure(
        MagicError.unsuitableType(
          type: "\(Object.self)", reason: "\(Column.self) cannot be set for many objects at once")
      )
    }
    do {
      return .value(try Column.stored(_LiveValue(value)))
    } catch {
      return .failure(error)
    }
  }

  private static func node(_ object: some MagicObject) -> QueryNode { QueryNode(object: object) }
}

/// Returns the range of an integer type, limited to 64 bits; nil for any other type.
private func storedRange(of type: Any.Type) -> ClosedRange<Int64>? {
  func range<Integer: FixedWidthInteger>(_ type: Integer.Type) -> ClosedRange<Int64> {
    Int64(clamping: type.min)...Int64(clamping: type.max)
  }
  return (type as? any FixedWidthInteger.Type).map { range($0) }
}

/// Returns an assignment that adds a value to a property, or appends a string to it.
public func += <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Assignment<Object> where Column.Element: MagicAddable {
  Assignment(left, .sum, QueryNode(right))
}

/// Returns an assignment that adds another property to a property, or appends it if it is a string.
public func += <Object: MagicObject, Column: MagicColumn & MagicProperty, Other: MagicColumn>(
  left: KeyPath<Object, Column>, right: KeyPath<Object, Other>
) -> Assignment<Object> where Column.Element: MagicAddable, Other.Element == Column.Element {
  Assignment(left, .sum, QueryNode(right))
}

/// Returns an assignment that adds an expression to a property, or appends it if it is a string.
public func += <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Column.Element>
) -> Assignment<Object> where Column.Element: MagicAddable {
  Assignment(left, .sum, right.node)
}

/// Returns an assignment that subtracts a value from a property.
public func -= <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Assignment<Object> where Column.Element: Numeric & MagicComparable {
  Assignment(left, .difference, QueryNode(right))
}

/// Returns an assignment that subtracts another property from a property.
public func -= <Object: MagicObject, Column: MagicColumn & MagicProperty, Other: MagicColumn>(
  left: KeyPath<Object, Column>, right: KeyPath<Object, Other>
) -> Assignment<Object>
where Column.Element: Numeric & MagicComparable, Other.Element == Column.Element {
  Assignment(left, .difference, QueryNode(right))
}

/// Returns an assignment that subtracts an expression from a property.
public func -= <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Column.Element>
) -> Assignment<Object> where Column.Element: Numeric & MagicComparable {
  Assignment(left, .difference, right.node)
}

/// Returns an assignment that multiplies a property by a value.
public func *= <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Assignment<Object> where Column.Element: Numeric & MagicComparable {
  Assignment(left, .product, QueryNode(right))
}

/// Returns an assignment that multiplies a property by another property.
public func *= <Object: MagicObject, Column: MagicColumn & MagicProperty, Other: MagicColumn>(
  left: KeyPath<Object, Column>, right: KeyPath<Object, Other>
) -> Assignment<Object>
where Column.Element: Numeric & MagicComparable, Other.Element == Column.Element {
  Assignment(left, .product, QueryNode(right))
}

/// Returns an assignment that multiplies a property by an expression.
public func *= <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Column.Element>
) -> Assignment<Object> where Column.Element: Numeric & MagicComparable {
  Assignment(left, .product, right.node)
}

/// Returns an assignment that divides a property by a value. Integer division truncates. The result
/// of a division by zero is nil. The update then throws `SQLiteError` unless the property is
/// optional.
public func /= <Object: MagicObject, Column: MagicColumn & MagicProperty>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Assignment<Object> where Column.Element: Numeric & MagicComparable {
  Assignment(left, .quotient, QueryNode(right))
}

/// Returns an assignment that divides a property by another property. Integer division truncates.
/// The result of a division by zero is nil. The update then throws `SQLiteError` unless the
/// property is optional.
public func /= <Object: MagicObject, Column: MagicColumn & MagicProperty, Other: MagicColumn>(
  left: KeyPath<Object, Column>, right: KeyPath<Object, Other>
) -> Assignment<Object>
where Column.Element: Numeric & MagicComparable, Other.Element == Column.Element {
  Assignment(left, .quotient, QueryNode(right))
}

/// Returns an assignment that moves a date forward by a number of seconds. The update throws
/// `SQLiteError` if a result isn't in the years 0000 to 9999.
///
///     try magic.updateAll(Loan.all, set: [\.$due += 7 * 86_400])
public func += <Object: MagicObject, Column: MagicColumn<Date> & MagicProperty>(
  left: KeyPath<Object, Column>, right: TimeInterval
) -> Assignment<Object> { Assignment.set(left, to: left + right) }

/// Returns an assignment that moves a date back by a number of seconds. The update throws
/// `SQLiteError` if a result isn't in the years 0000 to 9999.
public func -= <Object: MagicObject, Column: MagicColumn<Date> & MagicProperty>(
  left: KeyPath<Object, Column>, right: TimeInterval
) -> Assignment<Object> { Assignment.set(left, to: left - right) }
