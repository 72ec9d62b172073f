package import Essentials

package import SQLiteCore

/// The dates that can be stored: the years 0000 to 9999, in UTC.
///
/// One range holds for every ``DateStrategy``, so that a table may change its strategy later and a
/// column read with the wrong unit is noticed: milliseconds taken for seconds are no such date.
package enum DateRange {
  /// 0000-01-01 00:00:00, in seconds since 2001-01-01 00:00:00.
  package static let start = -63_145_526_400.0
  /// 10000-01-01 00:00:00, the first moment beyond.
  package static let end = 252_423_993_600.0
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

  /// Says whether that date can be stored; false for NaN.
  package static func contains(_ seconds: Double) -> Bool {
    seconds >= start && seconds < end
  }
}
