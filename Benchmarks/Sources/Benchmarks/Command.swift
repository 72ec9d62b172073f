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
    let fixture = try Fixture(rows: options.rows)
    let outcome = Result { try measure(on: fixture, options) }
    try fixture.remove()
    let measurements = try outcome.get()
    if let path = options.jsonPath {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try encoder.encode(measurements).write(to: URL(filePath: path))
    }
  }

  private static func measure(on fixture: Fixture, _ options: Options) throws -> [Measurement] {
    print(try Machine().header)
    let table = Table()
    print(table.heading)
    var measurements: [Measurement] = []
    for entry in allCases {
      let contest = Contest(
        of: entry, on: fixture, runs: options.runs, filter: options.filter, progress: Progress())
      for measurement in try contest.run() {
        print(table.line(for: measurement))
        measurements.append(measurement)
      }
    }
    print(table.footing(runs: options.runs))
    return measurements
  }
}
