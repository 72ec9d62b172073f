import Foundation

/// The program that runs the requested cases and reports the measurements.
@main enum Command {
  static func main() {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      switch options.task {
      case .measuring: try run(options)
      case .counting: try count(options)
      case .planting: try plant(options)
      case .memory: try withFixtures { try MemoryReport(fixtures: $0).run(rows: options.rows) }
      case .growth: try withFixtures { try GrowthReport($0).run(rows: options.rows) }
      case .importing:
        try withFixtures {
          try ImportReport($0, options.filter).run(packages: options.rows, runs: options.imports)
        }
      case .plans: try withFixtures { try PlanReport($0).run(rounds: options.isQuick ? 1 : 5) }
      case .listing: list()
      case .helping: print(Options.usage)
      }
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
    if let path = options.sourcePath {
      let data = try Data(contentsOf: URL(filePath: path))
      return try report(JSONDecoder().decode([Measurement].self, from: data), options)
    }
    let fixtures = try Fixtures()
    let outcome = Result { try measure(fixtures, options) }
    try fixtures.remove()
    try report(try outcome.get(), options)
  }

  /// Writes the requested files.
  private static func report(_ measurements: [Measurement], _ options: Options) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try write(try encoder.encode(measurements), to: options.jsonPath)
    try write(Data(Markdown(of: measurements).text.utf8), to: options.markdownPath)
    try write(Data(Chart(of: measurements).text.utf8), to: options.chartPath)
  }

  private static func write(_ data: Data, to path: String?) throws {
    if let path { try data.write(to: URL(filePath: path)) }
  }

  private static func count(_ options: Options) throws {
    try withFixtures {
      try Counting(fixtures: $0, filter: options.filter).run(rows: options.rows)
    }
  }

  /// Creates the data for `body` and removes it afterwards.
  private static func withFixtures(_ body: (Fixtures) throws -> Void) throws {
    let fixtures = try Fixtures()
    let outcome = Result { try body(fixtures) }
    try fixtures.remove()
    try outcome.get()
  }

  private static func plant(_ options: Options) throws {
    let fixtures = try Fixtures(), planted = try Fixtures(isPlanted: true)
    let planting = Planting(fixtures: fixtures, planted: planted, filter: options.filter)
    let outcome = Result { try planting.run(rows: options.rows) }
    try fixtures.remove()
    try planted.remove()
    try outcome.get()
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
      if let remark = entry.remark(on: measurements) { print(remark) }
    }
    print(table.footing(runs: options.runs))
    return measurements
  }
}
