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

@Suite struct DateTextParsingTests {
  static let forms: [(String, Double)] = [
    ("2025-01-01", 757_382_400.0),
    ("2025-01-01 00:00", 757_382_400),
    ("2025-01-01T00:00", 757_382_400),
    ("2025-01-01T00:00:01Z", 757_382_401),
    ("2025-01-01 00:00:01.5 Z", 757_382_401.5),
    ("2025-01-01 00:00:01.500000000000000000000000000", 757_382_401.5),
    ("2025-01-01T02:30:00+02:30", 757_382_400),
    ("2024-12-31T23:30-00:30", 757_382_400),
    ("2025-01-01 01:00:00.25 +01:00", 757_382_400.25),
    ("2025-01-01 00:00:00.0", 757_382_400),
    ("2000-12-31 23:59:59.99999999999999999999999999", -1e-26),
    ("2000-12-31 23:59:57.9999999999999999999999", -2),
    ("2025-01-01 00:00:00.00000000000000000000000001", 757_382_400),
    // A tie between two doubles rounds to even.
    ("2025-01-01 00:00:00.000000059604644775390625", 757_382_400),
    ("2025-01-01 00:00:00.000000178813934326171875", 757_382_400 + 2 * 0x1p-23),
    ("2025-01-01 00:00:00.0000000596046447753906250000000000000000001", 757_382_400 + 0x1p-23),
    ("0000-02-29", -63_145_526_400 + 59 * 86_400),
  ]

  @Test(arguments: forms)
  func `every date form of SQLite is read`(text: String, seconds: Double) throws {
    #expect(try DateText.date(from: text).timeIntervalSinceReferenceDate == seconds)
  }

  static let impossible: [(String, String)] = [
    ("", "the year"), ("2025", "expected - at byte 4"), ("2025-13-01", "month must be 1 to 12"),
    ("2025-00-01", "month must be 1 to 12"), ("2025-01-00", "day must be 1 to 31"),
    ("2025-01-32", "day must be 1 to 31"),
    ("2025-02-29", "the month has fewer days"), ("2024-02-30", "has fewer days"),
    ("1900-02-29", "has fewer days"), ("2025-04-31", "has fewer days"),
    ("2025-01-01x", "space or T"), ("2025-01-01 ", "hour"), ("2025-01-01 1:00", "hour"),
    ("2025-01-01 24:00", "hour must be 0 to 23"), ("2025-01-01 10", "expected : at byte 13"),
    ("2025-01-01 10:60", "minute must be 0 to 59"),
    ("2025-01-01 10:00:60", "second must be 0 to 59"),
    ("2025-01-01 23:59:60", "second must be 0 to 59"),
    ("2025-01-01 10:00:00.", "a digit at byte 20"),
    ("2025-01-01 10:00:00.5x", "a time zone at byte 21"),
    ("2025-01-01 10:00Zx", "the end at byte 17"),
    ("2025-01-01 10:00 ", "a time zone"),
    ("2025-01-01 10:00+15:00", "time zone hour must be 0 to 14"),
    ("2025-01-01 10:00+01", "expected : at byte 19"),
    ("2025-01-01 10:00+01:60", "time zone minute must be 0 to 59"),
    ("-001-01-01", "the year"), ("+2025-01-01", "the year"),
    ("12025-01-01", "expected - at byte 4"),
    ("2025-1-01", "two digits of the month"), (" 2025-01-01", "the year"),
    ("2025-01-01\0", "space or T"),
    ("٢٠٢٥-01-01", "the year"), ("now", "the year"), ("2460676.5", "expected - at byte 4"),
    ("10:00:00", "the year"), ("2025-01-01 10:00.5", "a time zone"),
  ]

  @Test(arguments: impossible)
  func `an invalid date throws an error with the reason`(text: String, reason: String) {
    let error = #expect(throws: SQLiteError.self) { try DateText.date(from: text) }
    #expect(error?.code == .mismatch)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    "0000-01-01T00:00+00:01", "9999-12-31 23:59:59-00:01", "9999-12-31 23:59:59.99999999999",
  ])
  func `a date that a zone or rounding moves out of range throws`(text: String) {
    let error = #expect(throws: SQLiteError.self) { try DateText.date(from: text) }
    #expect(error?.code == .range)
  }

  @Test func `no text crashes the parser`() throws {
    var random = SplitMix64(seed: 7)
    let alphabet = Array("0123456789-: TZ.+xé".utf8)
    let model = Array("2024-02-29 23:59:59.999999+14:00".utf8)
    for _ in 0..<100_000 {
      var bytes = Array(model.prefix(.random(in: 0...model.count, using: &random)))
      for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
        let index = Int.random(in: bytes.indices, using: &random)
        bytes[index] = alphabet[.random(in: alphabet.indices, using: &random)]
      }
      do throws(SQLiteError) {
        let date = try DateText.date(from: bytes.span)
        let again = try DateText.date(from: DateText.text(of: date))
        if again != date { Issue.record("\(bytes)") }
      } catch {
        #expect(error.code == .mismatch || error.code == .range)
      }
    }
  }
}
