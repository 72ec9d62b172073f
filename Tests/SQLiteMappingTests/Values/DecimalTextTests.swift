import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct DecimalTextTests {
  /// Returns a decimal with up to 38 digits and any exponent of `Decimal`.
  private func decimal(_ random: inout SplitMix64) throws -> Decimal {
    let count = Int.random(in: 1...38, using: &random)
    let digits = (0..<count).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
    let significand = try #require(Decimal(string: digits))
    let exponent = Int.random(in: -128 + 38...127 - 38, using: &random)
    let sign: FloatingPointSign = Bool.random(using: &random) ? .plus : .minus
    return Decimal(sign: sign, exponent: exponent, significand: significand)
  }

  @Test func `ten thousand decimals survive with one text each`() throws {
    var random = SplitMix64(seed: 61)
    for _ in 0..<10_000 {
      let decimal = try decimal(&random)
      let value = try DecimalText.value(for: decimal)
      let read = try DecimalText.decimal(from: value)
      let again = try DecimalText.value(for: read)
      if read != decimal || again != value { Issue.record("\(decimal): \(value), \(read)") }
    }
  }

  static let texts: [(String, String)] = [
    ("0", "0"), ("-0", "0"), ("1", "1"), ("-1.5", "-1.5"), ("1.50", "1.5"), ("00012.500", "12.5"),
    ("0.1", "0.1"), ("-0.001", "-0.001"), ("100", "100"),
    ("1000000000000000000000", "1" + zeros(21)),
    ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
    ("-12345678901234567890.123456789012345678", "-12345678901234567890.123456789012345678"),
    (
      "0." + zeros(89) + "99999999999999999999999999999999999999",
      "0." + zeros(89) + "99999999999999999999999999999999999999"
    ),
    ("3" + zeros(127), "3" + zeros(127)), ("0." + zeros(126) + "3", "0." + zeros(126) + "3"),
    ("18446744073709551616", "18446744073709551616"), ("123456789012345678", "123456789012345678"),
    ("1234567890123456789", "1234567890123456789"),
    ("0.123456789012345678", "0.123456789012345678"),
  ]

  @Test(arguments: texts)
  func `decimal text is read exactly and written in one form`(text: String, canonical: String)
    throws
  {
    let decimal = try DecimalText.decimal(from: .text(text))
    #expect(try DecimalText.value(for: decimal) == .text(canonical))
  }

  @Test(arguments: [
    Decimal.greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
    .leastFiniteMagnitude, .pi, .zero,
  ])
  func `the limits of Decimal survive a round trip`(decimal: Decimal) throws {
    #expect(try DecimalText.decimal(from: DecimalText.value(for: decimal)) == decimal)
  }

  @Test(arguments: [
    "", "-", ".", "1.", ".5", "+1", "1e3", "1E3", "NaN", "inf", "1,5", "1 000", " 1", "1 ", "12abc",
    "0x10", "١", "--1", "1.2.3", "1\0",
  ])
  func `text that isn't a plain number throws`(text: String) {
    let error = #expect(throws: SQLiteError.self) { try DecimalText.decimal(from: .text(text)) }
    #expect(error?.code == .mismatch)
  }

  @Test(arguments: [
    "1234567890123456789012345678901234567890123", "0." + zeros(140) + "1", "1" + zeros(200),
    "340282366920938463463374607431768211457.5",
  ])
  func `a number that Decimal would round throws`(text: String) {
    let error = #expect(throws: SQLiteError.self) { try DecimalText.decimal(from: .text(text)) }
    #expect(error?.code == .range)
  }

  @Test func `a decimal that isn't a number throws`() {
    #expect(throws: SQLiteError.self) { try DecimalText.value(for: .nan) }
  }

  @Test func `an integer is read, and a real throws`() throws {
    #expect(try DecimalText.decimal(from: .integer(.min)) == Decimal(Int64.min))
    #expect(throws: SQLiteError.self) { try DecimalText.decimal(from: .real(0.5)) }
    #expect(throws: SQLiteError.self) { try DecimalText.decimal(from: .null) }
  }

  private static func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
}
