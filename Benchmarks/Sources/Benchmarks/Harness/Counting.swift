/// A mode that counts the allocations of each case and engine and, under callgrind, the
/// instructions. These numbers are exact, unlike times, so a check can compare them.
struct Counting {
  let fixtures: Fixtures
  let filter: Filter

  /// The single-threaded cases. The counts of the others differ from run to run.
  private static let cases: Set<String> = [
    "scan", "fetch", "point", "page", "call", "insert", "insert-tables", "insert-deltas", "update",
    "update-number", "update-searched", "upsert", "delete", "open", "json", "blob", "cache",
    "stream",
    "filter", "relations", "relation-read", "lazy",
    "reverse", "reverse-count", "save-graph", "values", "groups", "query", "undoable", "undo",
  ]

  /// Prints a line for each case and engine: the name, the number of operations and the number of
  /// allocations.
  ///
  /// - Throws: ``Failure`` if the result of an engine differs from C's.
  func run(rows: Int) throws {
    for entry in allCases where Self.cases.contains(entry.name) {
      let engines = filter.engines(of: entry).filter { !$0.engine.rawValue.hasPrefix("grdb") }
      guard let baseline = engines.first else { continue }
      let fixture = try fixtures.fixture(rows: entry.size(for: rows))
      let operations = entry.operations(on: fixture)
      let (expected, _) = try run(baseline.turn, on: fixture, watching: .time)
      for (engine, turn) in engines {
        let name = "\(entry.name)/\(engine.rawValue)"
        // Warm-up: the first run initializes types and reads pages.
        _ = try run(turn, on: fixture, watching: .time)
        let (checksum, _) = try run(turn, on: fixture, watching: .instructions(name: name))
        let (_, memory) = try run(turn, on: fixture, watching: .memory)
        guard checksum == expected else {
          throw Failure("the result of \(name) differs from C's")
        }
        let allocations = memory.memory?.allocations.map(String.init) ?? "-"
        print("\(name) \(operations) \(allocations)")
      }
    }
  }

  private func run(
    _ turn: Turn, on fixture: Fixture, watching watch: Trial.Watch
  ) throws -> (Checksum, Trial) {
    try fixture.removeFresh()
    var trial = Trial(on: fixture, watching: watch)
    return (try turn(&trial), trial)
  }
}
