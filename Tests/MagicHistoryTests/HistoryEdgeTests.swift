import Foundation
import MagicData
import MagicHistory
import SQLiteHistory
import Synchronization
import Testing
import TestSupport
import UndoWorkload

/// A type with objects that require each other.
private final class Knot: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var next: Knot
  init() {}
  init(_ id: String) { self.id = id }
}

private struct Note: MagicObject {
  @MagicValue var text: String
  init() {}
  init(_ text: String) { self.text = text }
}

/// Tests edge cases of histories and deltas: cancelled tasks, closed stores and missing columns.
@Suite(.timeLimit(.minutes(40))) struct HistoryEdgeTests {
  let folder: TestFolder
  let magic: MagicData

  init() throws {
    folder = try TestFolder()
    magic = try MagicData(path: folder.path)
  }

  @Test(arguments: [HistoryKeeping.inMemory, .inStore])
  func `a group in a savepoint that raw SQL rolls back isn't in the history`(
    keeping: HistoryKeeping
  ) throws {
    try RandomEditor.prepare(magic)
    let history = try magic.history(keeping: keeping)
    try magic.undoable("first") { try magic.update(Author("first")) }
    let saved = Author("second")
    try magic.database.withoutTransaction { connection in
      try connection.executeChange("BEGIN")
      try magic.undoable("outer") { try magic.update(Author("outer")) }
      try connection.executeChange("SAVEPOINT s")
      try magic.undoable("second") { try magic.update(saved) }
      try connection.executeChange("ROLLBACK TO s")
      try magic.undoable("third") { try magic.update(Author("third")) }
      try connection.executeChange("COMMIT")
    }
    #expect(history.undoNames == ["third", "outer", "first"])
    // The object is new again and doesn't use another object's row.
    try magic.update(saved)
    #expect(try magic.count(of: Author.self) == 4)
    while try history.undo() != nil {}
    #expect(try magic.count(of: Author.self) == 1)
  }

  @Test func `an object fetched in a savepoint of raw SQL is new after ROLLBACK TO`() throws {
    var found: [Note] = []
    try magic.database.withoutTransaction { connection in
      try connection.executeChange("BEGIN")
      try magic.update(Note("first"))
      try connection.executeChange("SAVEPOINT s")
      try magic.update(Note("second"))
      found = try magic.objects(of: Note.self)
      try connection.executeChange("ROLLBACK TO s")
      try magic.update(Note("third"))
      try connection.executeChange("COMMIT")
    }
    #expect(found.count == 2)
    for author in found { try magic.update(author) }
    #expect(try magic.objects(of: Note.self).map(\.text).sorted() == ["first", "second", "third"])
  }

  @Test(arguments: [HistoryKeeping.inMemory, .inStore])
  func `groups of cancelled tasks are atomic`(
    keeping: HistoryKeeping
  ) async throws {
    let magic = magic
    try RandomEditor.prepare(magic)
    let history = try await magic.history(limit: 1_000, keeping: keeping)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<25 {
            let writing = Task {
              try await magic.undoable("\(task) \(number)") {
                for part in 0..<3 { try magic.update(Author("\(task) \(number) \(part)")) }
              }
            }
            for _ in 0..<number % 7 { await Task.yield() }
            if number % 2 == 0 { writing.cancel() }
            _ = await writing.result
          }
        }
      }
      try await group.waitForAll()
    }
    let count = history.undoNames.count
    #expect(count >= 48)
    #expect(try await magic.count(of: Author.self) == count * 3)
    while try await history.undo() != nil {}
    #expect(try await magic.count(of: Author.self) == 0)
    while try await history.redo() != nil {}
    #expect(try await magic.count(of: Author.self) == count * 3)
  }

  @Test(arguments: [HistoryKeeping.inMemory, .inStore])
  func `undo changes nothing if its closure throws or returns an invalid resolution`(
    keeping: HistoryKeeping
  ) throws {
    let history = try magic.history(keeping: keeping)
    let (ann, bob) = (Author("ann"), Author("bob"))
    try magic.update([ann, bob])
    try magic.undoable("Rename") {
      ann.name = "Anna"
      bob.name = "Bobby"
      try magic.update([ann, bob])
    }
    try magic.database.executeChange("UPDATE Author SET name = 'Bo' WHERE name = 'Bobby'")
    let before = try Dump(magic)
    #expect(throws: CancellationError.self) { try history.undo { _ in throw CancellationError() } }
    #expect(throws: PatchError.self) { try history.undo { _ in .abort } }
    #expect(throws: SQLiteError.self) { try history.undo { _ in .set(["nothing": .null]) } }
    #expect(try Dump(magic) == before)
    #expect(history.undoName == "Rename" && !history.canRedo)
    try history.undo { _ in .set(["name": .text("B.")]) }
    #expect(try magic.objects(of: Author.self).map(\.name) == ["ann", "B."])
    try history.redo()
    #expect(try Dump(magic) == before)
  }

  @Test func `a closed store throws, and its history remains in the file`() throws {
    do {
      let magic = try MagicData(path: folder.path)
      let history = try magic.history(keeping: .inStore)
      try magic.undoable("Ann") { try magic.update(Author("ann")) }
      try magic.database.close()
      #expect(throws: (any Error).self) { try history.undo() }
      #expect(throws: (any Error).self) {
        try magic.undoable("Bob") { try magic.update(Author("bob")) }
      }
      #expect(throws: (any Error).self) { try magic.patch { try magic.update(Author("bob")) } }
      #expect(history.undoNames == ["Ann"])
    }
    let history = try magic.history(keeping: .inStore)
    #expect(try history.undo() == "Ann")
    #expect(try magic.count(of: Author.self) == 0)
  }

  @Test func `a stored history survives a migration, and undo throws for renamed columns`()
    throws
  {
    do {
      let magic = try MagicData(path: folder.path)
      _ = try magic.history(keeping: .inStore)
      let note = Note("one")
      try magic.update([note, Note("two")])
      try magic.undoable("Remove") { try magic.remove(note) }
      try magic.undoable("Shelf") { try magic.update(Shelf("hall")) }
      try magic.database.close()
    }
    try magic.migrate([
      Migration("shelves have names", .renameProperty("place", to: "name", of: "Shelf"))
    ])
    let history = try magic.history(keeping: .inStore)
    let error = try #require(throws: PatchError.self) { try history.undo() }
    #expect("\(error)".contains("place"))
    #expect(history.undoNames == ["Shelf", "Remove"])
    try magic.migrate([
      Migration("shelves have names", .renameProperty("place", to: "name", of: "Shelf")),
      Migration("and places", .renameProperty("name", to: "place", of: "Shelf")),
    ])
    #expect(try history.undo() == "Shelf")
    #expect(try history.undo() == "Remove")
    #expect(try magic.objects(of: Note.self).map(\.text) == ["one", "two"])
  }

  @Test func `delta readers that start during concurrent writes miss nothing`() async throws {
    let magic = magic
    let other = try await MagicData(path: folder.path)
    try await magic.update(Author("first"))
    let readers = (0..<3).map { reader in
      Task {
        for _ in 0..<reader * 20 { await Task.yield() }
        var names: [Int: String] = [:]
        for try await changes in magic.deltas(of: Author.self, including: .current) {
          for change in changes {
            switch change {
            case .current(let authors):
              for author in authors { names[author.zIndex] = try author[\.$name] }
            case .inserted(let author):
              let name: String = try author[\.$name]
              let before = names.updateValue(name, forKey: author.zIndex)
              #expect(before == nil)
            case .updated(let old, let new, _):
              let (name, next): (String, String) = (try old[\.$name], try new[\.$name])
              let before = names.updateValue(next, forKey: new.zIndex)
              #expect(before == name)
            case .deleted(let author):
              let name: String = try author[\.$name]
              let before = names.removeValue(forKey: author.zIndex)
              #expect(before == name)
            case .overflow, .replaced, .unreadable: Issue.record("\(change)")
            }
          }
          if names.values.contains("last") { break }
        }
        return names
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (writer, store) in [magic, other, magic].enumerated() {
        group.addTask {
          for number in 0..<60 {
            let author = Author("\(writer) \(number)")
            try await store.update(author)
            author.name += "!"
            try await store.update(author)
            if number % 3 == 0 { try await store.remove(author) }
          }
        }
      }
      try await group.waitForAll()
    }
    try await magic.update(Author("last"))
    var present: [Int: String] = [:]
    for author in try await magic.objects(of: Author.self) { present[author.id] = author.name }
    #expect(present.count == 122)
    for reader in readers {
      let names = try await reader.value
      #expect(names == present)
    }
  }

  @Test func `readers that never read, or are released, don't block writers`() async throws {
    let magic = magic
    var sequences = (0..<20).map { _ in magic.deltas(of: Author.self, limit: 1_000) }
    var iterators = sequences.map { $0.makeAsyncIterator() }
    for number in 0..<50 { try await magic.update(Author("\(number)")) }
    guard case .overflow? = try await iterators[0].next()?.first else {
      Issue.record("expected overflow")
      return
    }
    sequences = []
    iterators = []
    try await magic.update(Author("last"))
    #expect(try await magic.count(of: Author.self) == 51)
  }

  @Test func `a cycle of objects can be removed by one call and restored`() throws {
    let history = try magic.history()
    let knots = ["a", "b", "c"].map { Knot($0) }
    for (index, knot) in knots.enumerated() { knot.next = knots[(index + 1) % 3] }
    try magic.update(knots)
    let before = try Dump(magic)
    #expect(throws: MagicError.self) { try magic.remove(knots[0]) }
    #expect(throws: MagicError.self) { try magic.remove(contentsOf: knots.dropLast()) }
    #expect(try Dump(magic) == before)
    let removed = try magic.undoable("Remove") { try magic.remove(contentsOf: knots) }
    #expect(removed == 3)
    #expect(try magic.count(of: Knot.self) == 0)
    try history.undo()
    #expect(try Dump(magic) == before)
    try history.redo()
    try history.undo()
    try magic.transaction {
      let all = try magic.removeAll(Knot.all)
      #expect(all == 3)
    }
    #expect(try magic.count(of: Knot.self) == 0)
    for knot in knots { knot.next = knot }
  }
}
