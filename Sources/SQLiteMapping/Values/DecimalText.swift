package import Essentials
package import SQLiteCore

/// `Decimal` as TEXT in plain decimal notation, `-12.5`: exact.
///
/// Equal decimals have one text, so `=` finds them; text does not sort as numbers do. SQLite's own
/// arithmetic would turn the text into an inexact REAL.
package enum DecimalText {
  /// Returns what is stored for `decimal`.
  ///
  /// - Throws: `SQLiteError` with `mismatch` for a NaN.
  package static func value(for decimal: Decimal) throws(SQLiteError) -> Value {
    guard !decimal.isNaN else {
      throw SQLiteError(.mismatch, "a Decimal that is not a number cannot be stored")
    }
    return .text(decimal.description)
  }

  /// Returns the decimal that `value` stores: TEXT, or an INTEGER.
  ///
  /// - Throws: `SQLiteError` with `mismatch` if `value` is of another kind or no such number, with
  ///   `range` if `Decimal` cannot hold it exactly.
  package static func decimal(from value: Value) throws(SQLiteError) -> Decimal {
    switch value {
    case .integer(let integer): return Decimal(integer)
    case .text(let text): return try decimal(from: PlainDecimal(text))
    default: throw value.mismatch(expected: Decimal.self)
    }
  }

  private static func decimal(from number: PlainDecimal) throws(SQLiteError) -> Decimal {
    if number.whole.utf8.count + number.fraction.utf8.count <= 18 {
      var significand: UInt64 = 0
      for digits in [number.whole, number.fraction] {
        for digit in digits.utf8 {
          significand = significand * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
      }
      return Decimal(
        sign: number.isNegative ? .minus : .plus, exponent: -number.fraction.utf8.count,
        significand: Decimal(significand))
    }
    // `Decimal` rounds what it cannot hold, so the proof is in writing it again.
    let text = number.text
    guard let decimal = Decimal(string: text), decimal.description == text else {
      throw SQLiteError(.range, "the stored number does not fit Decimal exactly")
    }
    return decimal
  }
}
