import ExactText
import SQLiteCore
import SQLiteMapping
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct DateTextTests {
  @Test(arguments: 1...4)
  func `ten thousand dates survive bit for bit`(seed: UInt64) throws {
    var dates = DateSource(seed: seed)
    for _ in 0..<10_000 {
      let date = dates.next()
      let text = try DateText.text(of: date)
      let read = try DateText.date(from: text)
      let seconds = date.timeIntervalSinceReferenceDate
      let again = read.timeIntervalSinceReferenceDate
      if seconds.bitPattern != again.bitPattern, seconds != 0 {
        Issue.record("\(seconds) became \(text) and \(again)")
      }
    }
  }

  @Test func `date texts sort like their dates`() throws {
    var source = DateSource(seed: 5)
    var dates = (0..<10_000).map { _ in source.next() }
    for date in dates where date.timeIntervalSinceReferenceDate != 0 {
      dates.append(
        Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.nextUp))
    }
    dates.sort()
    let texts = try dates.map { Array(try DateText.text(of: $0).utf8) }
    for index in dates.indices.dropFirst() {
      let isSorted =
        dates[index - 1] == dates[index]
        ? texts[index - 1] == texts[index]
        : texts[index - 1].lexicographicallyPrecedes(texts[index])
      if !isSorted { Issue.record("\(dates[index - 1]) and \(dates[index])") }
    }
  }

  @Test func `no shorter fraction reads back as the same date`() throws {
    var source = DateSource(seed: 6)
    for _ in 0..<10_000 {
      let date = source.next()
      let text = try DateText.text(of: date)
      guard text.utf8.count > 20 else { continue }
      #expect(text.last != "0")
      let shorter = String(text.dropLast())
      if !shorter.hasSuffix(".") {
        let below = try DateText.date(from: shorter)
        let above = try DateText.date(from: incremented(shorter))
        if below == date || above == date { Issue.record("\(text) is too long") }
      }
    }
  }

  /// Returns the text with its last digit incremented. Carries stay within the fraction.
  private func incremented(_ text: String) -> String {
    var bytes = Array(text.utf8)
    var index = bytes.count - 1
    while bytes[index] == 0x39 {
      bytes[index] = 0x30
      index -= 1
    }
    if bytes[index] == 0x2E { return text }
    bytes[index] += 1
    return String(decoding: bytes, as: UTF8.self)
  }

  static let texts: [(Double, String)] = [
    (0.0, "2001-01-01 00:00:00"),
    (-0.0, "2001-01-01 00:00:00"),
    (0.5, "2001-01-01 00:00:00.5"),
    (-0.25, "2000-12-31 23:59:59.75"),
    (-1, "2000-12-31 23:59:59"),
    (-1.1, "2000-12-31 23:59:58.9"),
    (0.1, "2001-01-01 00:00:00.1"),
    (1e-7, "2001-01-01 00:00:00.0000001"),
    (-1e-7, "2000-12-31 23:59:59.9999999"),
    (-978_307_200, "1970-01-01 00:00:00"),
    (757_382_400.123, "2025-01-01 00:00:00.123"),
    (-63_145_526_400, "0000-01-01 00:00:00"),
    (-63_113_904_000, "0001-01-01 00:00:00"),
    (252_423_993_599, "9999-12-31 23:59:59"),
    ((252_423_993_600).nextDown, "9999-12-31 23:59:59.99997"),
    (-31_622_400 + 59 * 86_400, "2000-02-29 00:00:00"),
    (-3_187_296_000 + 58 * 86_400, "1900-02-28 00:00:00"),
    (-3_187_296_000 + 59 * 86_400, "1900-03-01 00:00:00"),
  ]

  @Test(arguments: texts)
  func `a date has one known text`(seconds: Double, expected: String) throws {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    let text = try DateText.text(of: date)
    #expect(text == expected)
    #expect(try DateText.date(from: text) == date)
  }

  @Test(arguments: [1e-279, -1e-279, 1.2345678901234567e-100, -1.2345678901234567e-279])
  func `a date very close to 2001 survives with many digits`(seconds: Double) throws {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    let text = try DateText.text(of: date)
    #expect(text.utf8.count <= DateText.maximumLength)
    #expect(try DateText.date(from: text) == date)
  }

  static let unsupported: [Double] = [
    .nan, .signalingNaN, .infinity, -.infinity, 252_423_993_600, (-63_145_526_400).nextDown, 1e300,
    1e-281, -Double.leastNonzeroMagnitude,
  ]

  @Test(arguments: unsupported)
  func `a date without a text throws an error that does not contain it`(seconds: Double) {
    let error = #expect(throws: SQLiteError.self) {
      try DateText.text(of: Date(timeIntervalSinceReferenceDate: seconds))
    }
    #expect(error?.code == .range)
    let isSmall = seconds.magnitude < 1
    let reason = isSmall ? "needs more than 300 digits as text" : "is not in the years 0000 to 9999"
    #expect(error?.message == "the date \(reason)")
  }

  @Test func `the distant past and future have a text`() throws {
    // Foundation uses the Julian calendar for year 1.
    #expect(try DateText.text(of: .distantPast) == "0000-12-30 00:00:00")
    #expect(try DateText.text(of: .distantFuture) == "4001-01-01 00:00:00")
  }

  @Test func `every day of ten thousand years converts to its number and back`() throws {
    var year = 0
    var month = 1
    var day = 1
    for number in -730_851..<2_921_574 {
      let converted = CalendarDay(daysSinceReference: number)
      let expected = CalendarDay(year: year, month: month, day: day)
      if converted != expected { Issue.record("\(number): \(converted)") }
      if converted.daysSinceReference != number { Issue.record("\(converted): \(number)") }
      day += 1
      if day > CalendarDay.days(inMonth: month, of: year) { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
    #expect(year == 10_000)
  }
}
