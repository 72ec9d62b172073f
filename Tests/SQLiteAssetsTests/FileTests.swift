import SQLiteAssets
import SystemFiles
import Testing
import TestSupport

@Suite struct FileTests {
  let temporary: TestFolder
  let operations = FaultyFileOperations()
  let folder: Folder
  let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  init() throws {
    temporary = try TestFolder()
    folder = try Folder.open(path: temporary.path, operations)
  }

  private func write() throws -> File {
    try folder.makeFile("file").write(unsafe bytes.span.bytes)
    return try #require(try folder.file("file"))
  }

  @Test func `written content is read back, whole and from the middle`() throws {
    let file = try write()
    #expect(try file.status().size == 10_000)
    #expect(try file.read(10_000, at: 0) == bytes)
    #expect(try file.read(10, at: 5_000) == Array(bytes[5_000..<5_010]))
  }

  @Test func `a read past the end returns only the existing bytes`() throws {
    let file = try write()
    #expect(try file.read(20, at: 9_990) == Array(bytes[9_990...]))
    #expect(try file.read(20, at: 10_000) == [])
  }

  @Test(arguments: [1, 7, 4_096])
  func `short reads and writes are continued`(longest: Int) throws {
    operations.follow(.init(longest: longest))
    let file = try write()
    #expect(try file.read(10_000, at: 0) == bytes)
    #expect(operations.log.count { $0 == "write" } == (9_999 + longest) / longest)
  }

  @Test func `calls that a signal interrupts are repeated`() throws {
    operations.follow(.init(interruptions: 3))
    let file = try write()
    try file.sync()
    #expect(try file.read(10_000, at: 0) == bytes)
  }

  @Test func `a failed write, read or sync throws`() throws {
    for call in ["write", "pread", "fsync"] {
      operations.follow(.init(failing: 0, calls: [call]))
      let error = #expect(throws: AssetError.self) {
        defer { _ = try? folder.remove("file") }
        let file = try write()
        try file.sync()
        _ = try file.read(1, at: 0)
      }
      #expect(error == .system(call: call, path: "\(temporary.path)/file", number: 5))
    }
  }
}
