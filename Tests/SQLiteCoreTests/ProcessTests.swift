import Foundation
import SQLiteCore
import Testing
import TestSupport

/// Tests that need several processes, or a process without privileges.
@Suite struct ProcessTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// Starts `CoreHelper`, which is in the folder of the test products.
  private func start(
    _ arguments: [String], environment: [String: String]? = nil
  ) throws -> (Process, Pipe) {
    let process = Process()
    process.executableURL = try helperProgram("CoreHelper")
    process.arguments = arguments
    if let environment { process.environment = environment }
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    return (process, pipe)
  }

  private func finish(_ started: (Process, Pipe)) throws -> (status: Int32, output: String) {
    let data = try started.1.fileHandleForReading.readToEnd() ?? Data()
    started.0.waitUntilExit()
    let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    return (started.0.terminationStatus, text)
  }

  private func makeCounter() throws -> Database {
    var options = Database.Options()
    options.busyTimeout = .seconds(300)
    let database = try Database(path: folder.file(), options: options)
    try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (0)")
    return database
  }

  @Test func `writes of four processes add up`() throws {
    let database = try makeCounter()
    let helpers = try (0..<4).map { _ in try start(["add", folder.file(), "250"]) }
    for _ in 0..<50 { try database.executeChange("UPDATE t SET a = a + 1") }
    for helper in helpers {
      let (status, output) = try finish(helper)
      #expect(status == 0, "\(output)")
    }
    #expect(try database.rows("SELECT a FROM t", as: Int.self).first == 1_050)
  }

  @Test func `a million rows are streamed in constant memory`() throws {
    let (status, output) = try finish(start(["stream", folder.file()]))
    #expect(status == 0, "\(output)")
    let grown = try #require(Int(output))
    #expect(grown < 8 << 20)
  }

  @Test func `committed changes survive when a process is killed`() throws {
    let database = try makeCounter()
    for round in 1...3 {
      let (status, _) = try finish(start(["die", folder.file()]))
      #expect(status == 9)
      #expect(try database.rows("SELECT a FROM t", as: Int.self).first == round)
      try database.executeChange("UPDATE t SET a = a")
    }
    #expect(try database.rows("PRAGMA integrity_check", as: String.self).first == "ok")
  }

  #if canImport(Glibc)
    @Test func `a forked process can't use its parent's connections`() throws {
      try makeCounter().close()
      let (status, output) = try finish(start(["fork", folder.file()]))
      #expect(status == 0)
      #expect(
        output.split(separator: "\n") == [
          "write: refused", "read: refused", "close: refused", "open again: refused",
          "open another: done", "write inside: refused", "parent: 2",
        ])
    }
  #endif

  @Test(.enabled(if: getuid() == 0, "only root can drop privileges"))
  func `missing permissions throw errors that name them`() throws {
    let manager = FileManager.default
    try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    try makeCounter().close()
    let secret = try finish(start(["open", folder.file(), "read"]))
    #expect(secret.status == 1)
    #expect(secret.output.contains("unable to open database file"))
    try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.file())
    let write = try finish(start(["open", folder.file(), "write"]))
    #expect(write.status == 1)
    #expect(write.output.contains("the file is not writable"), "\(write.output)")
    let missing = try finish(start(["open", folder.file("new"), "write"]))
    #expect(missing.status == 1)
    #expect(missing.output.contains("Permission denied"))
  }

  @Test func `a database in the user's folder is private and in the expected place`() throws {
    let environment = ["XDG_DATA_HOME": folder.file("a/b"), "HOME": folder.path]
    let (status, path) = try finish(start(["folder", "x.db"], environment: environment))
    #expect(status == 0, "\(path)")
    #expect(path.hasSuffix("/a/b/magicdata test/x.db"))
    let manager = FileManager.default
    let mode = try manager.attributesOfItem(atPath: folder.file("a/b/magicdata test"))
    #expect(mode[.posixPermissions] as? Int == 0o700)
    let home = try finish(start(["folder", "x.db"], environment: ["HOME": folder.path]))
    #expect(home.output.hasSuffix("/.local/share/magicdata test/x.db"))
    let none = try finish(start(["folder", "x.db"], environment: ["XDG_DATA_HOME": "relative"]))
    #expect(none.status == 1)
    #expect(none.output.contains("HOME"))
  }
}
