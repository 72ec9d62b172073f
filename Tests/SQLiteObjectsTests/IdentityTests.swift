import Conformance
import MagicData
import Testing

private struct Note: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var text: String
  @MagicValue var stars: Int

  init() {}

  init(_ text: String) {
    self.text = text
    stars = 0
  }
}

private struct Keyless: MagicObject {
  @MagicValue var text: String
  init() {}
  init(_ text: String) { self.text = text }
}

private struct Numbered: MagicObject {
  @PrimaryMagicValue var number: Int
  @MagicValue var text: String
  init() {}
  init(_ text: String) { self.text = text }
}

private struct Declared: MagicObject {
  typealias PrimaryValue = Int
  @PrimaryMagicValue var number: Int
  init() {}
}

@Suite(.everyEngine) struct IdentityTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  @Test func `a primary value of the wrong type throws`() async throws {
    try await magic.update(Note("a"))
    await #expect(throws: MagicError.self) { try await magic.has(of: Note.self, primary: 7) }
    let blocking = { [magic] in try magic.object(of: Note.self, primary: 7) }
    let error = #expect(throws: MagicError.self) { try blocking() }
    guard case .unsuitableType("Note", let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("“id” does not have the type Int"))
    await #expect(throws: MagicError.missingPrimaryValue(type: "Keyless")) {
      try await magic.has(of: Keyless.self, primary: 7)
    }
  }

  @Test func `calls with a primary value accept the declared PrimaryValue type`() throws {
    let object = Declared()
    try magic.update(object)
    #expect(try magic.has(of: Declared.self, primary: 1))
    #expect(try magic.object(of: Declared.self, primary: object.number).number == 1)
  }

  @Test func `the z_index of a removed object is never used again`() throws {
    let first = Keyless("a")
    let old = try magic.update(first)
    try magic.remove(first)
    #expect(try magic.update(Keyless("b")) > old)
  }

  @Test func `a removed object that is saved again gets a new row`() throws {
    let note = Note("a")
    let old = try magic.update(note)
    try magic.remove(note)
    #expect(try magic.update(note) > old)
    #expect(try magic.object(of: Note.self, primary: note.id).text == "a")
  }

  @Test func `an auto-incremented key is kept when a removed object is saved again`() throws {
    let numbered = Numbered("a")
    try magic.update(Numbered("0"))
    try magic.update(numbered)
    try magic.remove(numbered)
    #expect(try magic.update(numbered) == 2)
    #expect(numbered.number == 2)
  }

  @Test func `a save assigns the auto-incremented key, and the next one updates the row`() throws {
    let numbered = Numbered("a")
    try magic.update(numbered)
    numbered.text = "b"
    try magic.update(numbered)
    #expect(try magic.object(of: Numbered.self).map(\.text) == ["b"])
    #expect(try magic.object(of: Numbered.self, primary: numbered.number).text == "b")
  }

  @Test func `saving an object of one store in another store inserts it`() throws {
    let other = try MagicData.fresh()
    try other.update([Keyless("x"), Keyless("y")])
    let keyless = Keyless("a")
    try magic.update(keyless)
    try other.update(keyless)
    #expect(try other.object(of: Keyless.self).map(\.text) == ["x", "y", "a"])
    keyless.text = "b"
    try magic.update(keyless)
    #expect(try magic.object(of: Keyless.self).map(\.text) == ["b"])
    #expect(try other.object(of: Keyless.self).map(\.text) == ["x", "y", "a"])
  }

  @Test func `changes saved in one store are still pending in another`() throws {
    let other = try MagicData.fresh()
    let note = Note("a")
    try magic.update(note)
    try other.update(note)
    note.text = "b"
    try magic.update(note)
    try other.update(note)
    #expect(try other.object(of: Note.self, primary: note.id).text == "b")
  }

  @Test func `saving a changed copy of a removed object restores all its values`() throws {
    let note = Note("a")
    note.stars = 5
    try magic.update(note)
    let copy = try magic.object(of: Note.self, primary: note.id)
    try magic.remove(note)
    copy.text = "b"
    try magic.update(copy)
    let found = try magic.object(of: Note.self, primary: note.id)
    #expect(found.text == "b")
    #expect(found.stars == 5)
  }

  @Test func `a new object with an existing primary value updates that row`() throws {
    let note = Note("a")
    let zIndex = try magic.update(note)
    let twin = Note("b")
    twin.id = note.id
    #expect(try magic.update(twin) == zIndex)
    #expect(try magic.object(of: Note.self).map(\.text) == ["b"])
  }

  @Test func `ifUnchanged saves unchanged rows and throws a conflict for changed ones`() throws {
    let note = Note("a")
    let zIndex = Int64(try magic.update(note))
    let copy = try magic.object(of: Note.self, primary: note.id)
    note.text = "b"
    try magic.update(note, ifUnchanged: true)
    copy.stars = 1
    #expect(throws: MagicError.conflict(type: "Note", zIndex: zIndex)) {
      try magic.update(copy, ifUnchanged: true)
    }
    #expect(try magic.object(of: Note.self, primary: note.id).stars == 0)
    try magic.update(copy, ifUnchanged: false)
    note.stars = 2
    #expect(throws: MagicError.conflict(type: "Note", zIndex: zIndex)) {
      try magic.update(note, ifUnchanged: true)
    }
  }

  @Test func `ifUnchanged throws a conflict for a removed object`() throws {
    let note = Note("a")
    let zIndex = Int64(try magic.update(note))
    let copy = try magic.object(of: Note.self, primary: note.id)
    try magic.remove(note)
    copy.text = "b"
    #expect(throws: MagicError.conflict(type: "Note", zIndex: zIndex)) {
      try magic.update(copy, ifUnchanged: true)
    }
  }

  @Test func `a transaction that throws restores the store and the objects`() throws {
    struct Stop: Error {}
    let old = Note("old")
    let new = Note("new")
    let numbered = Numbered("n")
    try magic.update(old)
    old.text = "changed"
    #expect(throws: Stop.self) {
      try magic.transaction {
        try magic.update([old, new])
        try magic.update(numbered)
        try magic.remove(old)
        #expect(try magic.object(of: Note.self).map(\.text) == ["new"])
        throw Stop()
      }
    }
    #expect(try magic.object(of: Note.self).map(\.text) == ["old"])
    try magic.transaction {
      try magic.update(old)
      try magic.update(new)
      try magic.update(numbered)
    }
    #expect(try magic.object(of: Note.self).map(\.text) == ["changed", "new"])
    #expect(numbered.number == 1)
  }
}
