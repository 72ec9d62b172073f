/// Proves that results are compared: each engine is given data with one wrong value, in turn, and
/// must be found out.
struct Planting {
  let fixtures: Fixtures
  let planted: Fixtures
  let filter: Filter

  /// Prints what was found.
  ///
  /// - Throws: ``Failure`` if a wrong value stays unseen, or a right one does not.
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
          throw Failure("\(entry.name): \(engine.rawValue) and C differ in their results")
        }
        guard try result(of: turn, on: wrong) != expected else {
          throw Failure("\(entry.name): a wrong value given to \(engine.rawValue) was not found")
        }
        count += 1
      }
    }
    print("\(count) wrong values planted, \(count) found")
  }

  private func result(of turn: Turn, on fixture: Fixture) throws -> Checksum {
    try fixture.removeFresh()
    var trial = Trial(on: fixture)
    return try turn(&trial)
  }
}
