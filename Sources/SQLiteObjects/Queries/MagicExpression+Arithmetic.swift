import SQLiteCore

// Arithmetic with properties, values and expressions. A key path without its root type, such as
// `\.$width`, needs an operator that takes key paths. Everything else uses one operator for any
// ``MagicCalculation``.

func calculation<Object: MagicObject, Element: Codable>(
  _ left: QueryNode, _ arithmetic: QueryArithmetic, _ right: QueryNode
) -> MagicExpression<Object, Element> {
  MagicExpression(.calculation(left, arithmetic, right, as: Element.self))
}

/// Returns an expression for the sum of two properties, or their concatenation if they are strings.
public func + <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: MagicAddable, Left.Element == Right.Element {
  calculation(QueryNode(left), .sum, QueryNode(right))
}

/// Returns an expression for the sum of a property and a value, or their concatenation if they are
/// strings.
public func + <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicAddable {
  calculation(QueryNode(left), .sum, QueryNode(right))
}

/// Returns an expression for the sum of a value and a property, or their concatenation if they are
/// strings.
public func + <Object: MagicObject, Column: MagicColumn>(
  left: Column.Element, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicAddable {
  calculation(QueryNode(left), .sum, QueryNode(right))
}

/// Returns an expression for the sum of a property and an expression, or their concatenation if
/// they are strings.
public func + <Object: MagicObject, Column: MagicColumn, Element: MagicAddable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(QueryNode(left), .sum, right.node)
}

/// Returns an expression for the sum of an expression and a property, or their concatenation if
/// they are strings.
public func + <Object: MagicObject, Column: MagicColumn, Element: MagicAddable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(left.node, .sum, QueryNode(right))
}

/// Returns an expression for the sum of two expressions, or their concatenation if they are
/// strings.
public func + <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where Left.Object == Right.Object, Left.Element: MagicAddable, Left.Element == Right.Element {
  calculation(left.node, .sum, right.node)
}

/// Returns an expression for the sum of an expression and a value, or their concatenation if they
/// are strings.
public func + <Left: MagicCalculation>(
  left: Left, right: Left.Element
) -> MagicExpression<Left.Object, Left.Element> where Left.Element: MagicAddable {
  calculation(left.node, .sum, QueryNode(right))
}

/// Returns an expression for the sum of a value and an expression, or their concatenation if they
/// are strings.
public func + <Right: MagicCalculation>(
  left: Right.Element, right: Right
) -> MagicExpression<Right.Object, Right.Element> where Right.Element: MagicAddable {
  calculation(QueryNode(left), .sum, right.node)
}

/// Returns an expression for the difference of two properties.
public func - <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  calculation(QueryNode(left), .difference, QueryNode(right))
}

/// Returns an expression for the difference of a property and a value.
public func - <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .difference, QueryNode(right))
}

/// Returns an expression for the difference of a value and a property.
public func - <Object: MagicObject, Column: MagicColumn>(
  left: Column.Element, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .difference, QueryNode(right))
}

/// Returns an expression for the difference of a property and an expression.
public func - <Object: MagicObject, Column: MagicColumn, Element: Numeric & MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(QueryNode(left), .difference, right.node)
}

/// Returns an expression for the difference of an expression and a property.
public func - <Object: MagicObject, Column: MagicColumn, Element: Numeric & MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(left.node, .difference, QueryNode(right))
}

/// Returns an expression for the difference of two expressions.
public func - <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where
  Left.Object == Right.Object, Left.Element: Numeric & MagicComparable,
  Left.Element == Right.Element
{ calculation(left.node, .difference, right.node) }

/// Returns an expression for the difference of an expression and a value.
public func - <Left: MagicCalculation>(
  left: Left, right: Left.Element
) -> MagicExpression<Left.Object, Left.Element> where Left.Element: Numeric & MagicComparable {
  calculation(left.node, .difference, QueryNode(right))
}

/// Returns an expression for the difference of a value and an expression.
public func - <Right: MagicCalculation>(
  left: Right.Element, right: Right
) -> MagicExpression<Right.Object, Right.Element> where Right.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .difference, right.node)
}

/// Returns an expression for the product of two properties.
public func * <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  calculation(QueryNode(left), .product, QueryNode(right))
}

/// Returns an expression for the product of a property and a value.
public func * <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .product, QueryNode(right))
}

/// Returns an expression for the product of a value and a property.
public func * <Object: MagicObject, Column: MagicColumn>(
  left: Column.Element, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .product, QueryNode(right))
}

/// Returns an expression for the product of a property and an expression.
public func * <Object: MagicObject, Column: MagicColumn, Element: Numeric & MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(QueryNode(left), .product, right.node)
}

/// Returns an expression for the product of an expression and a property.
public func * <Object: MagicObject, Column: MagicColumn, Element: Numeric & MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(left.node, .product, QueryNode(right))
}

/// Returns an expression for the product of two expressions.
public func * <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where
  Left.Object == Right.Object, Left.Element: Numeric & MagicComparable,
  Left.Element == Right.Element
{ calculation(left.node, .product, right.node) }

/// Returns an expression for the product of an expression and a value.
public func * <Left: MagicCalculation>(
  left: Left, right: Left.Element
) -> MagicExpression<Left.Object, Left.Element> where Left.Element: Numeric & MagicComparable {
  calculation(left.node, .product, QueryNode(right))
}

/// Returns an expression for the product of a value and an expression.
public func * <Right: MagicCalculation>(
  left: Right.Element, right: Right
) -> MagicExpression<Right.Object, Right.Element> where Right.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .product, right.node)
}

/// Returns an expression for the quotient of two properties. Integer division truncates. Division
/// by zero yields nil.
public func / <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  calculation(QueryNode(left), .quotient, QueryNode(right))
}

/// Returns an expression for the quotient of a property and a value. Integer division truncates.
/// Division by zero yields nil.
public func / <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .quotient, QueryNode(right))
}

/// Returns an expression for the quotient of a value and a property. Integer division truncates.
/// Division by zero yields nil.
public func / <Object: MagicObject, Column: MagicColumn>(
  left: Column.Element, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .quotient, QueryNode(right))
}

/// Returns an expression for the quotient of a property and an expression. Integer division
/// truncates. Division by zero yields nil.
public func / <Object: MagicObject, Column: MagicColumn, Element: Numeric & MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(QueryNode(left), .quotient, right.node)
}

/// Returns an expression for the quotient of an expression and a property. Integer division
/// truncates. Division by zero yields nil.
public func / <Object: MagicObject, Column: MagicColumn, Element: Numeric & MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(left.node, .quotient, QueryNode(right))
}

/// Returns an expression for the quotient of two expressions. Integer division truncates. Division
/// by zero yields nil.
public func / <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where
  Left.Object == Right.Object, Left.Element: Numeric & MagicComparable,
  Left.Element == Right.Element
{ calculation(left.node, .quotient, right.node) }

/// Returns an expression for the quotient of an expression and a value. Integer division truncates.
/// Division by zero yields nil.
public func / <Left: MagicCalculation>(
  left: Left, right: Left.Element
) -> MagicExpression<Left.Object, Left.Element> where Left.Element: Numeric & MagicComparable {
  calculation(left.node, .quotient, QueryNode(right))
}

/// Returns an expression for the quotient of a value and an expression. Integer division truncates.
/// Division by zero yields nil.
public func / <Right: MagicCalculation>(
  left: Right.Element, right: Right
) -> MagicExpression<Right.Object, Right.Element> where Right.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .quotient, right.node)
}

/// Returns an expression for the remainder of a property divided by a value. It has the sign of the
/// dividend. Division by zero yields nil.
public func % <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: BinaryInteger & MagicComparable {
  calculation(QueryNode(left), .remainder, QueryNode(right))
}

/// Returns an expression for the remainder of a property divided by another one. It has the sign of
/// the dividend. Division by zero yields nil.
public func % <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: BinaryInteger & MagicComparable, Left.Element == Right.Element {
  calculation(QueryNode(left), .remainder, QueryNode(right))
}

/// Returns an expression for the remainder of an expression divided by a value. It has the sign of
/// the dividend. Division by zero yields nil.
public func % <Left: MagicCalculation>(
  left: Left, right: Left.Element
) -> MagicExpression<Left.Object, Left.Element>
where Left.Element: BinaryInteger & MagicComparable {
  calculation(left.node, .remainder, QueryNode(right))
}

/// Returns an expression for the remainder of an expression divided by another one. It has the sign
/// of the dividend. Division by zero yields nil.
public func % <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where
  Left.Object == Right.Object, Left.Element: BinaryInteger & MagicComparable,
  Left.Element == Right.Element
{ calculation(left.node, .remainder, right.node) }

/// Returns an expression for the negative of a property.
public prefix func - <Object: MagicObject, Column: MagicColumn>(
  operand: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element>
where Column.Element: SignedNumeric & MagicComparable {
  calculation(QueryNode(Column.Element.zero), .difference, QueryNode(operand))
}

/// Returns an expression for the negative of an expression.
public prefix func - <Object: MagicObject, Number: SignedNumeric & MagicComparable>(
  operand: MagicExpression<Object, Number>
) -> MagicExpression<Object, Number> {
  calculation(QueryNode(Number.zero), .difference, operand.node)
}
