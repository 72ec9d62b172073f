import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

@Suite struct AssetStoreTests {
  let fixture: StoreFixture
  var store: AssetStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  @Test(arguments: [0, 1, 1_000, 300_000])
  func `a put asset is read back with its size, digest and extension`(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13) }
    let record = try store.put(bytes, extension: "bin")
    #expect(try store.bytes(of: record.id) == bytes)
    #expect(try fixture.bytes(of: record) == bytes)
    #expect(record.size == count)
    #expect(record.sha256 == SHA256.digest(of: bytes))
    #expect(record.fileExtension == "bin")
  }

  @Test func `a put accepts strings, data, and sequences without contiguous storage`() throws {
    let records = [
      try store.put("häh".utf8), try store.put(Data("häh".utf8)),
      try store.put("häh".utf8.lazy.map { $0 }), try store.put("xhäh".utf8.dropFirst()),
    ]
    for record in records {
      #expect(try store.bytes(of: record.id) == Array("häh".utf8))
    }
    #expect(Set(records.map(\.sha256)).count == 1)
  }

  @Test func `putting the same content twice creates two assets`() throws {
    let (first, second) = (try store.put([1]), try store.put([1]))
    #expect(first.id != second.id)
    #expect(fixture.files == [first.name, second.name].sorted())
    try store.delete(first.id)
    #expect(try store.bytes(of: second.id) == [1])
  }

  @Test func `a file is copied in pieces`() throws {
    let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    try Data(bytes).write(to: URL(filePath: "\(fixture.temporary.path)/source"))
    try fixture.temporary.link("link", to: "\(fixture.temporary.path)/source")
    fixture.operations.follow(.init(longest: 100_000))
    for name in ["source", "link"] {
      let record = try store.put(contentsOf: "\(fixture.temporary.path)/\(name)")
      #expect(try store.bytes(of: record.id) == bytes)
    }
    let record = try fixture.database.write { connection in
      try store.put(contentsOf: "\(fixture.temporary.path)/source", in: connection)
    }
    #expect(try store.bytes(of: record.id) == bytes)
  }

  @Test(.timeLimit(.minutes(40)), arguments: ["fifo", "folder", "nothing", "", "a\0b"])
  func `putting anything but a file throws and leaves no file`(name: String) throws {
    try fixture.temporary.makeFIFO("fifo")
    try FileManager.default.createDirectory(
      atPath: "\(fixture.temporary.path)/folder", withIntermediateDirectories: false)
    let path = name.isEmpty ? "" : "\(fixture.temporary.path)/\(name)"
    #expect(throws: AssetError.self) { try store.put(contentsOf: path) }
    #expect(try store.records() == [])
    #expect(fixture.files + fixture.pending == [])
  }

  @Test func `replacing content keeps the id and creates a new file`() throws {
    let before = try store.put([1], extension: "a")
    let after = try store.replace(before.id, with: [2, 3])
    #expect(after.id == before.id)
    #expect(after.name != before.name)
    #expect(after.fileExtension == "a")
    #expect(try store.record(after.id) == after)
    #expect(try store.bytes(of: after.id) == [2, 3])
    #expect(fixture.files == [after.name])
    #expect(try store.replace(after.id, with: [], extension: "b").fileExtension == "b")
    #expect(try store.replace(after.id, with: [], extension: "").fileExtension == nil)
  }

  @Test func `deleting an asset deletes its file`() throws {
    let record = try store.put([1])
    #expect(try store.delete(record.id))
    #expect(try store.delete(record.id) == false)
    #expect(try store.record(record.id) == nil)
    #expect(fixture.files == [])
  }

  @Test func `records returns all assets`() throws {
    let records = try (0..<5).map { try store.put([UInt8($0)]) }
    #expect(Set(try store.records()) == Set(records))
  }

  @Test func `an unknown id throws an error that contains it`() throws {
    let id = AssetID()
    #expect(try store.record(id) == nil)
    #expect(throws: AssetError.noAsset(id)) { try store.bytes(of: id) }
    #expect(throws: AssetError.noAsset(id)) { try store.path(of: id) }
    #expect(throws: AssetError.noAsset(id)) { try store.replace(id, with: [1]) }
    #expect(fixture.files + fixture.pending == [])
  }

  @Test(arguments: hostileExtensions)
  func `a hostile extension throws and leaves no file`(fileExtension: String) throws {
    #expect(throws: AssetError.invalidExtension(fileExtension)) {
      try store.put([1], extension: fileExtension)
    }
    #expect(try store.records() == [])
    #expect(fixture.files + fixture.pending == [])
  }

  @Test func `an open reader can read all content after the asset is deleted`() throws {
    let record = try store.put(0..<200)
    let reader = try store.open(record.id)
    try store.delete(record.id)
    #expect(fixture.files == [])
    #expect(try reader.read(3, at: 100) == [100, 101, 102])
    #expect(try reader.readAll() == Array(0..<200))
  }

  @Test func `a reopened store contains the assets`() throws {
    let record = try store.put([1, 2])
    #expect(try fixture.another().bytes(of: record.id) == [1, 2])
  }

  @Test func `a new store folder is synced, an existing one is not`() throws {
    let path = "\(fixture.temporary.path)/new"
    let database = try Database(path: "\(fixture.temporary.path)/new.sqlite3")
    for syncs in [2, 0] {
      let operations = FaultyFileOperations()
      _ = try AssetStore(database, folder: path, operations: operations)
      #expect(operations.log.count { $0 == "fsync" } == syncs)
    }
  }

  @Test func `assets of an in-memory database work without any sync`() throws {
    let operations = FaultyFileOperations()
    let store = try AssetStore(
      Database.memory(), folder: "\(fixture.temporary.path)/memory", operations: operations)
    operations.follow(.init())
    let record = try store.put([1])
    try store.replace(record.id, with: [2])
    #expect(try store.bytes(of: record.id) == [2])
    try store.delete(record.id)
    #expect(fixture.temporary.files(in: "memory/files") == [])
    #expect(operations.log.contains("fsync") == false)
  }
}
