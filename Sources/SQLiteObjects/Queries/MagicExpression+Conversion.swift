public import Essentials
import SQLiteCore

// Conversions to other types, like those of Swift's initializers. They are nil where Swift's
// initializers return nil.

extension MagicCalculation where Element: BinaryInteger & MagicComparable {
  /// Returns an expression for the nearest `Double`.
  ///
  ///     magic.fetch(Line.all.values((\Line.$quantity).asDouble() / 3))
  public func asDouble() -> MagicExpression<Object, Double> {
    MagicExpression(["CAST(", " AS REAL)"], node)
  }

  /// Returns an expression for the same number as an `Int`.
  public func asInt() -> MagicExpression<Object, Int> { MagicExpression(node) }

  /// Returns an expression for the same number as a `Decimal`.
  public func asDecimal() -> MagicExpression<Object, Decimal> {
    MagicExpression(["CAST(", " AS TEXT)"], node)
  }

  /// Returns an expression for the decimal digits of the number, like `String(describing:)`.
  public func asString() -> MagicExpression<Object, String> {
    MagicExpression(["CAST(", " AS TEXT)"], node)
  }
}

extension MagicCalculation where Element: BinaryFloatingPoint & MagicComparable {
  /// Returns an expression for the same number as a `Double`.
  public func asDouble() -> MagicExpression<Object, Double> { MagicExpression(node) }

  /// Returns an expression for the number without its fraction. A number that doesn't fit in an
  /// `Int` becomes the nearest one that does.
  ///
  ///     try magic.fetch(Track.all.aggregate(.count, by: (\Track.$seconds / 60).asInt()))
  public func asInt() -> MagicExpression<Object, Int> {
    MagicExpression(["CAST(", " AS INTEGER)"], node)
  }

  /// Returns an expression for the `Decimal` with the digits that Swift prints for the number. It
  /// is nil if `Decimal` can't represent the number, for example infinity.
  public func asDecimal() -> MagicExpression<Object, Decimal> {
    MagicExpression(["magicdata_decimal_of_real(", ")"], node)
  }

  /// Returns an expression for the text that Swift prints for the number. It has the fewest digits
  /// that still identify the number.
  public func asString() -> MagicExpression<Object, String> {
    Element.self == Float.self
      ? MagicExpression(["magicdata_text_of_float(", ")"], node)
      : MagicExpression(["magicdata_text_of_real(", ")"], node)
  }
}

extension MagicCalculation where Element == Decimal {
  /// Returns an expression for the nearest `Double`.
  ///
  ///     magic.objects(of: Line.self, where: (\Line.$price).asDouble() * 1.19 > 100)
  public func asDouble() -> MagicExpression<Object, Double> {
    MagicExpression(["magicdata_real_of_decimal(", ")"], node)
  }

  /// Returns an expression for the number without its fraction. It is nil if the number doesn't fit
  /// in an `Int`.
  public func asInt() -> MagicExpression<Object, Int> {
    MagicExpression(["magicdata_integer_of_decimal(", ")"], node)
  }

  /// Returns an expression for the number in plain decimal notation, such as `-12.5`.
  public func asString() -> MagicExpression<Object, String> { MagicExpression(node) }
}

extension MagicCalculation where Element == String {
  /// Returns an expression for the number that the text represents, parsed like `Double(_:)`. It is
  /// nil for any other text.
  public func asDouble() -> MagicExpression<Object, Double> {
    MagicExpression(["magicdata_real_of_text(", ")"], node)
  }

  /// Returns an expression for the integer that the text represents, parsed like `Int(_:)`. It is
  /// nil for any other text.
  ///
  ///     magic.objects(of: House.self, orderedBy: [.ascending((\House.$number).asInt())])
  public func asInt() -> MagicExpression<Object, Int> {
    MagicExpression(["magicdata_integer_of_text(", ")"], node)
  }

  /// Returns an expression for the number that the text represents in plain decimal notation, such
  /// as `-12.5`. It is nil for any other text.
  public func asDecimal() -> MagicExpression<Object, Decimal> {
    MagicExpression(["magicdata_decimal_of_text(", ")"], node)
  }
}
