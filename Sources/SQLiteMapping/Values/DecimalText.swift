package import Essentials
package import SQLiteCore

/// The conversion between `Decimal` and TEXT in plain decimal notation, such as `-12.5`. It is
/// exact.
///
/// Equal decimals have the same text, so SQL can compare them with `=`. The collation
/// ``DecimalOrder`` sorts the texts numerically. SQLite's arithmetic converts the text to an
/// inexact REAL.
package enum DecimalText {
  /// Returns the stored form of `decimal`.
  ///
  /// - Throws: `SQLiteError` with `mismatch` for a NaN.
  package static func value(for decimal: Decimal) throws(SQLiteError) -> Value {
    guard !decimal.isNaN else {
      throw SQLiteError(.mismatch, "a Decimal that is NaN cannot be stored")
    }
    return .text(decimal.description)
  }

  /// Returns the decimal that `value`, a TEXT or an INTEGER, represents.
  ///
  /// - Throws: `SQLiteError` with `mismatch` if `value` has another storage class or is not a
  ///   number in plain decimal notation, and with `range` if `Decimal` cannot represent it exactly.
  package static func decimal(from value: Value) throws(SQLiteError) -> Decimal {
    switch value {
    case .integer(let integer): return Decimal(integer)
    case .text(let text): return try decimal(from: PlainDecimal(text))
    default: throw value.mismatch(expected: Decimal.self)
    }
  }

  private static func decimal(from number: PlainDecimal) throws(SQLiteError) -> Decimal {
    // `Decimal` rounds numbers that it cannot represent, so the result is converted back and
    // compared.
    let text = number.text
    guard let decimal = Decimal(string: text), decimal.description == text else {
      throw SQLiteError(.range, "the stored number does not fit Decimal exactly")
    }
    return decimal
  }
}

/// A decimal number in plain notation, such as `-12.5`, without exponent, grouping, locale or plus
/// sign.
package struct PlainDecimal: Equatable {
  /// Whether the number is less than zero.
  package let isNegative: Bool
  /// The digits before the point, without leading zeros. Empty if the magnitude is less than 1.
  package let whole: Substring
  /// The digits after the point, without trailing zeros. Empty for a whole number.
  package let fraction: Substring

  /// Creates a number by parsing `[-]digits[.digits]`.
  ///
  /// - Throws: `SQLiteError` with `mismatch` for any other text.
  package init(_ text: String) throws(SQLiteError) {
    let hasMinus = text.utf8.first == UInt8(ascii: "-")
    let unsigned = text[text.utf8.index(text.startIndex, offsetBy: hasMinus ? 1 : 0)...]
    let point = unsigned.utf8.firstIndex(of: UInt8(ascii: "."))
    let before = unsigned[..<(point ?? unsigned.endIndex)]
    let after = point.map { unsigned[unsigned.utf8.index(after: $0)...] }
    guard Self.isDigits(before), after.map(Self.isDigits) ?? true else {
      throw SQLiteError(.mismatch, "the stored text is not a decimal number such as -12.5")
    }
    whole = before.drop { $0 == "0" }
    var fraction = after ?? ""
    while fraction.utf8.last == UInt8(ascii: "0") { fraction.removeLast() }
    self.fraction = fraction
    isNegative = hasMinus && !(whole.isEmpty && fraction.isEmpty)
  }

  /// The canonical text of the number, without superfluous zeros and without a negative zero.
  package var text: String {
    "\(isNegative ? "-" : "")\(whole.isEmpty ? "0" : whole)\(fraction.isEmpty ? "" : ".")\(fraction)"
  }

  private static func isDigits(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 &- UInt8(ascii: "0") <= 9 }
  }
}
