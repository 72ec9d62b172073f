import AllocationCount

/// The memory use of an operation. A value is nil if the system doesn't report it.
struct MemoryUse {
  /// The increase of resident memory at its peak.
  let peakBytes: Int?
  /// The number of allocations on all threads.
  let allocations: Int?

  /// Runs `work` and returns its result and its memory use.
  static func during<Result>(_ work: () throws -> Result) throws -> (Result, MemoryUse) {
    var allocations: Int?
    let (result, peak) = try PeakMemory.rise {
      allocation_count_begin()
      defer {
        let count = allocation_count_end()
        allocations = count < 0 ? nil : count
      }
      return try work()
    }
    return (result, MemoryUse(peakBytes: peak, allocations: allocations))
  }

  /// Combines two consecutive operations: the higher peak and the sum of the allocations.
  static func + (first: MemoryUse, second: MemoryUse) -> MemoryUse {
    func both(_ path: KeyPath<MemoryUse, Int?>, _ combine: (Int, Int) -> Int) -> Int? {
      guard let one = first[keyPath: path], let other = second[keyPath: path] else { return nil }
      return combine(one, other)
    }
    return MemoryUse(
      peakBytes: both(\.peakBytes, max), allocations: both(\.allocations, +))
  }
}
