extension FixedWidthInteger where Self: UnsignedInteger {
  /// All the lower-case hexadecimal digits, leading zeros included.
  var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.utf8.count) + digits
  }

  /// Makes the integer from exactly the digits that ``hexadecimal`` gives, or nil.
  init?(hexadecimal digits: Substring) {
    guard digits.utf8.count == Self.bitWidth / 4, digits.utf8.allSatisfy(isHexadecimalDigit) else {
      return nil
    }
    self.init(digits, radix: 16)
  }
}

/// Whether `byte` is the ASCII code of a digit or of a letter from a to f.
private func isHexadecimalDigit(_ byte: UInt8) -> Bool {
  (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
}
