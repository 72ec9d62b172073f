/// Hexadecimal digits as ASCII bytes.
package enum Hex {
  /// The upper-case digit of a value below 16.
  @inlinable package static func uppercase(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
  }

  /// The value of a digit of either case, nil for another byte.
  @inlinable package static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// The lower-case digit of a value below 16.
  @inlinable package static func lowercase(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
  }

  /// Returns two upper-case digits for each byte.
  package static func uppercaseText(of bytes: [UInt8]) -> String {
    text(of: bytes, uppercase)
  }

  /// Returns two lower-case digits for each byte.
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
  /// All the lower-case hexadecimal digits, leading zeros included.
  @inlinable package var hexadecimal: String {
    var digits: [UInt8] = []
    digits.reserveCapacity(Self.bitWidth / 4)
    var shift = Self.bitWidth
    while shift > 0 {
      shift -= 4
      digits.append(Hex.lowercase(UInt8(truncatingIfNeeded: self >> shift) & 15))
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Makes the integer from exactly the digits that ``hexadecimal`` gives, or nil.
  @inlinable package init?(hexadecimal digits: Substring) {
    guard digits.utf8.count == Self.bitWidth / 4 else { return nil }
    self = 0
    for byte in digits.utf8 {
      guard let value = Hex.value(byte), byte < UInt8(ascii: "A") || byte > UInt8(ascii: "F") else {
        return nil
      }
      self = self << 4 | Self(truncatingIfNeeded: value)
    }
  }
}
