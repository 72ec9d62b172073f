import Foundation
import MagicData
import SQLiteCore
import TestSupport
import Testing

/// Runs the tool as a process with `MAGICDATA_KEY`.
@Suite struct ToolEncryptionTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func run(key: String?, _ words: String...) throws -> (status: Int32, text: String) {
    let process = Process()
    process.executableURL = try helperProgram("magicdata")
    process.arguments = words
    var environment = ProcessInfo.processInfo.environment
    environment["MAGICDATA_KEY"] = key
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  /// Runs the tool with `--ask-key` on a pseudoterminal, and types a line when the tool asks.
  private func asking(_ line: String, _ words: String...) throws -> (status: Int32, text: String) {
    let command = try ([helperProgram("magicdata").path] + words + ["--ask-key"])
      .map { "'\($0)'" }.joined(separator: " ")
    let process = Process()
    process.executableURL = URL(filePath: try #require(ProcessTests.script))
    process.arguments = ["-qec", command, "/dev/null"]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    try output.fileHandleForWriting.close()
    var data = Data()
    // What is typed before the question is discarded.
    while !data.contains(Data("Key: ".utf8)),
      let read = try output.fileHandleForReading.read(upToCount: 1), !read.isEmpty
    {
      data += read
    }
    try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    data += try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  @Test(.enabled(if: ProcessTests.script != nil, "the program script is missing"))
  func `the tool asks for the key and doesn't show it`() throws {
    var options = Database.Options()
    if Capabilities.hasEncryption { options.key = Database.Key(passphrase: "horse") }
    try Database(path: folder.file(), options: options).executeMultipleChanges(
      "CREATE TABLE t (a); INSERT INTO t VALUES (1234567)")
    let before = try folder.bytes(of: "data.sqlite3")
    // With SQLCipher, the first key is right.
    let reasons = ["1234567", "the key is wrong", "the key is not valid"]
    for (key, reason) in zip(["horse", "battery", ""], reasons) {
      let result = try asking(key, "query", folder.file(), "SELECT a FROM t")
      #expect(result.text.hasPrefix("Key: "))
      #expect(result.status == (Capabilities.hasEncryption && key == "horse" ? 0 : 1))
      #expect(
        result.text.contains(
          Capabilities.hasEncryption ? reason : "this libsqlite3 cannot encrypt databases"),
        "\(result.text)")
      #expect(!result.text.contains("horse") && !result.text.contains("battery"))
    }
    #expect(try folder.bytes(of: "data.sqlite3") == before)
  }

  @Test(.enabled(if: !Capabilities.hasEncryption, "this SQLite can encrypt"))
  func `without SQLCipher, a key makes the tool fail`() throws {
    let database = try Database(path: folder.file())
    try database.executeChange("CREATE TABLE t (a)")
    let result = try run(key: "horse", "query", folder.file(), "SELECT * FROM t")
    #expect(result.status == 1)
    #expect(result.text.contains("this libsqlite3 cannot encrypt databases"))
    #expect(!result.text.contains("horse"))
    #expect(try run(key: "", "query", folder.file(), "SELECT * FROM t").status == 0)
    try MagicData(path: folder.file("store")).close()
    let sync = try run(key: "horse", "sync", "--once", folder.file("store"), folder.file("shared"))
    #expect(sync.status == 1 && sync.text.contains("this libsqlite3 cannot encrypt databases"))
    #expect(!folder.contains("shared"))
  }

  @Test(.enabled(if: Capabilities.hasEncryption, "this SQLite cannot encrypt"))
  func `an encrypted store is synced with its key`() throws {
    var options = Database.Options()
    options.key = Database.Key(passphrase: "horse")
    let (store, shared) = (folder.file("store"), folder.file("shared"))
    let magic = try MagicData(path: store, options: options)
    let canSync = magic.database.recordsValues
    try magic.close()
    for key in [nil, "wrong"] {
      #expect(try run(key: key, "sync", "--once", store, shared).status == 1)
    }
    let result = try run(key: "horse", "sync", "--once", store, shared)
    #expect(result.status == (canSync ? 0 : 1), "\(result.text)")
    #expect(canSync || result.text.contains("SQLITE_ENABLE_PREUPDATE_HOOK"), "\(result.text)")
  }

  @Test(.enabled(if: Capabilities.hasEncryption, "this SQLite cannot encrypt"))
  func `all commands use the key in the environment`() throws {
    let path = folder.file()
    var options = Database.Options()
    options.key = Database.Key(passphrase: "horse")
    let database = try Database(path: path, options: options)
    try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1234567)")
    try database.close()
    let before = try folder.bytes(of: "data.sqlite3")
    for key in [nil, "wrong"] {
      let result = try run(key: key, "query", path, "SELECT a FROM t")
      #expect(result.status == 1)
      #expect(result.text.contains(key == nil ? "open it with its key" : "the key is wrong"))
    }
    #expect(try folder.bytes(of: "data.sqlite3") == before)
    #expect(try run(key: "horse", "query", path, "SELECT a FROM t").text.contains("1234567"))
    #expect(
      try run(key: "horse", "query", "--write", path, "INSERT INTO t VALUES (2)").status == 0)
    #expect(try run(key: "horse", "check", path).status == 0)
    let copy = folder.file("copy.sqlite3")
    #expect(try run(key: "horse", "backup", path, copy).status == 0)
    #expect(try run(key: "horse", "dump", path, folder.file("dump.spon")).status == 0)
    let restored = folder.file("restored.sqlite3")
    #expect(try run(key: "horse", "restore", folder.file("dump.spon"), restored).status == 0)
    for path in [copy, restored] {
      let rows = try Database(path: path, options: options).rows(
        "SELECT a FROM t ORDER BY a", as: Int.self)
      #expect(rows == [2, 1_234_567])
      #expect(throws: SQLiteError.self) { try Database(path: path) }
    }
    let imported = try run(key: "horse", "import", folder.file("dump.spon"), folder.file("new"))
    #expect(imported.text.contains("import cannot create an encrypted database"))
    #expect(!folder.contains("new"))
  }
}
