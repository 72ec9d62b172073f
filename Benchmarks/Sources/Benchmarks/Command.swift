import Foundation

/// Runs the cases that were asked for and reports them.
@main enum Command {
  static func main() {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      options.isListing ? list() : try run(options)
    } catch {
      FileHandle.standardError.write(Data("Benchmarks: \(error)\n".utf8))
      exit((error as? Failure)?.exitCode ?? 1)
    }
  }

  private static func list() {
    for entry in allCases {
      print("\(entry.name): \(entry.summary)")
      print("  \(entry.engines.map(\.key.rawValue).joined(separator: ", "))")
    }
  }

  private static func run(_ options: Options) throws {
    let fixtures = try Fixtures()
    let outcome = Result { try options.isPlanting ? plant(options) : measure(fixtures, options) }
    try fixtures.remove()
    let measurements = try outcome.get()
    if let path = options.jsonPath {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try encoder.encode(measurements).write(to: URL(filePath: path))
    }
    if let path = options.chartPath {
      try Data(Chart(of: measurements).text.utf8).write(to: URL(filePath: path))
    }
  }

  private static func plant(_ options: Options) throws -> [Measurement] {
    let fixtures = try Fixtures(), planted = try Fixtures(isPlanted: true)
    let planting = Planting(fixtures: fixtures, planted: planted, filter: options.filter)
    let outcome = Result { try planting.run(rows: options.rows) }
    try fixtures.remove()
    try planted.remove()
    try outcome.get()
    return []
  }

  private static func measure(_ fixtures: Fixtures, _ options: Options) throws -> [Measurement] {
    print(try Machine().header)
    let table = Table()
    print(table.heading)
    var measurements: [Measurement] = []
    for entry in allCases where !options.filter.engines(of: entry).isEmpty {
      let contest = Contest(
        of: entry, on: try fixtures.fixture(rows: entry.size(for: options.rows)),
        runs: options.runs, filter: options.filter, progress: Progress())
      for measurement in try contest.run() {
        print(table.line(for: measurement))
        measurements.append(measurement)
      }
    }
    print(table.footing(runs: options.runs))
    return measurements
  }
}
