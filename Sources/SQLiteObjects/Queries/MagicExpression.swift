/// A number that is calculated from properties: `\.$width * \.$height`.
///
/// Integers are calculated in 64 bits; what does not fit becomes a real. A division by zero is nil.
public struct MagicExpression<Object: MagicObject, Element: Codable>: Sendable {
  let operand: Operand

  init(_ operand: Operand) {
    self.operand = operand
  }

  init<Column: MagicColumn<Element>>(_ path: KeyPath<Object, Column>) {
    operand = Operand(path)
  }

  func with(_ arithmetic: FilterArithmetic, _ other: Operand) -> MagicExpression {
    MagicExpression(.arithmetic(operand, arithmetic, other))
  }
}

/// The sum.
public func + <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  MagicExpression(left).with(.sum, Operand(right))
}

/// The sum.
public func + <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  MagicExpression(left).with(.sum, Operand(right))
}

extension MagicExpression where Element: Numeric & MagicComparable {
  /// The sum.
  public static func + (left: MagicExpression, right: Element) -> MagicExpression {
    left.with(.sum, Operand(right))
  }

  /// The sum.
  public static func + <Column: MagicColumn<Element>>(
    left: MagicExpression, right: KeyPath<Object, Column>
  ) -> MagicExpression {
    left.with(.sum, Operand(right))
  }

  /// The sum.
  public static func + (left: MagicExpression, right: MagicExpression) -> MagicExpression {
    left.with(.sum, right.operand)
  }
}

/// The difference.
public func - <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  MagicExpression(left).with(.difference, Operand(right))
}

/// The difference.
public func - <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  MagicExpression(left).with(.difference, Operand(right))
}

extension MagicExpression where Element: Numeric & MagicComparable {
  /// The difference.
  public static func - (left: MagicExpression, right: Element) -> MagicExpression {
    left.with(.difference, Operand(right))
  }

  /// The difference.
  public static func - <Column: MagicColumn<Element>>(
    left: MagicExpression, right: KeyPath<Object, Column>
  ) -> MagicExpression {
    left.with(.difference, Operand(right))
  }

  /// The difference.
  public static func - (left: MagicExpression, right: MagicExpression) -> MagicExpression {
    left.with(.difference, right.operand)
  }
}

/// The product.
public func * <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  MagicExpression(left).with(.product, Operand(right))
}

/// The product.
public func * <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  MagicExpression(left).with(.product, Operand(right))
}

extension MagicExpression where Element: Numeric & MagicComparable {
  /// The product.
  public static func * (left: MagicExpression, right: Element) -> MagicExpression {
    left.with(.product, Operand(right))
  }

  /// The product.
  public static func * <Column: MagicColumn<Element>>(
    left: MagicExpression, right: KeyPath<Object, Column>
  ) -> MagicExpression {
    left.with(.product, Operand(right))
  }

  /// The product.
  public static func * (left: MagicExpression, right: MagicExpression) -> MagicExpression {
    left.with(.product, right.operand)
  }
}

/// The quotient; of integers without the fraction.
public func / <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  MagicExpression(left).with(.quotient, Operand(right))
}

/// The quotient; of integers without the fraction.
public func / <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  MagicExpression(left).with(.quotient, Operand(right))
}

extension MagicExpression where Element: Numeric & MagicComparable {
  /// The quotient; of integers without the fraction.
  public static func / (left: MagicExpression, right: Element) -> MagicExpression {
    left.with(.quotient, Operand(right))
  }

  /// The quotient; of integers without the fraction.
  public static func / <Column: MagicColumn<Element>>(
    left: MagicExpression, right: KeyPath<Object, Column>
  ) -> MagicExpression {
    left.with(.quotient, Operand(right))
  }

  /// The quotient; of integers without the fraction.
  public static func / (left: MagicExpression, right: MagicExpression) -> MagicExpression {
    left.with(.quotient, right.operand)
  }
}

/// The remainder, with the sign of the left number.
public func % <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: BinaryInteger & MagicComparable {
  MagicExpression(left).with(.remainder, Operand(right))
}
