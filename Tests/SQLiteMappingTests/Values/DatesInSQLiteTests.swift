import Conformance
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

@Suite(.everyEngine) struct DatesInSQLiteTests {
  let database: Database

  init() throws { database = try Database.fresh() }

  @Test func `SQLite's date functions read ten thousand date texts correctly`() throws {
    var source = DateSource(seed: 91)
    for _ in 0..<10_000 {
      let date = source.next()
      let text = try DateText.text(of: date)
      // SQLite rounds to milliseconds, which may be in the next second.
      if text.utf8.count > 20, text.dropFirst(20).hasPrefix("999") { continue }
      let row = try database.rows(
        "SELECT strftime('%Y-%m-%d %H:%M:%S', \(date)), unixepoch(\(date)), julianday(\(date))",
        as: String.self, Int64.self, Double.self
      ).first
      let (read, epoch, julianDay) = try #require(row)
      let whole = try DateStrategy.wholeSecondsSince1970.value(for: date)
      let day = try DateStrategy.julianDay.date(from: .real(julianDay))
      let isNear = day.timeIntervalSince(date).magnitude <= 0.0011
      if !text.hasPrefix(read) || whole != .integer(epoch) || !isNear {
        Issue.record("\(text) became \(read), \(epoch), \(julianDay)")
      }
    }
  }

  @Test func `the output of SQLite's date functions is read correctly`() throws {
    var random = SplitMix64(seed: 92)
    for _ in 0..<10_000 {
      let second = Int64.random(in: -62_167_219_200..<253_402_300_800, using: &random)
      let row = try database.rows(
        """
        SELECT datetime(\(second), 'unixepoch'), strftime('%Y-%m-%dT%H:%M:%fZ', \(second), 'unixepoch'),
          julianday(\(second), 'unixepoch')
        """, as: Date.self, Date.self, Double.self
      ).first
      let (date, zoned, julianDay) = try #require(row)
      let expected = try DateStrategy.wholeSecondsSince1970.date(from: .integer(second))
      let day = try DateStrategy.julianDay.date(from: .real(julianDay))
      if date != expected || zoned != expected || day != expected { Issue.record("\(second)") }
      #expect(try DateStrategy.julianDay.value(for: date) == .real(julianDay))
    }
  }
}
