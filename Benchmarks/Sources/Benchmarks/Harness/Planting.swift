/// A test that wrong results are detected. It runs each engine on data with one wrong value, and
/// requires that the checksum differs.
struct Planting {
  let fixtures: Fixtures
  let planted: Fixtures
  let filter: Filter

  /// Prints the number of wrong values that were detected.
  ///
  /// - Throws: ``Failure`` if an engine's checksum doesn't change with the wrong value, or differs
  ///   from C's with correct data.
  func run(rows: Int) throws {
    var count = 0
    for entry in allCases {
      let engines = filter.engines(of: entry)
      guard let baseline = engines.first else { continue }
      let right = try fixtures.fixture(rows: entry.size(for: rows))
      let wrong = try planted.fixture(rows: entry.size(for: rows))
      let expected = try result(of: baseline.turn, on: right)
      for (engine, turn) in engines {
        guard try result(of: turn, on: right) == expected else {
          throw Failure("\(entry.name): the result of \(engine.rawValue) differs from C's")
        }
        guard try result(of: turn, on: wrong) != expected else {
          throw Failure("\(entry.name): a wrong value was not detected in \(engine.rawValue)")
        }
        count += 1
      }
    }
    print("\(count) wrong values, all of them detected")
  }

  private func result(of turn: Turn, on fixture: Fixture) throws -> Checksum {
    try fixture.removeFresh()
    var trial = Trial(on: fixture)
    return try turn(&trial)
  }
}
