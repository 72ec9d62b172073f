import Foundation
import SQLiteAssets
import Testing

@Suite struct AssetReaderTests {
  let fixture: StoreFixture
  let record: AssetRecord
  let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 3) }

  init() throws {
    fixture = try StoreFixture()
    record = try fixture.store.put(bytes)
  }

  @Test(arguments: [1, 7, 999, 1_000, 5_000, 0, -1])
  func `the pieces together are the whole content`(size: Int) throws {
    var all: [UInt8] = []
    try fixture.store.open(record.id).forEachPiece(of: size) { piece in
      #expect(piece.count <= max(1, size))
      all += piece
    }
    #expect(all == bytes)
  }

  @Test func `a partial read stops at the end of the content`() throws {
    let reader = try fixture.store.open(record.id)
    #expect(try reader.read(10, at: 5) == Array(bytes[5..<15]))
    #expect(try reader.read(10, at: 995) == Array(bytes[995...]))
    for (count, offset) in [(1, 1_000), (1, -1), (-1, 0), (0, 0), (Int.max, Int.max)] {
      #expect(try reader.read(count, at: offset) == [])
    }
    #expect(try reader.read(Int.max, at: 999) == [bytes[999]])
  }

  @Test func `a flipped bit makes whole reads throw and affects no other asset`() throws {
    let other = try fixture.store.put([1])
    let path = try fixture.store.path(of: record.id)
    var damaged = bytes
    damaged[500] ^= 1
    try Data(damaged).write(to: URL(filePath: path))
    let error = AssetError.damagedFile(record.id, path: path)
    #expect(throws: error) { try fixture.store.bytes(of: record.id) }
    #expect(throws: error) { try fixture.store.open(record.id).forEachPiece { _ in } }
    #expect(try fixture.store.bytes(of: other.id) == [1])
  }

  @Test(arguments: [0, 999, 1_001])
  func `opening a file with a changed size throws`(count: Int) throws {
    let path = try fixture.store.path(of: record.id)
    try Data(count: count).write(to: URL(filePath: path))
    #expect(throws: AssetError.damagedFile(record.id, path: path)) {
      try fixture.store.open(record.id)
    }
  }

  @Test func `reading a missing file throws an error with the asset's id and path`() throws {
    let path = try fixture.store.path(of: record.id)
    try FileManager.default.removeItem(atPath: path)
    #expect(throws: AssetError.missingFile(record.id, path: path)) {
      try fixture.store.bytes(of: record.id)
    }
    #expect(try fixture.store.record(record.id) == record)
  }

  @Test func `an error thrown by the closure stops the reading`() throws {
    struct Stop: Error {}
    var count = 0
    #expect(throws: Stop.self) {
      try fixture.store.open(record.id).forEachPiece(of: 10) { _ in
        count += 1
        if count == 3 { throw Stop() }
      }
    }
    #expect(count == 3)
  }
}
