import Foundation
import MagicData
@testable import MagicSync
import TestSupport
import Testing

/// Errors of the folder don't end a sync.
@Suite struct FolderErrorTests {
  let files: TestFolder
  init() throws { files = try TestFolder() }

  private func device(
    _ name: String, _ folder: some SyncFolder
  ) async throws -> (MagicData, Sync) {
    let magic = try await MagicData(path: "\(files.path)/\(name)")
    return (magic, try await Sync(magic, through: folder, objects: [Island.self, Person.self]))
  }

  @Test func `a folder that can't be written is reported, and files are still received`()
    async throws
  {
    let folder = FaultyFolder()
    let (a, syncA) = try await device("a", folder)
    let (b, syncB) = try await device("b", folder)
    try await a.update(Island("Vis", 1))
    try await settle([syncA, syncB])
    try await a.update(Island("Hvar", 2))
    try await syncA.once()
    try await b.update(Island("Krk", 3))
    folder.failing = [.create, .remove]
    let report = try await syncB.once()
    #expect(report.sentCount == 0 && report.receivedCount == 1)
    #expect(report.problems == [.folder(description: "Failure()")])
    #expect(syncB.status == .waiting(.folder(description: "Failure()")))
    #expect(syncB.lastReport == report)
    #expect(try await b.count(of: Island.self) == 2 + 1)

    folder.failing = []
    #expect(try await syncB.once().problems == [])
    #expect(syncB.status == .idle)
    try await settle([syncA, syncB])
    #expect(try await a.count(of: Island.self) == 3)
  }

  @Test func `a folder that can't be read is reported, and nothing is lost`() async throws {
    let folder = FaultyFolder()
    let (a, syncA) = try await device("a", folder)
    let (b, syncB) = try await device("b", folder)
    try await a.update(Island("Vis", 1))
    try await settle([syncA, syncB])
    try await a.update(Island("Hvar", 2))
    folder.failing = [.list, .read]
    let report = try await syncA.once()
    #expect(report.receivedCount == 0)
    #expect(report.problems == [.folder(description: "Failure()")])
    folder.failing = []
    try await settle([syncA, syncB])
    #expect(try await b.count(of: Island.self) == 2)
  }

  @Test func `one unreadable file stops only the device that wrote it`() async throws {
    let folder = FaultyFolder()
    let (a, syncA) = try await device("a", folder)
    let (b, syncB) = try await device("b", folder)
    let (c, syncC) = try await device("c", folder)
    try await a.update(Island("Vis", 1))
    try await settle([syncA, syncB, syncC])
    let before = Set(folder.files.keys)
    try await b.update(Island("Hvar", 2))
    try await syncB.once()
    folder.unreadable = Set(folder.files.keys).subtracting(before)
    try await a.update(Island("Krk", 3))
    try await syncA.once()
    let report = try await syncC.once()
    #expect(report.problems == [.folder(description: "Failure()")])
    #expect(try await c.has(of: Island.self, primary: "Krk"))
    #expect(try await !c.has(of: Island.self, primary: "Hvar"))
    folder.unreadable = []
    try await settle([syncA, syncB, syncC])
    #expect(try await c.count(of: Island.self) == 3)
  }

  @Test func `run repeats after errors of the folder, and goes on when they are over`()
    async throws
  {
    let folder = FaultyFolder()
    let (a, syncA) = try await device("a", folder)
    folder.failing = [.list, .read, .create]
    let statuses = syncA.statuses()
    let running = Task { try await syncA.run(every: .milliseconds(1)) }
    for await status in statuses {
      if case .waiting = status { break }
    }
    try await a.update(Island("Vis", 1))
    let count = folder.count(.list)
    while folder.count(.list) < count + 3 { await Task.yield() }
    folder.failing = []
    for await status in syncA.statuses() where status == .idle { break }
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
    #expect(!folder.files.isEmpty)
  }

  @Test func `an interval without sense doesn't stop run`() async throws {
    for interval in [Duration.zero, .seconds(-1), .seconds(Int64.max)] {
      let (_, sync) = try await device("\(interval)", FaultyFolder())
      let (reports, continuation) = AsyncStream.makeStream(of: SyncReport.self)
      let running = Task { try await sync.run(every: interval) { continuation.yield($0) } }
      for await _ in reports { break }
      running.cancel()
      await #expect(throws: CancellationError.self) { try await running.value }
    }
  }

  @Test func `run reports each pass`() async throws {
    let (_, sync) = try await device("a", FaultyFolder())
    let (reports, continuation) = AsyncStream.makeStream(of: SyncReport.self)
    let running = Task { try await sync.run(every: .milliseconds(1)) { continuation.yield($0) } }
    var count = 0
    for await report in reports {
      #expect(report.problems == [])
      count += 1
      if count == 3 { break }
    }
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
  }

  @Test func `cancellation ends run while it waits`() async throws {
    let (_, sync) = try await device("a", FaultyFolder())
    let (passes, continuation) = AsyncStream.makeStream(of: Void.self)
    let running = Task { try await sync.run(every: .seconds(3_600)) { _ in continuation.yield() } }
    for await _ in passes { break }
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
  }

  @Test func `cancellation ends run while the folder doesn't answer`() async throws {
    let folder = FaultyFolder()
    let (a, sync) = try await device("a", folder)
    try await a.update(Island("Vis", 1))
    folder.isStuck = true
    let first = Task { try await sync.once() }
    // The second task waits for the first one.
    let second = Task { try await sync.run() }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    folder.isStuck = false
    #expect(try await sync.once().problems == [])
  }
  @Test func `the time between attempts doubles up to a minute`() {
    var pace = SyncPace(.seconds(5))
    #expect(pace.pause(hasFailed: false) == SyncPace.Pause(least: .seconds(1), most: .seconds(5)))
    let delays = (0..<6).map { _ in pace.pause(hasFailed: true).most }
    #expect(delays == [10, 20, 40, 60, 60, 60].map(Duration.seconds))
    pace.restart()
    #expect(pace.pause(hasFailed: true) == SyncPace.Pause(least: .seconds(5), most: .seconds(10)))
    #expect(pace.pause(hasFailed: false).most == .seconds(5))
    for interval in [Duration.zero, .seconds(-1), .seconds(Int64.max), .seconds(Int64.min)] {
      pace = SyncPace(interval)
      #expect(pace.pause(hasFailed: false).most >= .milliseconds(1))
      #expect(pace.pause(hasFailed: true).most <= .seconds(365 * 86_400))
    }
    // A longer interval isn't shortened.
    pace = SyncPace(.seconds(3_600))
    #expect(pace.pause(hasFailed: true).most == .seconds(3_600))
  }
}
