import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

@Suite struct AssetStoreBackupTests {
  let fixture: StoreFixture
  var store: AssetStore { fixture.store }
  var path: String { "\(fixture.temporary.path)/copy" }

  init() throws { fixture = try StoreFixture() }

  private func open(_ backup: AssetBackup) throws -> AssetStore {
    try AssetStore(Database(path: backup.database), folder: backup.assets)
  }

  @Test(arguments: [false, true])
  func `a backup has all rows and contents and is independent of the original`(clones: Bool) throws
  {
    let (first, gone) = (try store.put([1], extension: "x"), try store.put([2]))
    store.minimumFileSize = 10
    let short = try store.put([3])
    fixture.operations.follow(.init(clones: clones))
    let backup = try store.backup(to: path)
    #expect(backup.faults == [])
    try store.delete(gone.id)
    try store.replace(first.id, with: [9])
    let copy = try open(backup)
    #expect(Set(try copy.records()) == [first, gone, short])
    #expect(try copy.bytes(of: first.id) == [1])
    #expect(try copy.bytes(of: short.id) == [3])
    #expect(try copy.verify() == [])
    #expect(try copy.sweep().removed == [])
    try copy.delete(first.id)
    #expect(try store.bytes(of: first.id) == [9])
  }

  @Test func `a backup is a consistent snapshot while another store writes`() throws {
    try fixture.database.executeChange("CREATE TABLE item (number INTEGER, asset TEXT)")
    let writer = try fixture.another()
    let database = writer.database
    let stop = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      var number = 0
      while stop.wait(timeout: .now()) == .timedOut {
        number += 1
        // At every moment, all assets have the same content and their number is even.
        try? database.write { connection in
          for record in try writer.records(in: connection) {
            if number % 3 == 0 {
              try connection.executeChange("DELETE FROM item WHERE asset = \(record.id)")
              try writer.delete(record.id, in: connection)
            } else {
              try writer.replace(record.id, with: "\(number)".utf8, in: connection)
            }
          }
          for _ in 0..<2 {
            let record = try writer.put("\(number)".utf8, in: connection)
            try connection.executeChange("INSERT INTO item VALUES (\(number), \(record.id))")
          }
          try connection.executeChange("UPDATE item SET number = \(number)")
        }
      }
      done.signal()
    }
    defer {
      stop.signal()
      done.wait()
    }
    for round in 0..<15 {
      let backup = try store.backup(to: "\(path)-\(round)")
      #expect(backup.faults == [])
      let copy = try open(backup)
      let records = try copy.records()
      let numbers = try copy.database.rows(
        "SELECT number, count(*) FROM item GROUP BY number", as: Int.self, Int.self)
      #expect(numbers.count <= 1)
      #expect(records.count == numbers.first?.1 ?? 0)
      #expect(records.count % 2 == 0)
      for record in records {
        let text = String(decoding: try copy.bytes(of: record.id), as: UTF8.self)
        #expect(text == "\(numbers.first?.0 ?? 0)")
      }
      #expect(try copy.sweep().removed == [])
      #expect(
        fixture.temporary.files(in: "copy-\(round)/assets/files") == records.map(\.name).sorted())
    }
  }

  @Test func `a backup reports missing and damaged files and copies the rest`() throws {
    let (missing, damaged) = (try store.put([1]), try store.put([2]))
    let intact = try store.put([3])
    try FileManager.default.removeItem(atPath: store.path(of: missing.id))
    try Data([9]).write(to: URL(filePath: store.path(of: damaged.id)))
    let backup = try store.backup(to: path)
    #expect(
      Set(backup.faults) == [
        .missingFile(missing.id, path: "\(store.path)/files/\(missing.name)"),
        .damagedFile(damaged.id, path: "\(store.path)/files/\(damaged.name)"),
      ])
    let copy = try open(backup)
    #expect(try copy.bytes(of: intact.id) == [3])
    #expect(try copy.records().count == 3)
    #expect(throws: AssetError.self) { try copy.bytes(of: missing.id) }
  }

  @Test func `a backup into a folder that isn't empty throws and changes nothing`() throws {
    try store.put([1])
    #expect(throws: AssetError.folderNotEmpty(path: fixture.temporary.path)) {
      try store.backup(to: fixture.temporary.path)
    }
    #expect(try store.verify() == [])
  }

  @Test func `a backup includes files that are still pending`() async throws {
    let record = try await store.put([1])
    try fixture.makePending(record.name)
    let backup = try await store.backup(to: path)
    #expect(try await open(backup).bytes(of: record.id) == [1])
  }

  @Test func `an in-memory store can be backed up to a file`() throws {
    let memory = try AssetStore(
      Database.memory(), folder: "\(fixture.temporary.path)/memory")
    let record = try memory.put([1, 2])
    #expect(try open(memory.backup(to: path)).bytes(of: record.id) == [1, 2])
  }

  /// Each call into the file system fails in turn: once, or persistently from that call on.
  @Test(arguments: [false, true], [false, true])
  func `a failed call makes the backup throw or report a fault and does no damage`(
    isPersistent: Bool, clones: Bool
  ) throws {
    let record = try store.put([1], extension: "x")
    for number in 0..<4 { try store.put([UInt8](repeating: 7, count: number)) }
    var outcomes = (failed: 0, faulty: 0)
    for number in 0..<1_000 {
      let path = "\(path)-\(number)"
      fixture.operations.follow(
        .init(failing: number, isPersistent: isPersistent, clones: clones))
      let backup = Result { try store.backup(to: path) }
      let count = fixture.operations.count
      fixture.operations.follow(.init())
      switch backup {
      case .success(let backup) where backup.faults.isEmpty:
        let copy = try open(backup)
        #expect(try copy.records() == store.records())
        #expect(try copy.verify() == [])
        #expect(try copy.bytes(of: record.id) == [1])
      case .success(let backup):
        // Only unreadable files are reported; all others are copied.
        outcomes.faulty += 1
        #expect(try open(backup).verify().count <= backup.faults.count)
      case .failure(let error):
        outcomes.failed += 1
        #expect(error is AssetError, "\(error)")
        // An incomplete backup has no database, or one that passes verification.
        let database = "\(path)/default.sqlite3"
        if FileManager.default.fileExists(atPath: database) {
          let copy = try AssetStore(Database(path: database), folder: "\(path)/assets")
          #expect(try copy.verify() == [])
        }
      }
      #expect(try store.bytes(of: record.id) == [1])
      if count <= number { break }
      #expect(number < 999)
    }
    #expect(try store.verify() == [])
    #expect(outcomes.failed > 20)
    // A persistent failure also affects the backup's own files: it throws and reports no fault.
    #expect((outcomes.faulty > 10) == !isPersistent)
  }

  @Test func `a backup on a failing disk throws and does no damage`() throws {
    let record = try store.put([1])
    for call in ["write", "fsync", "syncfs", "mkdirat"] {
      fixture.operations.follow(
        .init(failing: 0, isPersistent: true, number: 28, calls: [call]))
      #expect(throws: AssetError.self, "\(call)") { try store.backup(to: "\(path)-\(call)") }
    }
    fixture.operations.follow(.init())
    #expect(try store.bytes(of: record.id) == [1])
    #expect(try store.verify() == [])
  }
}
