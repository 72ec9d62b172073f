import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

@Suite struct AssetStoreSafetyTests {
  let fixture: StoreFixture
  var store: AssetStore { fixture.store }
  var path: String { fixture.temporary.path }

  init() throws { fixture = try StoreFixture() }

  @Test func `files are created with mode 0600 and folders with 0700, whatever the umask`() throws {
    let before = umask(0)
    defer { umask(before) }
    let store = try AssetStore(Database.memory(), folder: "\(path)/open")
    try store.put([1])
    let enumerator = try #require(FileManager.default.enumerator(atPath: "\(path)/open"))
    var count = 0
    while let name = enumerator.nextObject() as? String {
      let isFolder = enumerator.fileAttributes?[.type] as? FileAttributeType == .typeDirectory
      #expect(try fixture.temporary.permissions("open/\(name)") == (isFolder ? 0o700 : 0o600))
      count += 1
    }
    #expect(try fixture.temporary.permissions("open") == 0o700)
    #expect(count == 5)
  }

  @Test(arguments: hostileNames)
  func `a row with a hostile name can't access a file and affects no other row`(name: String) throws
  {
    let (hostile, other) = (try store.put([1]), try store.put([2]))
    try fixture.database.executeChange(
      "UPDATE magicdata_asset SET file = \(name) WHERE id = \(hostile.id)")
    #expect(throws: AssetError.damagedRow(id: hostile.id.description)) {
      try store.bytes(of: hostile.id)
    }
    #expect(try store.bytes(of: other.id) == [2])
    #expect(try store.verify() == [.damagedRow(id: hostile.id.description)])
    #expect(try store.delete(hostile.id))
    #expect(fixture.files == [other.name])
  }

  @Test(arguments: hostileNames)
  func `a mark with a hostile name removes no file and blocks no other removal`(name: String) throws
  {
    try fixture.temporary.write("x", to: "x")
    try fixture.temporary.write("x", to: "assets/files/\(String(repeating: "0", count: 31))")
    let record = try store.put([1])
    try fixture.database.executeChange("INSERT INTO magicdata_asset_trash VALUES (\(name))")
    let before = fixture.temporary.files(in: "assets")
    try store.delete(record.id)
    #expect(try fixture.marks() == 0)
    #expect(
      fixture.temporary.files(in: "assets") == before.filter { $0 != "files/\(record.name)" })
    #expect(try fixture.temporary.text(of: "x") == "x")
  }

  @Test(arguments: [Value.null, .integer(-1), .real(1.5), .text("x"), .blob([1])])
  func `a row with an invalid value is a damaged row`(value: Value) throws {
    let record = try store.put([1])
    for column in ["size", "sha256", "file"] {
      do {
        try fixture.database.executeChange(
          "UPDATE magicdata_asset SET \(identifier: column) = \(value)")
      } catch ResultCode.constraint {
        continue
      }
      #expect(throws: AssetError.damagedRow(id: record.id.description)) { try store.records() }
    }
  }

  @Test(.timeLimit(.minutes(40)))
  func `links, FIFOs and folders in place of files throw, and targets are kept`() throws {
    let records = [try store.put([1]), try store.put([2]), try store.put([3])]
    for record in records {
      try FileManager.default.removeItem(atPath: "\(path)/assets/files/\(record.name)")
    }
    try fixture.temporary.write("secret", to: "secret")
    try fixture.temporary.link("assets/files/\(records[0].name)", to: "\(path)/secret")
    try fixture.temporary.makeFIFO("assets/files/\(records[1].name)")
    try FileManager.default.createDirectory(
      atPath: "\(path)/assets/files/\(records[2].name)", withIntermediateDirectories: false)
    for record in records {
      #expect(
        throws: AssetError.notRegularFile(path: "\(store.path)/files/\(record.name)")
      ) { try store.bytes(of: record.id) }
    }
    #expect(try store.verify().count == 3)
    try store.delete(records[0].id)
    #expect(try fixture.temporary.text(of: "secret") == "secret")
  }

  @Test(arguments: ["files", "pending"])
  func `a link in place of a subfolder throws`(name: String) throws {
    try FileManager.default.createDirectory(
      atPath: "\(path)/other", withIntermediateDirectories: false)
    try fixture.temporary.link("other/\(name)", to: path)
    #expect(throws: AssetError.self) {
      try AssetStore(Database.memory(), folder: "\(path)/other")
    }
  }

  @Test func `a folder that belongs to another database throws`() throws {
    let record = try store.put([1])
    let error = #expect(throws: AssetError.self) {
      try AssetStore(Database.memory(), folder: store.path)
    }
    #expect(error == .foreignFolder(path: store.path))
    #expect(try store.bytes(of: record.id) == [1])
  }

  @Test func `tables with an unknown format throw`() throws {
    try fixture.database.executeChange("UPDATE magicdata_asset_store SET format = 2")
    #expect(throws: AssetError.unknownFormat(2)) { try fixture.another() }
    try fixture.database.executeChange("DELETE FROM magicdata_asset_store")
    #expect(throws: AssetError.unknownFormat(0)) { try fixture.another() }
  }

  @Test func `assets in a read-only database can be read but not put`() throws {
    let record = try store.put([1])
    let database = try Database(path: "\(path)/data.sqlite3", options: .readOnly)
    let reading = try AssetStore(database, folder: store.path)
    #expect(try reading.bytes(of: record.id) == [1])
    #expect(throws: SQLiteError.self) { try reading.put([2]) }
    #expect(fixture.files == [record.name])
    #expect(fixture.pending == [])
  }
}

/// Matches the result code of a thrown ``SQLiteError``.
private func ~= (pattern: ResultCode, error: any Error) -> Bool {
  (error as? SQLiteError).map { pattern ~= $0.code } ?? false
}
