/// One turn of one engine: the data it works on, and the clock over the part that counts.
struct Trial {
  let fixture: Fixture
  private(set) var elapsed: Duration?

  init(on fixture: Fixture) {
    self.fixture = fixture
  }

  /// Times `work`. What goes before, such as opening, and after, such as freeing its result, does
  /// not count.
  mutating func measure<Result>(_ work: () throws -> Result) rethrows -> Result {
    let start = ContinuousClock.now
    let result = try work()
    elapsed = ContinuousClock.now - start
    return result
  }
}
