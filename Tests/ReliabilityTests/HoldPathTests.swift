import Foundation
import MagicData
import SQLitePortable
import Testing
import TestSupport

/// Tests paths that aren't valid UTF-8: they throw, and none is changed to another path.
@Suite struct HoldPathTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder.inMemory() }

  /// Runs a shell script in the test's folder.
  private static func shell(_ script: String, in path: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", script]
    process.currentDirectoryURL = URL(filePath: path, directoryHint: .isDirectory)
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw SQLiteError(.error, script) }
  }

  /// Creates a folder with a name that isn't UTF-8, a link to it, and a folder with the repaired
  /// name.
  private static func makeFolders(in path: String) throws {
    try shell(
      #"""
      mkdir "$(printf 'caf\351')" "$(printf 'caf\357\277\275')"
      ln -s "$(printf 'caf\351')" link
      : > "$(printf 'caf\351/file.sqlite3')"
      ln -s "$(printf 'caf\351/file.sqlite3')" file.sqlite3
      """#, in: path)
  }

  @Test func `a link into a folder that isn't UTF-8 throws`() throws {
    try Self.makeFolders(in: folder.path)
    #expect(throws: SQLiteError.self) { try Database(path: folder.file("link/a.sqlite3")) }
    #expect(throws: SQLiteError.self) { try Database(path: folder.file("file.sqlite3")) }
    #expect(throws: SQLiteError.self) { try MagicData(path: folder.file("link")) }
    #expect(throws: SQLiteError.self) { try MagicData(path: folder.file("link/a.db")) }
    #expect(throws: SQLiteError.self) { try CodableStore(path: folder.file("link/a")) }
    #expect(throws: SQLiteError.self) { try Database.memory().vacuum(into: folder.file("link/a")) }
    #expect(throws: SQLiteError.self) {
      try Database.memory().dump(to: .sqlite(path: folder.file("link/a")))
    }
    // Only the kernel resolves this path, so its bytes are preserved.
    try Database.memory().dump(to: .spon(path: folder.file("link/a.spon")))
    #expect(folder.contains("link/a.spon"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.file("caf\u{fffd}")).isEmpty)
  }

  @Test func `a working directory that isn't UTF-8 throws`() async throws {
    try Self.makeFolders(in: folder.path)
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      #expect(FileManager.default.changeCurrentDirectoryPath(path + "/link"))
      #expect(throws: SQLiteError.self) { try Database(path: "a.sqlite3") }
      #expect(throws: AssetError.self) { try AssetStore(.memory(), folder: "assets") }
      #expect(throws: AssetError.self) { try MagicData(type: .memory).assets.backup(to: "backup") }
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.file("caf\u{fffd}")).isEmpty)
  }

  @Test(arguments: ["HOME", "XDG_DATA_HOME", "TMPDIR"])
  func `a folder in the environment that isn't UTF-8 throws`(variable: String) async throws {
    try Self.makeFolders(in: folder.path)
    await #expect(processExitsWith: .success) {
      [path = folder.path as String, variable = variable as String] in
      let bytes = Array((path + "/caf").utf8CString.dropLast()) + [CChar(bitPattern: 0xe9), 0]
      unsafe unsetenv("XDG_DATA_HOME")
      unsafe setenv(variable, bytes, 1)
      if variable == "TMPDIR" {
        #expect(throws: SQLiteError.self) { try MagicData(type: .memory) }
        #expect(throws: SQLiteError.self) { try MagicData(type: .temporary) }
      } else {
        #expect(throws: SQLiteError.self) { try MagicData() }
        #expect(throws: SQLiteError.self) {
          try Database.inUserDataFolder(named: "a.sqlite3", of: "program")
        }
      }
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.file("caf\u{fffd}")).isEmpty)
  }

  @Test func `a slash separates components even if a combining accent follows`() throws {
    let name = "\u{301}x"
    try FileManager.default.createDirectory(
      atPath: folder.file(name), withIntermediateDirectories: false)
    let magic = try MagicData(path: folder.file(name) + "/\u{301}y")
    #expect(magic.database.path == folder.file(name) + "/\u{301}y/default.sqlite3")
    #expect(magic.assets.path == folder.file(name) + "/\u{301}y/assets")
    let file = try MagicData(path: folder.file(name) + "/\u{301}z.db")
    #expect(file.database.path == folder.file(name) + "/\u{301}z.db")
    #expect(file.assets.path == folder.file(name) + "/\u{301}z.db-assets")
    let database = try Database(path: folder.file("\u{301}w"))
    #expect(database.path == folder.file("\u{301}w"))
  }
}
