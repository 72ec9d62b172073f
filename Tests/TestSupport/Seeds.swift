import Foundation

/// Returns the seeds for a test with random input: `range`, or only the seed in the environment
/// variable `MAGICDATA_SEED`, which may be outside `range`.
package func seeds<Number: FixedWidthInteger>(_ range: Range<Number>) -> [Number]
where Number.Stride: SignedInteger {
  seedInEnvironment().map { [$0] } ?? Array(range)
}

/// Returns the seeds for a test with random input, like `seeds(_:)` with a half-open range.
package func seeds<Number: FixedWidthInteger>(_ range: ClosedRange<Number>) -> [Number]
where Number.Stride: SignedInteger {
  seedInEnvironment().map { [$0] } ?? Array(range)
}

private func seedInEnvironment<Number: FixedWidthInteger>() -> Number? {
  ProcessInfo.processInfo.environment["MAGICDATA_SEED"].flatMap { Number($0) }
}
