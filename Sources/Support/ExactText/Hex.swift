/// Hexadecimal digits as ASCII bytes.
package enum Hex {
  /// Returns the uppercase hexadecimal digit of a value less than 16 as an ASCII byte.
  @inlinable package static func uppercase(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
  }

  /// Returns the value of an uppercase or lowercase digit, or nil for any other byte.
  @inline(__always) @inlinable package static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// Returns the lowercase hexadecimal digit of a value less than 16 as an ASCII byte.
  @inlinable package static func lowercase(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
  }

  /// Returns the bytes as text, with two uppercase digits per byte.
  package static func uppercaseText(of bytes: [UInt8]) -> String {
    text(of: bytes, uppercase)
  }

  /// Returns the bytes as text, with two lowercase digits per byte.
  package static func lowercaseText(of bytes: [UInt8]) -> String {
    text(of: bytes, lowercase)
  }

  private static func text(of bytes: [UInt8], _ digit: (UInt8) -> UInt8) -> String {
    unsafe String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
      var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
      for byte in bytes {
        output.append(digit(byte >> 4))
        output.append(digit(byte & 15))
      }
      return unsafe output.finalize(for: buffer)
    }
  }
}

extension FixedWidthInteger where Self: UnsignedInteger {
  /// The integer in lowercase hexadecimal digits, including leading zeros. Supports up to 128 bits.
  package var hexadecimal: String {
    Hex.text(of: UInt128(truncatingIfNeeded: self), digits: Self.bitWidth / 4)
  }

  /// Creates an integer from the digits that ``hexadecimal`` returns. Returns nil if the number of
  /// digits is different or a digit is uppercase or invalid.
  package init?(hexadecimal digits: Substring) {
    guard let bits = Hex.bits(of: digits.utf8, digits: Self.bitWidth / 4) else { return nil }
    self.init(truncatingIfNeeded: bits)
  }
}

extension Hex {
  fileprivate static func text(of bits: UInt128, digits count: Int) -> String {
    unsafe String(unsafeUninitializedCapacity: count) { buffer in
      var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
      var shift = count * 4
      while shift > 0 {
        shift -= 4
        output.append(lowercase(UInt8(truncatingIfNeeded: bits &>> UInt128(shift)) & 15))
      }
      return unsafe output.finalize(for: buffer)
    }
  }

  fileprivate static func bits(of digits: Substring.UTF8View, digits count: Int) -> UInt128? {
    guard digits.count == count else { return nil }
    var bits: UInt128 = 0
    for digit in digits {
      guard let value = value(digit), digit < UInt8(ascii: "A") || digit > UInt8(ascii: "F") else {
        return nil
      }
      bits = bits &<< 4 | UInt128(value)
    }
    return bits
  }
}
