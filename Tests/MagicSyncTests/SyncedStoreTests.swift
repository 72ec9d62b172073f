import Foundation
import MagicData
import MagicSync
import MagicTemplates
import TestSupport
import Testing

// The object of README's first program.
struct City: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var population: Int
  @OptionalMagicValue var founded: Date?
  @MagicValue var twins: [City]
  @ReverseMagicValue(\City.$twins) var twinnedBy: AsyncReverseMagicSet<City>
  @MagicValue var map: AsyncMagical<MagicAsset<String>>

  init() {}
  init(_ name: String, population: Int) {
    self.name = name
    self.population = population
    twins = []
    map = AsyncMagical(value: MagicAsset())
  }
}

/// A program that was written for a local store runs on a synced one.
@Suite(.timeLimit(.minutes(40))) struct SyncedStoreTests {
  let files: TestFolder
  var shared: DirectorySyncFolder { .folder("\(files.path)/shared") }

  init() throws { files = try TestFolder() }

  /// The README's first program. Only the line that opens the store is outside.
  private func program(_ magic: MagicData) async throws -> String {
    var output: [String] = []
    let toronto = City("Toronto", population: 2_794_356)
    let milan = City("Milan", population: 1_354_196)
    toronto.twins = [milan]
    try await magic.update(toronto)

    let fetched = try await magic.object(of: City.self, primary: toronto.id)
    fetched.founded = Date(timeIntervalSince1970: -4_291_574_400)
    try await magic.update(fetched)

    let large = try await magic.objects(
      of: City.self, where: \.$population > 2_000_000 && \.$founded != nil,
      orderedBy: [.descending(\.$population)], limit: 10)
    let admirers = try await milan.twinnedBy.get()
    output.append("\(large.map(\.name)) \(admirers.map(\.name))")

    toronto.map = AsyncMagical(value: MagicAsset(value: "<svg/>", pathExtension: "svg"))
    try await magic.update(toronto)
    output.append(try await toronto.map.get().get() ?? "no map")

    let name = "Robert'); DROP TABLE City;--"
    try await magic.database.executeChange(
      "UPDATE City SET name = \(name) WHERE population < \(1_400_000)")
    for (name, population) in try await magic.database.rows(
      "SELECT name, population FROM City ORDER BY name", as: String.self, Int.self)
    {
      output.append("\(name) \(population)")
    }
    return output.joined(separator: "\n")
  }

  /// Opens a synced store with short pauses.
  private func open(_ name: String, _ folder: some SyncFolder) async throws -> MagicData {
    try await MagicData(
      path: "\(files.path)/\(name)", syncedThrough: folder, every: .milliseconds(100))
  }

  /// Waits until the store has a number of cities.
  private func wait(for count: Int, in magic: MagicData) async throws {
    for try await found in magic.observe(City.all.count) where found == count { return }
  }

  private func exchange(_ stores: MagicData...) async throws {
    for _ in 0..<4 { for magic in stores { try await magic.sync?.once() } }
  }

  @Test func `the README's program runs on two devices without a change`() async throws {
    let local = try await MagicData(path: "\(files.path)/local")
    let expected = try await program(local)
    let a = try await open("a", shared)
    #expect(try await program(a) == expected)
    let b = try await open("b", shared)
    try await wait(for: 2, in: b)
    try await exchange(a, b)
    let difference = try await b.difference(from: a)
    #expect(difference.isEmpty, "\(difference)")

    // Both devices have own cities, with other keys.
    _ = try await program(b)
    try await wait(for: 4, in: a)
    try await exchange(a, b)
    let ids = try await a.objects(of: City.self).map(\.id)
    #expect(Set(ids).count == 4)
    let maps = try await a.objects(of: City.self, where: \.$population > 2_000_000)
    for city in maps { #expect(try await city.map.get().get() == "<svg/>") }
    #expect(a.sync?.lastReport?.conflictCount == 0)
    try await a.close()
    try await b.close()
  }

  @Test func `a closed store can be opened again at once, and goes on`() async throws {
    let folder = FaultyFolder()
    var a = try await open("a", folder)
    let b = try await open("b", folder)
    for round in 1...3 {
      try await a.update(City("a \(round)", population: round))
      try await wait(for: round, in: b)
      try await a.close()
      await #expect(throws: (any Error).self) { try await a.sync?.once() }
      a = try await open("a", folder)
    }
    #expect(try await a.count(of: City.self) == 3)
  }

  @Test func `the background doesn't keep a released store open`() async throws {
    let folder = FaultyFolder()
    weak var database: Database?
    weak var sync: Sync?
    do {
      let magic = try await open("a", folder)
      try await magic.update(City("a", population: 1))
      (database, sync) = (magic.database, magic.sync)
      #expect(sync != nil)
      while folder.files.isEmpty { await Task.yield() }
    }
    while database != nil || sync != nil { await Task.yield() }
    let count = folder.count(.list)
    let magic = try await MagicData(path: "\(files.path)/a")
    #expect(try await magic.count(of: City.self) == 1)
    #expect(magic.sync == nil)
    #expect(folder.count(.list) == count)
  }

  @Test func `a released store ends an exchange with a folder that doesn't answer`() async throws {
    let folder = FaultyFolder()
    weak var sync: Sync?
    do {
      let magic = try await open("a", folder)
      folder.isStuck = true
      sync = magic.sync
    }
    while sync != nil { await Task.yield() }
  }

  @Test func `a store works while its folder is missing, and catches up`() async throws {
    let folder = FaultyFolder()
    let a = try await open("a", folder)
    folder.failing = [.list, .read, .create, .remove]
    let sync = try #require(a.sync)
    try await a.update(City("a", population: 1))
    for await status in sync.statuses() {
      if case .waiting(.folder) = status { break }
    }
    folder.failing = []
    let b = try await open("b", folder)
    try await wait(for: 1, in: b)
  }

  @Test func `an error of the store is a status, and the exchange is repeated`() async throws {
    let folder = FaultyFolder()
    let magic = try await open("a", folder)
    let sync = try #require(magic.sync)
    try await magic.database.executeChange(
      "ALTER TABLE magicdata_sync_conflict RENAME TO elsewhere")
    for await status in sync.statuses() {
      if case .failed = status { break }
    }
    try await magic.database.executeChange(
      "ALTER TABLE elsewhere RENAME TO magicdata_sync_conflict")
    for await status in sync.statuses() where status == .idle { break }
  }
}
