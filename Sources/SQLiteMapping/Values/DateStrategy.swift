package import Essentials
package import ExactText
package import SQLiteCore

/// The form in which dates are stored.
///
/// Every strategy supports the years 0000 to 9999. Writing or reading any other date throws. A date
/// survives a round trip within the precision that each case documents; ``text`` and
/// ``secondsSinceReferenceDate`` are exact. With each strategy, the stored values sort in the order
/// of the dates.
public enum DateStrategy: Hashable, Sendable, CaseIterable {
  /// UTC text, `YYYY-MM-DD HH:MM:SS[.fraction]`: exact, sortable, and readable by people and
  /// SQLite.
  ///
  /// The fraction has only the digits that an exact round trip needs. Dates that are closer than
  /// 1e-280 seconds to 2001-01-01 00:00:00, but not equal to it, cannot be stored.
  case text
  /// REAL seconds since 2001-01-01 00:00:00 UTC, like `Date.timeIntervalSinceReferenceDate`: exact.
  case secondsSinceReferenceDate
  /// REAL seconds since 1970-01-01 00:00:00 UTC: not exact.
  ///
  /// The error is at most 2^-23 seconds (0.12 µs) from 1901 to 2038, and at most 2^-16 seconds (16
  /// µs) in any other year. About half of all present-day dates with full precision change.
  case secondsSince1970
  /// INTEGER seconds since 1970-01-01 00:00:00 UTC, like SQLite's `unixepoch()`. Fractions are
  /// rounded down.
  case wholeSecondsSince1970
  /// INTEGER milliseconds since 1970-01-01 00:00:00 UTC, rounded to the nearest millisecond. Ties
  /// are rounded to even.
  case millisecondsSince1970
  /// INTEGER microseconds since 1970-01-01 00:00:00 UTC, rounded to the nearest microsecond. Ties
  /// are rounded to even.
  ///
  /// From 1729 to 2273, the error is at most 1 µs, and whole microseconds are exact. Outside these
  /// years, the resolution of `Date` itself is lower, and the error is at most 16 µs.
  case microsecondsSince1970
  /// REAL days since noon UTC of November 24, 4714 BC, like SQLite's `julianday()`.
  ///
  /// The stored value has an error of at most 20 µs until the year 6770, and of at most 40 µs after
  /// it. Reading rounds to the nearest millisecond, like SQLite, so whole milliseconds are exact.
  case julianDay

  /// Returns the stored form of `date`.
  ///
  /// - Throws: `SQLiteError` with `range` if the strategy cannot represent the date.
  package func value(for date: Date) throws(SQLiteError) -> Value {
    let seconds = try DateRange.seconds(of: date)
    let value: Value
    switch self {
    case .text: return .text(try DateText.text(of: date))
    case .secondsSinceReferenceDate: return .real(seconds)
    case .wholeSecondsSince1970:
      return .integer(Int64(seconds.rounded(.down)) + Int64(DateRange.referenceSince1970))
    case .secondsSince1970: value = .real(seconds + DateRange.referenceSince1970)
    case .millisecondsSince1970: value = .integer(Self.count(of: seconds, unitsPerSecond: 1_000))
    case .microsecondsSince1970:
      value = .integer(Self.count(of: seconds, unitsPerSecond: 1_000_000))
    case .julianDay: value = .real(Self.julianDay(of: seconds))
    }
    // Rounding may move the last moments of the year 9999 into the next year.
    _ = try self.date(from: value)
    return value
  }

  /// Returns the date that `value` represents.
  ///
  /// The REAL strategies also accept an INTEGER, and the INTEGER strategies a whole REAL, because
  /// the affinity of a column may have converted the value.
  ///
  /// - Throws: `SQLiteError` with `mismatch` if `value` has another storage class or is not a date,
  ///   and with `range` if the date is not in the years 0000 to 9999.
  package func date(from value: Value) throws(SQLiteError) -> Date {
    switch self {
    case .text:
      guard case .text(let text) = value else { throw value.mismatch(expected: Date.self) }
      return try DateText.date(from: text)
    case .secondsSinceReferenceDate: return try DateRange.date(seconds: value.real(for: Date.self))
    case .secondsSince1970:
      let seconds = try value.real(for: Date.self)
      return try DateRange.date(seconds: seconds - DateRange.referenceSince1970)
    case .wholeSecondsSince1970: return try Self.date(from: value, unitsPerSecond: 1)
    case .millisecondsSince1970: return try Self.date(from: value, unitsPerSecond: 1_000)
    case .microsecondsSince1970: return try Self.date(from: value, unitsPerSecond: 1_000_000)
    case .julianDay: return try Self.date(julianDay: value.real(for: Date.self))
    }
  }
}

extension DateStrategy {
  /// Converts seconds since 2001-01-01 00:00:00 to units since 1970-01-01 00:00:00, rounded once to
  /// the nearest unit. Ties are rounded to even.
  private static func count(of seconds: Double, unitsPerSecond: Int64) -> Int64 {
    let whole = seconds.rounded(.towardZero)
    let fraction = seconds - whole
    let units = fraction * Double(unitsPerSecond)
    var rounded = units.rounded(.toNearestOrEven)
    if (units - rounded).magnitude == 0.5 {
      // Rounding of the product itself may have produced the tie.
      let error = (-units).addingProduct(fraction, Double(unitsPerSecond))
      if error > 0 { rounded = units.rounded(.up) }
      if error < 0 { rounded = units.rounded(.down) }
    }
    return (Int64(whole) + Int64(DateRange.referenceSince1970)) * unitsPerSecond + Int64(rounded)
  }

  private static func date(
    from value: Value, unitsPerSecond: Int64
  ) throws(SQLiteError) -> Date {
    try date(count: value.integer(for: Date.self), unitsPerSecond: unitsPerSecond)
  }

  /// Returns the date that is nearest to `count` units after 1970-01-01 00:00:00 UTC.
  private static func date(count: Int64, unitsPerSecond: Int64) throws(SQLiteError) -> Date {
    var (seconds, units) = count.quotientAndRemainder(dividingBy: unitsPerSecond)
    if units < 0 {
      seconds -= 1
      units += unitsPerSecond
    }
    guard DateRange.contains(Double(seconds) - DateRange.referenceSince1970),
      let exact = ExactSeconds.nearest(
        seconds - Int64(DateRange.referenceSince1970), UInt64(units), over: UInt64(unitsPerSecond))
    else {
      throw SQLiteError(
        .range, "the date is not in the years 0000 to 9999")
    }
    return try DateRange.date(seconds: exact)
  }

  private static func julianDay(of seconds: Double) -> Double {
    // The whole days and the remainder are exact on their own, so only the sum is rounded.
    let rest = seconds.truncatingRemainder(dividingBy: 86_400)
    return (seconds - rest) / 86_400 + julianReferenceDay + rest / 86_400
  }

  private static func date(julianDay: Double) throws(SQLiteError) -> Date {
    let milliseconds = (julianDay - julianReferenceDay) * 86_400_000
    guard DateRange.contains(milliseconds / 1_000) else {
      throw SQLiteError(.range, "the Julian day is not in the years 0000 to 9999")
    }
    return try date(
      count: Int64(milliseconds.rounded(.toNearestOrEven))
        + Int64(DateRange.referenceSince1970) * 1_000,
      unitsPerSecond: 1_000)
  }

  /// The Julian day of 2001-01-01 00:00:00 UTC, in days since noon UTC of November 24, 4714 BC.
  private static let julianReferenceDay = 2_451_910.5
}

// Dates as text. A date that is less than 1e-280 seconds away from 2001-01-01 00:00:00, but not
// equal to it, is rejected, because SQLite supports at most 308 digits. SQLite's date functions
// return NULL for the last half millisecond of the year 9999. -0.0 seconds are read as 0.0, which
// is equal.

extension DateText {
  /// Returns the text of `date`.
  ///
  /// - Throws: `SQLiteError` with `range` if the date is not in the years 0000 to 9999 or needs too
  ///   many digits.
  package static func text(of date: Date) throws(SQLiteError) -> String {
    text(ofSeconds: try writableSeconds(of: date))
  }

  /// Returns the maximum length of the text of `date` in bytes.
  static func length(of date: Date) -> Int {
    length(ofSeconds: date.timeIntervalSinceReferenceDate)
  }

  /// Appends the text of `date`, at most ``length(of:)`` bytes, to `output`.
  ///
  /// - Throws: The errors of ``text(of:)``. Nothing is appended in this case.
  package static func append(
    _ date: Date, to output: inout OutputSpan<UInt8>
  ) throws(SQLiteError) {
    append(seconds: try writableSeconds(of: date), to: &output)
  }

  private static func writableSeconds(of date: Date) throws(SQLiteError) -> Double {
    let seconds = try DateRange.seconds(of: date)
    guard seconds.magnitude >= 1e-280 || seconds == 0 else {
      throw SQLiteError(
        .range,
        "the date needs more than 300 digits as text")
    }
    return seconds
  }

  /// Returns the date that `text` represents. Accepts the forms of SQLite's date functions that
  /// begin with a date, optionally followed by a time and a zone. Without a zone, `text` is in UTC.
  ///
  /// - Throws: `SQLiteError` with `mismatch` and the reason if `text` is not a date, or with
  ///   `range` if a time zone or rounding moves the date out of the years 0000 to 9999.
  package static func date(from text: String) throws(SQLiteError) -> Date {
    var text = text
    return try text.withUTF8 { bytes in
      Result { () throws(SQLiteError) in unsafe try date(from: bytes.span) }
    }.get()
  }

  /// Returns the date that UTF-8 text represents, like ``date(from:)`` for a `String`.
  package static func date(from text: Span<UInt8>) throws(SQLiteError) -> Date {
    let seconds: Double
    do {
      seconds = try Self.seconds(from: text)
    } catch {
      throw SQLiteError(.mismatch, error.reason)
    }
    return try DateRange.date(seconds: seconds)
  }

  /// Returns the date that the bytes of a column represent, like ``date(from:)`` for a `String`.
  package static func date(from text: RawSpan) throws(SQLiteError) -> Date {
    try date(from: Span<UInt8>(_bytes: text))
  }
}

// Every ``DateStrategy`` has the same range. A table can therefore change its strategy later, and
// reading a column in the wrong unit is detected: milliseconds read as seconds are out of range.

extension DateRange {
  /// The number of seconds from 1970-01-01 00:00:00 to 2001-01-01 00:00:00.
  package static let referenceSince1970 = 978_307_200.0

  /// Returns the seconds from 2001-01-01 00:00:00 UTC to a date.
  ///
  /// - Throws: `SQLiteError` with `range` if the date is not in the years 0000 to 9999.
  package static func seconds(of date: Date) throws(SQLiteError) -> Double {
    let seconds = date.timeIntervalSinceReferenceDate
    guard contains(seconds) else {
      throw SQLiteError(
        .range,
        "the date is not in the years 0000 to 9999")
    }
    return seconds
  }

  /// Returns the date `seconds` after 2001-01-01 00:00:00 UTC.
  ///
  /// - Throws: `SQLiteError` with `range` if the date is not in the years 0000 to 9999.
  package static func date(seconds: Double) throws(SQLiteError) -> Date {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    _ = try Self.seconds(of: date)
    return date
  }
}
