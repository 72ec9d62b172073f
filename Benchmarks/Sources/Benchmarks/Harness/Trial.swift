import AllocationCount

/// A run of one engine: the data, and the measurement of the parts that count.
struct Trial {
  /// The quantity to measure.
  enum Watch {
    case time
    /// The memory use. Measuring it affects the time, so the time isn't recorded.
    case memory
    /// The number of instructions, which callgrind writes to a file that contains this name.
    case instructions(name: String)
  }

  let fixture: Fixture
  private let watch: Watch
  private(set) var elapsed: Duration?
  private(set) var memory: MemoryUse?

  init(on fixture: Fixture, watching watch: Watch = .time) {
    self.fixture = fixture
    self.watch = watch
  }

  /// Measures `work`. Code outside of it isn't measured, such as opening the database and releasing
  /// the result. Several calls add up.
  mutating func measure<Result>(_ work: () throws -> Result) throws -> Result {
    switch watch {
    case .time:
      let start = ContinuousClock.now
      let result = try work()
      elapsed = (elapsed ?? .zero) + (ContinuousClock.now - start)
      return result
    case .memory:
      let (result, use) = try MemoryUse.during(work)
      memory = memory.map { $0 + use } ?? use
      return result
    case .instructions(let name):
      instruction_count_begin()
      defer { unsafe instruction_count_end(name) }
      return try work()
    }
  }
}
