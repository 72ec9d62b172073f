import Foundation
import MagicData
import MagicHistory
import SQLiteHistory
import Testing
import TestSupport
import UndoWorkload

/// Tests histories, trails and deltas that several stores share and that a restore replaces.
@Suite(.timeLimit(.minutes(40))) struct RestoredHistoryTests {
  enum Copy: CaseIterable {
    case older, newer, withoutTables, withOtherColumns
  }

  enum Restorer: CaseIterable {
    case sameStore, otherStore, otherProcess
  }

  let folder: TestFolder
  let path: String
  let magic: MagicData

  init() throws {
    folder = try TestFolder()
    path = folder.file("store")
    magic = try MagicData(path: path)
  }

  @Test func `stores on one path share their history`() throws {
    let other = try MagicData(path: path)
    let first = try magic.history(keeping: .inStore), second = try other.history(keeping: .inStore)
    for name in ["one", "two", "three"] {
      try magic.undoable(name) { try magic.update(Shelf(name)) }
    }
    #expect(second.undoNames == ["three", "two", "one"])
    #expect(try second.undo() == "three")
    #expect(first.undoName == "two" && first.redoName == "three")
    var error = #expect(throws: HistoryError.self) { try first.undo(expecting: "three") }
    #expect(error == .unexpectedGroup(expected: "three", next: "two"))
    #expect(try runHelper([path, "1", "undo"]) == "two\n")
    #expect(first.undoNames == ["one"] && first.redoNames == ["two", "three"])
    #expect(try first.undo(expecting: "one") == "one")
    #expect(!second.canUndo)
    error = #expect(throws: HistoryError.self) { try second.undo(expecting: "one") }
    #expect(error == .unexpectedGroup(expected: "one", next: nil))
    error = #expect(throws: HistoryError.self) { try second.redo(expecting: "two") }
    #expect(error == .unexpectedGroup(expected: "two", next: "one"))
    #expect(try second.redo(expecting: "one") == "one")
    #expect(try magic.object(of: Shelf.self).map(\.place) == ["one"])
  }

  @Test func `inside a transaction, the group names are those of the last commit`() throws {
    let history = try magic.history(keeping: .inStore)
    try magic.undoable("one") { try magic.update(Shelf("one")) }
    try magic.transaction {
      try magic.undoable("two") { try magic.update(Shelf("two")) }
      #expect(history.undoNames == ["one"])
      return TransactionOutcome.rollback
    }
    #expect(history.undoNames == ["one"])
    try magic.transaction {
      try magic.undoable("three") { try magic.update(Shelf("three")) }
    }
    #expect(history.undoNames == ["three", "one"])
  }

  private func restore(_ copy: String, by restorer: Restorer) throws {
    let database = "\(copy)/default.sqlite3"
    switch restorer {
    case .sameStore: try Database(path: database).backup(to: magic.database)
    case .otherStore: try Database(path: database).backup(to: MagicData(path: path).database)
    case .otherProcess: _ = try runHelper([path, "1", "restore", database])
    }
  }

  /// Makes two groups in the store, and a copy of the store.
  ///
  /// - Returns: The names of the copy's authors.
  private func makeCopy(_ copy: Copy, at path: String) throws -> [String] {
    try magic.undoable("Ann") { try magic.update(Author("ann")) }
    if copy == .older { _ = try magic.backup(to: path) }
    try magic.undoable("Bob") { try magic.update(Author("bob")) }
    if copy == .older { return ["ann"] }
    if copy == .newer { _ = try magic.backup(to: path) }
    let other = try MagicData(path: path)
    defer { try? other.database.close() }
    if copy == .newer {
      _ = try other.history(keeping: .inStore)
      try other.undoable("Cid") { try other.update(Author("cid")) }
      return ["ann", "bob", "cid"]
    }
    try other.update(Author("zoe"))
    if copy == .withOtherColumns {
      try other.database.executeMultipleChanges(
        "CREATE TABLE magicdata_history (a); CREATE TABLE magicdata_trail (a);")
    }
    return ["zoe"]
  }

  /// Uses the store's history and trail after a restore.
  private func use(_ history: ObjectHistory, _ copy: Copy, _ groups: [String]) throws {
    #expect(history.undoNames == groups)
    if copy == .withOtherColumns {
      let error = #expect(throws: SQLiteError.self) { try history.undo() }
      #expect(error?.message.contains("no such column") == true)
      // A write that the trail can't record throws.
      let refusal = #expect(throws: SQLiteError.self) { try magic.update(Author("dan")) }
      #expect(refusal?.message.contains("magicdata_trail") == true)
      try magic.database.executeMultipleChanges(
        "DROP TABLE magicdata_history; DROP TABLE magicdata_trail")
    }
    #expect(try history.undo() == groups.first)
    #expect(try history.redo() == groups.first)
    let dan = Author("dan")
    try magic.undoable("Dan") { try magic.update(dan) }
    #expect(history.undoNames == ["Dan"] + groups)
    #expect(try magic.trail(of: dan).map(\.kind) == [.inserted])
    #expect(try history.undo() == "Dan")
  }

  @Test(arguments: Copy.allCases, Restorer.allCases)
  func `stored histories, trails and observers continue after a copy is restored`(
    _ copy: Copy, by restorer: Restorer
  ) async throws {
    let history = try await magic.history(keeping: .inStore)
    try await magic.keepTrail()
    let names = try makeCopy(copy, at: folder.file("copy"))
    var deltas = magic.deltas(of: Author.self).makeAsyncIterator()
    var observed = magic.observe(Author.ordered(by: .ascending(\.$id))).makeAsyncIterator()
    #expect(try await observed.next()?.map(\.name) == ["ann", "bob"])
    try restore(folder.file("copy"), by: restorer)
    #expect(try await observed.next()?.map(\.name) == names)
    if restorer != .otherProcess {
      guard case .replaced? = try await deltas.next()?.first else {
        Issue.record("no delta reports the restore")
        return
      }
    }
    let groups = [Copy.older: ["Ann"], .newer: ["Cid", "Bob", "Ann"]][copy] ?? []
    try use(history, copy, groups)
    #expect(try await magic.object(of: Author.self).map(\.name) == names)
    withExtendedLifetime(deltas) {}
  }

  @Test(arguments: [Restorer.sameStore, .otherStore])
  func `a restore clears an in-memory history immediately`(by restorer: Restorer) throws {
    let history = try magic.history()
    try magic.undoable("Ann") { try magic.update(Author("ann")) }
    _ = try magic.backup(to: folder.file("copy"))
    try magic.undoable("Bob") { try magic.update(Author("bob")) }
    #expect(try history.undo() == "Bob")
    try restore(folder.file("copy"), by: restorer)
    #expect(history.undoNames.isEmpty && history.redoNames.isEmpty)
    #expect(try history.undo() == nil)
    #expect(try history.redo() == nil)
  }

  @Test func `an in-memory history doesn't overwrite what another process restored`() throws {
    let history = try magic.history()
    try magic.update(Author("ann"))
    _ = try magic.backup(to: folder.file("copy"))
    try magic.updateAll(Author.all, set: [.set(\.$name, to: "Bob")])
    try magic.undoable("Rename") {
      try magic.updateAll(Author.all, set: [.set(\.$name, to: "Cid")])
    }
    try restore(folder.file("copy"), by: .otherProcess)
    #expect(throws: PatchError.self) { try history.undo() }
    #expect(try magic.object(of: Author.self).map(\.name) == ["ann"])
  }
}
