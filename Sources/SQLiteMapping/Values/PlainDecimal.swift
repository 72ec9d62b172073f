package import SQLiteCore

/// A decimal number written plainly, `-12.5`: no exponent, no grouping, no locale, no plus sign.
package struct PlainDecimal: Equatable {
  /// Says whether the number is below zero.
  package let isNegative: Bool
  /// The digits before the point, without leading zeros: none for a number below 1.
  package let whole: Substring
  /// The digits after the point, without trailing zeros.
  package let fraction: Substring

  /// Reads `[-]digits[.digits]`.
  ///
  /// - Throws: `SQLiteError` with `mismatch` for any other text.
  package init(_ text: String) throws(SQLiteError) {
    let hasMinus = text.utf8.first == ascii("-")
    let unsigned = text[text.utf8.index(text.startIndex, offsetBy: hasMinus ? 1 : 0)...]
    let point = unsigned.utf8.firstIndex(of: ascii("."))
    let before = unsigned[..<(point ?? unsigned.endIndex)]
    let after = point.map { unsigned[unsigned.utf8.index(after: $0)...] }
    guard Self.isDigits(before), after.map(Self.isDigits) ?? true else {
      throw SQLiteError(.mismatch, "the stored text is not a decimal number such as -12.5")
    }
    whole = before.drop { $0 == "0" }
    var fraction = after ?? ""
    while fraction.utf8.last == ascii("0") { fraction.removeLast() }
    self.fraction = fraction
    isNegative = hasMinus && !(whole.isEmpty && fraction.isEmpty)
  }

  /// The one text of this number: no superfluous zeros, no negative zero.
  package var text: String {
    "\(isNegative ? "-" : "")\(whole.isEmpty ? "0" : whole)\(fraction.isEmpty ? "" : ".")\(fraction)"
  }

  private static func isDigits(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 &- ascii("0") <= 9 }
  }
}
