/// The error for a text that isn't a date.
package struct DateTextError: Error {
  /// The reason, such as `not a date: the hour must be 0 to 23`.
  package let reason: String
}

extension DateText {
  /// A syntax of date texts that ``seconds(from:as:)`` can parse.
  package enum Grammar {
    /// The date formats of SQLite's date functions: a date, optionally followed by a time with
    /// minutes, seconds or fractions of seconds, and then optionally by a zone (`Z`, `+HH:MM` or
    /// `-HH:MM`), which one space can precede.
    case sqlite
    /// The date format of SPON: a date and a time that includes seconds. The zone can be written
    /// without a colon, and a trailing space without a zone is accepted.
    case spon
  }

  /// Parses a date and returns it in seconds since 2001-01-01 00:00:00 UTC, rounded to the nearest
  /// `Double`.
  ///
  /// A text without a zone is in UTC. Rounding or a zone can move the result out of ``DateRange``.
  ///
  /// - Throws: `DateTextError` if the text doesn't match `grammar` or the date doesn't exist.
  ///   February 30, 24:00 and leap seconds are errors, and so are a time without a date, `now` and
  ///   Julian days.
  package static func seconds(
    from text: Span<UInt8>, as grammar: Grammar = .sqlite
  ) throws(DateTextError) -> Double {
    var reader = 0
    let day = try readDay(text, at: &reader)
    var seconds = day.daysSinceReference * 86_400
    if reader == text.count, grammar == .sqlite { return Double(seconds) }
    guard reader < text.count,
      text[reader] == UInt8(ascii: " ") || text[reader] == UInt8(ascii: "T")
    else { throw malformed("a space or T", at: reader) }
    reader += 1
    seconds += try readNumber(text, at: &reader, to: 23, "hour") * 3_600
    try read(UInt8(ascii: ":"), text, at: &reader)
    seconds += try readNumber(text, at: &reader, to: 59, "minute") * 60
    var fraction = 0..<0
    if grammar == .spon || (reader < text.count && text[reader] == UInt8(ascii: ":")) {
      try read(UInt8(ascii: ":"), text, at: &reader)
      seconds += try readNumber(text, at: &reader, to: 59, "second")
      fraction = try readFraction(text, at: &reader)
    }
    if reader < text.count { seconds -= try readZone(text, at: &reader, as: grammar) }
    guard reader == text.count else { throw malformed("the end", at: reader) }
    if fraction.isEmpty { return Double(seconds) }
    guard
      let exact = ExactSeconds.nearest(Int64(seconds), fraction: text.extracting(fraction))
    else { throw malformed("a fraction", at: fraction.lowerBound) }
    return exact
  }

  private static func readDay(
    _ text: Span<UInt8>, at offset: inout Int
  ) throws(DateTextError) -> CalendarDay {
    let century = try readNumber(text, at: &offset, to: 99, "year")
    let year = try readNumber(text, at: &offset, to: 99, "year") + century * 100
    try read(UInt8(ascii: "-"), text, at: &offset)
    let month = try readNumber(text, at: &offset, from: 1, to: 12, "month")
    try read(UInt8(ascii: "-"), text, at: &offset)
    let day = try readNumber(text, at: &offset, from: 1, to: 31, "day")
    guard day <= CalendarDay.days(inMonth: month, of: year) else {
      throw DateTextError(
        reason: "not a date: the month has fewer days")
    }
    return CalendarDay(year: year, month: month, day: day)
  }

  /// Reads a decimal point and the digits after it, and returns the range of the digits. Returns an
  /// empty range if there is no decimal point.
  private static func readFraction(
    _ text: Span<UInt8>, at offset: inout Int
  ) throws(DateTextError) -> Range<Int> {
    guard offset < text.count, text[offset] == UInt8(ascii: ".") else { return 0..<0 }
    offset += 1
    let start = offset
    while offset < text.count, text[offset] &- UInt8(ascii: "0") <= 9 { offset += 1 }
    guard offset > start else { throw malformed("a digit", at: offset) }
    return start..<offset
  }

  /// Reads a zone and returns its offset from UTC in seconds, positive in the east.
  private static func readZone(
    _ text: Span<UInt8>, at offset: inout Int, as grammar: Grammar
  ) throws(DateTextError) -> Int {
    if text[offset] == UInt8(ascii: " ") { offset += 1 }
    guard offset < text.count else {
      if grammar == .spon { return 0 }
      throw malformed("a time zone", at: offset)
    }
    let sign = text[offset]
    offset += 1
    if sign == UInt8(ascii: "Z") { return 0 }
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
      throw malformed("a time zone", at: offset - 1)
    }
    let isSPON = grammar == .spon
    let hours = try readNumber(text, at: &offset, to: isSPON ? 23 : 14, "time zone hour")
    if !isSPON || (offset < text.count && text[offset] == UInt8(ascii: ":")) {
      try read(UInt8(ascii: ":"), text, at: &offset)
    }
    let minutes = try readNumber(text, at: &offset, to: 59, "time zone minute")
    return (hours * 3_600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
  }

  private static func read(
    _ byte: UInt8, _ text: Span<UInt8>, at offset: inout Int
  ) throws(DateTextError) {
    guard offset < text.count, text[offset] == byte else {
      throw malformed("\(Unicode.Scalar(byte))", at: offset)
    }
    offset += 1
  }

  /// Reads two digits at `offset` and returns their number, which must be in `lowest...highest`.
  private static func readNumber(
    _ text: Span<UInt8>, at offset: inout Int, from lowest: Int = 0, to highest: Int,
    _ name: StaticString
  ) throws(DateTextError) -> Int {
    guard offset + 2 <= text.count else { throw malformed("two digits of the \(name)", at: offset) }
    let tens = text[offset] &- UInt8(ascii: "0")
    let units = text[offset + 1] &- UInt8(ascii: "0")
    guard tens <= 9, units <= 9 else { throw malformed("two digits of the \(name)", at: offset) }
    offset += 2
    let number = Int(tens) * 10 + Int(units)
    guard number >= lowest, number <= highest else {
      throw DateTextError(reason: "not a date: the \(name) must be \(lowest) to \(highest)")
    }
    return number
  }

  @inline(never)
  private static func malformed(_ expected: String, at offset: Int) -> DateTextError {
    DateTextError(reason: "not a date: expected \(expected) at byte \(offset)")
  }
}
