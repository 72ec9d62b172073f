/// The sum.
public func + <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Expression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  Expression(left).with(.sum, Operand(right))
}

/// The sum.
public func + <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Expression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  Expression(left).with(.sum, Operand(right))
}

extension Expression where Element: Numeric & MagicComparable {
  /// The sum.
  public static func + (left: Expression, right: Element) -> Expression {
    left.with(.sum, Operand(right))
  }

  /// The sum.
  public static func + <Column: MagicColumn<Element>>(
    left: Expression, right: KeyPath<Object, Column>
  ) -> Expression {
    left.with(.sum, Operand(right))
  }

  /// The sum.
  public static func + (left: Expression, right: Expression) -> Expression {
    left.with(.sum, right.operand)
  }
}

/// The difference.
public func - <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Expression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  Expression(left).with(.difference, Operand(right))
}

/// The difference.
public func - <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Expression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  Expression(left).with(.difference, Operand(right))
}

extension Expression where Element: Numeric & MagicComparable {
  /// The difference.
  public static func - (left: Expression, right: Element) -> Expression {
    left.with(.difference, Operand(right))
  }

  /// The difference.
  public static func - <Column: MagicColumn<Element>>(
    left: Expression, right: KeyPath<Object, Column>
  ) -> Expression {
    left.with(.difference, Operand(right))
  }

  /// The difference.
  public static func - (left: Expression, right: Expression) -> Expression {
    left.with(.difference, right.operand)
  }
}

/// The product.
public func * <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Expression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  Expression(left).with(.product, Operand(right))
}

/// The product.
public func * <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Expression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  Expression(left).with(.product, Operand(right))
}

extension Expression where Element: Numeric & MagicComparable {
  /// The product.
  public static func * (left: Expression, right: Element) -> Expression {
    left.with(.product, Operand(right))
  }

  /// The product.
  public static func * <Column: MagicColumn<Element>>(
    left: Expression, right: KeyPath<Object, Column>
  ) -> Expression {
    left.with(.product, Operand(right))
  }

  /// The product.
  public static func * (left: Expression, right: Expression) -> Expression {
    left.with(.product, right.operand)
  }
}

/// The quotient; of integers without the fraction.
public func / <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Expression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  Expression(left).with(.quotient, Operand(right))
}

/// The quotient; of integers without the fraction.
public func / <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> Expression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  Expression(left).with(.quotient, Operand(right))
}

extension Expression where Element: Numeric & MagicComparable {
  /// The quotient; of integers without the fraction.
  public static func / (left: Expression, right: Element) -> Expression {
    left.with(.quotient, Operand(right))
  }

  /// The quotient; of integers without the fraction.
  public static func / <Column: MagicColumn<Element>>(
    left: Expression, right: KeyPath<Object, Column>
  ) -> Expression {
    left.with(.quotient, Operand(right))
  }

  /// The quotient; of integers without the fraction.
  public static func / (left: Expression, right: Expression) -> Expression {
    left.with(.quotient, right.operand)
  }
}

/// The remainder, with the sign of the left number.
public func % <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> Expression<Object, Column.Element> where Column.Element: BinaryInteger & MagicComparable {
  Expression(left).with(.remainder, Operand(right))
}
