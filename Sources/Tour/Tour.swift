#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The program that `swift run Tour` runs.
@main package struct Tour {
  static func main() async {
    exit(
      await run(CommandLine.arguments.dropFirst(), output: .standard, errors: .standardError))
  }

  /// Runs the tour and returns the exit status: 0, 1 after a failure, 2 for a wrong command line.
  package static func run(
    _ words: some Sequence<String>, output: Output, errors: Output
  ) async -> Int32 {
    do {
      let arguments = try Arguments(words)
      if arguments.wantsHelp {
        try output.write(Arguments.help)
      } else {
        try await show(arguments, on: output)
      }
      return 0
    } catch let error as UsageError {
      return complain("\(error) (see --help)", on: errors, status: 2)
    } catch {
      return complain("\(error)", on: errors, status: 1)
    }
  }

  private static func show(_ arguments: Arguments, on output: Output) async throws {
    var steps = Steps(to: output)
    let database = try await steps.run("read countries and zones") {
      try ZoneDatabase(folder: arguments.zoneinfo)
    } count: {
      $0.countries.count + $0.zones.count
    } detail: {
      "\($0.countries.count) countries, \($0.zones.count) zones, \($0.pairCount) pairs"
    }
    _ = try await steps.run("read zone files") {
      try database.zones.map { zone in try database.file(of: zone) }
    } count: {
      $0.count
    } detail: { files in
      "\(files.reduce(0) { $0 + $1.count }) bytes"
    }
    try output.write(steps.report.text)
  }

  private static func complain(_ message: String, on errors: Output, status: Int32) -> Int32 {
    // When even this cannot be written, the exit status is all that is left to say.
    try? errors.write("Tour: \(message)".visible + "\n")
    return status
  }
}
