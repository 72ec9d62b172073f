import Foundation
import SQLiteAssets
import Testing
import TestSupport

@Suite struct FolderMovingTests {
  let temporary: TestFolder
  let operations = FaultyFileOperations()
  let source: Folder
  let target: Folder

  init() throws {
    temporary = try TestFolder()
    source = try Folder.open(path: "\(temporary.path)/a", operations)
    target = try Folder.open(path: "\(temporary.path)/b", operations)
  }

  /// Nil for the system's own call, otherwise the error that makes the move use links instead.
  static let ways: [Int32?] = [nil, EINVAL, ENOSYS, ENOTSUP]

  private func follow(_ way: Int32?) {
    guard let way else { return }
    operations.follow(
      .init(failing: 0, isPersistent: true, number: way, calls: ["renameat2"]))
  }

  @Test(arguments: ways)
  func `a move leaves the content only in the new place`(way: Int32?) throws {
    follow(way)
    try temporary.write("content", to: "a/file")
    #expect(try source.move("file", to: target))
    #expect(temporary.files() == ["b/file"])
    #expect(try temporary.text(of: "b/file") == "content")
  }

  @Test(arguments: ways)
  func `a move never replaces another file`(way: Int32?) throws {
    follow(way)
    try temporary.write("new", to: "a/file")
    try temporary.write("old", to: "b/file")
    let error = #expect(throws: AssetError.self) { try source.move("file", to: target) }
    #expect(error == .system(call: "linkat", path: "\(target.path)/file", number: EEXIST))
    #expect(try temporary.text(of: "a/file") == "new")
    #expect(try temporary.text(of: "b/file") == "old")
  }

  @Test(arguments: ways)
  func `a move that was interrupted after linking the new name is completed`(way: Int32?) throws {
    follow(way)
    try temporary.write("content", to: "a/file")
    try temporary.hardLink("b/file", to: "a/file")
    #expect(try source.move("file", to: target))
    #expect(temporary.files() == ["b/file"])
  }

  @Test(arguments: ways)
  func `moving a missing file returns false`(way: Int32?) throws {
    follow(way)
    #expect(try source.move("file", to: target) == false)
  }

  @Test func `a failed move throws an error with the call, path and system message`() throws {
    operations.follow(.init(failing: 0, number: ENOSPC))
    try temporary.write("content", to: "a/file")
    let error = #expect(throws: AssetError.self) { try source.move("file", to: target) }
    #expect(
      error?.description == "renameat2 \(source.path)/file: No space left on device")
    #expect(temporary.files() == ["a/file"])
  }

  @Test func `syncFileSystem returns false if the system doesn't support syncfs`() throws {
    operations.follow(.init(failing: 0, number: ENOSYS))
    #expect(try source.syncFileSystem() == false)
    #expect(throws: AssetError.self) {
      operations.follow(.init(failing: 0, number: EIO))
      return try source.syncFileSystem()
    }
  }
}
