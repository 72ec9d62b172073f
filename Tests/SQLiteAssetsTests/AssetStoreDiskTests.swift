import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

/// What needs a file system of its own, and so somebody who has mounted it:
///
///     MAGICDATA_REFLINK=/mnt/btrfs MAGICDATA_SMALL=/mnt/tmpfs swift test --filter AssetStoreDisk
///
/// `MAGICDATA_REFLINK` is a folder on Btrfs, XFS or APFS, `MAGICDATA_SMALL` one on a file system with
/// less than 50 MB.
@Suite struct AssetStoreDiskTests {
  static let reflink = ProcessInfo.processInfo.environment["MAGICDATA_REFLINK"]
  static let small = ProcessInfo.processInfo.environment["MAGICDATA_SMALL"]

  @Test(.enabled(if: reflink != nil))
  func `a file system that shares contents shares them`() throws {
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
    // The two are one only until one of them is written to.
    try Data([1]).write(to: URL(filePath: source))
    #expect(try fixture.store.bytes(of: record.id) == bytes)
    fixture.operations.follow(.init())
    let backup = try fixture.store.backup(to: "\(fixture.temporary.path)/backup")
    #expect(backup.faults == [])
    #expect(!fixture.operations.log.contains("write"))
  }

  @Test(.enabled(if: small != nil))
  func `a full disk is an error, and leaves what was there and nothing else`() throws {
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
    // Whether the file system or SQLite meets the end first is chance.
    #expect(failure is AssetError || failure is SQLiteError)
    #expect(fixture.pending == [])
    #expect(fixture.files == records.map(\.name).sorted())
    #expect(throws: (any Error).self) { try store.replace(first.id, with: large) }
    #expect(try store.bytes(of: first.id) == [1])
    #expect(try store.verify() == [])
    // A full disk can be emptied.
    for record in records.dropFirst() { try store.delete(record.id) }
    #expect(fixture.files == [first.name])
    #expect(try store.put(large).size == large.count)
  }
}
