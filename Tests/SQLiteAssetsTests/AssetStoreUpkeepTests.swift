import Foundation
import SQLiteAssets
import SQLiteCore
import Testing

@Suite struct AssetStoreUpkeepTests {
  let fixture: StoreFixture
  var store: AssetStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  @Test func `an intact store has no faults`() throws {
    for number in 0..<450 {
      try store.put("\(number)".utf8)
    }
    #expect(try store.verify() == [])
  }

  @Test func `each missing and each damaged file is found`() throws {
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

  @Test func `a sweep removes what nothing names and reports it`() throws {
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

  @Test func `a sweep keeps what a reader may still need`() throws {
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

  @Test func `a sweep leaves a transaction's own files alone`() throws {
    let other = try fixture.another()
    try fixture.database.write { connection in
      let record = try store.put([1], in: connection)
      try onAnotherThread { _ = try? other.sweep() }
      #expect(fixture.pending == [record.name])
    }
    #expect(try store.verify() == [])
  }
}
