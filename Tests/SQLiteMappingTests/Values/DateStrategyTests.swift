import ExactText
import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct DateStrategyTests {
  /// The greatest change of a date, in seconds, that each strategy may cause in a range of dates.
  static let precisions: [(DateStrategy, Double, Range<Double>)] = [
    (.text, 0, DateRange.start..<DateRange.end),
    (.secondsSinceReferenceDate, 0, DateRange.start..<DateRange.end),
    (.secondsSince1970, 0x1p-23, -3_124_224_000..<1_167_609_600),  // 1902 to 2037
    (.secondsSince1970, 0x1p-16, DateRange.start..<DateRange.end),
    (.wholeSecondsSince1970, 1, DateRange.start..<DateRange.end),
    (.millisecondsSince1970, 0.00051, DateRange.start..<DateRange.end),
    (.microsecondsSince1970, 0.000_001, -8e9..<8e9),
    (.microsecondsSince1970, 0.000_016, DateRange.start..<DateRange.end),
    (.julianDay, 0.00056, DateRange.start..<DateRange.end),
  ]

  @Test(arguments: precisions)
  func `ten thousand dates survive with the documented precision`(
    strategy: DateStrategy, precision: Double, years: Range<Double>
  ) throws {
    var source = DateSource(seed: 31)
    var worst = 0.0
    for _ in 0..<10_000 {
      let date = source.next()
      let seconds = date.timeIntervalSinceReferenceDate
      guard years.contains(seconds), seconds < DateRange.end - 1 else { continue }
      let read = try strategy.date(from: strategy.value(for: date))
      worst = max(worst, (read.timeIntervalSinceReferenceDate - seconds).magnitude)
    }
    #expect(worst <= precision)
  }

  @Test(arguments: DateStrategy.allCases)
  func `saving a fetched date again doesn't change it`(strategy: DateStrategy) throws {
    var source = DateSource(seed: 32)
    for _ in 0..<10_000 {
      let date = source.next()
      guard date.timeIntervalSinceReferenceDate < DateRange.end - 1 else { continue }
      if strategy == .microsecondsSince1970,
        date.timeIntervalSinceReferenceDate.magnitude > 8e9
      {
        continue
      }
      let value = try strategy.value(for: date)
      let read = try strategy.date(from: value)
      let again = try strategy.date(from: strategy.value(for: read))
      if again != read { Issue.record("\(date.timeIntervalSinceReferenceDate): \(value)") }
    }
  }

  @Test(arguments: DateStrategy.allCases)
  func `stored values sort like their dates`(strategy: DateStrategy) throws {
    var source = DateSource(seed: 33)
    let dates = (0..<10_000).map { _ in source.next() }
      .filter { $0.timeIntervalSinceReferenceDate < DateRange.end - 1 }.sorted()
    var previous: Value?
    for date in dates {
      let value = try strategy.value(for: date)
      if let previous {
        switch (previous, value) {
        case (.integer(let earlier), .integer(let later)): #expect(earlier <= later)
        case (.real(let earlier), .real(let later)): #expect(earlier <= later)
        case (.text(let earlier), .text(let later)): #expect(earlier <= later)
        default: Issue.record("\(previous) and \(value)")
        }
      }
      previous = value
    }
  }

  static let forms: [(DateStrategy, Value)] = [
    (.text, .text("2009-02-13 23:31:30.75")),
    (.secondsSinceReferenceDate, .real(256_260_690.75)),
    (.secondsSince1970, .real(1_234_567_890.75)),
    (.wholeSecondsSince1970, .integer(1_234_567_890)),
    (.millisecondsSince1970, .integer(1_234_567_890_750)),
    (.microsecondsSince1970, .integer(1_234_567_890_750_000)),
  ]

  @Test(arguments: forms)
  func `each strategy stores a date in a known form`(strategy: DateStrategy, expected: Value) throws
  {
    let date = Date(timeIntervalSinceReferenceDate: 256_260_690.75)
    #expect(try strategy.value(for: date) == expected)
  }

  @Test func `a tie of milliseconds rounds to even`() throws {
    let dates = [0.0005, 0.0015, 0.5, 0.0625 / 125, -0.0005].map {
      Date(timeIntervalSinceReferenceDate: $0)
    }
    let values = try dates.map { try DateStrategy.millisecondsSince1970.value(for: $0) }
    // As doubles, 0.0005 and 0.0015 are above the tie.
    #expect(
      values == [1, 2, 500, 1, -1].map { .integer($0 + 978_307_200_000) })
    let tie = Date(timeIntervalSinceReferenceDate: 2.0625)
    #expect(try DateStrategy.millisecondsSince1970.value(for: tie) == .integer(978_307_202_062))
  }

  @Test func `whole seconds round down, before 1970 too`() throws {
    let date = Date(timeIntervalSinceReferenceDate: -978_307_200.25)
    #expect(try DateStrategy.wholeSecondsSince1970.value(for: date) == .integer(-1))
  }

  @Test(arguments: DateStrategy.allCases)
  func `a date outside the years 0 to 9999 throws`(strategy: DateStrategy) throws {
    for seconds in [.nan, .infinity, -.infinity, DateRange.end, DateRange.start.nextDown, 1e300] {
      let error = #expect(throws: SQLiteError.self) {
        try strategy.value(for: Date(timeIntervalSinceReferenceDate: seconds))
      }
      #expect(error?.code == .range)
    }
    for seconds in [DateRange.start, DateRange.end - 1] {
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      #expect(try strategy.date(from: strategy.value(for: date)) == date)
    }
  }

  @Test(arguments: DateStrategy.allCases)
  func `the last moment of year 9999 throws or can be read`(
    strategy: DateStrategy
  ) throws {
    let last = Date(timeIntervalSinceReferenceDate: DateRange.end.nextDown)
    guard let value = try? strategy.value(for: last) else { return }
    let read = try strategy.date(from: value)
    #expect(last.timeIntervalSince(read) < 1)
  }

  @Test(arguments: DateStrategy.allCases.filter { $0 != .text })
  func `a value that isn't a date throws`(strategy: DateStrategy) {
    let values: [Value] = [
      .integer(.max), .integer(.min), .real(.infinity), .real(-1e300), .real(.nan), .null,
      .text("2009-02-13"), .blob([1]),
    ]
    for value in values {
      #expect(throws: SQLiteError.self) { try strategy.date(from: value) }
    }
  }

  @Test func `milliseconds read as seconds throw`() throws {
    let value = Value.integer(1_234_567_890_750)
    #expect(throws: SQLiteError.self) { try DateStrategy.wholeSecondsSince1970.date(from: value) }
  }

  @Test func `a number is read even if affinity changed its storage class`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 256_260_690)
    #expect(try DateStrategy.secondsSince1970.date(from: .integer(1_234_567_890)) == date)
    #expect(try DateStrategy.wholeSecondsSince1970.date(from: .real(1_234_567_890)) == date)
    #expect(throws: SQLiteError.self) {
      try DateStrategy.wholeSecondsSince1970.date(from: .real(1_234_567_890.5))
    }
  }

  @Test func `about half of today's dates change as seconds since 1970`() throws {
    var random = SplitMix64(seed: 34)
    var changed = 0
    for _ in 0..<10_000 {
      let date = Date(timeIntervalSinceReferenceDate: .random(in: 7.5e8...8.5e8, using: &random))
      let value = try DateStrategy.secondsSince1970.value(for: date)
      if try DateStrategy.secondsSince1970.date(from: value) != date { changed += 1 }
    }
    #expect((4_500...5_500).contains(changed))
  }
}
