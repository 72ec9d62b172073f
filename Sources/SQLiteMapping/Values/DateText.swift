package import Essentials
package import ExactText
package import SQLiteCore

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
