import Foundation
import MagicData
import SQLitePortable
import Testing
import TestSupport

/// Tests the effects of a restore on a store and on objects fetched before it.
@Suite struct HoldRestoreTests {
  final class Owner: MagicObject {
    @MagicValue var name: String
    @MagicValue var pets: AsyncMagical<[Pet]>
    init() {
      name = ""
      pets = AsyncMagical(value: [])
    }
  }

  struct Pet: MagicObject {
    @MagicValue var name: String
    @MagicValue var photo: MagicAsset<String>
    init() {
      name = ""
      photo = MagicAsset()
    }
    static func named(_ name: String) -> Pet {
      let pet = Pet()
      pet.name = name
      pet.photo = MagicAsset(value: "photo of \(name)")
      return pet
    }
  }

  struct Note: MagicObject {
    @MagicValue var text: String
    init() { text = "" }
    static func of(_ text: String) -> Note {
      let note = Note()
      note.text = text
      return note
    }
  }

  /// How content is restored into a store.
  enum Way: CaseIterable { case text, file, backup }

  let folder: TestFolder

  init() throws { folder = try TestFolder.inMemory() }

  private func store(_ name: String, notes: [String], pets: [String] = []) throws -> MagicData {
    let magic = try MagicData(path: folder.file(name))
    for text in notes { try magic.update(Note.of(text)) }
    for name in pets { try magic.update(Pet.named(name)) }
    return magic
  }

  private func restore(_ magic: MagicData, from other: Database, by way: Way) throws {
    switch way {
    case .text:
      try other.dump(to: .spon(path: folder.file("dump")))
      try magic.database.restore(from: .spon(path: folder.file("dump")))
    case .file:
      try other.dump(to: .sqlite(path: folder.file("copy")))
      try magic.database.restore(from: .sqlite(path: folder.file("copy")))
    case .backup: try other.backup(to: magic.database)
    }
  }

  private func texts(_ magic: MagicData) throws -> [String] {
    try magic.objects(of: Note.self).map(\.text)
  }

  @Test(arguments: Way.allCases)
  func `an object fetched before a restore can't be saved or removed`(way: Way) throws {
    let a = try store("a", notes: ["a1", "a2"])
    let b = try store("b", notes: ["b1", "b2", "b3"])
    let old = try a.objects(of: Note.self)
    let saved = Note.of("a3")
    try a.update(saved)
    try restore(a, from: b.database, by: way)
    for note in old + [saved] {
      note.text = "changed"
      let type = "HoldRestoreTests.Note"
      let error = #expect(throws: MagicError.self) { try a.update(note) }
      if case .restored = error {} else { Issue.record("\(error as Any) for \(type)") }
      #expect(throws: MagicError.self) { try a.update(note, ifUnchanged: true) }
      #expect(throws: MagicError.self) { try a.remove(note) }
      #expect(throws: MagicError.self) { try a.remove(contentsOf: [note]) }
    }
    #expect(try texts(a) == ["b1", "b2", "b3"])
    // Objects fetched after the restore work.
    let note = try a.objects(of: Note.self)[0]
    note.text = "new"
    try a.update(note)
    try a.update(Note.of("b4"))
    #expect(try texts(a) == ["new", "b2", "b3", "b4"])
    #expect(try texts(b) == ["b1", "b2", "b3"])
  }

  @Test func `objects from an older snapshot throw, too`() throws {
    let magic = try store("one", notes: ["p1", "p2"])
    let other = try store("other", notes: ["q1", "q2"])
    try other.database.dump(to: .spon(path: folder.file("late")))
    #expect(throws: SQLiteError.self) {
      try magic.database.read { connection in
        _ = try connection.executeQuery("SELECT count(*) FROM Note")
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          try? magic.database.restore(from: .spon(path: folder.file("late")))
          done.signal()
        }
        done.wait()
        for note in try magic.objects(of: Note.self) {
          note.text = "stale"
          try magic.update(note)
        }
      }
    }
    #expect(try magic.objects(of: Note.self).map(\.text) == ["q1", "q2"])
  }

  @Test(arguments: Way.allCases)
  func `a store can be opened again after another store was restored into it`(way: Way) throws {
    let a = try store("a", notes: ["a1"], pets: ["Rex"])
    let identity = try a.database.rows(
      "SELECT value FROM magicdata_meta WHERE key = 'uuid'", as: String.self)
    let b = try store("b", notes: ["b1"], pets: ["Tom"])
    try restore(a, from: b.database, by: way)
    try a.update(Pet.named("Kim"))
    try a.database.close()
    let again = try MagicData(path: folder.file("a"))
    #expect(try texts(again) == ["b1"])
    let pets = try again.objects(of: Pet.self)
    #expect(pets.map(\.name) == ["Tom", "Kim"])
    #expect(throws: AssetError.self) { try pets[0].photo.get() }
    #expect(try pets[1].photo.get() == "photo of Kim")
    #expect(
      try again.database.rows(
        "SELECT value FROM magicdata_meta WHERE key = 'uuid'", as: String.self)
        == identity)
    let marks = try FileManager.default.contentsOfDirectory(atPath: again.assets.path)
    #expect(marks.count { $0.hasPrefix("store-") } == 1)
    // Removing an object still deletes its file.
    try again.remove(pets[1])
    let files = try FileManager.default.contentsOfDirectory(atPath: again.assets.path + "/files")
    #expect(files.count == 1)
  }

  @Test(arguments: Way.allCases)
  func `restoring an older state of a store restores its assets`(way: Way) throws {
    let a = try store("a", notes: ["a1"], pets: ["Rex", "Tom"])
    try a.database.dump(to: .sqlite(path: folder.file("past")))
    let past = try Database(path: folder.file("past"))
    let later = Pet.named("Kim")
    try a.update(later)
    try restore(a, from: past, by: way)
    #expect(
      try a.objects(of: Pet.self).map { try $0.photo.get() } == ["photo of Rex", "photo of Tom"])
    // The third row now belongs to another pet.
    #expect(throws: MagicError.self) { try a.update(later) }
    try a.update(Pet.named("Bob"))
    #expect(try a.objects(of: Pet.self).map(\.name) == ["Rex", "Tom", "Bob"])
  }

  @Test(arguments: Way.allCases)
  func `a plain database restored into a store becomes a store`(way: Way) throws {
    let a = try store("a", notes: ["a1"], pets: ["Rex"])
    let plain = try Database.memory()
    try plain.executeMultipleChanges("CREATE TABLE t (x); INSERT INTO t VALUES (5)")
    try restore(a, from: plain, by: way)
    #expect(try a.objects(of: Note.self).isEmpty)
    try a.update(Pet.named("Tom"))
    try a.remove(a.objects(of: Pet.self)[0])
    try a.update(Pet.named("Kim"))
    let files = try FileManager.default.contentsOfDirectory(atPath: a.assets.path + "/files")
    // Rex's file, which no mark references, and Kim's file.
    #expect(files.count == 2)
    #expect(try a.assets.sweep().removed.count == 1)
    try a.database.close()
    let again = try MagicData(path: folder.file("a"))
    #expect(try again.objects(of: Pet.self).map { try $0.photo.get() } == ["photo of Kim"])
    #expect(try again.database.rows("SELECT x FROM t", as: Int.self) == [5])
  }

  @Test func `an in-memory store can be restored, too`() throws {
    let b = try store("b", notes: ["b1", "b2"])
    let memory = try MagicData(type: .memory)
    try memory.update(Note.of("m1"))
    let old = try memory.objects(of: Note.self)[0]
    try b.database.backup(to: memory.database)
    #expect(try texts(memory) == ["b1", "b2"])
    #expect(throws: MagicError.self) { try memory.update(old) }
    try memory.update(Pet.named("Rex"))
    try memory.remove(memory.objects(of: Pet.self)[0])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: memory.assets.path + "/files").isEmpty)
  }

  @Test func `lazy relations of objects fetched before a restore throw`() throws {
    let a = try MagicData(path: folder.file("a"))
    let owner = Owner()
    owner.pets = AsyncMagical(value: [.named("Rex")])
    try a.update(owner)
    let old = try a.objects(of: Owner.self)[0]
    let lazy = old.pets
    let b = try MagicData(path: folder.file("b"))
    let other = Owner()
    other.pets = AsyncMagical(value: [.named("Tom"), .named("Kim")])
    try b.update(other)
    try b.database.backup(to: a.database)
    #expect(throws: MagicError.self) { try lazy.get() }
    #expect(throws: MagicError.self) { try old.pets.count() }
    // A new object can't take over links to their rows, either.
    let new = Owner()
    new.pets = AsyncMagical(value: [try b.objects(of: Owner.self)[0].pets.get()[0]])
    try a.update(new)
    #expect(
      try a.objects(of: Owner.self).map { try $0.pets.get().map(\.name) } == [
        ["Tom", "Kim"], ["Tom"],
      ])
  }

  @Test func `all stores and databases on one path notice a restore`() throws {
    let first = try store("a", notes: ["a1"])
    let second = try MagicData(path: folder.file("a"))
    let b = try store("b", notes: ["b1"])
    let ofFirst = try first.objects(of: Note.self)[0]
    let ofSecond = try second.objects(of: Note.self)[0]
    let plain = try Database(path: folder.file("a/default.sqlite3"))
    try b.database.backup(to: plain)
    for note in [ofFirst, ofSecond] {
      note.text = "changed"
      #expect(throws: MagicError.self) { try first.update(note) }
      #expect(throws: MagicError.self) { try second.update(note) }
    }
    let new = try first.objects(of: Note.self)[0]
    new.text = "new"
    try second.update(new)
    #expect(try texts(first) == ["new"])
  }

  @Test func `a failed restore changes nothing`() throws {
    struct Stop: Error {}
    let a = try store("a", notes: ["a1"], pets: ["Rex"])
    let b = try store("b", notes: ["b1"])
    let note = try a.objects(of: Note.self)[0]
    #expect(throws: Stop.self) {
      try b.database.backup(to: a.database, pagesPerStep: 1) { _ in throw Stop() }
    }
    note.text = "changed"
    try a.update(note)
    #expect(try texts(a) == ["changed"])
    try a.remove(a.objects(of: Pet.self)[0])
    #expect(try FileManager.default.contentsOfDirectory(atPath: a.assets.path + "/files").isEmpty)
    let marks = try FileManager.default.contentsOfDirectory(atPath: a.assets.path)
    #expect(marks.count { $0.hasPrefix("store-") } == 1)
    // A store with a newer format throws before anything is replaced.
    try b.database.executeChange("UPDATE magicdata_meta SET value = 99 WHERE key = 'format'")
    #expect(throws: SQLiteError.self) { try b.database.backup(to: a.database) }
    #expect(try texts(a) == ["changed"])
  }

  @Test(.timeLimit(.minutes(40)))
  func `observers are notified of a restore`() async throws {
    let a = try await MagicData(path: folder.file("a"))
    try await a.update(Note.of("a1"))
    let b = try await MagicData(path: folder.file("b"))
    try await b.update(Note.of("b1"))
    var notes = a.observe(Note.all).makeAsyncIterator()
    #expect(try await notes.next()?.map(\.text) == ["a1"])
    try await b.database.backup(to: a.database)
    #expect(try await notes.next()?.map(\.text) == ["b1"])
  }

  @Test func `a store that was killed between the two steps of a restore can be opened`() throws {
    let a = try store("a", notes: ["a1"], pets: ["Rex"])
    let b = try store("b", notes: ["b1"], pets: ["Tom"])
    let marks = try FileManager.default.contentsOfDirectory(atPath: b.assets.path)
    let mark = try #require(marks.first { $0.hasPrefix("store-") })
    try b.database.dump(to: .sqlite(path: folder.file("copy")))
    try a.database.close()
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: folder.file("a/default.sqlite3" + suffix))
    }
    try FileManager.default.copyItem(
      atPath: folder.file("copy"), toPath: folder.file("a/default.sqlite3"))
    // Without the mark that a restore creates first, the database doesn't match the folder.
    #expect(throws: AssetError.self) { try MagicData(path: folder.file("a")) }
    try folder.write([], to: "a/assets/\(mark)")
    #expect(try texts(MagicData(path: folder.file("a"))) == ["b1"])
  }
}
