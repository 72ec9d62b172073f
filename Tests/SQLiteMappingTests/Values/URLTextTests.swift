import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct URLTextTests {
  @Test func `ten thousand URLs survive a round trip`() throws {
    var random = SplitMix64(seed: 71)
    let alphabet = Array("abz09-._~/?#&=%:@é漢 +\"<>|")
    var count = 0
    while count < 10_000 {
      var text = "https://example.org/"
      for _ in 0..<Int.random(in: 0...20, using: &random) {
        text.append(alphabet[.random(in: alphabet.indices, using: &random)])
      }
      guard let url = URL(string: text) else { continue }
      count += 1
      let read = try URL(databaseValue: url.databaseValue)
      if read != url { Issue.record("\(url)") }
    }
  }

  @Test(arguments: ["https://example.org", "file:///tmp/a%20b", "mailto:a@b.c", "a/b?c#d"])
  func `a URL is stored as its absolute string`(text: String) throws {
    let url = try #require(URL(string: text))
    #expect(try url.databaseValue == .text(text))
    #expect(try URL(databaseValue: .text(text)) == url)
  }

  @Test func `a URL with a base throws`() throws {
    let base = try #require(URL(string: "https://example.org/a/"))
    let url = try #require(URL(string: "b", relativeTo: base))
    #expect(throws: SQLiteError.self) { try url.databaseValue }
    #expect(try url.absoluteURL.databaseValue == .text("https://example.org/a/b"))
  }

  @Test(arguments: [Value.null, .integer(1), .blob([97]), .text(""), .text("a b")])
  func `a value of another form throws`(value: Value) {
    #expect(throws: SQLiteError.self) { try URL(databaseValue: value) }
  }
}
