import Foundation
import Terminal
import Testing
import TestSupport
import Tour

@Suite struct OutputTests {
  let folder: TestFolder

  init() throws {
    folder = try TestFolder()
  }

  @Test(arguments: [0, 1, 1_000_000])
  func `text reaches the file immediately and completely`(count: Int) throws {
    let text = String(repeating: "é\n", count: count)
    try folder.write("", to: "file")
    let url = URL(fileURLWithPath: folder.path + "/file")
    let file = try FileHandle(forWritingTo: url)
    let output = Output(descriptor: file.fileDescriptor)
    try output.write(text)
    try output.write("end")
    #expect(try Data(contentsOf: url) == Data((text + "end").utf8))
    try file.close()
  }

  @Test func `a failed write throws an error with the system's message`() throws {
    let file = try #require(FileHandle(forReadingAtPath: "/dev/null"))
    let error = #expect(throws: OutputError.self) {
      try Output(descriptor: file.fileDescriptor).write("x")
    }
    #expect(error?.description == "cannot write the output: Bad file descriptor")
    try file.close()
  }

  @Test func `a file isn't a terminal`() throws {
    let file = try #require(FileHandle(forReadingAtPath: "/dev/null"))
    #expect(!Output(descriptor: file.fileDescriptor).isTerminal)
    try file.close()
  }

  @Test(
    .enabled("a pseudoterminal can be opened") {
      FileHandle(forUpdatingAtPath: "/dev/ptmx") != nil
    })
  func `a pseudoterminal is a terminal`() throws {
    let file = try #require(FileHandle(forUpdatingAtPath: "/dev/ptmx"))
    #expect(Output(descriptor: file.fileDescriptor).isTerminal)
    try file.close()
  }
}
