/// The runs of one case: its engines take turns, and each result is checked before its time counts.
struct Contest {
  private let entry: any Case
  private let fixture: Fixture
  private let runs: Int
  private let engines: [(engine: Engine, turn: Turn)]
  private let progress: Progress

  init(of entry: any Case, on fixture: Fixture, runs: Int, filter: Filter, progress: Progress) {
    self.entry = entry
    self.fixture = fixture
    self.runs = runs
    self.engines = filter.engines(of: entry)
    self.progress = progress
  }

  /// Runs every engine `runs` times for its time, after a run that warms up and one that watches
  /// its memory.
  ///
  /// - Throws: ``Failure`` if the result of any run differs from C's first one.
  func run() throws -> [Measurement] {
    defer { progress.clear() }
    guard let baseline = engines.first else { return [] }
    progress.show("\(entry.name): checking")
    var first = Trial(on: fixture)
    try fixture.removeFresh()
    let expected = try baseline.turn(&first)
    for contender in engines.dropFirst() {
      _ = try take(contender, expecting: expected)
    }
    let peaks = try engines.map {
      try take($0, expecting: expected, watchingMemory: true).peakBytes
    }
    let times = try alternate(expecting: expected)
    let operations = entry.operations(on: fixture)
    return engines.indices.map { index in
      Measurement(
        case: entry.name, engine: engines[index].engine, operations: operations,
        times: times[index], baseline: times[0], peakBytes: peaks[index])
    }
  }

  /// Returns the nanoseconds of each engine's runs. Each round starts with another engine.
  private func alternate(expecting expected: Checksum) throws -> [[Double]] {
    var times: [[Double]] = engines.map { _ in [] }
    for run in 0..<runs {
      progress.show("\(entry.name): run \(run + 1) of \(runs)")
      for offset in engines.indices {
        let index = (run + offset) % engines.count
        let trial = try take(engines[index], expecting: expected)
        guard let elapsed = trial.elapsed else {
          throw Failure("\(entry.name): \(engines[index].engine.rawValue) measured nothing")
        }
        times[index].append(elapsed / .nanoseconds(1))
      }
    }
    return times
  }

  private func take(
    _ contender: (engine: Engine, turn: Turn), expecting expected: Checksum,
    watchingMemory: Bool = false
  ) throws -> Trial {
    try fixture.removeFresh()
    var trial = Trial(on: fixture, watchingMemory: watchingMemory)
    guard try contender.turn(&trial) == expected else {
      throw Failure("\(entry.name): \(contender.engine.rawValue) and C differ in their results")
    }
    return trial
  }
}
