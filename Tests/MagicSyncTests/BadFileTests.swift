import Foundation
import MagicData
import MagicSync
import MagicTemplates
import TestSupport
import Testing

/// Each kind of bad file in a folder is reported by name and skipped, and nothing is half applied.
@Suite struct BadFileTests {
  let files: TestFolder
  var shared: String { "\(files.path)/shared" }

  init() throws { files = try TestFolder() }

  private func device(_ name: String, syncName: String = "store") async throws -> (MagicData, Sync)
  {
    let magic = try await MagicData(path: "\(files.path)/\(name)")
    let sync = try await Sync(
      magic, through: .folder(shared), name: syncName, objects: [Island.self, Person.self],
      deviceName: name)
    return (magic, sync)
  }

  private func names(_ prefix: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: shared).filter { $0.hasPrefix(prefix) }
      .sorted()
  }

  private func content(_ name: String) throws -> Data {
    try Data(contentsOf: URL(filePath: "\(shared)/\(name)"))
  }

  private func write(_ content: Data, _ name: String) throws {
    try content.write(to: URL(filePath: "\(shared)/\(name)"))
  }

  /// Two settled devices, and a new file with an island of the first one.
  private func pair() async throws -> (a: MagicData, first: Sync, b: MagicData, second: Sync) {
    let (a, first) = try await device("a")
    let (b, second) = try await device("b")
    try await settle([first, second])
    return (a, first, b, second)
  }

  private func newBatch(_ magic: MagicData, _ sync: Sync) async throws -> String {
    let before = try Set(names("c-"))
    try await magic.update(Island("Vis", 1))
    try await sync.once()
    return try #require(try Set(names("c-")).subtracting(before).first)
  }

  @Test(arguments: [0, 5, 12, 40])
  func `a truncated file waits until it is complete`(size: Int) async throws {
    let (a, first, b, second) = try await pair()
    let name = try await newBatch(a, first)
    let whole = try content(name)
    try write(whole.prefix(size), name)
    #expect(try await second.once().problems == [.damagedFile(name: name)])
    #expect(try await b.count(of: Island.self) == 0)
    try write(whole, name)
    #expect(try await second.once().problems == [])
    #expect(try await b.count(of: Island.self) == 1)
  }

  @Test func `each altered byte is noticed`() async throws {
    let (a, first, b, second) = try await pair()
    let name = try await newBatch(a, first)
    let whole = try content(name)
    for place in stride(from: 0, to: whole.count, by: 7) {
      var altered = whole
      altered[place] ^= 1
      try write(altered, name)
      let problems = try await second.once().problems
      #expect(problems.count == 1)
      #expect(try await b.count(of: Island.self) == 0)
    }
    try write(whole, name)
    #expect(try await second.once().problems == [])
    #expect(try await b.count(of: Island.self) == 1)
  }

  @Test func `foreign files are ignored, or reported if they have a name of the sync`() async throws
  {
    let (a, first, b, second) = try await pair()
    try write(Data("shopping list".utf8), "notes.txt")
    try write(Data("x".utf8), "c-1")
    let name = "c-\(String(repeating: "e", count: 32))-1"
    try write(Data("something else".utf8), name)
    _ = try await newBatch(a, first)
    #expect(try await second.once().problems == [.damagedFile(name: name)])
    #expect(try await b.count(of: Island.self) == 1)
    // A sync can begin in a folder with foreign files.
    #expect(try names("notes") == ["notes.txt"])
  }

  @Test func `a foreign file with a name of the sync doesn't keep a sync from beginning`()
    async throws
  {
    try FileManager.default.createDirectory(atPath: shared, withIntermediateDirectories: false)
    let name = "c-\(String(repeating: "e", count: 32))-1"
    try write(Data("something else".utf8), name)
    let (a, first) = try await device("a")
    #expect(try await first.once().problems.allSatisfy { $0 == .damagedFile(name: name) })
    let (b, second) = try await device("b")
    try await a.update(Island("Vis", 1))
    for _ in 0..<4 {
      try await first.once()
      try await second.once()
    }
    #expect(try await b.count(of: Island.self) == 1)
  }

  @Test func `a file of a newer version of the library waits`() async throws {
    let (a, first, b, second) = try await pair()
    let name = try await newBatch(a, first)
    let whole = try content(name)
    var newer = whole
    newer[9] = 2
    try write(newer, name)
    #expect(try await second.once().problems == [.newerFormat(name: name)])
    #expect(try await b.count(of: Island.self) == 0)
    try write(whole, name)
    try await second.once()
    #expect(try await b.count(of: Island.self) == 1)
  }

  @Test func `syncs with other names share a folder without exchanging anything`() async throws {
    let (a, first) = try await device("a", syncName: "islands")
    try await a.update(Island("Vis", 1))
    try await first.once()
    let (b, second) = try await device("b", syncName: "other")
    try await b.update(Island("Hvar", 1))
    let report = try await second.once()
    #expect(report.problems.allSatisfy { if case .otherSync = $0 { true } else { false } })
    #expect(!report.problems.isEmpty)
    try await first.once()
    #expect(try await a.fetch(Island.all).map(\.name) == ["Vis"])
    #expect(try await b.fetch(Island.all).map(\.name) == ["Hvar"])
  }

  @Test func `a file of another store is reported and skipped`() async throws {
    let (a, first, b, second) = try await pair()
    // Another sync with the same name, in another folder.
    let other = try BadFileTests()
    let (c, third) = try await other.device("c")
    try await c.update(Island("Foreign", 1))
    try await third.once()
    let batch = try await other.newBatch(c, third)
    try write(try other.content(batch), batch)
    _ = try await newBatch(a, first)
    let report = try await second.once()
    let first1 = SyncProblem.missingFile(name: "c-\(third.device)-1")
    #expect(
      report.problems.allSatisfy { $0 == .otherStore(name: batch) || $0 == first1 })
    #expect(!report.problems.isEmpty)
    #expect(try await b.fetch(Island.all).map(\.name) == ["Vis"])
  }

  @Test func `the name of an asset's file in another device's batch is no path`() async throws {
    let (a, first, b, second) = try await pair()
    for (name, count) in [("Vis", 50_000), ("Hvar", 60_000)] {
      let island = Island(name, 1)
      island.map = MagicAsset(value: Data(repeating: 1, count: count))
      try await a.update(island)
    }
    try await settle([first, second])
    let escaped = "escaped-\(UUID())"
    try await a.database.executeChange(
      """
      UPDATE magicdata_asset AS a SET file = \("../\(escaped)"), size = b.size, sha256 = b.sha256
      FROM magicdata_asset AS b WHERE a.size = 50000 AND b.size = 60000
      """)
    let before = try Set(names("c-"))
    try await first.once()
    let batch = try #require(try Set(names("c-")).subtracting(before).first)
    #expect(try await second.once().problems == [.damagedFile(name: batch)])
    #expect(
      !FileManager.default.fileExists(
        atPath: FileManager.default.temporaryDirectory.appending(path: escaped).path))
    #expect(try await b.fetch(Island.all).count == 2)
    #expect(try await b.assets.verify() == [])
  }

  @Test func `a clock that is ahead by years is reported, and the stores become equal`()
    async throws
  {
    let (a, first, b, second) = try await pair()
    let ahead = Int64((Date().timeIntervalSince1970 + 10 * 365 * 86_400) * 1_000) << 16
    try await a.database.executeChange(
      "UPDATE magicdata_sync SET value = \(ahead) WHERE key = 'clock'")
    try await a.update(Island("Vis", 1))
    try await first.once()
    let report = try await second.once()
    #expect(
      report.problems.contains { problem in
        guard case .wrongClock(let device, let time) = problem else { return false }
        return device == first.device && time > .seconds(9 * 365 * 86_400)
      })
    // An edit that was made with knowledge of the other one is later, whatever the clock.
    let island = try await b.object(of: Island.self, primary: "Vis")
    island.population = 2
    try await b.update(island)
    for _ in 0..<4 {
      try await second.once()
      try await first.once()
    }
    for magic in [a, b] {
      #expect(try await magic.object(of: Island.self, primary: "Vis").population == 2)
    }
    #expect(try await first.conflicts() == [])
  }
}
