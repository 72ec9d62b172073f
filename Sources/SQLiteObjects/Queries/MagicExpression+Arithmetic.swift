import SQLiteCore

// Arithmetic between properties, values and expressions. A path without its type, such as `\.$width`, needs an
// operator that takes key paths; all else is one operator for whatever can be calculated.

func calculation<Object: MagicObject, Element: Codable>(
  _ left: QueryNode, _ arithmetic: QueryArithmetic, _ right: QueryNode
) -> MagicExpression<Object, Element> {
  MagicExpression(.calculation(left, arithmetic, right, as: Element.self))
}

/// The sum; of texts, the one behind the other.
public func + <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: MagicAddable, Left.Element == Right.Element {
  calculation(QueryNode(left), .sum, QueryNode(right))
}

/// The sum; of texts, the one behind the other.
public func + <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicAddable {
  calculation(QueryNode(left), .sum, QueryNode(right))
}

/// The sum; of texts, the one behind the other.
public func + <Object: MagicObject, Column: MagicColumn>(
  left: Column.Element, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: MagicAddable {
  calculation(QueryNode(left), .sum, QueryNode(right))
}

/// The sum; of texts, the one behind the other.
public func + <Object: MagicObject, Column: MagicColumn, Element: MagicAddable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(QueryNode(left), .sum, right.node)
}

/// The sum; of texts, the one behind the other.
public func + <Object: MagicObject, Column: MagicColumn, Element: MagicAddable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(left.node, .sum, QueryNode(right))
}

/// The sum; of texts, the one behind the other.
public func + <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where Left.Object == Right.Object, Left.Element: MagicAddable, Left.Element == Right.Element {
  calculation(left.node, .sum, right.node)
}

/// The sum; of texts, the one behind the other.
public func + <Left: MagicCalculation>(
  left: Left, right: Left.Element
) -> MagicExpression<Left.Object, Left.Element> where Left.Element: MagicAddable {
  calculation(left.node, .sum, QueryNode(right))
}

/// The sum; of texts, the one behind the other.
public func + <Right: MagicCalculation>(
  left: Right.Element, right: Right
) -> MagicExpression<Right.Object, Right.Element> where Right.Element: MagicAddable {
  calculation(QueryNode(left), .sum, right.node)
}

/// The difference.
public func - <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  calculation(QueryNode(left), .difference, QueryNode(right))
}

/// The difference.
public func - <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .difference, QueryNode(right))
}

/// The difference.
public func - <Object: MagicObject, Column: MagicColumn>(
  left: Column.Element, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .difference, QueryNode(right))
}

/// The difference.
public func - <Object: MagicObject, Column: MagicColumn, Element: Numeric & MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(QueryNode(left), .difference, right.node)
}

/// The difference.
public func - <Object: MagicObject, Column: MagicColumn, Element: Numeric & MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(left.node, .difference, QueryNode(right))
}

/// The difference.
public func - <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where
  Left.Object == Right.Object, Left.Element: Numeric & MagicComparable,
  Left.Element == Right.Element
{ calculation(left.node, .difference, right.node) }

/// The difference.
public func - <Left: MagicCalculation>(
  left: Left, right: Left.Element
) -> MagicExpression<Left.Object, Left.Element> where Left.Element: Numeric & MagicComparable {
  calculation(left.node, .difference, QueryNode(right))
}

/// The difference.
public func - <Right: MagicCalculation>(
  left: Right.Element, right: Right
) -> MagicExpression<Right.Object, Right.Element> where Right.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .difference, right.node)
}

/// The product.
public func * <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  calculation(QueryNode(left), .product, QueryNode(right))
}

/// The product.
public func * <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .product, QueryNode(right))
}

/// The product.
public func * <Object: MagicObject, Column: MagicColumn>(
  left: Column.Element, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .product, QueryNode(right))
}

/// The product.
public func * <Object: MagicObject, Column: MagicColumn, Element: Numeric & MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(QueryNode(left), .product, right.node)
}

/// The product.
public func * <Object: MagicObject, Column: MagicColumn, Element: Numeric & MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(left.node, .product, QueryNode(right))
}

/// The product.
public func * <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where
  Left.Object == Right.Object, Left.Element: Numeric & MagicComparable,
  Left.Element == Right.Element
{ calculation(left.node, .product, right.node) }

/// The product.
public func * <Left: MagicCalculation>(
  left: Left, right: Left.Element
) -> MagicExpression<Left.Object, Left.Element> where Left.Element: Numeric & MagicComparable {
  calculation(left.node, .product, QueryNode(right))
}

/// The product.
public func * <Right: MagicCalculation>(
  left: Right.Element, right: Right
) -> MagicExpression<Right.Object, Right.Element> where Right.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .product, right.node)
}

/// The quotient; of integers without the fraction, nil of a division by zero.
public func / <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: Numeric & MagicComparable, Left.Element == Right.Element {
  calculation(QueryNode(left), .quotient, QueryNode(right))
}

/// The quotient; of integers without the fraction, nil of a division by zero.
public func / <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .quotient, QueryNode(right))
}

/// The quotient; of integers without the fraction, nil of a division by zero.
public func / <Object: MagicObject, Column: MagicColumn>(
  left: Column.Element, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element> where Column.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .quotient, QueryNode(right))
}

/// The quotient; of integers without the fraction, nil of a division by zero.
public func / <Object: MagicObject, Column: MagicColumn, Element: Numeric & MagicComparable>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Element>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(QueryNode(left), .quotient, right.node)
}

/// The quotient; of integers without the fraction, nil of a division by zero.
public func / <Object: MagicObject, Column: MagicColumn, Element: Numeric & MagicComparable>(
  left: MagicExpression<Object, Element>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, Element> where Column.Element == Element {
  calculation(left.node, .quotient, QueryNode(right))
}

/// The quotient; of integers without the fraction, nil of a division by zero.
public func / <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where
  Left.Object == Right.Object, Left.Element: Numeric & MagicComparable,
  Left.Element == Right.Element
{ calculation(left.node, .quotient, right.node) }

/// The quotient; of integers without the fraction, nil of a division by zero.
public func / <Left: MagicCalculation>(
  left: Left, right: Left.Element
) -> MagicExpression<Left.Object, Left.Element> where Left.Element: Numeric & MagicComparable {
  calculation(left.node, .quotient, QueryNode(right))
}

/// The quotient; of integers without the fraction, nil of a division by zero.
public func / <Right: MagicCalculation>(
  left: Right.Element, right: Right
) -> MagicExpression<Right.Object, Right.Element> where Right.Element: Numeric & MagicComparable {
  calculation(QueryNode(left), .quotient, right.node)
}

/// The remainder, with the sign of the left number; nil of a division by zero.
public func % <Object: MagicObject, Column: MagicColumn>(
  left: KeyPath<Object, Column>, right: Column.Element
) -> MagicExpression<Object, Column.Element> where Column.Element: BinaryInteger & MagicComparable {
  calculation(QueryNode(left), .remainder, QueryNode(right))
}

/// The remainder, with the sign of the left number; nil of a division by zero.
public func % <Object: MagicObject, Left: MagicColumn, Right: MagicColumn>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, Left.Element>
where Left.Element: BinaryInteger & MagicComparable, Left.Element == Right.Element {
  calculation(QueryNode(left), .remainder, QueryNode(right))
}

/// The remainder, with the sign of the left number; nil of a division by zero.
public func % <Left: MagicCalculation>(
  left: Left, right: Left.Element
) -> MagicExpression<Left.Object, Left.Element>
where Left.Element: BinaryInteger & MagicComparable {
  calculation(left.node, .remainder, QueryNode(right))
}

/// The remainder, with the sign of the left number; nil of a division by zero.
public func % <Left: MagicCalculation, Right: MagicCalculation>(
  left: Left, right: Right
) -> MagicExpression<Left.Object, Left.Element>
where
  Left.Object == Right.Object, Left.Element: BinaryInteger & MagicComparable,
  Left.Element == Right.Element
{ calculation(left.node, .remainder, right.node) }

/// The number with the other sign.
public prefix func - <Object: MagicObject, Column: MagicColumn>(
  operand: KeyPath<Object, Column>
) -> MagicExpression<Object, Column.Element>
where Column.Element: SignedNumeric & MagicComparable {
  calculation(QueryNode(Column.Element.zero), .difference, QueryNode(operand))
}

/// The number with the other sign.
public prefix func - <Object: MagicObject, Number: SignedNumeric & MagicComparable>(
  operand: MagicExpression<Object, Number>
) -> MagicExpression<Object, Number> {
  calculation(QueryNode(Number.zero), .difference, operand.node)
}
