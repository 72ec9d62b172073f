import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

/// Tests obstacles that other programs put in a store's folder. They may affect one asset, but
/// never the others.
@Suite struct AssetStoreObstacleTests {
  let fixture: StoreFixture
  var store: AssetStore { fixture.store }
  var path: String { fixture.temporary.path }

  init() throws { fixture = try StoreFixture() }

  private func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(
      atPath: "\(path)/\(name)", withIntermediateDirectories: true)
  }

  @Test func `a folder in place of a deleted file doesn't block other removals`() throws {
    let records = [try store.put([1]), try store.put([2]), try store.put([3])]
    let obstacle = records.map(\.name).sorted()[0]
    try FileManager.default.removeItem(atPath: "\(store.path)/files/\(obstacle)")
    try makeFolder("assets/files/\(obstacle)/inside")
    try fixture.plain().executeChange("DELETE FROM magicdata_asset")
    try store.removeDeletedFiles()
    #expect(fixture.files == [])
    #expect(try fixture.marks() == 0)
    #expect(FileManager.default.fileExists(atPath: "\(store.path)/files/\(obstacle)/inside"))
  }

  @Test func `a sweep keeps entries that aren't regular files and reports them`() throws {
    let names = ["a", "b", "c"].map { String(repeating: $0, count: 32) }
    try makeFolder("assets/files/\(names[0])/inside")
    try fixture.temporary.makeFIFO("assets/files/\(names[1])")
    try fixture.temporary.link("assets/files/\(names[2])", to: path)
    let orphan = String(repeating: "d", count: 32)
    try fixture.temporary.write("xy", to: "assets/files/\(orphan)")
    let report = try store.sweep()
    #expect(report.removed == [orphan])
    #expect(report.removedSize == 2)
    #expect(report.foreign.sorted() == names)
    #expect(FileManager.default.fileExists(atPath: "\(store.path)/files/\(names[0])/inside"))
  }

  @Test func `a folder under pending doesn't prevent the store from opening`() throws {
    let (moved, held) = (try store.put([1]), try store.put([2]))
    let gone = String(repeating: "a", count: 32)
    try fixture.makePending(moved.name)
    try fixture.makePending(held.name)
    let pending = "assets/pending/\(String(repeating: "0", count: 32))"
    // One folder blocks a file's destination, the other one looks like a file to remove.
    try makeFolder("assets/files/\(held.name)/inside")
    try makeFolder("\(pending)/\(gone)/inside")
    let another = try fixture.another()
    #expect(try another.bytes(of: moved.id) == [1])
    #expect(throws: AssetError.notRegularFile(path: "\(store.path)/files/\(held.name)")) {
      try another.bytes(of: held.id)
    }
    #expect(fixture.files.contains(moved.name))
    #expect(fixture.temporary.files(in: pending) == [held.name])
    // Without the obstacle, the next opening moves the file.
    try FileManager.default.removeItem(atPath: "\(store.path)/files/\(held.name)")
    #expect(try fixture.another().bytes(of: held.id) == [2])
  }

  @Test func `links that replace the folders of an open store aren't followed`() throws {
    let record = try store.put([1])
    try makeFolder("elsewhere/files")
    try makeFolder("elsewhere/pending")
    for name in ["files", "pending"] {
      try FileManager.default.moveItem(
        atPath: "\(store.path)/\(name)", toPath: "\(path)/moved-\(name)")
      try fixture.temporary.link("assets/\(name)", to: "\(path)/elsewhere/\(name)")
    }
    #expect(try store.bytes(of: record.id) == [1])
    let other = try store.put([2])
    #expect(try store.bytes(of: other.id) == [2])
    try store.delete(record.id)
    #expect(fixture.temporary.files(in: "elsewhere") == [])
    #expect(fixture.temporary.files(in: "moved-files") == [other.name])
    #expect(throws: AssetError.self) { try fixture.another() }
  }

  @Test func `verify reports a row without an id`() throws {
    let record = try store.put([1])
    try fixture.database.executeChange("UPDATE magicdata_asset SET id = ''")
    #expect(try store.verify() == [.damagedRow(id: "")])
    #expect(fixture.files == [record.name])
  }

  @Test func `exceeding the file size limit of the process throws and leaves no file`() async throws
  {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
      #if canImport(Glibc)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      #else
        _ = unsafe setrlimit(RLIMIT_FSIZE, &limit)
      #endif
      let fixture = try StoreFixture()
      let record = try fixture.store.put([1])
      let large = [UInt8](repeating: 1, count: 3 << 20)
      for _ in 0..<2 {
        #expect(throws: AssetError.self) { try fixture.store.put(large) }
        #expect(throws: AssetError.self) { try fixture.store.replace(record.id, with: large) }
      }
      #expect(fixture.pending == [])
      #expect(fixture.files == [record.name])
      #expect(try fixture.store.bytes(of: record.id) == [1])
      #expect(try fixture.store.put([2]).size == 1)
    }
  }
}
