public import Essentials
import SQLiteCore

// Values as another type, as Swift's initializers make them; nil where Swift's return nil.

extension MagicCalculation where Element: BinaryInteger & MagicComparable {
  /// The nearest `Double`.
  ///
  ///     magic.fetch(Line.all.values((\Line.$quantity).asDouble() / 3))
  public func asDouble() -> MagicExpression<Object, Double> {
    MagicExpression(["CAST(", " AS REAL)"], node)
  }

  /// The same number.
  public func asInt() -> MagicExpression<Object, Int> { MagicExpression(node) }

  /// The same number.
  public func asDecimal() -> MagicExpression<Object, Decimal> {
    MagicExpression(["CAST(", " AS TEXT)"], node)
  }

  /// The digits, as `String(describing:)` gives them.
  public func asString() -> MagicExpression<Object, String> {
    MagicExpression(["CAST(", " AS TEXT)"], node)
  }
}

extension MagicCalculation where Element: BinaryFloatingPoint & MagicComparable {
  /// The same number.
  public func asDouble() -> MagicExpression<Object, Double> { MagicExpression(node) }

  /// The number without its fraction. What an `Int` cannot hold becomes the nearest that it can.
  ///
  ///     try magic.fetch(Track.all.aggregate(.count, by: (\Track.$seconds / 60).asInt()))
  public func asInt() -> MagicExpression<Object, Int> {
    MagicExpression(["CAST(", " AS INTEGER)"], node)
  }

  /// The number as Swift prints it; nil for infinities.
  public func asDecimal() -> MagicExpression<Object, Decimal> {
    MagicExpression(["magicdata_decimal_of_real(", ")"], node)
  }

  /// The number as Swift prints it, with the fewest digits that it is read back from.
  public func asString() -> MagicExpression<Object, String> {
    Element.self == Float.self
      ? MagicExpression(["magicdata_text_of_float(", ")"], node)
      : MagicExpression(["magicdata_text_of_real(", ")"], node)
  }
}

extension MagicCalculation where Element == Decimal {
  /// The nearest `Double`.
  ///
  ///     magic.objects(of: Line.self, where: (\Line.$price).asDouble() * 1.19 > 100)
  public func asDouble() -> MagicExpression<Object, Double> {
    MagicExpression(["magicdata_real_of_decimal(", ")"], node)
  }

  /// The number without its fraction; nil if an `Int` cannot hold it.
  public func asInt() -> MagicExpression<Object, Int> {
    MagicExpression(["magicdata_integer_of_decimal(", ")"], node)
  }

  /// The number in plain notation, `-12.5`.
  public func asString() -> MagicExpression<Object, String> { MagicExpression(node) }
}

extension MagicCalculation where Element == String {
  /// The number that the text is, as `Double(_:)` reads it; nil for any other text.
  public func asDouble() -> MagicExpression<Object, Double> {
    MagicExpression(["magicdata_real_of_text(", ")"], node)
  }

  /// The integer that the text is, as `Int(_:)` reads it; nil for any other text.
  ///
  ///     magic.objects(of: House.self, orderedBy: [.ascending((\House.$number).asInt())])
  public func asInt() -> MagicExpression<Object, Int> {
    MagicExpression(["magicdata_integer_of_text(", ")"], node)
  }

  /// The number that the text is in plain notation, such as `-12.5`; nil for any other text.
  public func asDecimal() -> MagicExpression<Object, Decimal> {
    MagicExpression(["magicdata_decimal_of_text(", ")"], node)
  }
}
