import Foundation

/// Returns the seeds that a test with random input runs: `range`, or only the seed in the environment variable
/// `MAGICDATA_SEED`, which may be outside of `range`.
package func seeds<Number: FixedWidthInteger>(_ range: Range<Number>) -> [Number]
where Number.Stride: SignedInteger {
  seedInEnvironment().map { [$0] } ?? Array(range)
}

/// Returns the seeds that a test with random input runs, as `seeds(_:)` of a half-open range does.
package func seeds<Number: FixedWidthInteger>(_ range: ClosedRange<Number>) -> [Number]
where Number.Stride: SignedInteger {
  seedInEnvironment().map { [$0] } ?? Array(range)
}

private func seedInEnvironment<Number: FixedWidthInteger>() -> Number? {
  ProcessInfo.processInfo.environment["MAGICDATA_SEED"].flatMap { Number($0) }
}
