import Conformance
import MagicData
import Testing

private struct Note: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var text: String
  @OptionalMagicValue var author: Author?
  init() { text = "" }
  init(_ id: String, _ text: String) {
    self.id = id
    self.text = text
  }
}

private struct Author: MagicObject {
  @PrimaryMagicValue var name: String
  @MagicValue var books: Int
  init() { books = 0 }
  init(_ name: String, _ books: Int) {
    self.name = name
    self.books = books
  }
}

private struct Count: MagicObject {
  static var traits: [PropertyTrait] { [.unique(\Self.$text)] }
  @PrimaryMagicValue var number: Int
  @MagicValue var text: String
  init() { text = "" }
  init(_ number: Int?, _ text: String) {
    if let number { self.number = number }
    self.text = text
  }
}

private struct Plain: MagicObject {
  @MagicValue var text: String
  init() { text = "" }
}

@Suite(.everyEngine) struct InsertingTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  @Test func `objects with new primary values are inserted`() async throws {
    #expect(try await magic.insert(Note("a", "one")) == 1)
    #expect(try await magic.insert([Note("b", "two"), Note("c", "three")]) == [2, 3])
    let blocking = { try magic.insert(Note("d", "four")) }
    #expect(try blocking() == 4)
    #expect(try await magic.count(of: Note.self) == 4)
  }

  @Test func `inserting an existing primary value throws and overwrites nothing`() throws {
    try magic.insert(Note("a", "one"))
    let error = #expect(throws: MagicError.self) { try magic.insert(Note("a", "two")) }
    #expect(error == .alreadySaved(type: "Note", primary: "a"))
    #expect(error?.description.contains("a") == true)
    #expect(throws: MagicError.alreadySaved(type: "Note", primary: "a")) {
      try magic.insert([Note("b", "two"), Note("a", "three")])
    }
    #expect(try magic.object(of: Note.self).map(\.text) == ["one"])
  }

  @Test func `inserting a saved object throws, inserting a removed one works`() throws {
    let note = Note("a", "one")
    let plain = Plain()
    try magic.insert(note)
    try magic.insert(plain)
    #expect(throws: MagicError.alreadySaved(type: "Note", primary: "a")) {
      try magic.insert(note)
    }
    #expect(throws: MagicError.alreadySaved(type: "Plain", primary: nil)) {
      try magic.insert(plain)
    }
    try magic.removeAll(Note.all)
    #expect(try magic.insert(note) == 2)
  }

  @Test(arguments: [1, 15, 16, 17, 40])
  func `one existing key in a batch makes the whole insert throw`(count: Int) throws {
    try magic.insert(Count(count, "there"))
    let counts = (1...count).map { Count($0, "\($0)") }
    #expect(throws: MagicError.alreadySaved(type: "Count", primary: "\(count)")) {
      try magic.insert(counts)
    }
    #expect(try magic.object(of: Count.self).map(\.text) == ["there"])
    // The rejected objects are still unsaved.
    try magic.removeAll(Count.all)
    #expect(try magic.insert(counts) == Array(1...count))
  }

  @Test(arguments: [2, 40])
  func `inserting two objects with the same primary value throws`(count: Int) throws {
    let counts = (1...count).map { Count($0, "\($0)") } + [Count(1, "again")]
    #expect(throws: MagicError.alreadySaved(type: "Count", primary: "1")) {
      try magic.insert(counts)
    }
    #expect(try magic.count(of: Count.self) == 0)
  }

  @Test func `a conflict in another unique property throws SQLite's error`() throws {
    try magic.insert(Count(nil, "a"))
    let error = #expect(throws: SQLiteError.self) { try magic.insert(Count(nil, "a")) }
    #expect(error?.code == .uniqueConstraint)
  }

  @Test func `insert updates saved related objects and throws for duplicate new ones`() throws {
    let ann = Author("ann", 3)
    try magic.insert(ann)
    let note = Note("a", "one")
    note.author = Author("ann", 0)
    #expect(throws: MagicError.alreadySaved(type: "Author", primary: "ann")) {
      try magic.insert(note)
    }
    #expect(try magic.count(of: Note.self) == 0)
    ann.books = 4
    note.author = ann
    try magic.insert(note)
    #expect(try magic.object(of: Author.self).map(\.books) == [4])
  }

  @Test func `only one of many tasks that insert the same primary value succeeds`() async throws {
    let successes = await withTaskGroup(of: Bool.self) { group in
      for turn in 0..<20 {
        group.addTask { [magic] in
          do {
            try await magic.insert(Note("a", "\(turn)"))
            return true
          } catch {
            return false
          }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(successes == 1)
    #expect(try await magic.count(of: Note.self) == 1)
  }

  @Test func `an object that many tasks insert is inserted once`() async throws {
    let note = Note("a", "one")
    let refusals = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<20 {
        group.addTask { [magic] in
          do {
            try await magic.insert(note)
            return false
          } catch MagicError.alreadySaved {
            return true
          } catch {
            return false
          }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(refusals == 19)
  }

  @Test func `a rolled-back insert leaves the object new`() throws {
    struct Stop: Error {}
    let note = Note("a", "one")
    #expect(throws: Stop.self) {
      try magic.transaction {
        try magic.insert(note)
        throw Stop()
      }
    }
    try magic.insert(note)
  }
}
