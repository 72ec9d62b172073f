import MagicCluster
import MagicData
import Platform
package import Terminal

/// A sample program that saves the world's time zones in a store and queries them (`swift run
/// Tour`).
@main package struct Tour {
  static func main() async {
    exit(
      await run(CommandLine.arguments.dropFirst(), output: .standard, errors: .standardError))
  }

  /// Runs the tour and returns the exit status: 0 on success, 1 after a failure, 2 for an invalid
  /// command line.
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
      return printError("\(error) (see --help)", on: errors, status: 2)
    } catch {
      return printError("\(error)", on: errors, status: 1)
    }
  }

  private static func show(_ arguments: Arguments, on output: Output) async throws {
    var steps = Steps(to: output)
    let database = try await steps.run("read the tables of tzdata") {
      try ZoneDatabase(folder: arguments.zoneinfo)
    } detail: {
      "\($0.countries.count) countries, \($0.zones.count) zones, \($0.pairCount) pairs"
    }
    let latitudes: [Double]
    if !arguments.cluster.isEmpty {
      latitudes = try await tour(database, &steps) {
        try await MagicData(cluster: arguments.cluster, name: "tour")
      }
    } else if let path = arguments.store {
      latitudes = try await tour(database, &steps) { try MagicData(path: path) }
    } else {
      let folder = try TemporaryFolder()
      latitudes = try await tour(database, &steps) { try MagicData(path: folder.path) }
    }
    try output.write(steps.report.text)
    let chart = LatitudeChart(latitudes)
    try output.write(
      "\n" + (output.isTerminal ? chart.bars(columns: output.columns ?? 80) : chart.text))
  }

  private static func tour(
    _ database: ZoneDatabase, _ steps: inout Steps, open: () async throws -> MagicData
  ) async throws -> [Double] {
    var tour = try await steps.run("open a store") {
      StoreTour(try await open())
    } detail: { _ in
      "SQLite \(Database.sqliteVersion)"
    }
    _ = try await steps.run("update: save everything, including the zone files") {
      try await tour.save(database)
    } count: {
      $0.countries.count + $0.zones.count
    } detail: {
      "\($0.countries.count) countries, \($0.zones.count) zones, \($0.zones.count) files"
    }
    try await showLowLevel(tour, &steps)
    if let example = Example(database) { try await showObjects(tour, example, &steps) }
    try await tour.magic.database.close()
    tour = try await steps.run("open the store again") {
      StoreTour(try await open())
    }
    _ = try await steps.run("object(of:): fetch all zones with their countries") {
      try await tour.magic.object(of: Zone.self)
    } count: {
      $0.count
    } detail: { zones in
      "\(zones.reduce(0) { $0 + $1.countries.count }) pairs"
    }
    _ = try await steps.run("verify every file against its digest") {
      try await tour.magic.assets.verify()
    } detail: {
      $0.isEmpty ? "all intact" : "\($0.count) are damaged"
    }
    return try await steps.run("values(\\.$latitude): fetch values without objects") {
      try await tour.latitudes()
    } count: {
      $0.count
    }
  }

  private static func showLowLevel(_ tour: StoreTour, _ steps: inout Steps) async throws {
    _ = try await steps.run("SQL: zones in the south, counted in three ways") {
      try tour.count(southOf: 0)
    } count: {
      $0[0]
    } detail: {
      Set($0).count == 1 ? "executeChange, executeQuery and rows(_:as:) agree" : "\($0)"
    }
    _ = try await steps.run("SQL: delete all zones and roll back") {
      try tour.deleteAndRollBack()
    } count: {
      $0.after
    } detail: {
      "\($0.between) in the transaction, \($0.after) after it"
    }
  }

  private static func showObjects(
    _ tour: StoreTour, _ example: Example, _ steps: inout Steps
  ) async throws {
    _ = try await steps.run("update a zone and fetch it with object(of:primary:)") {
      try await tour.comment(on: example.zone)
    } detail: {
      $0 ?? "no comment"
    }
    _ = try await steps.run("where: \\.$latitude > 60") {
      try await tour.zones(northOf: 60)
    } count: {
      $0.count
    } detail: { zones in
      Tour.first(of: zones)
    }
    _ = try await steps.run("the countries of \(example.zone)") {
      try await tour.countries(of: example.zone)
    } count: {
      $0.count
    } detail: {
      $0.map(\.name).joined(separator: ", ")
    }
    _ = try await steps.run("the zones of \(example.country), by the reverse relation") {
      try await tour.zones(of: example.country)
    } count: {
      $0.count
    } detail: { zones in
      Tour.first(of: zones)
    }
    _ = try await steps.run("the file of \(example.zone), loaded on demand") {
      try await tour.file(of: example.zone)
    } detail: {
      "\($0?.count ?? 0) bytes"
    }
  }

  private static func first(of zones: [Zone]) -> String {
    zones.prefix(3).map(\.name).joined(separator: ", ") + (zones.count > 3 ? ", …" : "")
  }

  private static func printError(_ message: String, on errors: Output, status: Int32) -> Int32 {
    // If this write fails too, the exit status is the only report.
    try? errors.write("Tour: \(message)".visible + "\n")
    return status
  }
}

/// The zone and the country that the tour shows in detail.
struct Example {
  let zone: String
  let country: String

  /// Selects the zone Europe/Zurich and the country Canada. If the database lacks that zone,
  /// selects the first zone. If no zone belongs to Canada, selects the first country of the
  /// selected zone. Returns nil if there is no zone or no country to select.
  init?(_ database: ZoneDatabase) {
    let zones = database.zones
    guard let zone = zones.first(where: { $0.name == "Europe/Zurich" }) ?? zones.first,
      let country = zones.contains(where: { $0.countries.contains("CA") })
        ? "CA" : zone.countries.first
    else { return nil }
    self.zone = zone.name
    self.country = country
  }
}
