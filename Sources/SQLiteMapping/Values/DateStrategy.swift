package import Essentials
package import ExactText
package import SQLiteCore

/// How dates are stored.
///
/// Every strategy holds the years 0000 to 9999 and refuses others, in both directions. Whatever it
/// writes it reads back within the precision stated here; ``text`` and
/// ``secondsSinceReferenceDate`` are exact. Within a strategy, stored values sort as the dates do.
public enum DateStrategy: Hashable, Sendable, CaseIterable {
  /// UTC text, `YYYY-MM-DD HH:MM:SS[.fraction]`: exact, sortable, read by people and by SQLite.
  ///
  /// The fraction has as few digits as an exact round trip needs. Only dates closer than 1e-280
  /// seconds to 2001-01-01 00:00:00, but not equal to it, are refused.
  case text
  /// REAL seconds since 2001-01-01, as `Date` counts them: exact.
  case secondsSinceReferenceDate
  /// REAL seconds since 1970-01-01: not exact.
  ///
  /// Right to 2^-23 seconds (0.12 µs) from 1901 to 2038, and to 2^-16 seconds (16 µs) everywhere.
  /// Of today's dates with all their digits about half change.
  case secondsSince1970
  /// INTEGER seconds since 1970-01-01, as SQLite's `unixepoch()`: the whole second, downwards.
  case wholeSecondsSince1970
  /// INTEGER milliseconds since 1970-01-01: the nearest millisecond, of two the even one.
  case millisecondsSince1970
  /// INTEGER microseconds since 1970-01-01: the nearest microsecond, of two the even one.
  ///
  /// A date comes back within 1 µs from 1729 to 2273, where whole microseconds survive. Farther
  /// away `Date` itself is coarser: within 16 µs.
  case microsecondsSince1970
  /// REAL days since noon of November 24, 4714 BC, as SQLite's `julianday()`.
  ///
  /// Written to 20 µs until the year 6770 and to 40 µs later; read to the nearest millisecond, as
  /// SQLite reads it, so that whole milliseconds survive.
  case julianDay

  /// Returns what is stored for `date`.
  ///
  /// - Throws: `SQLiteError` with `range`, naming the date's seconds, if it cannot be stored.
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
    // The last moments of year 9999 may have been rounded into the next one.
    _ = try self.date(from: value)
    return value
  }

  /// Returns the date that `value` stores.
  ///
  /// REAL forms are read from an INTEGER too and INTEGER forms from a whole REAL, since the affinity of a
  /// column may have changed one into the other.
  ///
  /// - Throws: `SQLiteError` with `mismatch` if `value` is of another kind or no date, with `range`
  ///   if it is not in the years 0000 to 9999.
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
  /// Counts whole units since 1970, the nearest, of two the even one, without an error between.
  private static func count(of seconds: Double, unitsPerSecond: Int64) -> Int64 {
    let whole = seconds.rounded(.towardZero)
    let fraction = seconds - whole
    let units = fraction * Double(unitsPerSecond)
    var rounded = units.rounded(.toNearestOrEven)
    if (units - rounded).magnitude == 0.5 {
      // The product may itself have been rounded to look like a tie.
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

  /// Returns the date nearest to `count` units after 1970.
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
        .range, "the date \(seconds) seconds after 1970-01-01 is not in the years 0000 to 9999")
    }
    return try DateRange.date(seconds: exact)
  }

  private static func julianDay(of seconds: Double) -> Double {
    // Whole days and the rest are exact alone, so only the sum is rounded.
    let rest = seconds.truncatingRemainder(dividingBy: 86_400)
    return (seconds - rest) / 86_400 + julianReferenceDay + rest / 86_400
  }

  private static func date(julianDay: Double) throws(SQLiteError) -> Date {
    let milliseconds = (julianDay - julianReferenceDay) * 86_400_000
    guard DateRange.contains(milliseconds / 1_000) else {
      throw SQLiteError(.range, "the Julian day \(julianDay) is not in the years 0000 to 9999")
    }
    return try date(
      count: Int64(milliseconds.rounded(.toNearestOrEven))
        + Int64(DateRange.referenceSince1970) * 1_000,
      unitsPerSecond: 1_000)
  }

  /// The Julian day of 2001-01-01 00:00:00.
  private static let julianReferenceDay = 2_451_910.5
}

// Dates as columns hold them. A date less than 1e-280 seconds away from 2001-01-01 00:00:00, but not at
// it, is refused, since SQLite gives up on more than 308 digits. SQLite's functions give NULL for the last
// half millisecond of year 9999. -0.0 seconds comes back as the equal 0.0.

extension DateText {
  /// Returns the text of `date`.
  ///
  /// - Throws: `SQLiteError` with `range`, naming the seconds, if the date is not in the years 0000
  ///   to 9999 or needs too many digits.
  package static func text(of date: Date) throws(SQLiteError) -> String {
    text(ofSeconds: try writableSeconds(of: date))
  }

  /// The greatest length in bytes that the text of `date` may have.
  static func length(of date: Date) -> Int {
    length(ofSeconds: date.timeIntervalSinceReferenceDate)
  }

  /// Appends the text of `date` to `output`, in ``length(of:)`` bytes at most.
  ///
  /// - Throws: `SQLiteError` as ``text(of:)``; then nothing is appended.
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
        "the date \(seconds) seconds after 2001-01-01 needs more than 300 digits as text")
    }
    return seconds
  }

  /// Returns the date that `text` names, in one of the forms of SQLite's date functions.
  ///
  /// - Throws: `SQLiteError` with `mismatch` and the place of the error in the text, or with `range`
  ///   if a zone or rounding leads out of the years 0000 to 9999.
  package static func date(from text: String) throws(SQLiteError) -> Date {
    var text = text
    return try text.withUTF8 { bytes in
      Result { () throws(SQLiteError) in unsafe try date(from: bytes.span) }
    }.get()
  }

  /// Returns the date that UTF-8 `text` names, as ``date(from:)`` for a `String`.
  package static func date(from text: Span<UInt8>) throws(SQLiteError) -> Date {
    let seconds: Double
    do {
      seconds = try Self.seconds(from: text)
    } catch {
      throw SQLiteError(.mismatch, error.reason)
    }
    return try DateRange.date(seconds: seconds)
  }

  /// Returns the date that the bytes of a column name, as ``date(from:)`` for a `String`.
  package static func date(from text: RawSpan) throws(SQLiteError) -> Date {
    try date(from: Span<UInt8>(_bytes: text))
  }
}

// One range holds for every ``DateStrategy``, so that a table may change its strategy later and a column
// read with the wrong unit is noticed: milliseconds taken for seconds are no such date.

extension DateRange {
  /// The seconds from 1970-01-01 to 2001-01-01.
  package static let referenceSince1970 = 978_307_200.0

  /// Returns the seconds since 2001 of a date that can be stored.
  ///
  /// - Throws: `SQLiteError` with `range`, naming the seconds.
  package static func seconds(of date: Date) throws(SQLiteError) -> Double {
    let seconds = date.timeIntervalSinceReferenceDate
    guard contains(seconds) else {
      throw SQLiteError(
        .range,
        "the date \(seconds) seconds after 2001-01-01 is not in the years 0000 to 9999")
    }
    return seconds
  }

  /// Returns the date `seconds` after 2001.
  ///
  /// - Throws: `SQLiteError` with `range`, naming the seconds.
  package static func date(seconds: Double) throws(SQLiteError) -> Date {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    _ = try Self.seconds(of: date)
    return date
  }
}
