import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

/// Tests that need a special file system, which you have to mount first:
///
///     MAGICDATA_REFLINK=/mnt/btrfs MAGICDATA_SMALL=/mnt/tmpfs swift test --filter AssetStoreDisk
///
/// `MAGICDATA_REFLINK` is a folder on Btrfs, XFS or APFS. `MAGICDATA_SMALL` is a folder on a file
/// system with less than 50 MB.
@Suite struct AssetStoreDiskTests {
  static let reflink = ProcessInfo.processInfo.environment["MAGICDATA_REFLINK"]
  static let small = ProcessInfo.processInfo.environment["MAGICDATA_SMALL"]

  @Test(.enabled(if: reflink != nil))
  func `putting and backing up a file clones it on a copy-on-write file system`() throws {
    let fixture = try StoreFixture(TestFolder(in: #require(Self.reflink)))
    let bytes = (0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 >> 3) }
    let source = "\(fixture.temporary.path)/source"
    try Data(bytes).write(to: URL(filePath: source))
    fixture.operations.follow(.init())
    let record = try fixture.store.put(contentsOf: source, extension: "bin")
    let log = fixture.operations.log
    #expect(log.contains("clone"))
    #expect(!log.contains("write"))
    #expect(try fixture.store.bytes(of: record.id) == bytes)
    #expect(try fixture.temporary.permissions("assets/files/\(record.name)") == 0o600)
    // Writing to the source doesn't change the clone.
    try Data([1]).write(to: URL(filePath: source))
    #expect(try fixture.store.bytes(of: record.id) == bytes)
    fixture.operations.follow(.init())
    let backup = try fixture.store.backup(to: "\(fixture.temporary.path)/backup")
    #expect(backup.faults == [])
    #expect(!fixture.operations.log.contains("write"))
  }

  @Test(.enabled(if: small != nil))
  func `a full disk makes changes throw and keeps all committed assets`() throws {
    let fixture = try StoreFixture(TestFolder(in: #require(Self.small)))
    let store = fixture.store
    let first = try store.put([1])
    var records = [first]
    var failure: (any Error)?
    let large = [UInt8](repeating: 2, count: 256 << 10)
    while failure == nil, records.count < 200 {
      do {
        records.append(try store.put(large))
      } catch {
        failure = error
      }
    }
    // Either the file system or SQLite can run out of space first.
    #expect(failure is AssetError || failure is SQLiteError)
    #expect(fixture.pending == [])
    #expect(fixture.files == records.map(\.name).sorted())
    #expect(throws: (any Error).self) { try store.replace(first.id, with: large) }
    #expect(try store.bytes(of: first.id) == [1])
    #expect(try store.verify() == [])
    // Deleting assets frees space for new ones.
    for record in records.dropFirst() { try store.delete(record.id) }
    #expect(fixture.files == [first.name])
    #expect(try store.put(large).size == large.count)
  }
}
