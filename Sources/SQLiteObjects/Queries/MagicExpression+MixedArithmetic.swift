import SQLiteCore

// Arithmetic of a number with a fraction and an integer: the result is as the number with the fraction.

/// The sum of a number with a fraction and an integer.
public func + <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(QueryNode(left), .sum, QueryNode(right))
}

/// The sum of an integer and a number with a fraction.
public func + <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Right.Element>
where Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(QueryNode(left), .sum, QueryNode(right))
}

/// The sum of a number with a fraction and an integer.
public func + <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where Left.Object == Right.Object, Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(left.node, .sum, right.node)
}

/// The sum of an integer and a number with a fraction.
public func + <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Right.Element>
where Left.Object == Right.Object, Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(left.node, .sum, right.node)
}

/// The difference of a number with a fraction and an integer.
public func - <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(QueryNode(left), .difference, QueryNode(right))
}

/// The difference of an integer and a number with a fraction.
public func - <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Right.Element>
where Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(QueryNode(left), .difference, QueryNode(right))
}

/// The difference of a number with a fraction and an integer.
public func - <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where Left.Object == Right.Object, Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(left.node, .difference, right.node)
}

/// The difference of an integer and a number with a fraction.
public func - <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Right.Element>
where Left.Object == Right.Object, Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(left.node, .difference, right.node)
}

/// The product of a number with a fraction and an integer.
public func * <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(QueryNode(left), .product, QueryNode(right))
}

/// The product of an integer and a number with a fraction.
public func * <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Right.Element>
where Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(QueryNode(left), .product, QueryNode(right))
}

/// The product of a number with a fraction and an integer.
public func * <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where Left.Object == Right.Object, Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(left.node, .product, right.node)
}

/// The product of an integer and a number with a fraction.
public func * <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Right.Element>
where Left.Object == Right.Object, Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(left.node, .product, right.node)
}

/// The quotient of a number with a fraction and an integer.
public func / <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(QueryNode(left), .quotient, QueryNode(right))
}

/// The quotient of an integer and a number with a fraction.
public func / <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Right.Element>
where Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(QueryNode(left), .quotient, QueryNode(right))
}

/// The quotient of a number with a fraction and an integer.
public func / <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where Left.Object == Right.Object, Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(left.node, .quotient, right.node)
}

/// The quotient of an integer and a number with a fraction.
public func / <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Right.Element>
where Left.Object == Right.Object, Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(left.node, .quotient, right.node)
}

/// The sum of a number with a fraction and an integer.
public func + <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(QueryNode(left), .sum, right.node)
}

/// The sum of a number with a fraction and an integer.
public func + <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(left.node, .sum, QueryNode(right))
}

/// The sum of an integer and a number with a fraction.
public func + <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(QueryNode(left), .sum, right.node)
}

/// The sum of an integer and a number with a fraction.
public func + <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(left.node, .sum, QueryNode(right))
}

/// The difference of a number with a fraction and an integer.
public func - <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(QueryNode(left), .difference, right.node)
}

/// The difference of a number with a fraction and an integer.
public func - <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(left.node, .difference, QueryNode(right))
}

/// The difference of an integer and a number with a fraction.
public func - <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(QueryNode(left), .difference, right.node)
}

/// The difference of an integer and a number with a fraction.
public func - <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(left.node, .difference, QueryNode(right))
}

/// The product of a number with a fraction and an integer.
public func * <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(QueryNode(left), .product, right.node)
}

/// The product of a number with a fraction and an integer.
public func * <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(left.node, .product, QueryNode(right))
}

/// The product of an integer and a number with a fraction.
public func * <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(QueryNode(left), .product, right.node)
}

/// The product of an integer and a number with a fraction.
public func * <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(left.node, .product, QueryNode(right))
}

/// The quotient of a number with a fraction and an integer.
public func / <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(QueryNode(left), .quotient, right.node)
}

/// The quotient of a number with a fraction and an integer.
public func / <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(left.node, .quotient, QueryNode(right))
}

/// The quotient of an integer and a number with a fraction.
public func / <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(QueryNode(left), .quotient, right.node)
}

/// The quotient of an integer and a number with a fraction.
public func / <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(left.node, .quotient, QueryNode(right))
}
