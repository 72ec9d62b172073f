import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

/// Date components and date arithmetic, from the year 0000 to 9999.
@Suite(.everyEngine) struct DateExpressionTests {
  struct Stay: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var from: Date
    @MagicValue var to: Date
    @OptionalMagicValue var seen: Date?
    @MagicValue var nights: Double

    init() {
      (from, to, nights) = (Date(timeIntervalSinceReferenceDate: 0), .distantPast, 0)
    }
  }

  /// Seconds since 2001-01-01.
  static let moments: [Double] = {
    let start = -63_145_526_400.0
    let end = 252_423_993_600.0
    var moments: [Double] = [
      start, start + 0.5, start + 86_399.75, -63_113_904_000, -63_113_904_000.00001,
      // The last moments of a year, which SQLite's functions would round up to the next year.
      -0.0001, -0.000_000_1, 0, 0.000_000_1, 0.1, end - 1, end - 0.0001, end.nextDown,
      -978_307_200, -978_307_200.5, -978_307_199.999_999_9,
      // Around the days that the switch to the Gregorian calendar skipped.
      -13_197_600_000, -13_197_513_600.25, -26_438_400, -26_352_000, 730_000_000.123_456,
    ]
    var random = SplitMix64(seed: 9_999)
    moments += (0..<300).map { _ in Double.random(in: start..<end, using: &random) }
    return moments
  }()

  static let rows: [(from: Double, to: Double, seen: Double?, nights: Double)] =
    moments.indices.map { index in
      let nights = [0, 1, -1, 0.25, 86_400, -86_400.5, 1e-7][index % 7]
      let other = moments[(index * 7 + 3) % moments.count]
      return (moments[index], other, index % 3 == 0 ? nil : other, nights)
    }

  let magic: MagicData

  init() throws {
    magic = try MagicData.fresh()
    try magic.update(
      Self.rows.enumerated().map { index, row in
        let stay = Stay()
        stay.id = index + 1
        stay.from = Date(timeIntervalSinceReferenceDate: row.from)
        stay.to = Date(timeIntervalSinceReferenceDate: row.to)
        stay.seen = row.seen.map { Date(timeIntervalSinceReferenceDate: $0) }
        stay.nights = row.nights
        return stay
      })
  }

  /// The components of a moment in the proleptic Gregorian calendar, computed by counting days.
  private struct Parts {
    var year = 2001
    var month = 1
    var day = 1
    let weekday: Int
    let second: Int

    init(_ moment: Double) {
      var days = Int((moment.rounded(.down) / 86_400).rounded(.down))
      second = Int(moment.rounded(.down)) - days * 86_400
      // 2001-01-01 was a Monday.
      weekday = ((days + 1) % 7 + 7) % 7 + 1
      func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      }
      // Whole cycles of 400 years first.
      let cycles = Int((Double(days) / 146_097).rounded(.down))
      year += cycles * 400
      days -= cycles * 146_097
      while days >= (isLeap(year) ? 366 : 365) {
        days -= isLeap(year) ? 366 : 365
        year += 1
      }
      let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      while days >= lengths[month - 1] {
        days -= lengths[month - 1]
        month += 1
      }
      day += days
    }
  }

  private func expect<Element: Codable & Equatable & SendableMetatype>(
    _ expression: MagicExpression<Stay, Element>, where filter: Filter<Stay>? = nil,
    _ line: Int = #line, _ swift: (Int) -> Element?
  ) throws {
    let stays = (filter.map(Stay.where) ?? Stay.all).ordered(by: .ascending(\.$id))
    let ids = try magic.fetch(stays.values(\.$id))
    let found = try magic.fetch(stays.values(expression))
    #expect(found.count == ids.count)
    for (id, value) in zip(ids, found) {
      #expect(value == swift(id - 1), "line \(line): \(Self.rows[id - 1])")
    }
  }

  @Test func `date components follow the Gregorian calendar in UTC`() throws {
    let parts = Self.rows.map { Parts($0.from) }
    try expect((\Stay.$from).year) { parts[$0].year }
    try expect((\Stay.$from).month) { parts[$0].month }
    try expect((\Stay.$from).day) { parts[$0].day }
    try expect((\Stay.$from).weekday) { parts[$0].weekday }
    try expect((\Stay.$from).hour) { parts[$0].second / 3_600 }
    try expect((\Stay.$from).minute) { parts[$0].second / 60 % 60 }
    try expect((\Stay.$from).second) { parts[$0].second % 60 }
    try expect((\Stay.$seen).year) { Self.rows[$0].seen.map { Parts($0).year } }
    try expect((\Stay.$seen).weekday) { Self.rows[$0].seen.map { Parts($0).weekday } }
  }

  @Test func `date components equal Foundation's for dates after 1589`() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let since = Date(timeIntervalSince1970: -12_000_000_000)
    func component(_ component: Calendar.Component) -> (Int) -> Int? {
      {
        calendar.component(
          component, from: Date(timeIntervalSinceReferenceDate: Self.rows[$0].from))
      }
    }
    // Foundation sometimes loses a fraction after the last whole second, so only the random moments
    // are compared.
    let filter: Filter<Stay> = \.$from > since && \.$id > Self.moments.count - 300
    try expect((\Stay.$from).year, where: filter, #line, component(.year))
    try expect((\Stay.$from).month, where: filter, #line, component(.month))
    try expect((\Stay.$from).day, where: filter, #line, component(.day))
    try expect((\Stay.$from).weekday, where: filter, #line, component(.weekday))
    try expect((\Stay.$from).hour, where: filter, #line, component(.hour))
    try expect((\Stay.$from).minute, where: filter, #line, component(.minute))
  }

  @Test(.requires(.functions)) func `seconds are added and subtracted exactly as by Date`() throws {
    func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
    // A day away from both ends of the range.
    let filter: Filter<Stay> =
      \.$from > date(-63_145_426_400) && \.$from < date(252_423_893_600)
    try expect(\Stay.$from + 0.1, where: filter) { date(Self.rows[$0].from) + 0.1 }
    try expect(\Stay.$from - 86_400, where: filter) { date(Self.rows[$0].from) - 86_400 }
    try expect(\Stay.$from + \Stay.$nights, where: filter) {
      date(Self.rows[$0].from) + Self.rows[$0].nights
    }
    try expect(\Stay.$from - \Stay.$nights, where: filter) {
      date(Self.rows[$0].from) - Self.rows[$0].nights
    }
    try expect(\Stay.$to - \Stay.$from) {
      date(Self.rows[$0].to).timeIntervalSince(date(Self.rows[$0].from))
    }
    try expect(\Stay.$seen - \Stay.$from) { index in
      Self.rows[index].seen.map { date($0).timeIntervalSince(date(Self.rows[index].from)) }
    }
    let now = Date(timeIntervalSinceReferenceDate: 817_000_000.25)
    try expect(now - \Stay.$from) { now.timeIntervalSince(date(Self.rows[$0].from)) }
    try expect(\Stay.$from - now) { date(Self.rows[$0].from).timeIntervalSince(now) }
    let late = try magic.fetch(Stay.where(filter && \.$from + 86_400 > now).values(\.$id))
    let expected = try magic.fetch(Stay.where(filter && \.$from > now - 86_400).values(\.$id))
    #expect(late == expected)
  }

  @Test(.requires(.functions)) func `a date outside the range throws`() throws {
    #expect(throws: SQLiteError.self) { try magic.fetch(Stay.all.values(\.$from + 1e12)) }
    #expect(throws: SQLiteError.self) { try magic.fetch(Stay.all.values(\.$from - .infinity)) }
    #expect(throws: (any Error).self) { try magic.fetch(Stay.all.values(\.$from + .nan)) }
  }
}
