import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct UUIDStrategyTests {
  @Test(arguments: UUIDStrategy.allCases)
  func `ten thousand UUIDs survive a round trip`(strategy: UUIDStrategy) throws {
    var random = SplitMix64(seed: 51)
    for _ in 0..<10_000 {
      let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
      let uuid = try #require(UUID(bytes: bytes))
      let read = try strategy.uuid(from: strategy.value(for: uuid))
      if read != uuid { Issue.record("\(uuid)") }
      let text = UUIDStrategy.text.value(for: uuid)
      if text != .text(uuid.uuidString) { Issue.record("\(uuid) as \(text)") }
    }
  }

  @Test func `uppercase and lowercase are read`() throws {
    let text = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
    let uuid = try #require(UUID(uuidString: text))
    #expect(UUIDStrategy.text.value(for: uuid) == .text(text))
    #expect(try UUIDStrategy.text.uuid(from: .text(text.lowercased())) == uuid)
    #expect(UUIDStrategy.lowercaseText.value(for: uuid) == .text(text.lowercased()))
    #expect(try UUIDStrategy.lowercaseText.uuid(from: .text(text)) == uuid)
  }

  static let wrong: [(UUIDStrategy, Value)] = [
    (.text, .text("")), (.text, .text("E621E1F8-C36C-495A-93FC-0C247A3E6E5")),
    (.text, .text("E621E1F8-C36C-495A-93FC-0C247A3E6E5FF")),
    (.text, .text("E621E1F8-C36C-495A-93FC00C247A3E6E5F")),
    (.text, .text("E621E1F8-C36C-495A-93FC-0C247A3E6-5F")),
    (.text, .text("E621E1F8C36C-495A-93FC-0C247A3E6E5F0-")),
    (.text, .text("G621E1F8-C36C-495A-93FC-0C247A3E6E5F")),
    (.text, .text("{E621E1F8-C36C-495A-93FC-0C247A3E6E5F}")),
    (.lowercaseText, .text("e621e1f8-c36c-495a-93fc-0c247a3e6e5")), (.lowercaseText, .null),
    (.lowercaseText, .blob(Array(repeating: 0, count: 16))),
    (.text, .null), (.text, .blob(Array(repeating: 0, count: 16))),
    (.blob, .blob([])), (.blob, .blob(Array(repeating: 0, count: 17))), (.blob, .text("E621")),
  ]

  @Test(arguments: wrong)
  func `a value of another form throws`(strategy: UUIDStrategy, value: Value) {
    let error = #expect(throws: SQLiteError.self) { try strategy.uuid(from: value) }
    #expect(error?.code == .mismatch)
  }
}
