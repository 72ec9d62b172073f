import Essentials

/// Dates as `2017-10-13T12:00:00.25Z`.
///
/// The digits behind the point are those that Swift prints for the seconds since 2001, which name one
/// `Double` only. A date that no such text names is written as that number itself.
enum DateText {
  /// The text of any date.
  static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    let floor = seconds.rounded(.down)
    guard let whole = Int64(exactly: floor), let start = text(ofWhole: whole) else {
      return seconds.description
    }
    if floor == seconds { return start + "Z" }
    let digits = seconds.description.utf8
    // Numbers very near to 0 are printed with an exponent.
    guard let point = digits.firstIndex(of: UInt8(ascii: ".")),
      !digits.contains(UInt8(ascii: "e"))
    else { return seconds.description }
    var fraction = Array(digits[digits.index(after: point)...])
    if seconds < 0 { complement(&fraction) }
    return start + "." + String(decoding: fraction, as: UTF8.self) + "Z"
  }

  /// The text without a fraction, or nil outside the years 0000 to 9999.
  static func wholeSeconds(of date: Date) -> String? {
    Int64(exactly: date.timeIntervalSinceReferenceDate.rounded(.down))
      .flatMap { text(ofWhole: $0) }.map { $0 + "Z" }
  }

  /// The date that a text names: with `T` or a blank, with or without a fraction, in UTC (`Z`, `+0000`)
  /// or at another distance from it; or as a number of seconds since 2001.
  static func date(from text: String) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count > 10, bytes[4] == UInt8(ascii: "-"), bytes[0] != UInt8(ascii: "-") else {
      return Double(text).map { Date(timeIntervalSinceReferenceDate: $0) }
    }
    var reader = DateReader(bytes)
    return reader.seconds().map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// The digits of one minus a fraction, which count up from the second below.
  static func complement(_ digits: inout [UInt8]) {
    guard let last = digits.lastIndex(where: { $0 != UInt8(ascii: "0") }) else { return }
    for index in 0...last {
      let base = index == last ? 10 + 2 * UInt8(ascii: "0") : 9 + 2 * UInt8(ascii: "0")
      digits[index] = base - digits[index]
    }
  }

  private static func text(ofWhole seconds: Int64) -> String? {
    // 0000-01-01 and 10000-01-01, from 2001-01-01.
    guard seconds >= -63_145_526_400, seconds < 252_423_993_600 else { return nil }
    let sinceMarch = seconds + (730_791 + 146_097) * 86_400
    let days = sinceMarch / 86_400
    let second = sinceMarch % 86_400
    // Years of 400 begin in March, so that a leap day is the last of its year.
    let cycle = days / 146_097
    let dayOfCycle = days % 146_097
    let yearOfCycle =
      (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let year = cycle * 400 + yearOfCycle - 400 + (month >= 10 ? 1 : 0)
    return padded(year, 4) + "-" + padded(month < 10 ? month + 3 : month - 9, 2) + "-"
      + padded(day, 2) + "T" + padded(second / 3_600, 2) + ":" + padded(second / 60 % 60, 2) + ":"
      + padded(second % 60, 2)
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
