import Foundation
import SQLiteAssets
import SQLiteCore
import Synchronization
import Testing
import TestSupport

@Suite struct AssetStoreUpkeepTests {
  let fixture: StoreFixture
  var store: AssetStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  @Test func `verify reports no faults in an intact store`() throws {
    for number in 0..<450 {
      try store.put("\(number)".utf8)
    }
    #expect(try store.verify() == [])
  }

  @Test func `verify finds each missing and each damaged file`() throws {
    let records = try (0..<450).map { try store.put("\($0)".utf8) }
    let (missing, damaged) = (records[100], records[300])
    let paths = (try store.path(of: missing.id), try store.path(of: damaged.id))
    try FileManager.default.removeItem(atPath: paths.0)
    try Data("XYZ".utf8).write(to: URL(filePath: paths.1))
    #expect(
      Set(try store.verify()) == [
        .missingFile(missing.id, path: paths.0), .damagedFile(damaged.id, path: paths.1),
      ])
  }

  @Test func `a sweep removes unreferenced files and reports them`() throws {
    let (kept, orphan) = (try store.put([1]), try store.put([1, 2, 3]))
    try fixture.database.executeMultipleChanges(
      """
      DROP TRIGGER magicdata_asset_deleted;
      DELETE FROM magicdata_asset WHERE size = 3;
      """)
    try fixture.temporary.write("x", to: "assets/files/mine.txt")
    let report = try store.sweep()
    #expect(report.removed == [orphan.name])
    #expect(report.removedSize == 3)
    #expect(report.kept == [])
    #expect(report.foreign == ["mine.txt"])
    #expect(fixture.files == [kept.name, "mine.txt"].sorted())
    #expect(try store.sweep().removed == [])
  }

  @Test func `an upkeep plan lists what opening and sweeping would do, and does nothing`() throws {
    let (moved, discarded, deleted, unnamed) = (
      try store.put([1]), try store.put([2]), try store.put([3]), try store.put([4])
    )
    // The open read prevents the removal of the deleted asset's file.
    try fixture.database.read { _ in
      try onAnotherThread { try store.delete(deleted.id) }
      try onAnotherThread {
        try fixture.database.executeChange("DROP TRIGGER magicdata_asset_deleted")
        try fixture.database.executeChange(
          "DELETE FROM magicdata_asset WHERE id IN \([discarded.id, unnamed.id])")
      }
    }
    try fixture.makePending(moved.name)
    try fixture.makePending(discarded.name)
    let files = (fixture.files, fixture.pending)
    let plan = try store.upkeepPlan()
    #expect(plan.moved == [moved.name])
    #expect(plan.discarded == [discarded.name])
    #expect(plan.unnamed == [unnamed.name])
    #expect(plan.foreign == [])
    #expect(!plan.isEmpty)
    #expect((fixture.files, fixture.pending) == files)
    let report = try fixture.another().sweep()
    #expect(report.removed == [unnamed.name])
    #expect(try store.upkeepPlan().isEmpty)
  }

  @Test func `verify and backup report progress and end when the progress closure throws`() throws {
    for number in 0..<5 { try store.put(Array(repeating: 1, count: number)) }
    var reported: [AssetProgress] = []
    #expect(try store.verify { reported.append($0) } == [])
    #expect(reported.map(\.assets) == [0, 1, 2, 3, 4, 5])
    #expect(reported.last?.bytes == 10)
    #expect(Set(reported.map(\.totalAssets)) == [5])
    #expect(Set(reported.map(\.totalBytes)) == [10])
    struct Enough: Error {}
    #expect(throws: Enough.self) {
      try store.verify { if $0.assets == 2 { throw Enough() } }
    }
    reported = []
    let path = "\(fixture.temporary.path)/copy"
    #expect(try store.backup(to: path) { reported.append($0) }.faults == [])
    #expect(reported.map(\.assets) == [0, 1, 2, 3, 4, 5])
    #expect(throws: Enough.self) {
      try store.backup(to: path + "2") { if $0.assets == 2 { throw Enough() } }
    }
    #expect(!FileManager.default.fileExists(atPath: path + "2/default.sqlite3"))
  }

  @Test func `cancelling the task ends verify`() async throws {
    for number in 0..<5 { try await store.put([UInt8(number)]) }
    let store = store
    let (tasks, continuation) = AsyncStream<Task<Int, any Error>>.makeStream()
    let last = Mutex(0)
    let task = Task {
      try await store.verify { progress in
        last.withLock { $0 = progress.assets }
        // This runs on the store's own thread, so it may block.
        if progress.assets == 2 {
          let isCancelled = DispatchSemaphore(value: 0)
          Task {
            for await task in tasks { task.cancel() }
            isCancelled.signal()
          }
          isCancelled.wait()
        }
      }.count
    }
    continuation.yield(task)
    continuation.finish()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(last.withLock { $0 } == 2)
  }

  @Test func `a sweep keeps files that a reader may still need`() throws {
    let record = try store.put([1])
    try fixture.database.executeChange("DROP TRIGGER magicdata_asset_deleted")
    try fixture.database.read { connection in
      #expect(try store.records(in: connection) == [record])
      try onAnotherThread {
        try store.database.executeChange("DELETE FROM magicdata_asset")
        #expect(try store.sweep().kept == [record.name])
      }
      #expect(try store.bytes(of: record.id, in: connection) == [1])
    }
    #expect(try store.sweep().removed == [record.name])
    #expect(fixture.files == [])
  }

  @Test func `a sweep keeps the files of an open transaction`() throws {
    let other = try fixture.another()
    try fixture.database.write { connection in
      let record = try store.put([1], in: connection)
      try onAnotherThread { _ = try? other.sweep() }
      #expect(fixture.pending == [record.name])
    }
    #expect(try store.verify() == [])
  }
}
