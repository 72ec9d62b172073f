/// A text that is no date.
package struct DateTextError: Error {
  /// The reason, such as `not a date: there is no hour 24`.
  package let reason: String
}

extension DateText {
  /// The forms of text that are read as dates.
  package enum Grammar {
    /// The forms of SQLite's date functions: a date alone, or with a time to the minute, the second or a
    /// fraction of it; then perhaps a zone, `Z` or `+HH:MM` or `-HH:MM`, also after one space.
    case sqlite
    /// A date with a time to the second at least; the colon of a zone may be left out, and so may the
    /// zone after its space.
    case spon
  }

  /// Returns the seconds since 2001-01-01 of the date that UTF-8 `text` names: of the nearest one, if
  /// the fraction has more digits than a `Double` holds. Without a zone the time is UTC.
  ///
  /// February 30 and 24:00 are refused, there are no leap seconds, and neither a time alone nor `now` nor
  /// a Julian day is a date. A zone or rounding may lead out of ``DateRange``.
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
        reason: "not a date: month \(month) of \(year) has no day \(day)")
    }
    return CalendarDay(year: year, month: month, day: day)
  }

  /// Reads the digits after a point, if one stands here, and returns where they are.
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

  /// Reads a zone and returns how many seconds it is ahead of UTC.
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

  /// Reads two digits.
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
      throw DateTextError(reason: "not a date: there is no \(name) \(number)")
    }
    return number
  }

  @inline(never)
  private static func malformed(_ expected: String, at offset: Int) -> DateTextError {
    DateTextError(reason: "not a date: expected \(expected) at byte \(offset)")
  }
}
