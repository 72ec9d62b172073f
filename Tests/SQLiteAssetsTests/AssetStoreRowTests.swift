import Foundation
import SQLiteAssets
import SQLiteCore
import Testing

/// Tests short contents, which are stored in the row.
@Suite struct AssetStoreRowTests {
  let fixture: StoreFixture
  var store: AssetStore { fixture.store }

  init() throws {
    fixture = try StoreFixture()
    store.minimumFileSize = 100
  }

  @Test(arguments: [0, 1, 99, 100, 101, 300_000])
  func `content below the minimum file size is stored in the row`(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let record = try store.put(bytes, extension: "bin")
    #expect(record.isInRow == (count < 100))
    #expect(fixture.files == (count < 100 ? [] : [record.name]))
    #expect(fixture.pending == [])
    #expect(try store.record(record.id) == record)
    #expect(try store.bytes(of: record.id) == bytes)
    #expect(record.fileExtension == "bin")
    #expect(record.size == count)
    #expect(try store.verify() == [])
    #expect(try store.delete(record.id))
    #expect(try fixture.marks() == 0)
    #expect(fixture.files == [])
  }

  @Test func `without a minimum file size, even empty content has a file`() throws {
    store.minimumFileSize = 0
    let record = try store.put([])
    #expect(record.isInRow == false)
    #expect(fixture.files == [record.name])
  }

  @Test func `content in the row has no path`() throws {
    let record = try store.put([1])
    #expect(throws: AssetError.contentInRow(record.id)) { try store.path(of: record.id) }
    #expect(try store.open(record.id).path == nil)
  }

  @Test(arguments: [(3, 200), (200, 3), (3, 4), (200, 201)])
  func `replacing content moves it between row and file according to its size`(
    before: Int, after: Int
  ) throws {
    let old = try store.put([UInt8](repeating: 1, count: before), extension: "x")
    let new = try store.replace(old.id, with: [UInt8](repeating: 2, count: after))
    #expect(new.fileExtension == "x")
    #expect(try store.bytes(of: old.id) == [UInt8](repeating: 2, count: after))
    #expect(fixture.files == (after < 100 ? [] : [new.name]))
    #expect(try fixture.marks() == 0)
  }

  @Test func `content in the row can be read in parts and pieces, and copied`() throws {
    let record = try store.put(0..<50)
    let reader = try store.open(record.id)
    #expect(try reader.read(3, at: 10) == [10, 11, 12])
    #expect(try reader.read(100, at: 48) == [48, 49])
    var all: [UInt8] = []
    try reader.forEachPiece(of: 7) { all += $0 }
    #expect(all == Array(0..<50))
    store.minimumFileSize = 0
    let copy = try fixture.database.write { try store.put(copyOf: reader, in: $0) }
    #expect(copy.isInRow == false)
    #expect(try store.bytes(of: copy.id) == Array(0..<50))
  }

  @Test func `an open reader keeps its content after a replacement`() throws {
    let record = try store.put([1])
    let reader = try store.open(record.id)
    try store.replace(record.id, with: [2])
    #expect(try reader.readAll() == [1])
    #expect(throws: AssetError.noAsset(record.id)) {
      try fixture.database.read { try store.open(record, in: $0) }
    }
  }

  @Test(arguments: [Value.blob([9]), .blob([]), .blob([1, 2]), .text("x"), .integer(1)])
  func `changed content makes only its own row damaged`(value: Value) throws {
    let (record, other) = (try store.put([1]), try store.put([2]))
    try fixture.database.executeChange(
      "UPDATE magicdata_asset SET content = \(value) WHERE id = \(record.id)")
    let error = AssetError.damagedRow(id: record.id.description)
    #expect(throws: error) { try store.bytes(of: record.id) }
    #expect(try store.verify() == [error])
    #expect(try store.bytes(of: other.id) == [2])
  }

  @Test func `a rollback removes a put asset`() throws {
    _ = try fixture.database.write { connection in
      try store.put([1], in: connection)
      return TransactionOutcome.rollback
    }
    #expect(try store.records() == [])
    #expect(fixture.files + fixture.pending == [])
  }
}
