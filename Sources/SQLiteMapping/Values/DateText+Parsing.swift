package import Essentials
package import SQLiteCore

extension DateText {
  /// Returns the date that `text` names.
  ///
  /// It reads what ``text(of:)`` writes and the other forms of SQLite's date functions:
  /// `YYYY-MM-DD`, then perhaps a space or `T` and `HH:MM` or `HH:MM:SS` or `HH:MM:SS.fraction` with
  /// any number of digits, then perhaps a zone, `Z` or `+HH:MM` or `-HH:MM`, also after one space.
  /// Without a zone the time is UTC. The result is the date nearest to the text.
  ///
  /// Unlike SQLite it refuses February 30 and 24:00; there are no leap seconds, and neither a time
  /// alone nor `now` nor a Julian day is a date here.
  ///
  /// - Throws: `SQLiteError` with `mismatch` and what is impossible about the text, or with `range`
  ///   if a zone or rounding leads out of the years 0000 to 9999.
  package static func date(from text: String) throws(SQLiteError) -> Date {
    var text = text
    return try text.withUTF8 { bytes in
      Result { () throws(SQLiteError) in unsafe try date(from: bytes.span) }
    }.get()
  }

  /// Returns the date that UTF-8 `text` names, as ``date(from:)`` for a `String`.
  package static func date(from text: Span<UInt8>) throws(SQLiteError) -> Date {
    var reader = 0
    let day = try readDay(text, at: &reader)
    var seconds = day.daysSinceReference * 86_400
    guard reader < text.count else { return try DateRange.date(seconds: Double(seconds)) }
    guard text[reader] == UInt8(ascii: " ") || text[reader] == UInt8(ascii: "T") else {
      throw malformed("a space or T", at: reader)
    }
    reader += 1
    seconds += try readNumber(text, at: &reader, to: 23, "hour") * 3_600
    try read(UInt8(ascii: ":"), text, at: &reader)
    seconds += try readNumber(text, at: &reader, to: 59, "minute") * 60
    var fraction = 0..<0
    if reader < text.count, text[reader] == UInt8(ascii: ":") {
      reader += 1
      seconds += try readNumber(text, at: &reader, to: 59, "second")
      fraction = try readFraction(text, at: &reader)
    }
    if reader < text.count { seconds -= try readZone(text, at: &reader) }
    guard reader == text.count else { throw malformed("the end", at: reader) }
    if fraction.isEmpty { return try DateRange.date(seconds: Double(seconds)) }
    guard
      let exact = ExactSeconds.nearest(Int64(seconds), fraction: text.extracting(fraction))
    else { throw malformed("a fraction", at: fraction.lowerBound) }
    return try DateRange.date(seconds: exact)
  }

  /// Returns the date that the bytes of a column name, as ``date(from:)`` for a `String`.
  package static func date(from text: RawSpan) throws(SQLiteError) -> Date {
    try date(from: Span<UInt8>(_bytes: text))
  }

  private static func readDay(
    _ text: Span<UInt8>, at offset: inout Int
  ) throws(SQLiteError) -> CalendarDay {
    let century = try readNumber(text, at: &offset, to: 99, "year")
    let year = try readNumber(text, at: &offset, to: 99, "year") + century * 100
    try read(UInt8(ascii: "-"), text, at: &offset)
    let month = try readNumber(text, at: &offset, from: 1, to: 12, "month")
    try read(UInt8(ascii: "-"), text, at: &offset)
    let day = try readNumber(text, at: &offset, from: 1, to: 31, "day")
    guard day <= CalendarDay.days(inMonth: month, of: year) else {
      throw SQLiteError(.mismatch, "not a date: month \(month) of \(year) has no day \(day)")
    }
    return CalendarDay(year: year, month: month, day: day)
  }

  /// Reads the digits after a point, if one stands here, and returns where they are.
  private static func readFraction(
    _ text: Span<UInt8>, at offset: inout Int
  ) throws(SQLiteError) -> Range<Int> {
    guard offset < text.count, text[offset] == UInt8(ascii: ".") else { return 0..<0 }
    offset += 1
    let start = offset
    while offset < text.count, text[offset] &- UInt8(ascii: "0") <= 9 { offset += 1 }
    guard offset > start else { throw malformed("a digit", at: offset) }
    return start..<offset
  }

  /// Reads a zone and returns how many seconds it is ahead of UTC.
  private static func readZone(
    _ text: Span<UInt8>, at offset: inout Int
  ) throws(SQLiteError) -> Int {
    if text[offset] == UInt8(ascii: " ") { offset += 1 }
    guard offset < text.count else { throw malformed("a zone", at: offset) }
    let sign = text[offset]
    offset += 1
    if sign == UInt8(ascii: "Z") { return 0 }
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
      throw malformed("a zone", at: offset - 1)
    }
    let hours = try readNumber(text, at: &offset, to: 14, "zone hour")
    try read(UInt8(ascii: ":"), text, at: &offset)
    let minutes = try readNumber(text, at: &offset, to: 59, "zone minute")
    return (hours * 3_600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
  }

  private static func read(
    _ byte: UInt8, _ text: Span<UInt8>, at offset: inout Int
  ) throws(SQLiteError) {
    guard offset < text.count, text[offset] == byte else {
      throw malformed("\(Unicode.Scalar(byte))", at: offset)
    }
    offset += 1
  }

  /// Reads two digits.
  private static func readNumber(
    _ text: Span<UInt8>, at offset: inout Int, from lowest: Int = 0, to highest: Int,
    _ name: StaticString
  ) throws(SQLiteError) -> Int {
    guard offset + 2 <= text.count else { throw malformed("two digits of the \(name)", at: offset) }
    let tens = text[offset] &- UInt8(ascii: "0")
    let units = text[offset + 1] &- UInt8(ascii: "0")
    guard tens <= 9, units <= 9 else { throw malformed("two digits of the \(name)", at: offset) }
    offset += 2
    let number = Int(tens) * 10 + Int(units)
    guard number >= lowest, number <= highest else {
      throw SQLiteError(.mismatch, "not a date: there is no \(name) \(number)")
    }
    return number
  }

  @inline(never)
  private static func malformed(_ expected: String, at offset: Int) -> SQLiteError {
    SQLiteError(.mismatch, "not a date: expected \(expected) at byte \(offset)")
  }
}
