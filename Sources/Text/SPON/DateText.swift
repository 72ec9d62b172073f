import Essentials
import ExactText

// Dates such as `2017-10-13T12:00:00.25Z`. A date outside the years 0000 to 9999 is written as a
// number of seconds since 2001-01-01 00:00:00 UTC. So is a date less than 0.1 ms before or after
// this moment, which would need very many digits.

extension DateText {
  /// Returns the text of `date`, with as many digits as needed to restore exactly the same date:
  /// ISO 8601 text, or a number of seconds since 2001-01-01 00:00:00 UTC.
  static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    guard DateRange.contains(seconds), seconds == 0 || seconds.magnitude >= 1e-4 else {
      return seconds.description
    }
    return text(ofSeconds: seconds, separator: UInt8(ascii: "T"), zone: UInt8(ascii: "Z"))
  }

  /// Returns ISO 8601 text for `date` rounded down to whole seconds, or nil if the date is outside
  /// the years 0000 to 9999.
  static func wholeSeconds(of date: Date) -> String? {
    let seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
    guard DateRange.contains(seconds) else { return nil }
    return text(ofSeconds: seconds, separator: UInt8(ascii: "T"), zone: UInt8(ascii: "Z"))
  }

  /// Returns the date that `text` represents, or nil if it isn't a date.
  ///
  /// In ISO 8601 text, `T` or a space separates the date and the time. A fraction and a zone such
  /// as `Z`, `+0000` or `+02:00` are optional. Without a zone, the time is UTC. A number is read as
  /// seconds since 2001-01-01 00:00:00 UTC.
  static func date(from text: String) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count > 10, bytes[4] == UInt8(ascii: "-"), bytes[0] != UInt8(ascii: "-") else {
      return Double(text).map { Date(timeIntervalSinceReferenceDate: $0) }
    }
    return (try? seconds(from: bytes.span, as: .spon)).map {
      Date(timeIntervalSinceReferenceDate: $0)
    }
  }
}
