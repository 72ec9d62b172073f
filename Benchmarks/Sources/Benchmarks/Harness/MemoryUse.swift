import AllocationCount

/// The memory that work needs; nil where the system does not report it.
struct MemoryUse {
  /// How far resident memory rose at most.
  let peakBytes: Int?
  /// How often memory was allocated, on all threads.
  let allocations: Int?

  /// Does `work`, and returns its result beside its use of memory.
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

  /// The use of two parts, one after the other.
  static func + (first: MemoryUse, second: MemoryUse) -> MemoryUse {
    func both(_ path: KeyPath<MemoryUse, Int?>, _ combine: (Int, Int) -> Int) -> Int? {
      guard let one = first[keyPath: path], let other = second[keyPath: path] else { return nil }
      return combine(one, other)
    }
    return MemoryUse(
      peakBytes: both(\.peakBytes, max), allocations: both(\.allocations, +))
  }
}
