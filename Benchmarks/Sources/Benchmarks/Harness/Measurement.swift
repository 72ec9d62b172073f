/// The result of the runs of one engine in one case.
struct Measurement {
  let `case`: String
  let engine: Engine
  /// How many operations one run did.
  let operations: Int
  /// The median time of one operation.
  let nanoseconds: Double
  /// The median, over the runs, of this engine's time relative to C's time in the same run.
  let ratioToC: Double
  /// The distance between the quartiles of the times, relative to their median.
  let spread: Double
  /// How far resident memory rose, where the system tells.
  let peakBytes: Int?
  /// How often one operation allocated memory, where it was counted.
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
  /// The case, with its size where one has several.
  var label: String { `case` == "growth" ? "growth \(operations)" : `case` }
}

extension [Double] {
  /// Returns the value below which `fraction` of the values lie, between two of them if need be.
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
