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
