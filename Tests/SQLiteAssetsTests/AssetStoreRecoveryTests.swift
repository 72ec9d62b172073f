import Foundation
import SQLiteAssets
import SQLiteCore
import Synchronization
import SystemFiles
import Testing
import TestSupport

@Suite struct AssetStoreRecoveryTests {
  let fixture: StoreFixture
  var store: AssetStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  @Test func `a committed pending file is readable, and the next opening moves it`() throws {
    let record = try store.put([1])
    try fixture.makePending(record.name)
    #expect(fixture.files == [])
    #expect(try store.bytes(of: record.id) == [1])
    _ = try fixture.another()
    #expect(fixture.files == [record.name])
    #expect(fixture.pending == [])
    #expect(try store.bytes(of: record.id) == [1])
  }

  @Test func `the next opening removes a pending file that no row references`() throws {
    let record = try store.put([1])
    try fixture.makePending(record.name)
    try fixture.database.executeMultipleChanges(
      "DELETE FROM magicdata_asset; DELETE FROM magicdata_asset_trash")
    _ = try fixture.another()
    #expect(fixture.files + fixture.pending == [])
    // The remaining folder belongs to this store.
    #expect(try openers().count == 1)
  }

  @Test func `a move that was interrupted after linking the new name is completed`() throws {
    let record = try store.put([1])
    try fixture.makePending(record.name)
    try fixture.temporary.hardLink(
      "assets/files/\(record.name)",
      to: "assets/pending/\(String(repeating: "0", count: 32))/\(record.name)")
    _ = try fixture.another()
    #expect(fixture.files == [record.name])
    #expect(fixture.pending == [])
  }

  @Test func `deleting an asset removes its pending file`() throws {
    let record = try store.put([1])
    try fixture.makePending(record.name)
    try store.delete(record.id)
    #expect(fixture.files + fixture.pending == [])
    #expect(try fixture.marks() == 0)
  }

  @Test func `a replaced pending file is kept as long as a reader sees it`() throws {
    let record = try store.put([1])
    try fixture.makePending(record.name)
    let reading = try Database(path: "\(fixture.temporary.path)/data.sqlite3")
    try reading.read { connection in
      #expect(try store.record(record.id, in: connection) == record)
      try onAnotherThread {
        try store.replace(record.id, with: [2])
        _ = try fixture.another()
      }
      #expect(try store.bytes(of: record.id, in: connection) == [1])
    }
    try store.removeDeletedFiles()
    #expect(fixture.files.count == 1)
    #expect(fixture.pending == [])
  }

  @Test func `a file that is moved during its lookup is found`() throws {
    let record = try store.put([1])
    let opener = String(repeating: "0", count: 32)
    try fixture.makePending(record.name, opener: opener)
    let path = "\(fixture.temporary.path)/assets"
    fixture.operations.follow(
      .init(
        meanwhile: (
          "readdir",
          {
            try? FileManager.default.moveItem(
              atPath: "\(path)/pending/\(opener)/\(record.name)",
              toPath: "\(path)/files/\(record.name)")
          }
        )))
    #expect(try store.bytes(of: record.id) == [1])
    #expect(fixture.files == [record.name])
  }

  @Test func `a new folder can't be locked by another store before its creator locks it`() throws {
    let root = try Folder.open(path: store.path, SystemFileOperations())
    let wasFree = Mutex<Bool?>(nil)
    fixture.operations.follow(
      .init(
        meanwhile: (
          "mkdirat", { wasFree.withLock { $0 = try? root.lock(waiting: false) } }
        )))
    try store.put([1])
    #expect(wasFree.withLock { $0 } == false)
    #expect(try root.lock(waiting: false))
  }

  @Test func `the folder of an open store isn't touched by recovery`() throws {
    try fixture.database.write { connection in
      let record = try store.put([1], in: connection)
      for _ in 0..<3 { _ = try fixture.another() }
      #expect(fixture.pending == [record.name])
    }
    #expect(fixture.files.count == 1)
  }

  @Test func `a store removes its own folder when it closes`() throws {
    #expect(try openers() == [])
    do {
      let other = try fixture.another()
      try other.put([1])
      #expect(try openers().count == 1)
    }
    #expect(try openers() == [])
  }

  @Test func `a file that couldn't be moved is readable, and the next commit moves it`() throws {
    fixture.operations.follow(
      .init(failing: 0, isPersistent: true, number: 28, calls: ["renameat2"]))
    let first = try store.put([1])
    #expect(fixture.pending == [first.name])
    #expect(try store.bytes(of: first.id) == [1])
    fixture.operations.follow(.init())
    let second = try store.put([2])
    #expect(fixture.files == [first.name, second.name].sorted())
  }

  @Test func `foreign entries under pending are kept`() throws {
    let folder = "\(fixture.temporary.path)/assets/pending"
    let hexadecimal = String(repeating: "a", count: 32)
    try fixture.temporary.write("x", to: "assets/pending/\(hexadecimal)")
    try fixture.temporary.link("assets/pending/\(String(repeating: "b", count: 32))", to: "/")
    try FileManager.default.createDirectory(
      atPath: "\(folder)/other", withIntermediateDirectories: false)
    try fixture.temporary.write("x", to: "assets/pending/other/file")
    let record = try fixture.another().put([1])
    #expect(try store.bytes(of: record.id) == [1])
    #expect(try openers().count == 3)
    #expect(try fixture.temporary.text(of: "assets/pending/other/file") == "x")
  }

  @Test func `two stores that put and delete concurrently lose no asset`() throws {
    let other = try fixture.another()
    try onAnotherThread {
      for number in 0..<50 {
        let record = try other.put("\(number)".utf8)
        if number % 3 == 0 { try other.delete(record.id) }
        #expect(try store.records().allSatisfy { try !store.bytes(of: $0.id).isEmpty })
      }
    }
    for number in 0..<20 {
      let record = try store.put("x\(number)".utf8)
      try store.replace(record.id, with: "y\(number)".utf8)
    }
    #expect(try store.records().count == 33 + 20)
    #expect(fixture.files == (try store.records()).map(\.name).sorted())
    #expect(try store.verify() == [])
  }

  private func openers() throws -> [String] {
    try FileManager.default.contentsOfDirectory(
      atPath: "\(fixture.temporary.path)/assets/pending")
  }
}
