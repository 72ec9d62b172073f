import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

private struct Entry: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String
  @OptionalMagicValue var tag: Tag?

  init() {}
  init(_ text: String) { self.text = text }
}

private struct Tag: MagicObject {
  @MagicValue var name: String
  init() {}
  init(_ name: String) { self.name = name }
}

@Suite(.everyEngine, .timeLimit(.minutes(40))) struct ObservationTests {
  let folder: TestFolder
  let magic: MagicData

  init() async throws {
    folder = try TestFolder()
    magic = try await MagicData.at(folder.path)
  }

  @Test func `an observation yields objects immediately and after each commit`() async throws {
    var iterator = magic.observe(Entry.where(\.$text != "hidden")).makeAsyncIterator()
    #expect(try await iterator.next()?.map(\.text) == [])
    try await magic.update(Entry("a"))
    #expect(try await iterator.next()?.map(\.text) == ["a"])
    try await magic.update([Entry("b"), Entry("hidden")])
    try await magic.update(Entry("c"))
    #expect(try await iterator.next()?.map(\.text) == ["a", "b", "c"])
  }

  @Test func `a change of a related object is observed`() async throws {
    let entry = Entry("a")
    let tag = Tag("old")
    entry.tag = tag
    try await magic.update(entry)
    var iterator = magic.observe(Entry.all).makeAsyncIterator()
    #expect(try await iterator.next()?.first?.tag?.name == "old")
    tag.name = "new"
    try await magic.update(tag)
    #expect(try await iterator.next()?.first?.tag?.name == "new")
  }

  @Test func `commits of another store on the same path are observed`() async throws {
    let other = try await MagicData.at(folder.path)
    var iterator = magic.observe(Entry.all).makeAsyncIterator()
    #expect(try await iterator.next()?.isEmpty == true)
    try await other.update(Entry("from the other"))
    #expect(try await iterator.next()?.map(\.text) == ["from the other"])
  }

  @Test(.requires(.files), .needsShell)
  func `commits of another process are observed`() async throws {
    try await magic.update(Entry("a"))
    var iterator = magic.observe(Entry.all).makeAsyncIterator()
    #expect(try await iterator.next()?.count == 1)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
    process.arguments = [
      "\(folder.path)/default.sqlite3", "INSERT INTO Entry (text) VALUES ('shell')",
    ]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    #expect(try await iterator.next()?.map(\.text) == ["a", "shell"])
  }

  @Test func `commits to other types aren't reported`() async throws {
    try await magic.update(Entry("a"))
    var changes = magic.changes(of: Tag.self).makeAsyncIterator()
    try await magic.update(Entry("b"))
    try await magic.update(Tag("x"))
    #expect(try await changes.next() != nil)
    let later = magic.changes(of: Tag.self)
    try await magic.update(Entry("c"))
    let waiting = Task {
      var changes = later.makeAsyncIterator()
      return try await changes.next() != nil
    }
    waiting.cancel()
    #expect(try await waiting.value == false)
  }

  @Test func `a commit before the loop starts is reported`() async throws {
    let changes = magic.changes(of: Entry.self)
    try await magic.update(Entry("a"))
    var iterator = changes.makeAsyncIterator()
    #expect(try await iterator.next() != nil)
  }

  @Test func `an observation never misses the last state`() async throws {
    let magic = magic
    let reader = Task {
      for try await entries in magic.observe(Entry.all) where entries.count == 200 { return true }
      return false
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { for number in 0..<50 { try await magic.update(Entry("\(number)")) } }
      }
      try await group.waitForAll()
    }
    #expect(try await reader.value)
  }

  @Test func `closing the database ends the loop with an error`() async throws {
    var iterator = magic.observe(Entry.all).makeAsyncIterator()
    _ = try await iterator.next()
    try await magic.update(Entry("a"))
    try await magic.database.close()
    await #expect(throws: MagicError.closed) { try await iterator.next() }
  }
}
