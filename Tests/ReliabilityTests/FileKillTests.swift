import Foundation
import MagicData
import SQLitePortable
import SystemFiles
import Testing
import TestSupport
import Workload

/// Tests processes that are killed before a call that changes a file, while they write to a path
/// that the caller chose.
///
/// Each kind of call is killed a few times, or 200 times with `MAGICDATA_LONG=1`.
@Suite(.serialized, .enabled(if: Helper.canTrace, "programs can't be traced on this system"))
struct FileKillTests {
  static let kills = ProcessInfo.processInfo.environment["MAGICDATA_LONG"] == nil ? 6 : 200

  let folder: TestFolder

  init() throws {
    folder = try TestFolder.inMemory()
    try FileWork.makeSources(in: folder.path)
  }

  /// Runs the call in a process that is killed before its change with the given number, or not at
  /// all for 0.
  private func trace(_ work: FileWork, until number: Int) throws -> (
    result: Helper.Result, changes: [String]
  ) {
    let result = try Helper.run(
      "trace", "\(number)", folder.path, Helper.path(), "file", work.rawValue, folder.path)
    return (result, result.output.split(separator: "\n").map(String.init))
  }

  @Test(arguments: FileWork.allCases)
  func
    `a killed process leaves the old or new state, and the next call cleans up`(
      work: FileWork
    ) throws
  {
    try work.prepare(in: folder.path)
    let whole = try trace(work, until: 0)
    try #require(whole.result.status == 0, "\(whole.result.output)")
    #expect(try work.state(in: folder.path) == .new)
    let count = whole.changes.count
    #expect(count > 10)
    var random = SplitMix64(seed: 33)
    var numbers = Array(1...count)
    numbers.shuffle(using: &random)
    // The last changes are the decisive ones, so they are always included.
    numbers = (0..<Self.kills - 3).map { numbers[$0 % count] } + [count, count - 1, count - 2]
    var outcomes: [FileWork.State: Int] = [:]
    for number in numbers {
      try work.prepare(in: folder.path)
      let killed = try trace(work, until: number)
      #expect(killed.result.status == 128 + SIGKILL, "\(killed.result.output)")
      let state = try work.state(in: folder.path)
      outcomes[state, default: 0] += 1
      #expect(
        state == .old || state == .new,
        "killed before change \(number), \(killed.changes.last ?? "")")
      do {
        try work.run(in: folder.path)
      } catch  where state == .new {
        // Some calls throw if the path already exists.
        #expect(!work.replaces, "\(error)")
      }
      #expect(try work.state(in: folder.path) == .new)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("out"))
      #expect(names == ["target"], "killed before change \(number), \(killed.changes.last ?? "")")
    }
    #expect(outcomes[.old, default: 0] > 0)
    print("\(work): \(numbers.count) kills before \(count) changes, \(outcomes)")
  }

  @Test(arguments: FileWork.allCases.filter { !$0.isInPlace && $0 != .assetsIntoFolder })
  func `a file is synced before its rename, and its folder afterwards`(work: FileWork)
    throws
  {
    try work.prepare(in: folder.path)
    let (result, changes) = try trace(work, until: 0)
    #expect(result.status == 0)
    let renamed = try #require(changes.lastIndex { $0.hasPrefix("rename") })
    #expect(changes[renamed - 1].hasPrefix("fsync "))
    #expect(changes[renamed - 1].hasSuffix("/content"))
    #expect(changes[renamed + 1] == "fsync \(folder.path)/out")
    let content = changes[renamed - 1].dropFirst(6)
    #expect(
      !changes[renamed...].contains { $0.hasPrefix("write") || $0.hasPrefix("pwrite") },
      "\(content) is written after it has its name")
  }

  @Test func `another process's pending folder and foreign files are kept`() throws {
    let path = folder.file("in/new.spon")
    let living = try PendingFile(path)
    _ = try living.makeFile()
    let mine = [
      "new.spon.pending-00000000000000zz", "new.spon.pending-0123456789abcde",
      ".pending-0123456789abcdef", "new.spon.pending-0123456789ABCDEF",
    ]
    for name in mine { try folder.write("mine", to: "in/\(name)/letter") }
    try folder.write("mine", to: "in/new.spon.pending-0123456789abcdef")
    try folder.link("in/new.spon.pending-1123456789abcdef", to: folder.file("in/store"))
    try folder.write("left", to: "in/other.pending-2123456789abcdef/content/deep/file")
    try Database.memory().dump(to: .spon(path: path))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("in"))
    #expect(FileManager.default.fileExists(atPath: living.contentPath))
    for name in mine { #expect(folder.contains("in/\(name)/letter")) }
    #expect(folder.contains("in/new.spon.pending-0123456789abcdef"))
    #expect(names.contains("new.spon.pending-1123456789abcdef"))
    #expect(folder.contains("in/store/default.sqlite3"))
    #expect(!names.contains("other.pending-2123456789abcdef"))
    try living.publish(replacing: true)
    #expect(try folder.bytes(of: "in/new.spon") == [])
  }

  @Test func `publishing doesn't replace a new file unless replacing is requested`() throws {
    let file = try PendingFile(folder.file("new"))
    _ = try file.makeFile()
    try folder.write("theirs", to: "new")
    #expect(throws: SystemFailure("renameat2", EEXIST)) { try file.publish(replacing: false) }
    #expect(try folder.bytes(of: "new") == Array("theirs".utf8))
    try file.publish(replacing: true)
    #expect(try folder.bytes(of: "new") == [])
  }

  @Test(arguments: ["", "/", ".", "..", "a/", "a/..", "no/file"])
  func `a path that can't name a file throws`(path: String) {
    #expect(throws: SystemFailure.self) { try PendingFile(path) }
  }
}
