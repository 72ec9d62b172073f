/// A number that is calculated from properties: `\.$width * \.$height`.
///
/// Integers are calculated in 64 bits; what does not fit becomes a real. A division by zero is nil.
public struct MagicExpression<Object: MagicObject, Element: Codable>: Sendable {
  let node: QueryNode

  init(_ node: QueryNode) {
    self.node = node
  }

  /// The value of a property, among other expressions: `MagicExpression(\.$name)`.
  ///
  /// - Parameter path: The property.
  public init<Column: MagicColumn<Element>>(_ path: KeyPath<Object, Column>) {
    node = QueryNode(path)
  }

  func with(_ arithmetic: QueryArithmetic, _ other: QueryNode) -> MagicExpression {
    MagicExpression(.arithmetic(node, arithmetic, other))
  }
}

/// The sum.
public func + <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  MagicExpression(left).with(.sum, QueryNode(right))
}

/// The sum.
public func + <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  MagicExpression(left).with(.sum, QueryNode(right))
}

extension MagicExpression where Element: Numeric & MagicComparable {
  /// The sum.
  public static func + (left: MagicExpression, right: Element) -> MagicExpression {
    left.with(.sum, QueryNode(right))
  }

  /// The sum.
  public static func + <Column: MagicColumn<Element>>(
    left: MagicExpression, right: KeyPath<Object, Column>
  ) -> MagicExpression {
    left.with(.sum, QueryNode(right))
  }

  /// The sum.
  public static func + (left: MagicExpression, right: MagicExpression) -> MagicExpression {
    left.with(.sum, right.node)
  }
}

/// The difference.
public func - <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  MagicExpression(left).with(.difference, QueryNode(right))
}

/// The difference.
public func - <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  MagicExpression(left).with(.difference, QueryNode(right))
}

extension MagicExpression where Element: Numeric & MagicComparable {
  /// The difference.
  public static func - (left: MagicExpression, right: Element) -> MagicExpression {
    left.with(.difference, QueryNode(right))
  }

  /// The difference.
  public static func - <Column: MagicColumn<Element>>(
    left: MagicExpression, right: KeyPath<Object, Column>
  ) -> MagicExpression {
    left.with(.difference, QueryNode(right))
  }

  /// The difference.
  public static func - (left: MagicExpression, right: MagicExpression) -> MagicExpression {
    left.with(.difference, right.node)
  }
}

/// The product.
public func * <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  MagicExpression(left).with(.product, QueryNode(right))
}

/// The product.
public func * <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  MagicExpression(left).with(.product, QueryNode(right))
}

extension MagicExpression where Element: Numeric & MagicComparable {
  /// The product.
  public static func * (left: MagicExpression, right: Element) -> MagicExpression {
    left.with(.product, QueryNode(right))
  }

  /// The product.
  public static func * <Column: MagicColumn<Element>>(
    left: MagicExpression, right: KeyPath<Object, Column>
  ) -> MagicExpression {
    left.with(.product, QueryNode(right))
  }

  /// The product.
  public static func * (left: MagicExpression, right: MagicExpression) -> MagicExpression {
    left.with(.product, right.node)
  }
}

/// The quotient; of integers without the fraction.
public func / <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  MagicExpression(left).with(.quotient, QueryNode(right))
}

/// The quotient; of integers without the fraction.
public func / <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  MagicExpression(left).with(.quotient, QueryNode(right))
}

extension MagicExpression where Element: Numeric & MagicComparable {
  /// The quotient; of integers without the fraction.
  public static func / (left: MagicExpression, right: Element) -> MagicExpression {
    left.with(.quotient, QueryNode(right))
  }

  /// The quotient; of integers without the fraction.
  public static func / <Column: MagicColumn<Element>>(
    left: MagicExpression, right: KeyPath<Object, Column>
  ) -> MagicExpression {
    left.with(.quotient, QueryNode(right))
  }

  /// The quotient; of integers without the fraction.
  public static func / (left: MagicExpression, right: MagicExpression) -> MagicExpression {
    left.with(.quotient, right.node)
  }
}

/// The remainder, with the sign of the left number.
public func % <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: BinaryInteger & MagicComparable {
  MagicExpression(left).with(.remainder, QueryNode(right))
}
