import Foundation
import MagicData
import MagicHistory
import SQLiteHistory
import Testing
import TestSupport
import UndoWorkload

@Suite(.timeLimit(.minutes(40))) struct ObjectTrailTests {
  let folder: TestFolder
  let magic: MagicData

  init() throws {
    folder = try TestFolder()
    magic = try MagicData(path: folder.path)
  }

  @Test func `a trail contains the author of each change of an object and its links`() async throws
  {
    let magic = magic
    try await magic.keepTrail()
    let before = Date()
    let ann = Author("ann")
    try await ChangeAuthor.$current.withValue("bob") { try await magic.update(ann) }
    try await ChangeAuthor.$current.withValue("cid") {
      ann.name = "Anna"
      ann.friends = [ann]
      try await magic.update(ann)
    }
    try await magic.database.executeChange("UPDATE Author SET age = 3")
    try await magic.update(Author("other"))
    let entries = try await magic.trail(of: Author.self, zIndex: 1)
    #expect(entries.map(\.author) == [nil, "cid", "bob"])
    #expect(entries.map(\.kind) == [.updated, .updated, .inserted])
    #expect(
      entries[0].changes == [.init(property: "age", old: .null, new: .integer(3))])
    #expect(
      entries[1].changes == [
        .init(property: "name", old: .text("ann"), new: .text("Anna")),
        .init(property: "friends", old: nil, new: .integer(1)),
      ])
    #expect(entries[2].changes.contains(.init(property: "name", old: nil, new: .text("ann"))))
    #expect(entries.allSatisfy { $0.date >= before && $0.date <= Date() })
    try await magic.remove(ann)
    let last = try await magic.trail(of: Author.self, zIndex: 1)
    #expect(last.count == 4)
    #expect(last.first?.kind == .deleted)
    #expect(
      last.first?.changes.contains(.init(property: "friends", old: .integer(1), new: nil)) == true)
  }

  @Test func `a trail contains text that isn't UTF-8 as a blob`() throws {
    let trail = try magic.keepTrail()
    let shelf = Shelf("old")
    try magic.update(shelf)
    try magic.database.executeChange("UPDATE Shelf SET place = CAST(X'FF' AS TEXT)")
    #expect(try magic.trail(of: shelf).first?.changes.map(\.new) == [.blob([0xFF])])
    try magic.database.executeChange("UPDATE Shelf SET place = 'new'")
    let change = try magic.trail(of: shelf).first?.changes.first
    #expect(change?.old == .blob([0xFF]) && change?.new == .text("new"))
    withExtendedLifetime(trail) {}
  }

  @Test func `a trail omits what was rolled back and contains what was undone`() throws {
    try magic.keepTrail()
    let history = try magic.history()
    let ann = Author("ann")
    try magic.update(ann)
    #expect(throws: CancellationError.self) {
      try magic.transaction {
        ann.name = "x"
        try magic.update(ann)
        throw CancellationError()
      }
    }
    try ChangeAuthor.$current.withValue("bob") {
      try magic.undoable("Rename") {
        try magic.updateAll(Author.all, set: [.set(\.$name, to: "y")])
      }
    }
    try ChangeAuthor.$current.withValue("cid") { _ = try history.undo() }
    let entries = try magic.trail(of: ann)
    #expect(entries.map(\.author) == ["cid", "bob", nil])
    #expect(
      entries[0].changes == [.init(property: "name", old: .text("y"), new: .text("ann"))])
  }

  @Test func `concurrent tasks have their own authors, even in grouped writes`() async throws {
    var options = Database.Options()
    options.groupCommit.includesAsyncWrites = true
    let magic = try await MagicData(path: "\(folder.path)/grouped", options: options)
    try await magic.keepTrail()
    try await magic.update((0..<8).map { Author("\($0)") })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...8 {
        group.addTask {
          try await ChangeAuthor.$current.withValue("task \(number)") {
            for age in 0..<5 {
              try await magic.database.write { connection in
                try connection.executeChange("UPDATE Author SET age = \(age) WHERE id = \(number)")
              }
              try await magic.database.writeInGroup { connection in
                try connection.executeChange("UPDATE Author SET age = -1 WHERE id = \(number)")
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    for number in 1...8 {
      let entries = try await magic.trail(of: Author.self, zIndex: number)
      #expect(entries.count == 11)
      #expect(entries.dropLast().allSatisfy { $0.author == "task \(number)" })
    }
  }

  @Test
  func `a trail is pruned by count, by age and by call, and survives reopening`()
    throws
  {
    do {
      let magic = try MagicData(path: folder.path)
      try magic.keepTrail(maximumCount: 10)
      let ann = Author("ann")
      for number in 0..<30 {
        ann.age = number
        try magic.update(ann)
      }
      try magic.database.close()
    }
    let entries = try magic.trail(of: Author.self, zIndex: 1)
    #expect(entries.count == 10)
    #expect(
      entries.first?.changes == [.init(property: "age", old: .integer(28), new: .integer(29))])
    let trail = try magic.keepTrail(maximumAge: .seconds(3_600))
    try magic.database.executeChange("UPDATE magicdata_trail SET date = date - 10000")
    try magic.updateAll(Author.all, set: [.set(\.$age, to: 7)])
    #expect(try magic.trail(of: Author.self, zIndex: 1).count == 1)
    #expect(try trail.prune(before: Date(timeIntervalSinceNow: 100)) == 1)
    #expect(try magic.trail(of: Author.self, zIndex: 1).isEmpty)
    #expect(throws: MagicError.self) { try magic.trail(of: Author("new")) }
  }
}
