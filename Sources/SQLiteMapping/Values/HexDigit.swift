/// Hexadecimal digits as ASCII bytes.
package enum HexDigit {
  /// The digit of a value below 16.
  package static func uppercase(_ value: UInt8) -> UInt8 {
    value < 10 ? ascii("0") + value : ascii("A") - 10 + value
  }

  /// The value of a digit of either case, nil for another byte.
  package static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case ascii("0")...ascii("9"): digit - ascii("0")
    case ascii("A")...ascii("F"): digit - ascii("A") + 10
    case ascii("a")...ascii("f"): digit - ascii("a") + 10
    default: nil
    }
  }
}
