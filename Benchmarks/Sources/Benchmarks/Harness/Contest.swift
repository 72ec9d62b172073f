/// The runs of one case. The engines take turns, and the time of a run counts only if its result is
/// correct.
struct Contest {
  private let entry: any Case
  private let fixture: Fixture
  private let runs: Int
  private let engines: [(engine: Engine, turn: Turn)]
  private let progress: Progress

  /// The time after which no further round starts, provided that there were at least `enoughRuns`
  /// rounds.
  private static let limit = Duration.seconds(5)
  private static let enoughRuns = 5

  init(of entry: any Case, on fixture: Fixture, runs: Int, filter: Filter, progress: Progress) {
    self.entry = entry
    self.fixture = fixture
    self.runs = min(runs, entry.maximumRuns)
    self.engines = filter.engines(of: entry)
    self.progress = progress
  }

  /// Times up to `runs` runs of each engine, after a warm-up run and a run that measures memory.
  /// Cases with long runs omit the warm-up run.
  ///
  /// - Throws: ``Failure`` if the result of any run differs from the first result of C.
  func run() throws -> [Measurement] {
    defer { progress.clear() }
    guard let baseline = engines.first else { return [] }
    progress.show("\(entry.name): checking")
    let warmsUp = entry.maximumRuns == .max
    let expected = try result(of: baseline, watching: warmsUp ? .time : .memory)
    if warmsUp {
      for contender in engines.dropFirst() {
        _ = try checkedTrial(contender, expecting: expected.checksum)
      }
    }
    let uses = try engines.enumerated().map { index, contender in
      index == 0 && !warmsUp
        ? expected.trial.memory
        : try checkedTrial(contender, expecting: expected.checksum, watching: .memory).memory
    }
    let times = try alternate(expecting: expected.checksum)
    let operations = entry.operations(on: fixture)
    return engines.indices.map { index in
      Measurement(
        case: entry.name, engine: engines[index].engine, operations: operations,
        times: times[index], baseline: times[0], memory: uses[index])
    }
  }

  /// Returns the times of each engine's runs in nanoseconds. Each round starts with a different
  /// engine.
  private func alternate(expecting expected: Checksum) throws -> [[Double]] {
    var times: [[Double]] = engines.map { _ in [] }
    let start = ContinuousClock.now
    for run in 0..<runs where run < Self.enoughRuns || ContinuousClock.now - start < Self.limit {
      for offset in engines.indices {
        let index = (run + offset) % engines.count
        progress.show(
          "\(entry.name): run \(run + 1) of \(runs), \(engines[index].engine.rawValue)")
        let trial = try checkedTrial(engines[index], expecting: expected)
        guard let elapsed = trial.elapsed else {
          throw Failure("\(entry.name): \(engines[index].engine.rawValue) measured nothing")
        }
        times[index].append(elapsed / .nanoseconds(1))
      }
    }
    return times
  }

  private func checkedTrial(
    _ contender: (engine: Engine, turn: Turn), expecting expected: Checksum,
    watching watch: Trial.Watch = .time
  ) throws -> Trial {
    let (checksum, trial) = try result(of: contender, watching: watch)
    guard checksum == expected else {
      throw Failure("\(entry.name): the result of \(contender.engine.rawValue) differs from C's")
    }
    return trial
  }

  private func result(
    of contender: (engine: Engine, turn: Turn), watching watch: Trial.Watch
  ) throws -> (checksum: Checksum, trial: Trial) {
    try fixture.removeFresh()
    var trial = Trial(on: fixture, watching: watch)
    return (try contender.turn(&trial), trial)
  }
}
