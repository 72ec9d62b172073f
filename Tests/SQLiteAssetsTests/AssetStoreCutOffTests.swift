import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

/// Tests a process that is killed after it wrote its COMMIT to the WAL but before it recorded the
/// COMMIT in the WAL index. Other connections that keep the index open don't see the COMMIT until
/// the last of them closes.
@Suite struct AssetStoreCutOffTests {
  let fixture: StoreFixture

  init() throws {
    fixture = try StoreFixture()
    try fixture.store.put([0])
  }

  @Test func `recovery overwrites such a commit before it deletes the commit's file`() throws {
    try cutOffCommit(of: [1])
    #expect(fixture.pending.count == 1)
    _ = try fixture.another()
    #expect(fixture.pending == [])
    // Simulates that the remaining processes are killed, too.
    let next = try opened(try snapshot())
    #expect(try next.store.verify() == [])
    #expect(try next.store.records().count == 1)
    #expect(next.files == fixture.files)
  }

  @Test func `without recovery, such a commit becomes visible together with its file`() throws {
    try cutOffCommit(of: [1])
    let next = try opened(try snapshot())
    #expect(try next.store.verify() == [])
    #expect(try next.store.records().count == 2)
  }

  /// Leaves the folder in the state of a process that was killed in its COMMIT.
  private func cutOffCommit(of content: [UInt8]) throws {
    let other = try opened(try snapshot())
    let record = try other.store.put(content)
    let log = try Data(contentsOf: URL(filePath: "\(other.temporary.path)/data.sqlite3-wal"))
    let handle = try FileHandle(
      forWritingTo: URL(filePath: "\(fixture.temporary.path)/data.sqlite3-wal"))
    let length = try handle.seekToEnd()
    try #require(log.count > Int(length))
    try handle.write(contentsOf: log.dropFirst(Int(length)))
    try handle.close()
    let folder = "\(fixture.temporary.path)/assets/pending/\(String(repeating: "0", count: 32))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: "\(other.temporary.path)/assets/files/\(record.name)",
      toPath: "\(folder)/\(record.name)")
  }

  /// Returns a copy of the files on disk without the WAL index, which doesn't outlive the
  /// processes.
  private func snapshot() throws -> TestFolder {
    let folder = try TestFolder()
    for name in ["data.sqlite3", "data.sqlite3-wal", "assets"] {
      try FileManager.default.copyItem(
        atPath: "\(fixture.temporary.path)/\(name)", toPath: "\(folder.path)/\(name)")
    }
    return folder
  }

  private func opened(_ folder: TestFolder) throws -> StoreFixture {
    try StoreFixture(folder)
  }
}
