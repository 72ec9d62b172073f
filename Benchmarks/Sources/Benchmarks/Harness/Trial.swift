/// One turn of one engine: the data it works on, and the clock over the part that counts.
struct Trial {
  let fixture: Fixture
  private let watchesMemory: Bool
  private(set) var elapsed: Duration?
  private(set) var peakBytes: Int?

  /// Creates a turn; one that watches memory is not one whose time counts.
  init(on fixture: Fixture, watchingMemory: Bool = false) {
    self.fixture = fixture
    self.watchesMemory = watchingMemory
  }

  /// Times `work`. What goes before, such as opening, and after, such as freeing its result, does
  /// not count.
  mutating func measure<Result>(_ work: () throws -> Result) throws -> Result {
    guard !watchesMemory else {
      let (result, rise) = try PeakMemory.rise(during: work)
      peakBytes = rise
      return result
    }
    let start = ContinuousClock.now
    let result = try work()
    elapsed = ContinuousClock.now - start
    return result
  }
}
