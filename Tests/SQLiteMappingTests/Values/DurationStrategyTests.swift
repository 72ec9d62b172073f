import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

@Suite struct DurationStrategyTests {
  private func duration(_ random: inout SplitMix64) -> Duration {
    let attoseconds = Int128.random(in: .min ... .max, using: &random)
    return Duration(attoseconds: attoseconds >> Int128.random(in: 0...127, using: &random))
  }

  @Test func `ten thousand durations survive as text`() throws {
    var random = SplitMix64(seed: 81)
    for _ in 0..<10_000 {
      let duration = duration(&random)
      let value = try DurationStrategy.text.value(for: duration)
      let read = try DurationStrategy.text.duration(from: value)
      if read != duration { Issue.record("\(duration.attoseconds)") }
    }
  }

  static let texts: [(Int128, String)] = [
    (0, "0"), (1, "0.000000000000000001"), (-1, "-0.000000000000000001"),
    (-1_500_000_000_000_000_000, "-1.5"), (10_000_000_000_000_000_000, "10"),
    (.max, "170141183460469231731.687303715884105727"),
    (.min, "-170141183460469231731.687303715884105728"),
    (1_000_000_000_000_000_000 * 1_000_000_000_000_000_000, "1000000000000000000"),
  ]

  @Test(arguments: texts)
  func `a duration has one known text`(attoseconds: Int128, text: String) throws {
    let duration = Duration(attoseconds: attoseconds)
    #expect(try DurationStrategy.text.value(for: duration) == .text(text))
    #expect(try DurationStrategy.text.duration(from: .text(text)) == duration)
  }

  @Test(arguments: [("1.50", 1.5), ("007", 7), ("-0.0", 0), ("1.0000000000000000000", 1)])
  func `superfluous zeros are read`(text: String, seconds: Double) throws {
    let read = try DurationStrategy.text.duration(from: .text(text))
    #expect(read == .seconds(seconds))
  }

  @Test(arguments: [
    "170141183460469231731.687303715884105728", "-170141183460469231731.687303715884105729",
    "170141183460469231732", "999999999999999999999", "1000000000000000000000",
    "0.0000000000000000001",
  ])
  func `a number outside the range of Duration throws`(text: String) {
    let error = #expect(throws: SQLiteError.self) {
      try DurationStrategy.text.duration(from: .text(text))
    }
    #expect(error?.code == .range)
  }

  @Test(arguments: [Value.null, .text("1s"), .text("1e3"), .integer(1), .real(1), .blob([])])
  func `a value of another form throws`(value: Value) {
    let error = #expect(throws: SQLiteError.self) {
      try DurationStrategy.text.duration(from: value)
    }
    #expect(error?.code == .mismatch)
  }

  @Test func `seconds are within one unit in the last place of the nearest double`() throws {
    var random = SplitMix64(seed: 82)
    for _ in 0..<10_000 {
      let duration = duration(&random)
      // A double may round durations near the limits out of the range.
      guard duration.attoseconds.magnitude < Int128.max.magnitude - 1 << 75 else { continue }
      guard case .real(let real) = try DurationStrategy.seconds.value(for: duration),
        case .text(let text) = try DurationStrategy.text.value(for: duration),
        let nearest = Double(text)
      else {
        Issue.record("\(duration)")
        continue
      }
      if (real - nearest).magnitude > nearest.ulp { Issue.record("\(text) became \(real)") }
      let read = try DurationStrategy.seconds.duration(from: .real(real))
      let again = Double(read.attoseconds) / 1e18
      if (again - real).magnitude > max(real.ulp, 1e-18) { Issue.record("\(real), \(again)") }
    }
  }

  @Test func `nanoseconds are rounded to the nearest or throw`() throws {
    var random = SplitMix64(seed: 83)
    for _ in 0..<10_000 {
      let duration = duration(&random)
      do throws(SQLiteError) {
        let value = try DurationStrategy.nanoseconds.value(for: duration)
        let read = try DurationStrategy.nanoseconds.duration(from: value)
        if (read - duration).attoseconds.magnitude > 500_000_000 { Issue.record("\(duration)") }
      } catch {
        let seconds = duration.attoseconds.magnitude / 1_000_000_000_000_000_000
        #expect(error.code == .range && seconds >= 9_223_372_036)
      }
    }
  }

  @Test(arguments: [(500_000_000, 0), (1_500_000_000, 2), (-500_000_000, 0), (-1_500_000_000, -2)])
  func `a tie of nanoseconds rounds to even`(attoseconds: Int64, nanoseconds: Int64) throws {
    let duration = Duration(attoseconds: Int128(attoseconds))
    #expect(try DurationStrategy.nanoseconds.value(for: duration) == .integer(nanoseconds))
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, 1.8e20, -1.8e20])
  func `seconds outside the range of Duration throw`(seconds: Double) {
    #expect(throws: SQLiteError.self) {
      try DurationStrategy.seconds.duration(from: .real(seconds))
    }
  }

  @Test(arguments: DurationStrategy.allCases)
  func `the limits of Duration throw or can be read`(
    strategy: DurationStrategy
  ) throws {
    for duration in [Duration(attoseconds: .min), Duration(attoseconds: .max)] {
      guard let value = try? strategy.value(for: duration) else { continue }
      let read = try strategy.duration(from: value)
      #expect(read == duration)
    }
  }
}
