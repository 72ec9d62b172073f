import Conformance
import MagicData
import SQLiteCore
import Synchronization
import Testing
import TestSupport

private struct Note: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String

  init() {}
  init(_ text: String) { self.text = text }
}

private struct Page: Record, Equatable, Sendable {
  var id: Int
  var text: String
}

/// Lookups that run on the calling task's thread: ``Database/readBriefly(deadline:_:)``.
@Suite(.everyEngine, .timeLimit(.minutes(40))) struct BriefFetchTests {
  let folder: TestFolder
  let magic: MagicData
  let database: Database

  init() throws {
    var options = Database.Options()
    options.longestReadOnTask = .seconds(3_600)
    folder = try TestFolder()
    magic = try MagicData.at(folder.path + "/store", options: options)
    database = magic.database
  }

  @Test(.requires(.localWork))
  func `an object is looked up on the task's thread`() async throws {
    let note = Note("a")
    try await magic.update(note)
    for _ in 0..<2 { #expect(try await magic.object(of: Note.self, primary: note.id).text == "a") }
    let before = database.readOnTaskCount
    for _ in 0..<10 { #expect(try await magic.object(of: Note.self, primary: note.id).text == "a") }
    #expect(database.readOnTaskCount == before + 10)
    #expect(try await magic.object(of: Note.self, ifPresent: 100) == nil)
    await #expect(throws: MagicError.self) { try await magic.object(of: Note.self, primary: 100) }
    #expect(database.readOnTaskCount == before + 12)
  }

  @Test(.requires(.localWork))
  func `a record is looked up on the task's thread, even concurrently`() async throws {
    try await database.write { try $0.insert(Page(id: 1, text: "a")) }
    for _ in 0..<2 {
      _ = try await database.readBriefly { try $0.object(of: Page.self, primary: 1) }
    }
    let before = database.readOnTaskCount
    #expect(try await database.readBriefly { try $0.object(of: Page.self, primary: 1) }.text == "a")
    #expect(database.readOnTaskCount == before + 1)
    let database = database
    try await withThrowingTaskGroup { group in
      for _ in 0..<20 {
        group.addTask {
          for _ in 0..<50 {
            let pages = (
              try await database.readBriefly { try $0.object(of: Page.self, ifPresent: 1) },
              try await database.readBriefly { try $0.object(of: Page.self, ifPresent: 2) }
            )
            #expect(pages.0?.text == "a" && pages.1 == nil)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `forEach calls its closure once per value, on another thread`() async throws {
    for number in 0..<20 { try await magic.update(Note("\(number)")) }
    for _ in 0..<3 {
      let collected = CollectedTexts()
      try await magic.forEach(Note.all.values(\.$text)) { collected.add($0) }
      #expect(collected.texts == (0..<20).map { "\($0)" })
    }
  }
}

private final class CollectedTexts: Sendable {
  private let stored = Mutex<[String]>([])
  var texts: [String] { stored.withLock { $0 } }
  func add(_ text: String) { stored.withLock { $0.append(text) } }
}
