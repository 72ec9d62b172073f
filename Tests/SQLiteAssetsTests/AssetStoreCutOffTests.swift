import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

/// A process is killed between the write of its COMMIT and the note of it in the index of the log,
/// while others keep that index: nobody sees the COMMIT until all are gone.
@Suite struct AssetStoreCutOffTests {
  let fixture: StoreFixture

  init() throws {
    fixture = try StoreFixture()
    try fixture.store.put([0])
  }

  @Test func `recovery removes no file that such a commit still names`() throws {
    try cutOffCommit(of: [1])
    #expect(fixture.pending.count == 1)
    _ = try fixture.another()
    #expect(fixture.pending == [])
    // Now the others are killed, too.
    let next = try opened(try snapshot())
    #expect(try next.store.verify() == [])
    #expect(try next.store.records().count == 1)
    #expect(next.files == fixture.files)
  }

  @Test func `without recovery such a commit counts, with its file`() throws {
    try cutOffCommit(of: [1])
    let next = try opened(try snapshot())
    #expect(try next.store.verify() == [])
    #expect(try next.store.records().count == 2)
  }

  /// Leaves the folders as a process does that was killed in its COMMIT.
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

  /// What the disk holds now, without the index of the log, which is gone with the last process.
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
