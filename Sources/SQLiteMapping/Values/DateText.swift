package import Essentials
package import SQLiteCore

/// Dates as text: `YYYY-MM-DD HH:MM:SS[.fraction]` in UTC.
///
/// A `Date` is a `Double` of seconds since 2001-01-01; the fraction has as few digits as reading
/// that very double back needs, none for a whole second and seldom more than seven nowadays. The
/// texts sort as the dates do, and SQLite's date functions read them, by the millisecond.
///
/// Two moments are special: -0.0 seconds comes back as the equal 0.0; and a date less than 1e-280
/// seconds away from 2001-01-01 00:00:00, but not at it, is refused, for SQLite gives up on more
/// than 308 digits. SQLite's functions also give NULL for the last half millisecond of year 9999.
package enum DateText {
  /// The longest text in bytes.
  package static let maximumLength = 320

  /// Returns the text of `date`.
  ///
  /// - Throws: `SQLiteError` with `range`, naming the seconds, if the date is not in the years 0000
  ///   to 9999 or needs too many digits.
  package static func text(of date: Date) throws(SQLiteError) -> String {
    let seconds = try writableSeconds(of: date)
    // Sign, point and digits of a magnitude from 1 on take at most 17 bytes after the second.
    let capacity = seconds.magnitude >= 1 ? 40 : maximumLength
    return unsafe String(unsafeUninitializedCapacity: capacity) { buffer in
      var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
      append(seconds: seconds, to: &output)
      return unsafe output.finalize(for: buffer)
    }
  }

  /// Appends the text of `date`, ``maximumLength`` bytes at most, to `output`.
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

  private static func append(seconds: Double, to output: inout OutputSpan<UInt8>) {
    let floor = seconds.rounded(.down)
    // Counted from the start of the range, so that everything is unsigned.
    let sinceStart = UInt64(floor - DateRange.start)
    let startDay = Int(DateRange.start) / 86_400
    let day = CalendarDay(daysSinceReference: Int(sinceStart / 86_400) + startDay)
    let second = UInt32(truncatingIfNeeded: sinceStart % 86_400)
    append(pair: UInt32(truncatingIfNeeded: day.year / 100), to: &output)
    append(pair: UInt32(truncatingIfNeeded: day.year % 100), to: &output)
    output.append(UInt8(ascii: "-"))
    append(pair: UInt32(truncatingIfNeeded: day.month), to: &output)
    output.append(UInt8(ascii: "-"))
    append(pair: UInt32(truncatingIfNeeded: day.day), to: &output)
    output.append(UInt8(ascii: " "))
    append(pair: second / 3_600, to: &output)
    output.append(UInt8(ascii: ":"))
    append(pair: second / 60 % 60, to: &output)
    output.append(UInt8(ascii: ":"))
    append(pair: second % 60, to: &output)
    if floor != seconds {
      output.append(UInt8(ascii: "."))
      ExactSeconds.appendFraction(of: seconds, to: &output)
    }
  }

  private static func append(pair number: UInt32, to output: inout OutputSpan<UInt8>) {
    output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10))
    output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }
}
