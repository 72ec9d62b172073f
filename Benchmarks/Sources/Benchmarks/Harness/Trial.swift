import AllocationCount

/// One turn of one engine: the data it works on, and the clock over the parts that count.
struct Trial {
  /// The quantity that a turn is measured by.
  enum Watch {
    case time
    /// Its memory, by which the time does not count.
    case memory
    /// Its instructions, which callgrind writes to a file with this name in it.
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

  /// Times `work`. What goes before, such as opening, and after, such as freeing its result, does
  /// not count. Several parts add up.
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
