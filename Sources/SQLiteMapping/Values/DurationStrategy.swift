package import SQLiteCore

/// The form in which a `Duration` is stored.
public enum DurationStrategy: Hashable, Sendable, CaseIterable {
  /// TEXT of decimal seconds, such as `-1.5`, with up to 18 digits after the point: exact.
  ///
  /// Equal durations have the same text. The text sorts in the order of the durations only with the
  /// collation `magicdata_decimal`, which the library adds to each connection.
  case text
  /// REAL seconds with 15 significant digits and an error of at most one unit in the last place of
  /// the double. Stored values sort in the order of the durations.
  case seconds
  /// INTEGER nanoseconds, rounded to the nearest nanosecond. Ties are rounded to even. Stored
  /// values sort in the order of the durations.
  ///
  /// Durations of more than 2^63 nanoseconds (292 years) cannot be stored.
  case nanoseconds

  /// Returns the stored form of `duration`.
  ///
  /// - Throws: `SQLiteError` with `range` if the strategy cannot represent it.
  package func value(for duration: Duration) throws(SQLiteError) -> Value {
    switch self {
    case .text: return .text(Self.text(of: duration))
    case .seconds:
      let seconds = Self.seconds(of: duration)
      // Rounding may move the last 2^14 seconds at either end out of the range.
      if seconds.magnitude > 1e20 { _ = try Self.duration(seconds: seconds) }
      return .real(seconds)
    case .nanoseconds:
      let (quotient, rest) = duration.attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
      let half: UInt128 = 500_000_000
      let isUp = rest.magnitude > half || (rest.magnitude == half && quotient & 1 == 1)
      guard let nanoseconds = Int64(exactly: isUp ? quotient + rest.signum() : quotient) else {
        throw SQLiteError(.range, "the duration does not fit 64 bits of nanoseconds")
      }
      return .integer(nanoseconds)
    }
  }

  /// Returns the duration that `value` represents.
  ///
  /// - Throws: `SQLiteError` with `mismatch` if `value` has another storage class or is not a
  ///   number in the strategy's form, and with `range` if `Duration` cannot represent it.
  package func duration(from value: Value) throws(SQLiteError) -> Duration {
    switch self {
    case .text:
      guard case .text(let text) = value else { throw value.mismatch(expected: Duration.self) }
      return try Self.duration(from: PlainDecimal(text))
    case .seconds: return try Self.duration(seconds: value.real(for: Duration.self))
    case .nanoseconds:
      let nanoseconds = try value.integer(for: Duration.self)
      return Duration(attoseconds: Int128(nanoseconds) * 1_000_000_000)
    }
  }

  private static let perSecond: UInt128 = 1_000_000_000_000_000_000

  /// Returns the exact number of seconds in plain decimal notation.
  private static func text(of duration: Duration) -> String {
    let (seconds, rest) = duration.attoseconds.magnitude.quotientAndRemainder(dividingBy: perSecond)
    var text = "\(duration < .zero ? "-" : "")\(seconds)"
    guard rest > 0 else { return text }
    let digits = "\(rest)"
    text += "." + String(repeating: "0", count: 18 - digits.utf8.count) + digits
    while text.utf8.last == UInt8(ascii: "0") { text.removeLast() }
    return text
  }

  private static func seconds(of duration: Duration) -> Double {
    let (whole, rest) = duration.attoseconds.quotientAndRemainder(dividingBy: Int128(perSecond))
    // Converting 64 bits takes one instruction. Converting 128 bits takes a slow loop.
    let seconds = Int64(exactly: whole).map { Double($0) } ?? Double(whole)
    return seconds + Double(Int64(rest)) / 1e18
  }

  private static func duration(from number: PlainDecimal) throws(SQLiteError) -> Duration {
    guard number.fraction.utf8.count <= 18, number.whole.utf8.count <= 21 else {
      throw SQLiteError(.range, "the stored number of seconds does not fit Duration exactly")
    }
    var magnitude: UInt128 = 0
    for digit in number.whole.utf8 {
      magnitude = magnitude * 10 + UInt128(digit - UInt8(ascii: "0"))
    }
    var rest: UInt128 = 0
    for digit in number.fraction.utf8 { rest = rest * 10 + UInt128(digit - UInt8(ascii: "0")) }
    for _ in number.fraction.utf8.count..<18 { rest *= 10 }
    let (product, isTooBig) = magnitude.multipliedReportingOverflow(by: perSecond)
    let (sum, isOverflow) = product.addingReportingOverflow(rest)
    let limit = Int128.max.magnitude + (number.isNegative ? 1 : 0)
    guard !isTooBig, !isOverflow, sum <= limit else {
      throw SQLiteError(.range, "the stored number of seconds does not fit Duration")
    }
    return Duration(
      attoseconds: Int128(truncatingIfNeeded: number.isNegative ? 0 &- sum : sum))
  }

  private static func duration(seconds: Double) throws(SQLiteError) -> Duration {
    let whole = seconds.rounded(.towardZero)
    // Nil for NaN, infinities, and numbers that don't fit 128 bits.
    guard let integer = Int128(exactly: whole),
      case let (product, isOverflow) = integer.multipliedReportingOverflow(by: Int128(perSecond)),
      !isOverflow
    else { throw SQLiteError(.range, "the seconds do not fit Duration") }
    // A number that is large enough to overflow here has no fraction.
    let rest = ((seconds - whole) * 1e18).rounded(.toNearestOrEven)
    return Duration(attoseconds: product + Int128(rest))
  }
}
