import ExactText
import SQLiteMapping
import TestSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A generator of dates of every kind: near today, anywhere in the range, whole seconds, and very
/// close to 2001.
struct DateSource {
  private var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  /// Returns the next date that can be stored exactly as text.
  mutating func next() -> Date {
    while true {
      let seconds = nextSeconds()
      if DateRange.contains(seconds), seconds == 0 || seconds.magnitude >= 1e-280 {
        return Date(timeIntervalSinceReferenceDate: seconds)
      }
    }
  }

  private mutating func nextSeconds() -> Double {
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: .random(in: 7e8...1e9, using: &random)
    case 2: .random(in: DateRange.start..<DateRange.end, using: &random)
    case 3: Double.random(in: DateRange.start..<DateRange.end, using: &random).rounded()
    case 4: .random(in: -3...3, using: &random)
    case 5: (.random(in: DateRange.start..<DateRange.end, using: &random) * 1e3).rounded() / 1e3
    case 6: Double(bitPattern: .random(in: 0...UInt64.max, using: &random))
    default: neighbourOfPowerOfTwo()
    }
  }

  private mutating func neighbourOfPowerOfTwo() -> Double {
    let exponent = Int.random(in: -100...37, using: &random)
    let power = Double(sign: .plus, exponent: exponent, significand: 1)
    let sign: Double = .random(using: &random) ? 1 : -1
    return switch Int.random(in: 0..<3, using: &random) {
    case 0: sign * power
    case 1: sign * power.nextUp
    default: sign * power.nextDown
    }
  }
}
