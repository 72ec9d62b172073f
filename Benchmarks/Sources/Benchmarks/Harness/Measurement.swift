/// The measurements of one engine in one case.
struct Measurement {
  let `case`: String
  let engine: Engine
  /// The number of operations in one run.
  let operations: Int
  /// The median time of an operation.
  let nanoseconds: Double
  /// The median of the ratios of this engine's time to C's time in the same round.
  let ratioToC: Double
  /// The interquartile range of the times, relative to their median.
  let spread: Double
  /// The increase of resident memory at its peak, or nil if the system doesn't report it.
  let peakBytes: Int?
  /// The number of allocations per operation, or nil if they weren't counted.
  let allocations: Double?

  init(
    case: String, engine: Engine, operations: Int, times: [Double], baseline: [Double],
    memory: MemoryUse?
  ) {
    self.case = `case`
    self.engine = engine
    self.operations = operations
    peakBytes = memory?.peakBytes
    allocations = memory?.allocations.map { Double($0) / Double(operations) }
    let median = times.quantile(0.5)
    nanoseconds = median / Double(operations)
    ratioToC = zip(times, baseline).map { $0 / $1 }.quantile(0.5)
    spread = (times.quantile(0.75) - times.quantile(0.25)) / median
  }
}

extension Measurement {
  /// The name of the case, followed by its size if the case has several sizes.
  var label: String { `case` == "growth" ? "growth \(operations)" : `case` }
}

extension [Double] {
  /// Returns a quantile of the values, with linear interpolation between two values.
  func quantile(_ fraction: Double) -> Double {
    let sorted = sorted()
    guard let last = sorted.last else { return .nan }
    let position = fraction * Double(count - 1)
    let lower = Int(position)
    guard lower + 1 < count else { return last }
    let weight = position - Double(lower)
    return sorted[lower] * (1 - weight) + sorted[lower + 1] * weight
  }
}
