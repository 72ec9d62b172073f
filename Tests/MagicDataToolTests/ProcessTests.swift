import Foundation
import MagicData
import Platform
import Terminal
import Testing
import TestSupport

/// Tests the `magicdata` program with a pipe and with a pseudoterminal.
@Suite struct ProcessTests {
  let fixture: ToolFixture

  init() throws { fixture = try ToolFixture() }

  /// Returns the path of a program that is built next to the tests.
  private func program(_ name: String = "magicdata") throws -> String {
    try helperProgram(name).path
  }

  private func start(
    _ program: String, _ words: [String], output: Any, errors: Any = FileHandle.nullDevice
  ) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = words
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    return process
  }

  private func start(
    _ words: [String], output: Any, errors: Any = FileHandle.nullDevice
  ) throws -> Process {
    try start(program(), words, output: output, errors: errors)
  }

  /// The path of `script`, which runs another program on a pseudoterminal, or nil if it is missing.
  static let script: String? = {
    #if os(Linux)
      ["/usr/bin/script", "/bin/script"].first { FileManager.default.isExecutableFile(atPath: $0) }
    #else
      nil
    #endif
  }()

  /// Runs the program on a pseudoterminal until it exits, and returns its output.
  private func onTerminal(_ words: String...) throws -> (status: Int32, text: String) {
    let command = try ([program()] + words).map {
      "'" + $0.replacing("'", with: "'\\''") + "'"
    }.joined(separator: " ")
    let pipe = Pipe()
    let script = try #require(Self.script)
    let process = try start(script, ["-qec", command, "/dev/null"], output: pipe)
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let text = String(decoding: data, as: UTF8.self).replacing("\r\n", with: "\n")
    return (process.terminationStatus, text)
  }

  private func throughPipe(_ words: String...) throws -> (status: Int32, text: String) {
    let pipe = Pipe()
    let process = try start(words, output: pipe)
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  @Test(.enabled(if: ProcessTests.script != nil))
  func `output to a terminal is a table, and output to a pipe is CSV`() throws {
    let sql = "SELECT id, name FROM Person WHERE id < 2"
    let table = try onTerminal("query", fixture.store, sql)
    #expect(table.status == 0)
    #expect(table.text == "id  name\n──  ────\n 1  Ada\n1 row\n")
    let lines = try throughPipe("query", fixture.store, sql)
    #expect(lines.status == 0)
    #expect(lines.text == "id,name\n1,Ada\n")
  }

  @Test(.enabled(if: ProcessTests.script != nil))
  func `progress is shown only on a terminal and is cleared at the end`() throws {
    let copy = fixture.folder.path + "/copy"
    let onTerminal = try onTerminal("backup", fixture.store, copy)
    #expect(onTerminal.status == 0)
    #expect(onTerminal.text.hasPrefix("\r\u{1B}[Kcopying assets: 0 of 3"))
    #expect(onTerminal.text.hasSuffix("\r\u{1B}[K"))
    #expect(try throughPipe("backup", fixture.store, copy + "2").text == "")
  }

  @Test func `a closed pipe ends the program without an error message`() throws {
    let (output, errors) = (Pipe(), Pipe())
    let process = try start(
      [
        "query", fixture.store,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
      ], output: output, errors: errors)
    _ = try output.fileHandleForReading.read(upToCount: 10)
    try output.fileHandleForReading.close()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 141)
    try errors.fileHandleForWriting.close()
    #expect(try errors.fileHandleForReading.readToEnd() ?? Data() == Data())
  }

  @Test func `an argument that isn't UTF-8 is rejected, not repaired`() throws {
    let errors = Pipe()
    let process = try start(
      "/bin/sh",
      [
        "-c", #"exec "$0" backup "$1" "$2/$(printf '\377')""#, try program(), fixture.store,
        fixture.folder.path,
      ], output: FileHandle.nullDevice, errors: errors)
    let text = String(
      decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 2)
    #expect(text.contains("an argument is not valid UTF-8"))
    #expect(try fixture.names(in: fixture.folder.path) == ["store"])
  }

  @Test func `Control-C ends an endless query`() throws {
    let output = Pipe()
    let process = try start(
      [
        "query", fixture.store,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 99999 OR i < 0",
      ], output: output)
    // After the first rows, the query runs endlessly without finding another one.
    _ = try output.fileHandleForReading.read(upToCount: 10)
    process.interrupt()
    _ = try output.fileHandleForReading.readToEnd()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 130)
  }

  @Test func `watch reports commits, and Control-C ends it with status 0`() throws {
    let output = Pipe()
    let process = try start(["watch", fixture.store], output: output)
    defer { process.terminate() }
    var text = ""
    func readUntil(_ words: String) {
      while !text.contains(words) {
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { break }
        text += String(decoding: data, as: UTF8.self)
      }
    }
    // The program prints the header once it has read the initial state.
    readUntil("change\n")
    let database = try fixture.database()
    try database.executeChange("INSERT INTO Person (name, photo) VALUES ('Dan', '')")
    readUntil("Person,4,1")
    #expect(text.contains("Z,Person,4,1"))
    process.interrupt()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `sync reports what it exchanges until a signal ends it`(signal: Int32) throws {
    let output = Pipe()
    let folder = fixture.folder.path + "/shared"
    let process = try start(["sync", "--every", "1", fixture.store, folder], output: output)
    defer { process.terminate() }
    var text = ""
    func readUntil(_ words: String) {
      while !text.contains(words) {
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { break }
        text += String(decoding: data, as: UTF8.self)
      }
    }
    readUntil("conflicts,0")
    #expect(text.hasPrefix("time,event,count,note\n"))
    #expect(text.contains("Z,sent,"))
    // The folder becomes unusable, and then usable again.
    try FileManager.default.moveItem(atPath: folder, toPath: folder + "2")
    try Data().write(to: URL(filePath: folder))
    readUntil("Z,problem,,")
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.moveItem(atPath: folder + "2", toPath: folder)
    readUntil("Z,solved,,")
    #expect(text.contains("Z,solved,,the folder cannot be used: "))
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    #expect(
      try fixture.database().read { try $0.firstRow("PRAGMA integrity_check", as: String.self) }
        == "ok")
  }

  @Test func `sync reports a full folder, and sends the rest when it has room`() throws {
    let magic = try MagicData(path: fixture.store)
    try magic.update(Person("Big", photo: String(repeating: "photo ", count: 200_000)))
    try magic.close()
    let folder = fixture.folder.path + "/shared"
    // A limit of the size of files, which only the photo exceeds.
    let output = Pipe()
    let process = try start(
      "/bin/sh",
      [
        "-c", #"trap "" XFSZ; ulimit -f 1000; exec "$0" sync --once "$1" "$2""#, try program(),
        fixture.store, folder,
      ], output: output)
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let text = String(decoding: data, as: UTF8.self)
    #expect(process.terminationReason == .exit && process.terminationStatus == 1)
    #expect(text.contains("problem,,the folder cannot be used: "), "\(text)")
    #expect(try fixture.names(in: folder).allSatisfy { !$0.contains("pending") })

    let (status, rest) = try throughPipe("sync", "--once", fixture.store, folder)
    #expect(status == 0 && !rest.contains("problem"), "\(rest)")
    #expect(fixture.run("check", fixture.store).status == 0)
  }

  #if os(Linux)
    @Test func `info shows the process that has the store open`() throws {
      let magic = try MagicData(path: fixture.store)
      // SQLite locks the file when it is first read.
      _ = try magic.database.executeQuery("SELECT * FROM Person")
      // With this many locks, the kernel returns the list in several pieces, the latest locks
      // first.
      try Data().write(to: URL(filePath: fixture.store + "/other"))
      let file = try FileHandle(forUpdating: URL(filePath: fixture.store + "/other"))
      defer { try? file.close() }
      for byte in 0..<200 {
        var lock = flock(
          l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 1 << 20 + byte * 2, l_len: 1,
          l_pid: 0)
        #expect(unsafe fcntl(file.fileDescriptor, F_SETLK, &lock) == 0)
      }
      let result = try throughPipe("info", fixture.store)
      #expect(result.status == 0)
      #expect(result.text.contains(",\(getpid()),,has it open"))
      try magic.database.close()
      #expect(try !throughPipe("info", fixture.store).text.contains("\nlock,"))
    }
  #endif

  @Test(arguments: [
    ["--rows"], ["--rows", "many"], ["--rows", "-1"], ["--cows", "1"], ["a", "b", "c"],
  ])
  func `the sample program Import rejects an invalid command line`(words: [String]) throws {
    let (output, errors) = (Pipe(), Pipe())
    let process = try start(program("Import"), words, output: output, errors: errors)
    process.waitUntilExit()
    #expect(process.terminationStatus == 2)
    try output.fileHandleForWriting.close()
    try errors.fileHandleForWriting.close()
    #expect(try output.fileHandleForReading.readToEnd() ?? Data() == Data())
    let words = try errors.fileHandleForReading.readToEnd() ?? Data()
    #expect(
      String(decoding: words, as: UTF8.self) == "Usage: Import [--rows N] [FILE [DATABASE]]\n")
  }
}
