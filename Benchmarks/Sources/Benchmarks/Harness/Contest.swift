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

  /// Runs every engine `runs` times, after one run that only warms up and checks.
  ///
  /// - Throws: ``Failure`` if an engine's result differs from C's.
  func run() throws -> [Measurement] {
    defer { progress.clear() }
    guard let baseline = engines.first else { return [] }
    progress.show("\(entry.name): checking")
    let expected = try take(baseline.turn).checksum
    for contender in engines.dropFirst() {
      _ = try time(contender, expecting: expected)
    }
    var times: [[Double]] = engines.map { _ in [] }
    for run in 0..<runs {
      progress.show("\(entry.name): run \(run + 1) of \(runs)")
      for offset in engines.indices {
        let index = (run + offset) % engines.count
        times[index].append(try time(engines[index], expecting: expected))
      }
    }
    let operations = entry.operations(on: fixture)
    return zip(engines, times).map { contender, own in
      Measurement(
        case: entry.name, engine: contender.engine, operations: operations, times: own,
        baseline: times[0])
    }
  }

  private func time(
    _ contender: (engine: Engine, turn: Turn), expecting expected: Checksum
  ) throws -> Double {
    let (checksum, elapsed) = try take(contender.turn)
    guard checksum == expected else {
      throw Failure("\(entry.name): \(contender.engine.rawValue) and C differ in their results")
    }
    guard let elapsed else {
      throw Failure("\(entry.name): \(contender.engine.rawValue) measured nothing")
    }
    return elapsed / .nanoseconds(1)
  }

  private func take(_ turn: Turn) throws -> (checksum: Checksum, elapsed: Duration?) {
    try fixture.removeFresh()
    var trial = Trial(on: fixture)
    let checksum = try turn(&trial)
    return (checksum, trial.elapsed)
  }
}
