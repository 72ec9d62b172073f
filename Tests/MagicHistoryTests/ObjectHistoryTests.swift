import Foundation
import MagicData
import MagicHistory
import SQLiteHistory
import Synchronization
import Testing
import TestSupport
import UndoWorkload

@Suite(.timeLimit(.minutes(40))) struct ObjectHistoryTests {
  let folder: TestFolder
  let magic: MagicData

  init() throws {
    folder = try TestFolder()
    magic = try MagicData(path: folder.path)
  }

  @Test func `a group is undone and redone as a unit, and a new group clears the redo groups`()
    throws
  {
    let history = try magic.history(limit: 10)
    #expect(!history.canUndo && !history.canRedo)
    #expect(try history.undo() == nil)
    let ann = Author("ann")
    try magic.undoable("Add Ann") { try magic.update(ann) }
    try magic.undoable("Rename") {
      ann.name = "Anna"
      try magic.update(ann)
      try magic.update(Author("bob"))
    }
    #expect(history.undoNames == ["Rename", "Add Ann"])
    #expect(try history.undo() == "Rename")
    #expect(try magic.objects(of: Author.self).map(\.name) == ["ann"])
    // Objects in memory keep the values that were set.
    #expect(ann.name == "Anna")
    #expect(history.undoName == "Add Ann" && history.redoName == "Rename")
    #expect(try history.undo() == "Add Ann")
    #expect(try magic.count(of: Author.self) == 0)
    #expect(history.redoNames == ["Add Ann", "Rename"])
    #expect(try history.redo() == "Add Ann")
    #expect(try history.redo() == "Rename")
    #expect(try history.redo() == nil)
    #expect(try magic.objects(of: Author.self).map(\.name) == ["Anna", "bob"])
    try history.undo()
    try magic.undoable("Other") { try magic.update(Author("cid")) }
    #expect(!history.canRedo)
    // Ids aren't reused.
    #expect(try magic.objects(of: Author.self).map(\.id) == [1, 3])
  }

  @Test func `a group contains raw SQL, delete rules, bulk updates and triggers`() throws {
    let history = try magic.history()
    let shelf = Shelf("hall")
    let book = Book("b1", "alpha", on: shelf)
    book.notes = ["x": Note("one")]
    let ann = Author("ann")
    ann.books = [book, book]
    ann.friends = [ann, Author("bob")]
    try magic.update(ann)
    try magic.database.executeMultipleChanges(
      """
      CREATE TABLE loose (a INTEGER, b INTEGER, n INTEGER PRIMARY KEY);
      INSERT INTO loose (a, b) VALUES (1, 2), (1, 2);
      CREATE TABLE log (n INTEGER PRIMARY KEY, text TEXT);
      CREATE TRIGGER seen AFTER UPDATE ON Author BEGIN INSERT INTO log (text) VALUES (new.name); END;
      """)
    let before = try Dump(magic)
    try magic.undoable("Much") {
      try magic.updateAll(Author.all, set: [.set(\.$name, to: "all")])
      // Removing the shelf also removes its book and the book's links.
      try magic.remove(shelf)
      try magic.database.executeChange("DELETE FROM loose WHERE _rowid_ = 1")
      try magic.database.executeChange(
        "INSERT OR REPLACE INTO Author (id, name, email) VALUES (1, 'x', 'y')")
    }
    let after = try Dump(magic)
    #expect(after.tables["log"]?.count == 2)
    #expect(after.tables["Book"] == nil)
    try history.undo()
    #expect(try Dump(magic) == before)
    #expect(try magic.fetch(Book.all.search(.prefix("alpha"))).count == 1)
    try history.redo()
    #expect(try Dump(magic) == after)
    #expect(try magic.fetch(Book.all.search(.prefix("alpha"))).isEmpty)
    try history.undo()
    #expect(try Dump(magic) == before)
  }

  @Test func `changes of rows without a primary key throw, and objects survive VACUUM`() throws {
    struct Remark: Record {
      var id: UUID
      var text: String
    }
    let history = try magic.history()
    let author = Author("ann")
    author.books = [Book("b1", "alpha", on: Shelf("hall")), Book("b2", "beta")]
    author.books[0].notes = ["x": Note("one")]
    author.friends = [Author("bob")]
    author.photo = MagicAsset(value: Data("one".utf8))
    try magic.update(author)
    let remark = Remark(id: UUID(), text: "one")
    try magic.database.write { try $0.update(remark) }
    try magic.database.executeMultipleChanges(
      "CREATE TABLE loose (a INTEGER); INSERT INTO loose VALUES (1), (2)")
    // The object layer's own tables all have primary keys.
    let layouts = try magic.database.read { connection in
      try connection.rows(
        """
        SELECT t.name, EXISTS (SELECT 1 FROM pragma_table_xinfo(t.name) WHERE pk > 0)
        FROM pragma_table_list AS t
        WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        """, as: String.self, Bool.self)
    }
    #expect(layouts.count > 12)
    #expect(
      layouts.filter { !$0.1 }.map(\.0).sorted()
        == ["loose", "magicdata_asset_store"])
    let before = try Dump(magic)
    let error = #expect(throws: PatchError.self) {
      try magic.undoable("Loose") {
        try magic.remove(author)
        try magic.database.executeChange("UPDATE loose SET a = 3 WHERE a = 1")
      }
    }
    #expect(error?.reason == .noKey(table: "loose"))
    // The same inside a transaction that continues.
    try magic.transaction {
      #expect(throws: PatchError.self) {
        try magic.undoable("Loose") { try magic.database.executeChange("DELETE FROM loose") }
      }
    }
    #expect(!history.canUndo)
    #expect(try Dump(magic) == before)
    // Other writes still work, also with a trail.
    let trail = try magic.keepTrail()
    try magic.database.executeChange("DELETE FROM loose WHERE a = 1")
    withExtendedLifetime(trail) {}
    let second = try Dump(magic)
    try magic.undoable("Remove") {
      try magic.remove(author)
      try magic.database.write { try $0.remove(remark) }
    }
    try magic.database.withoutTransaction { _ = try $0.executeChange("VACUUM") }
    try history.undo()
    #expect(try Dump(magic) == second)
  }

  @Test func `a group that changes text that isn't UTF-8 throws and is rolled back`() throws {
    let history = try magic.history()
    try magic.database.executeMultipleChanges(
      "CREATE TABLE note (id INTEGER PRIMARY KEY, v); INSERT INTO note VALUES (1, CAST(X'FF' AS TEXT))"
    )
    let error = #expect(throws: PatchError.self) {
      try magic.undoable("Delete") { try magic.database.executeChange("DELETE FROM note") }
    }
    #expect(error?.reason == .notUTF8(table: "note", column: "v"))
    let kept = try magic.database.executeQuery("SELECT typeof(v), hex(v) FROM note").map(\.values)
    #expect(kept == [[.text("text"), .text("FF")]])
    #expect(!history.canUndo)
  }

  @Test func `an exchange of unique values can be undone after a column was added`() throws {
    let history = try magic.history()
    let (ann, bob) = (Author("ann"), Author("bob"))
    try magic.update([ann, bob])
    try magic.undoable("Swap") {
      try magic.database.executeMultipleChanges(
        """
        UPDATE Author SET email = 'tmp' WHERE id = 1; UPDATE Author SET email = 'ann@x' WHERE id = 2;
        UPDATE Author SET email = 'bob@x' WHERE id = 1
        """)
    }
    try magic.database.executeMultipleChanges(
      "ALTER TABLE Author ADD COLUMN later TEXT DEFAULT 'none'; UPDATE Author SET later = 'l' || id"
    )
    func rows() throws -> [String] {
      try magic.database.rows(
        "SELECT id || email || later FROM Author ORDER BY id", as: String.self)
    }
    try history.undo()
    #expect(try rows() == ["1ann@xl1", "2bob@xl2"])
    try history.redo()
    #expect(try rows() == ["1bob@xl1", "2ann@xl2"])
  }

  @Test func `undo restores assets, and their files are deleted when no group needs them`() throws {
    let history = try magic.history(limit: 2)
    let ann = Author("ann")
    ann.photo = MagicAsset(value: Data("one".utf8), pathExtension: "txt")
    try magic.update(ann)
    let before = try Dump(magic)
    try magic.undoable("Photo") {
      ann.photo?.set(Data("two".utf8))
      try magic.update(ann)
    }
    try magic.undoable("Remove") { try magic.remove(ann) }
    #expect(try folder.fileCount == 2)
    try magic.assets.removeDeletedFiles()
    #expect(try magic.assets.sweep().removed.isEmpty)
    try history.undo()
    let found = try #require(try magic.objects(of: Author.self).first)
    #expect(try found.photo?.get() == Data("two".utf8))
    try history.undo()
    #expect(try Dump(magic) == before)
    #expect(try found.photo?.get() == Data("one".utf8))
    #expect(try magic.assets.verify().isEmpty)
    // The new group drops the redo groups and the content that only they needed.
    try magic.undoable("Age") { try magic.updateAll(Author.all, set: [.set(\.$age, to: 7)]) }
    #expect(try folder.fileCount == 1)
    try history.undo()
    try magic.undoable("All") { try magic.removeAll(Author.all) }
    #expect(try folder.fileCount == 1)
    try history.clear()
    #expect(try folder.fileCount == 0)
  }

  @Test func `the next opening deletes the files of an in-memory history`() throws {
    let path = "\(folder.path)/other"
    do {
      let magic = try MagicData(path: path)
      _ = try magic.history()
      let ann = Author("ann")
      ann.photo = MagicAsset(value: Data("one".utf8))
      try magic.update(ann)
      try magic.undoable("Remove") { try magic.remove(ann) }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: "\(path)/assets/files").count == 1)
      try magic.database.close()
    }
    let magic = try MagicData(path: path)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(path)/assets/files").isEmpty)
    #expect(try magic.count(of: Author.self) == 0)
  }

  @Test func `undo throws for rows with concurrent changes and doesn't overwrite them`() throws {
    let history = try magic.history()
    let (ann, bob) = (Author("ann"), Author("bob"))
    try magic.update([ann, bob])
    try magic.undoable("Rename") {
      ann.name = "Anna"
      ann.age = 30
      bob.name = "Bobby"
      try magic.update([ann, bob])
    }
    let before = try Dump(magic)
    try magic.database.executeChange("UPDATE Author SET age = 31, email = 'other' WHERE id = 1")
    let changed = try Dump(magic)
    let error = try #require(throws: PatchError.self) { try history.undo() }
    #expect(error.conflicts.map(\.table) == ["Author"])
    #expect(error.conflicts.first?.key == [.integer(1)])
    #expect(error.conflicts.first?.conflictingColumns == ["age"])
    #expect(try Dump(magic) == changed)
    #expect(history.undoName == "Rename" && !history.canRedo)
    // `merge` restores the unchanged property and keeps the changed one.
    try history.undo { $0.kind == .data ? .merge : .abort }
    let present = try magic.objects(of: Author.self)
    #expect(present.map(\.name) == ["ann", "bob"])
    #expect(present.map(\.age) == [31, nil])
    #expect(present.map(\.email) == ["other", "bob@x"])
    // Redo doesn't redo what wasn't undone.
    try history.redo()
    #expect(try Dump(magic) == changed)
    try magic.database.executeChange("UPDATE Author SET age = 30, email = 'ann@x' WHERE id = 1")
    #expect(try Dump(magic) == before)
  }

  @Test func `rows that are referenced or removed by others are conflicts`() throws {
    let history = try magic.history()
    let shelf = Shelf("hall")
    try magic.undoable("Shelf") { try magic.update(shelf) }
    try magic.update(Book("b", "alpha", on: shelf))
    let state = try Dump(magic)
    let error = try #require(throws: PatchError.self) { try history.undo() }
    #expect(error.conflicts.map(\.kind) == [.foreignKey])
    #expect(try Dump(magic) == state)
    try magic.removeAll(Book.all)
    try magic.remove(shelf)
    let other = try #require(throws: PatchError.self) { try history.undo() }
    #expect(other.conflicts.map(\.kind) == [.notFound])
    #expect(try history.undo { _ in .omit } == "Shelf")
    #expect(try magic.count(of: Shelf.self) == 0)
  }

  @Test func `a group that throws or rolls back isn't in the history`() throws {
    let history = try magic.history()
    try magic.undoable("Ann") { try magic.update(Author("ann")) }
    let before = try Dump(magic)
    #expect(throws: CancellationError.self) {
      try magic.undoable("Bad") {
        try magic.update(Author("bob"))
        throw CancellationError()
      }
    }
    let outcome = try magic.undoable("Back") {
      try magic.update(Author("bob"))
      return TransactionOutcome.rollback
    }
    #expect(outcome == .rollback)
    try magic.undoable("Nothing") { _ = try magic.count(of: Author.self) }
    try magic.undoable("Back and forth") {
      let bob = Author("bob")
      try magic.update(bob)
      try magic.remove(bob)
    }
    #expect(try Dump(magic) == before)
    #expect(history.undoNames == ["Ann"])
    #expect(throws: SQLiteError.self) {
      try magic.read { try magic.undoable("Reading") { try magic.update(Author("x")) } }
    }
    #expect(history.undoNames == ["Ann"])
  }

  @Test func `a nested group is part of the outer group and of its transaction`() throws {
    let history = try magic.history()
    try magic.undoable("Outer") {
      try magic.update(Author("ann"))
      try magic.undoable("Inner") { try magic.update(Author("bob")) }
      #expect(throws: CancellationError.self) {
        try magic.undoable("Undone") {
          try magic.update(Author("cid"))
          throw CancellationError()
        }
      }
      let error = #expect(throws: HistoryError.self) { try history.undo() }
      #expect(error == .insideGroup(name: "Outer"))
      #expect(throws: HistoryError.self) { try history.clear() }
    }
    #expect(history.undoNames == ["Outer"])
    #expect(try magic.objects(of: Author.self).map(\.name) == ["ann", "bob"])
    try magic.transaction {
      try history.undo()
      #expect(try magic.count(of: Author.self) == 0)
      // The names are those of the last commit.
      #expect(history.undoNames == ["Outer"])
      return TransactionOutcome.rollback
    }
    #expect(history.undoNames == ["Outer"] && history.redoNames.isEmpty)
    #expect(try magic.count(of: Author.self) == 2)
    try magic.transaction {
      try history.undo()
      try magic.undoable("Dan") { try magic.update(Author("dan")) }
      #expect(throws: CancellationError.self) {
        try magic.transaction {
          try history.undo()
          throw CancellationError()
        }
      }
    }
    #expect(history.undoNames == ["Dan"] && history.redoNames.isEmpty)
    #expect(try magic.objects(of: Author.self).map(\.name) == ["dan"])
  }

  @Test func `concurrent tasks that write and undo are serialized`() async throws {
    let magic = magic
    let history = try await magic.history(limit: 1_000)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<20 {
            try await magic.undoable("\(task)") { try magic.update(Author("\(task) \(number)")) }
            if number % 4 == 3 { try await history.undo() }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await magic.count(of: Author.self) == history.undoNames.count)
    try await withThrowingTaskGroup(of: String?.self) { group in
      let count = history.undoNames.count
      for _ in 0..<count + 5 { group.addTask { try await history.undo() } }
      var undone = 0
      for try await name in group where name != nil { undone += 1 }
      #expect(undone == count)
    }
    #expect(try await magic.count(of: Author.self) == 0)
  }

  @Test func `cancelling an undo leaves it complete or without effect`() async throws {
    let magic = magic
    let history = try await magic.history()
    try await magic.undoable("Many") { try magic.update((0..<300).map { Author("\($0)") }) }
    for number in 0..<20 {
      let task = Task { try await history.undo() }
      for _ in 0..<number { await Task.yield() }
      task.cancel()
      let name = try? await task.value
      let count = try await magic.count(of: Author.self)
      #expect(count == (history.canUndo ? 300 : 0))
      if name != nil { #expect(count == 0) }
      if !history.canUndo { try await history.redo() }
    }
  }

  @Test func `an undo is observed like any write`() async throws {
    let history = try await magic.history()
    let magic = magic
    var changes = magic.observe(Author.where(\.$name == "ann")).differences()
      .makeAsyncIterator()
    #expect(try await changes.next()?.identities == [])
    try await magic.undoable("Ann") { try magic.update(Author("ann")) }
    #expect(try await changes.next()?.identities == [1])
    try await history.undo()
    #expect(try await changes.next()?.identities == [])
    try await history.redo()
    #expect(try await changes.next()?.identities == [1])
  }

  @Test func `a stored history works after a restart`() throws {
    let first = try Dump(magic)
    do {
      let magic = try MagicData(path: folder.path)
      let history = try magic.history(limit: 5, keeping: .inStore)
      let ann = Author("ann")
      ann.photo = MagicAsset(value: Data("one".utf8))
      try magic.undoable("Ann") { try magic.update(ann) }
      try magic.undoable("Remove") { try magic.remove(ann) }
      try magic.undoable("Bob") { try magic.update(Author("bob")) }
      try history.undo()
      try magic.database.close()
    }
    let again = try MagicData(path: folder.path)
    let history = try again.history(limit: 5, keeping: .inStore)
    #expect(history.undoNames == ["Remove", "Ann"] && history.redoNames == ["Bob"])
    // Another store on the same path has the same history.
    let other = try magic.history(limit: 5, keeping: .inStore)
    #expect(try other.redo() == "Bob")
    #expect(try history.undo() == "Bob")
    #expect(try history.undo() == "Remove")
    let ann = try #require(try again.objects(of: Author.self).first)
    #expect(try ann.photo?.get() == Data("one".utf8))
    let backup = "\(folder.path)/backup"
    try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: true)
    try history.redo()
    #expect(try again.backup(to: backup).faults.isEmpty)
    let copy = try MagicData(path: backup)
    try copy.history(keeping: .inStore).undo()
    #expect(try copy.objects(of: Author.self).first?.photo?.get() == Data("one".utf8))
    try history.undo()
    #expect(try history.undo() == "Ann")
    #expect(try Dump(again) == first)
    #expect(throws: HistoryError.self) { try again.history() }
  }

  @Test func `after a schema change, compatible groups can be undone and others throw`()
    throws
  {
    let history = try magic.history()
    try magic.undoable("Note") { try magic.update(Note("one")) }
    try magic.undoable("Shelf") { try magic.update(Shelf("hall")) }
    try magic.database.executeChange("ALTER TABLE Shelf ADD COLUMN color TEXT DEFAULT 'red'")
    try history.undo()
    #expect(try magic.count(of: Shelf.self) == 0)
    try history.redo()
    #expect(try magic.database.rows("SELECT color FROM Shelf", as: String.self).first == "red")
    try history.undo()
    try magic.database.executeChange("ALTER TABLE Note RENAME COLUMN text TO words")
    let error = try #require(throws: PatchError.self) { try history.undo() }
    #expect("\(error)".contains("text"))
    #expect(history.undoName == "Note")
  }

  @Test(arguments: [HistoryKeeping.inMemory, .inStore])
  func `an object older than a property is restored with the property's default`(
    keeping: HistoryKeeping
  ) async throws {
    let path = "\(folder.path)/older"
    do {
      let magic = try await MagicData(path: path)
      try await magic.update([First.Memo("a"), First.Memo("b"), First.Memo("c")])
      try await magic.database.close()
    }
    let magic = try await MagicData(path: path)
    let history = try await magic.history(keeping: keeping)
    var deltas = magic.deltas(of: Second.Memo.self).makeAsyncIterator()
    // The first save adds the new columns to the table.
    try await magic.undoable("Add") { try magic.update(Second.Memo("d")) }
    _ = try await deltas.next()
    func rows() throws -> [String] {
      try magic.database.read { connection in
        try connection.rows(
          """
          SELECT text || quote(color) || quote(size) || quote(weight) FROM Memo ORDER BY text
          """, as: String.self)
      }
    }
    let before = try rows()
    #expect(before == ["a'red'3NULL", "b'red'3NULL", "c'red'3NULL", "d'red'3NULL"])
    try await magic.undoable("Remove") { try magic.removeAll(Second.Memo.all) }
    guard case .deleted(let gone)? = try await deltas.next()?.first else {
      Issue.record("no removal")
      return
    }
    let (color, size, weight): (String, Int, Double?) = (
      try gone[\.$color], try gone[\.$size], try gone[\.$weight]
    )
    #expect(color == "red")
    #expect(size == 3)
    #expect(weight == nil)
    #expect(try await history.undo() == "Remove")
    #expect(try rows() == before)
    _ = try await deltas.next()
    try await magic.undoable("Change") {
      try magic.updateAll(Second.Memo.where(\.$text == "a"), set: [.set(\.$text, to: "x")])
      try magic.updateAll(Second.Memo.where(\.$text == "b"), set: [.set(\.$color, to: "y")])
    }
    guard case .updated(let old, _, let properties)? = try await deltas.next()?.first else {
      Issue.record("no update")
      return
    }
    let former: String = try old[\.$color]
    #expect(former == "red")
    #expect(properties == ["text"])
    try await history.undo()
    #expect(try rows() == before)
    try await history.redo()
    try await history.undo()
    #expect(try rows() == before)
    try await history.undo()
    #expect(try rows() == Array(before.dropLast()))
    let patch = try await magic.patch { try magic.removeAll(Second.Memo.all) }
    try await magic.apply(patch.inverted)
    #expect(try rows() == Array(before.dropLast()))
  }

  @Test func `a store has no history until it is requested, and then exactly one`() throws {
    let error = #expect(throws: HistoryError.self) { try magic.undoable("x") {} }
    #expect(error == .noHistory)
    let history = try magic.history(limit: 3)
    #expect(try magic.history(limit: 2) === history)
    #expect(history.limit == 2)
    for name in ["a", "b", "c"] { try magic.undoable(name) { try magic.update(Shelf(name)) } }
    #expect(history.undoNames == ["c", "b"])
    history.byteLimit = 1
    try magic.undoable("d") { try magic.update(Shelf("d")) }
    #expect(history.undoNames == ["d"])
  }

  @Test func `a restore clears the history of the replaced content`() throws {
    let history = try magic.history()
    try magic.update(Author("ann"))
    let copy = try MagicData(type: .temporary)
    try copy.update(Author("zoe"))
    try magic.undoable("Rename") {
      try magic.updateAll(Author.all, set: [.set(\.$name, to: "x")])
    }
    try copy.database.backup(to: magic.database)
    #expect(try history.undo() == nil)
    #expect(try magic.objects(of: Author.self).map(\.name) == ["zoe"])
    try magic.undoable("Rename") {
      try magic.updateAll(Author.all, set: [.set(\.$name, to: "x")])
    }
    #expect(history.undoNames == ["Rename"])
    try history.undo()
    #expect(try magic.objects(of: Author.self).map(\.name) == ["zoe"])
  }
}

/// A type and its next version.
private enum First {
  struct Memo: MagicObject {
    @MagicValue var text: String
    init() {}
    init(_ text: String) { self.text = text }
  }
}

private enum Second {
  struct Memo: MagicObject, Sendable {
    @MagicValue var text: String
    @MagicValue var color = "red"
    @MagicValue var size = 3
    @OptionalMagicValue var weight: Double?
    init() {}
    init(_ text: String) { self.text = text }
  }
}
