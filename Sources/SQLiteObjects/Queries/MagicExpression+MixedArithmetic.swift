import SQLiteCore

// Arithmetic with a fractional number (`Double`, `Float` or `Decimal`) and an integer. The result
// has the type of the fractional number.

/// Returns an expression for the sum of a fractional property and an integer property. The result
/// has the type of the fractional operand.
public func + <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(QueryNode(left), .sum, QueryNode(right))
}

/// Returns an expression for the sum of an integer property and a fractional property. The result
/// has the type of the fractional operand.
public func + <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Right.Element>
where Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(QueryNode(left), .sum, QueryNode(right))
}

/// Returns an expression for the sum of a fractional expression and an integer expression. The
/// result has the type of the fractional operand.
public func + <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where Left.Object == Right.Object, Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(left.node, .sum, right.node)
}

/// Returns an expression for the sum of an integer expression and a fractional expression. The
/// result has the type of the fractional operand.
public func + <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Right.Element>
where Left.Object == Right.Object, Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(left.node, .sum, right.node)
}

/// Returns an expression for the difference of a fractional property and an integer property. The
/// result has the type of the fractional operand.
public func - <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(QueryNode(left), .difference, QueryNode(right))
}

/// Returns an expression for the difference of an integer property and a fractional property. The
/// result has the type of the fractional operand.
public func - <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Right.Element>
where Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(QueryNode(left), .difference, QueryNode(right))
}

/// Returns an expression for the difference of a fractional expression and an integer expression.
/// The result has the type of the fractional operand.
public func - <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where Left.Object == Right.Object, Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(left.node, .difference, right.node)
}

/// Returns an expression for the difference of an integer expression and a fractional expression.
/// The result has the type of the fractional operand.
public func - <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Right.Element>
where Left.Object == Right.Object, Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(left.node, .difference, right.node)
}

/// Returns an expression for the product of a fractional property and an integer property. The
/// result has the type of the fractional operand.
public func * <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(QueryNode(left), .product, QueryNode(right))
}

/// Returns an expression for the product of an integer property and a fractional property. The
/// result has the type of the fractional operand.
public func * <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Right.Element>
where Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(QueryNode(left), .product, QueryNode(right))
}

/// Returns an expression for the product of a fractional expression and an integer expression. The
/// result has the type of the fractional operand.
public func * <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where Left.Object == Right.Object, Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(left.node, .product, right.node)
}

/// Returns an expression for the product of an integer expression and a fractional expression. The
/// result has the type of the fractional operand.
public func * <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Right.Element>
where Left.Object == Right.Object, Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(left.node, .product, right.node)
}

/// Returns an expression for the quotient of a fractional property and an integer property. The
/// result has the type of the fractional operand. Division by zero yields nil.
public func / <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(QueryNode(left), .quotient, QueryNode(right))
}

/// Returns an expression for the quotient of an integer property and a fractional property. The
/// result has the type of the fractional operand. Division by zero yields nil.
public func / <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Right.Element>
where Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(QueryNode(left), .quotient, QueryNode(right))
}

/// Returns an expression for the quotient of a fractional expression and an integer expression. The
/// result has the type of the fractional operand. Division by zero yields nil.
public func / <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where Left.Object == Right.Object, Left.Element: MagicFractional, Right.Element: BinaryInteger {
  calculation(left.node, .quotient, right.node)
}

/// Returns an expression for the quotient of an integer expression and a fractional expression. The
/// result has the type of the fractional operand. Division by zero yields nil.
public func / <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Right.Element>
where Left.Object == Right.Object, Left.Element: BinaryInteger, Right.Element: MagicFractional {
  calculation(left.node, .quotient, right.node)
}

/// Returns an expression for the sum of a fractional property and an integer expression. The result
/// has the type of the fractional operand.
public func + <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(QueryNode(left), .sum, right.node)
}

/// Returns an expression for the sum of a fractional expression and an integer property. The result
/// has the type of the fractional operand.
public func + <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(left.node, .sum, QueryNode(right))
}

/// Returns an expression for the sum of an integer property and a fractional expression. The result
/// has the type of the fractional operand.
public func + <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(QueryNode(left), .sum, right.node)
}

/// Returns an expression for the sum of an integer expression and a fractional property. The result
/// has the type of the fractional operand.
public func + <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(left.node, .sum, QueryNode(right))
}

/// Returns an expression for the difference of a fractional property and an integer expression. The
/// result has the type of the fractional operand.
public func - <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(QueryNode(left), .difference, right.node)
}

/// Returns an expression for the difference of a fractional expression and an integer property. The
/// result has the type of the fractional operand.
public func - <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(left.node, .difference, QueryNode(right))
}

/// Returns an expression for the difference of an integer property and a fractional expression. The
/// result has the type of the fractional operand.
public func - <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(QueryNode(left), .difference, right.node)
}

/// Returns an expression for the difference of an integer expression and a fractional property. The
/// result has the type of the fractional operand.
public func - <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(left.node, .difference, QueryNode(right))
}

/// Returns an expression for the product of a fractional property and an integer expression. The
/// result has the type of the fractional operand.
public func * <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(QueryNode(left), .product, right.node)
}

/// Returns an expression for the product of a fractional expression and an integer property. The
/// result has the type of the fractional operand.
public func * <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(left.node, .product, QueryNode(right))
}

/// Returns an expression for the product of an integer property and a fractional expression. The
/// result has the type of the fractional operand.
public func * <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(QueryNode(left), .product, right.node)
}

/// Returns an expression for the product of an integer expression and a fractional property. The
/// result has the type of the fractional operand.
public func * <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(left.node, .product, QueryNode(right))
}

/// Returns an expression for the quotient of a fractional property and an integer expression. The
/// result has the type of the fractional operand. Division by zero yields nil.
public func / <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(QueryNode(left), .quotient, right.node)
}

/// Returns an expression for the quotient of a fractional expression and an integer property. The
/// result has the type of the fractional operand. Division by zero yields nil.
public func / <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(left.node, .quotient, QueryNode(right))
}

/// Returns an expression for the quotient of an integer property and a fractional expression. The
/// result has the type of the fractional operand. Division by zero yields nil.
public func / <Object: MagicObject, Column: MagicColumn, Number: Codable & MagicFractional>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Number>
) -> MagicExpression<Object, Number> where Column.Element: BinaryInteger {
  calculation(QueryNode(left), .quotient, right.node)
}

/// Returns an expression for the quotient of an integer expression and a fractional property. The
/// result has the type of the fractional operand. Division by zero yields nil.
public func / <Object: MagicObject, Column: MagicColumn, Number: Codable & BinaryInteger>(
  left: MagicExpression<Object, Number>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicFractional {
  calculation(left.node, .quotient, QueryNode(right))
}
