import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct DataStrategyTests {
  @Test(arguments: DataStrategy.allCases)
  func `ten thousand data values survive a round trip`(strategy: DataStrategy) throws {
    var random = SplitMix64(seed: 41)
    for _ in 0..<10_000 {
      let count = Int.random(in: 0...40, using: &random)
      let data = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
      let read = try strategy.data(from: strategy.value(for: data))
      if read != data { Issue.record("\(Array(data))") }
    }
  }

  static let forms: [(DataStrategy, Value)] = [
    (.blob, .blob([0, 255, 16])), (.base64, .text("AP8Q")), (.hex, .text("00FF10")),
  ]

  @Test(arguments: forms)
  func `each strategy stores data in a known form`(strategy: DataStrategy, expected: Value) {
    #expect(strategy.value(for: Data([0, 255, 16])) == expected)
  }

  @Test func `empty data isn't stored as NULL`() throws {
    #expect(DataStrategy.blob.value(for: Data()) == .blob([]))
    #expect(DataStrategy.base64.value(for: Data()) == .text(""))
    #expect(DataStrategy.hex.value(for: Data()) == .text(""))
  }

  @Test func `a slice of data stores only its bytes`() {
    let slice = Data([1, 2, 3, 4])[1..<3]
    #expect(DataStrategy.blob.value(for: slice) == .blob([2, 3]))
    #expect(DataStrategy.hex.value(for: slice) == .text("0203"))
  }

  static let wrong: [(DataStrategy, Value)] = [
    (.blob, .text("AA")), (.blob, .null), (.blob, .integer(1)), (.hex, .text("0")),
    (.hex, .text("0G")), (.hex, .text("é0")), (.hex, .blob([0])), (.base64, .text("A")),
    (.base64, .text("A P8")), (.base64, .text("*P8Q")), (.base64, .blob([65])),
  ]

  @Test(arguments: wrong)
  func `a value of another form throws`(strategy: DataStrategy, value: Value) {
    let error = #expect(throws: SQLiteError.self) { try strategy.data(from: value) }
    #expect(error?.code == .mismatch)
  }

  @Test func `lowercase hexadecimal is read`() throws {
    #expect(try DataStrategy.hex.data(from: .text("00ff1a")) == Data([0, 255, 26]))
  }
}
