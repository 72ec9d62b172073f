import Essentials
import Foundation
import MagicData
@testable import MagicSync
import MagicTemplates
import Synchronization
import TestSupport
import Testing

private struct Flag: MagicObject {
  @PrimaryMagicValue var name: String
  @MagicValue var cloth: MagicAsset<Data>
  init() {}
  init(_ name: String) {
    self.name = name
    cloth = MagicAsset(value: Data(repeating: 1, count: 100_000))
  }
}

private struct Mast: MagicObject {
  @PrimaryMagicValue var name: String
  @MagicValue var flag: Flag
  init() {}
  init(_ name: String, _ flag: Flag) {
    self.name = name
    self.flag = flag
  }
}

/// A new device begins with a snapshot, and files that no device needs are deleted.
@Suite struct SnapshotTests {
  let files: TestFolder
  let clock = TestClock()
  var shared: String { "\(files.path)/shared" }

  init() throws { files = try TestFolder() }

  /// A clock that a test sets.
  final class TestClock: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
    var now: Date { date.withLock { $0 } }
    func advance(days: Double) { date.withLock { $0 += days * 86_400 } }
  }

  private func device(
    _ name: String, batchesPerSnapshot: Int = 4, days: Int64 = 90
  ) async throws -> (MagicData, Sync) {
    let magic = try await MagicData(path: "\(files.path)/\(name)")
    return (magic, try await sync(magic, batchesPerSnapshot: batchesPerSnapshot, days: days))
  }

  private func sync(
    _ magic: MagicData, batchesPerSnapshot: Int = 4, days: Int64 = 90
  ) async throws -> Sync {
    var limits = SyncLimits()
    limits.batchesPerSnapshot = batchesPerSnapshot
    limits.days = days
    limits.partSize = 500
    let clock = clock
    limits.now = { clock.now }
    return try await Sync(
      magic, through: .folder(shared), objects: [Island.self, Person.self], limits: limits)
  }

  private func names(_ prefix: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: shared).filter { $0.hasPrefix(prefix) }
  }

  private func expectEqual(_ magics: [MagicData]) async throws {
    for magic in magics {
      let difference = try await magic.difference(from: magics[0])
      #expect(difference.isEmpty, "\(difference)")
      let faults = try await magic.database.read { connection in
        try connection.rows("PRAGMA foreign_key_check", as: String.self)
      }
      #expect(faults == [])
    }
  }

  private func logCount(_ magic: MagicData) async throws -> Int {
    try await magic.database.read { connection in
      try connection.firstRow("SELECT count(*) FROM magicdata_sync_log", as: Int.self) ?? 0
    }
  }

  private func island(_ name: String, people: Int = 3) -> Island {
    let island = Island(name, people)
    island.people = (0..<people).map { Person("\(name) \($0)") }
    island.ruler = island.people.last
    island.map = MagicAsset(value: Data(repeating: UInt8(people), count: 100_000))
    return island
  }

  @Test func `a store with content becomes the first device, and others get its content`()
    async throws
  {
    let magic = try await MagicData(path: "\(files.path)/a")
    for name in ["Vis", "Hvar", "Krk"] { try await magic.update(island(name, people: 20)) }
    let first = try await sync(magic)
    // A change before the first exchange is part of the content.
    try await magic.update(island("Rab"))
    let (b, second) = try await device("b")
    let reports = try await settle([first, second])
    #expect(reports.allSatisfy { $0.problems == [] })
    #expect(try await b.fetch(Island.all).count == 4)
    try await expectEqual([magic, b])
    let copy = try await b.object(of: Island.self, primary: "Vis")
    #expect(try await copy.map.get()?.count == 100_000)
    // Changes continue in both directions.
    copy.population = 7
    try await b.update(copy)
    try await settle([first, second])
    #expect(try await magic.object(of: Island.self, primary: "Vis").population == 7)
    try await expectEqual([magic, b])
  }

  @Test func `a store with content can't join other devices`() async throws {
    let (_, first) = try await device("a")
    try await first.once()
    let magic = try await MagicData(path: "\(files.path)/b")
    try await magic.update(island("Vis"))
    let second = try await sync(magic)
    await #expect(throws: SyncError.storeNotEmpty) { try await second.once() }
    #expect(try await magic.fetch(Island.all).count == 1)
  }

  @Test func `edits that a new device makes before it joins are kept`() async throws {
    let (a, first) = try await device("a")
    try await a.update(island("Vis"))
    try await first.once()
    let (b, second) = try await device("b")
    try await b.update(island("Hvar"))
    #expect(try await second.once().problems == [.notAdmitted])
    #expect(try await b.fetch(Island.all).count == 2)
    try await b.update(island("Krk"))
    try await a.update(island("Rab"))
    try await settle([first, second])
    #expect(try await a.fetch(Island.all).count == 4)
    try await expectEqual([a, b])
  }

  @Test func `the content of an asset that another program has deleted is written again`()
    async throws
  {
    let (a, first) = try await device("a")
    let (_, second) = try await device("b")
    try await a.update(island("Vis"))
    try await settle([first, second])
    // All devices have the batch, so no entry of a log names the asset any more.
    #expect(try await logCount(a) == 0)
    for name in try names("a-") { try FileManager.default.removeItem(atPath: "\(shared)/\(name)") }
    try await first.once()
    #expect(try names("a-").count == 1)
    let (c, third) = try await device("c")
    try await settle([first, second, third])
    try await expectEqual([a, c])
    #expect(try await c.object(of: Island.self, primary: "Vis").map.get()?.count == 100_000)
  }

  @Test func `a new device gets the content of a removed object that an earlier change requires`()
    async throws
  {
    var limits = SyncLimits()
    limits.batchesPerSnapshot = 1
    func device(_ name: String) async throws -> (MagicData, Sync) {
      let magic = try await MagicData(path: "\(files.path)/\(name)")
      return (
        magic,
        try await Sync(
          magic, through: .folder(shared), objects: [Flag.self, Mast.self], limits: limits)
      )
    }
    let (a, first) = try await device("a")
    let (b, second) = try await device("b")
    try await a.update(Flag("red"))
    try await settle([first, second])
    try await b.update(Mast("first", try await b.object(of: Flag.self, primary: "red")))
    // The clock, which counts milliseconds, advances.
    let start = Date()
    while Date().timeIntervalSince(start) < 0.002 {}
    try await a.remove(try await a.object(of: Flag.self, primary: "red"))
    try await first.once()
    // C gets a snapshot without the flag, and then B's earlier change, which keeps the flag.
    let (c, third) = try await device("c")
    try await settle([first, third])
    #expect(try await c.count(of: Flag.self) == 0)
    try await settle([second, first, third])
    for magic in [a, b, c] {
      let flag = try await magic.object(of: Flag.self, primary: "red")
      #expect(try await flag.cloth.get()?.count == 100_000)
      #expect(try await magic.assets.verify() == [])
    }
    try await expectEqual([a, b, c])
  }

  @Test func `two devices that begin at the same time become one sync`() async throws {
    let other = "\(files.path)/other"
    let (a, first) = try await device("a")
    try await a.update(island("Vis"))
    try await first.once()
    try FileManager.default.moveItem(atPath: shared, toPath: other)
    let (b, second) = try await device("b")
    try await b.update(island("Hvar"))
    try await second.once()
    for name in try FileManager.default.contentsOfDirectory(atPath: other)
    where !FileManager.default.fileExists(atPath: "\(shared)/\(name)") {
      try FileManager.default.moveItem(atPath: "\(other)/\(name)", toPath: "\(shared)/\(name)")
    }
    let reports = try await settle([first, second])
    #expect(reports.allSatisfy { $0.problems == [] })
    for magic in [a, b] { #expect(try await magic.fetch(Island.all).count == 2) }
    try await expectEqual([a, b])
  }

  @Test func `files and entries that all devices have are deleted`() async throws {
    let (a, first) = try await device("a")
    let (b, second) = try await device("b")
    try await settle([first, second])
    for number in 0..<40 {
      let (magic, sync) = number % 2 == 0 ? (a, first) : (b, second)
      let island = island("\(number % 8)", people: number % 4)
      try await magic.update(island)
      try await sync.once()
    }
    try await settle([first, second])
    try await expectEqual([a, b])
    #expect(try names("c-").count < 12)
    #expect(try names("s-").count <= 2)
    for magic in [a, b] { #expect(try await logCount(magic) < 12) }
    // Contents of assets that were replaced are deleted, too.
    #expect(try names("a-").count <= 4)
    let (c, third) = try await device("c")
    try await settle([first, second, third])
    try await expectEqual([a, b, c])
    let copy = try await c.object(of: Island.self, primary: "7")
    #expect(try await copy.map.get()?.count == 100_000)
  }

  @Test func `a lost file with changes is written again`() async throws {
    let (a, first) = try await device("a")
    let (b, second) = try await device("b")
    try await settle([first, second])
    try await a.update(island("Vis"))
    try await first.once()
    for name in try names("c-\(first.device)") + names("a-") {
      try FileManager.default.removeItem(atPath: "\(shared)/\(name)")
    }
    try await a.update(island("Hvar"))
    try await settle([first, second])
    try await expectEqual([a, b])
    #expect(try await b.fetch(Island.all).count == 2)
  }

  @Test func `a removed device begins again and keeps its changes`() async throws {
    let (a, first) = try await device("a")
    let (b, second) = try await device("b")
    let (c, third) = try await device("c")
    try await a.update(island("Vis"))
    try await settle([first, second, third])
    let former = third.device
    try await c.update(island("Krk"))
    let changed = try await c.object(of: Island.self, primary: "Vis")
    changed.population = 99
    try await c.update(changed)

    try await first.remove(device: former)
    try await settle([first, second])
    #expect(try await second.devices().contains { $0.id == former && $0.isRemoved })
    // Its files are no longer kept.
    for number in 0..<20 {
      try await a.update(island("\(number)", people: 1))
      try await first.once()
      try await second.once()
    }
    try await settle([first, second])
    #expect(try names("c-\(former)").isEmpty)

    let report = try await third.once()
    #expect(report.problems.contains(.startsFromSnapshot(device: former)))
    #expect(third.device != former)
    try await settle([first, second, third])
    try await expectEqual([a, b, c])
    #expect(try await a.object(of: Island.self, primary: "Vis").population == 99)
    #expect(try await a.fetch(Island.all).count == 22)
  }

  @Test func `a device that was silent for too long is removed, and begins again`() async throws {
    let (a, first) = try await device("a", days: 3)
    let (b, second) = try await device("b", days: 3)
    let (c, third) = try await device("c", days: 3)
    try await settle([first, second, third])
    try await c.update(island("Krk"))
    // A clock that is wrong by years counts as one day.
    clock.advance(days: 4_000)
    try await a.update(island("Vis"))
    try await settle([first, second])
    #expect(try await first.devices().allSatisfy { !$0.isRemoved })
    for number in 0..<4 {
      clock.advance(days: 1)
      try await a.update(island("\(number)"))
      try await b.update(island("b\(number)"))
      try await first.once()
      try await second.once()
    }
    #expect(try await first.devices().contains { $0.id == third.device && $0.isRemoved })
    try await settle([first, second])
    let report = try await third.once()
    #expect(report.problems.contains { if case .startsFromSnapshot = $0 { true } else { false } })
    try await settle([first, second, third])
    try await expectEqual([a, b, c])
    #expect(try await a.fetch(Island.all).count == 10)
  }

  @Test func `a store that was restored from a backup takes part again`() async throws {
    let (a, first) = try await device("a")
    var (b, second): (MagicData, Sync?) = try await device("b")
    try await b.update(island("Vis"))
    try await settle([first, second!])
    _ = try await b.backup(to: "\(files.path)/b2")
    try await b.update(island("Hvar"))
    try await settle([first, second!])
    second = nil
    b = try await MagicData(path: "\(files.path)/b2")
    let restored = try await sync(b)
    try await b.update(island("Krk"))
    let former = restored.device
    let report = try await restored.once()
    #expect(report.problems == [.startsFromSnapshot(device: former), .notAdmitted])
    try await settle([first, restored])
    try await expectEqual([a, b])
    let names = try await a.fetch(Island.all).map(\.name).sorted()
    #expect(names == ["Hvar", "Krk", "Vis"])
  }

  @Test func `a damaged part of a snapshot is reported, and the device waits`() async throws {
    let (a, first) = try await device("a")
    try await a.update(island("Vis"))
    try await first.once()
    let part = try #require(try names("p-").sorted().first)
    let content = try Data(contentsOf: URL(filePath: "\(shared)/\(part)"))
    try content.dropLast(7).write(to: URL(filePath: "\(shared)/\(part)"))
    let (b, second) = try await device("b")
    try await b.update(island("Hvar"))
    #expect(try await second.once().problems == [.damagedFile(name: part)])
    #expect(try await b.fetch(Island.all).map(\.name) == ["Hvar"])
    try content.write(to: URL(filePath: "\(shared)/\(part)"))
    try await settle([first, second])
    try await expectEqual([a, b])
  }

  @Test func `types that aren't synced stay local`() async throws {
    let (a, first) = try await device("a")
    let local = Note("private")
    local.drawing = MagicAsset(value: Data(repeating: 9, count: 100_000))
    try await a.update(local)
    try await a.update(island("Vis"))
    let (b, second) = try await device("b")
    try await b.update(Note("of b"))
    try await settle([first, second])
    #expect(try await b.fetch(Note.all).map(\.text) == ["of b"])
    #expect(try await a.fetch(Note.all).map(\.text) == ["private"])
    #expect(try await b.fetch(Island.all).count == 1)
    // The folder has one map, and not the drawing.
    #expect(try names("a-").count == 1)
    for name in try names() {
      let content = try Data(contentsOf: URL(filePath: "\(shared)/\(name)"))
      #expect(content.range(of: Data("private".utf8)) == nil)
    }
  }
}

private struct Note: MagicObject {
  @MagicValue var text: String
  @MagicValue var drawing: MagicAsset<Data> = MagicAsset()

  init() {}
  init(_ text: String) { self.text = text }
}
