import ExactText
import SQLiteMapping
import Testing
import TestSupport

@Suite struct ExactSecondsTests {
  @Test func `digits are rounded like in the C library`() {
    var random = SplitMix64(seed: 21)
    for _ in 0..<20_000 {
      let limit: Int64 = 1 << Int64.random(in: 1...38, using: &random)
      let whole = Int64.random(in: 0..<limit, using: &random)
      let count = Int.random(in: 1...30, using: &random)
      let digits = (0..<count).map { _ in UInt8.random(in: 0x30...0x39, using: &random) }
      let text = "\(whole)." + String(decoding: digits, as: UTF8.self)
      let nearest = ExactSeconds.nearest(whole, fraction: digits.span)
      if nearest != Double(text) { Issue.record("\(text) became \(nearest ?? .nan)") }
    }
  }

  @Test func `the fraction is added to a negative second`() {
    var random = SplitMix64(seed: 22)
    for _ in 0..<20_000 {
      let limit: Int64 = 1 << Int64.random(in: 1...38, using: &random)
      let whole = Int64.random(in: 1...limit, using: &random)
      let numerator = UInt64.random(in: 1..<10_000_000_000, using: &random)
      let complement = 10_000_000_000 - numerator
      let digits = String(10_000_000_000 + complement).dropFirst()
      let nearest = ExactSeconds.nearest(-whole, numerator, over: 10_000_000_000)
      if nearest != Double("-\(whole - 1).\(digits)") { Issue.record("-\(whole) \(numerator)") }
    }
  }
  @Test(arguments: [(1, 0), (2, 1), (3, 2), (5, 2), (7, 4)] as [(UInt64, Double)])
  func `a tie between two doubles rounds to even`(halves: UInt64, units: Double) {
    let half: UInt64 = 3_814_697_265_625  // 2^-18, of 10^18
    let denominator: UInt64 = 1_000_000_000_000_000_000
    let up = ExactSeconds.nearest(1 << 35, half * halves, over: denominator)
    #expect(up == 0x1p35 + units * 0x1p-17)
    let down = ExactSeconds.nearest(-(1 << 35) - 1, denominator - half * halves, over: denominator)
    #expect(down == -0x1p35 - units * 0x1p-17)
  }
}
