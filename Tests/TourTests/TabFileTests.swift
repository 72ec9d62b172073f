import Foundation
import Terminal
import Testing
import Tour

@Suite struct TabFileTests {
  @Test(arguments: [
    "a\tb\nc\n", "a\tb\r\nc\r\n", "a\tb\nc", "# first\na\tb\n\n#\t\nc\n", "\r\n\na\tb\r\nc",
  ])
  func `columns are read with any line ending, comments and blank lines`(text: String) throws {
    #expect(try columns(of: Data(text.utf8)) == [["a", "b"], ["c"]])
  }

  @Test func `empty columns are kept`() throws {
    #expect(try columns(of: Data("\ta\t\t\n".utf8)) == [["", "a", "", ""]])
  }

  @Test(arguments: ["", "\n", "# only a comment"])
  func `a file without entries is empty`(text: String) throws {
    #expect(try columns(of: Data(text.utf8)) == [])
  }

  @Test func `a slice of data is read from its start index`() throws {
    #expect(try columns(of: Data("xx\na\tb\n".utf8).dropFirst(3)) == [["a", "b"]])
  }

  @Test(arguments: [1, 2, 7])
  func `a rejected line is reported with its path and line number`(line: Int) {
    let text = "# a comment\r\n" + String(repeating: "good\r\n", count: line) + "bad\r\ngood\r\n"
    let file = TabFile(path: "/some/file.tab", bytes: Data(text.utf8))
    let error = #expect(throws: ZoneDatabaseError.self) {
      try file.entries { columns throws(LineProblem) in
        if columns == ["bad"] { throw LineProblem("it is bad") }
      }
    }
    #expect(error?.description == "/some/file.tab:\(line + 2): it is bad")
  }

  @Test(arguments: [[0xFF], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0x23, 0x20, 0xFC]])
  func `invalid UTF-8 throws, even in comments`(bytes: [UInt8]) {
    let error = ZoneDatabaseError.damagedLine(path: "f", line: 2, problem: "invalid UTF-8")
    #expect(throws: error) { try columns(of: Data("AD\tAndorra\n".utf8) + bytes) }
  }

  @Test(arguments: ["a\0b", "a\u{1B}[31mb", "a\rb", "a\u{85}b", "a\u{7F}b"])
  func `a control character throws and is escaped in the error`(text: String) {
    let problem = "a control character in \(text.quoted)"
    #expect(throws: ZoneDatabaseError.damagedLine(path: "f", line: 1, problem: problem)) {
      try columns(of: Data(text.utf8))
    }
  }

  private func columns(of bytes: Data) throws -> [[String]] {
    try TabFile(path: "f", bytes: bytes).entries { $0 }
  }
}
