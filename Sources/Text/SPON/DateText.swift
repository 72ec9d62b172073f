import Essentials
import ExactText

// Dates as `2017-10-13T12:00:00.25Z`. A date that no text of this form names, or only one of very many
// digits, is written as the number of seconds since 2001.

extension DateText {
  /// The text of any date.
  static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    guard DateRange.contains(seconds), seconds == 0 || seconds.magnitude >= 1e-4 else {
      return seconds.description
    }
    return text(ofSeconds: seconds, separator: UInt8(ascii: "T"), zone: UInt8(ascii: "Z"))
  }

  /// The text without a fraction, or nil outside the years 0000 to 9999.
  static func wholeSeconds(of date: Date) -> String? {
    let seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
    guard DateRange.contains(seconds) else { return nil }
    return text(ofSeconds: seconds, separator: UInt8(ascii: "T"), zone: UInt8(ascii: "Z"))
  }

  /// The date that a text names: with `T` or a blank, with or without a fraction, in UTC (`Z`, `+0000`)
  /// or at another distance from it; or as a number of seconds since 2001.
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
