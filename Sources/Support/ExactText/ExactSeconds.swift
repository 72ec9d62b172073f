/// Lossless conversions between seconds as a `Double` and as decimal digits.
package enum ExactSeconds {
  /// Appends the fraction digits of `seconds`, counted from the next lower whole second.
  ///
  /// Of the shortest fractions that ``nearest(_:fraction:)`` converts back to `seconds`, it appends
  /// the closest one. Different numbers never have the same digits, so the texts sort in the order
  /// of the numbers.
  ///
  /// - Precondition: `seconds` isn't a whole number, and its magnitude is less than 2^52.
  package static func appendFraction(of seconds: Double, to text: inout OutputSpan<UInt8>) {
    guard seconds.magnitude >= 1 else { return appendSmallFraction(of: seconds, to: &text) }
    // Fixed-point long division. The unit is 2^-(bits + 1) seconds, half the distance between two
    // adjacent doubles. A remainder closer than `reach` to either end therefore identifies this
    // double.
    let bits = UInt64(52 - Int(seconds.exponent))
    let one: UInt64 = 1 << (bits + 1)
    var remainder = (seconds.significandBitPattern & ((1 << bits) - 1)) << 1
    if seconds < 0 { remainder = one - remainder }
    var reach: UInt64 = 1
    while true {
      remainder *= 10
      reach *= 10
      let digit = UInt8(truncatingIfNeeded: remainder >> (bits + 1))
      remainder &= one - 1
      let isDownInReach = remainder < reach
      let isUpInReach = one - remainder < reach
      guard isDownInReach || isUpInReach else {
        text.append(UInt8(ascii: "0") + digit)
        continue
      }
      let isUp = isUpInReach && (!isDownInReach || remainder > one / 2)
      text.append(UInt8(ascii: "0") + digit + (isUp ? 1 : 0))
      return
    }
  }

  /// Returns the double nearest to `whole + numerator / denominator`. Rounds ties to even.
  ///
  /// - Parameters:
  ///   - whole: The whole seconds. The magnitude must be less than 2^52.
  ///   - numerator: The numerator of the fraction. It must be less than the denominator.
  ///   - denominator: A power of ten up to 10^19.
  /// - Returns: The double, or nil if the result is between -1 and 1 and the fraction needs more
  ///   digits than this arithmetic supports.
  package static func nearest(
    _ whole: Int64, _ numerator: UInt64, over denominator: UInt64
  ) -> Double? {
    if numerator == 0 { return Double(whole) }
    let magnitude = UInt64(whole < 0 ? -whole - 1 : whole)
    let part = whole < 0 ? denominator - numerator : numerator
    let sign: Double = whole < 0 ? -1 : 1
    guard magnitude > 0 else {
      // Both numbers are exact (below 2^53 and 10^22), so only the division rounds.
      return part < 1 << 53 ? sign * (Double(part) / Double(denominator)) : nil
    }
    let bits = UInt64(magnitude.leadingZeroBitCount) - 11
    let (high, low) = part.multipliedFullWidth(by: 1 << bits)
    let (quotient, remainder) =
      high == 0
      ? low.quotientAndRemainder(dividingBy: denominator)
      : denominator.dividingFullWidth((high, low))
    var significand = magnitude << bits + quotient
    let rest = denominator - remainder
    if remainder > rest || (remainder == rest && significand & 1 == 1) { significand += 1 }
    return sign * Double(significand) * Double(bitPattern: (1_023 - bits) << 52)
  }

  /// Returns the double nearest to `whole` plus the fraction with the given digits. Rounds ties to
  /// even.
  ///
  /// - Precondition: All bytes of `digits` are ASCII digits. The result is then never nil.
  package static func nearest(_ whole: Int64, fraction digits: Span<UInt8>) -> Double? {
    var count = digits.count
    while count > 0, digits[count - 1] == UInt8(ascii: "0") { count -= 1 }
    var numerator: UInt64 = 0
    var denominator: UInt64 = 1
    if count <= 19 {
      for index in 0..<count {
        numerator = numerator * 10 + UInt64(digits[index] - UInt8(ascii: "0"))
        denominator *= 10
      }
      if let exact = nearest(whole, numerator, over: denominator) { return exact }
    }
    return nearestOfLong(whole, digits: digits.extracting(first: count))
  }

  /// Appends the fraction digits of a number between -1 and 1, using the shortest digits that Swift
  /// prints.
  private static func appendSmallFraction(of seconds: Double, to text: inout OutputSpan<UInt8>) {
    var digits: [UInt8] = []
    var count = 0
    let parts = seconds.magnitude.description.split(separator: "e")
    for part in parts.prefix(1) {
      let numbers = part.split(separator: ".")
      for number in numbers { digits += number.utf8 }
      count = numbers.count > 1 ? numbers[1].utf8.count : 0
    }
    if parts.count > 1, let exponent = Int(parts[1]) { count -= exponent }
    digits = Array(digits.drop { $0 == UInt8(ascii: "0") })
    let leading = count - digits.count
    // The fraction of a negative number counts from the next lower second: the ten's complement.
    for index in 0..<count {
      let digit = index < leading ? UInt8(ascii: "0") : digits[index - leading]
      let complement = index == count - 1 ? 10 + 2 * UInt8(ascii: "0") : 9 + 2 * UInt8(ascii: "0")
      text.append(seconds < 0 ? complement - digit : digit)
    }
  }

  /// Returns the double nearest to `whole` plus a fraction with any number of digits. Uses Swift's
  /// conversion of text, which rounds correctly.
  private static func nearestOfLong(_ whole: Int64, digits: Span<UInt8>) -> Double? {
    var text = whole < 0 ? "-\(-whole - 1)." : "\(whole)."
    for index in 0..<digits.count {
      let complement =
        index == digits.count - 1 ? 10 + 2 * UInt8(ascii: "0") : 9 + 2 * UInt8(ascii: "0")
      let digit = whole < 0 ? complement - digits[index] : digits[index]
      text.unicodeScalars.append(Unicode.Scalar(digit))
    }
    return Double(text)
  }
}
