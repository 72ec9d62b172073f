import Conformance
import Foundation
import MagicData
import Testing

private struct Clerk: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @OptionalMagicValue var boss: Clerk?
  @OptionalMagicValue var photo: MagicAsset<String>?

  init() {}
  init(_ name: String) { self.name = name }
  init(_ id: Int, _ name: String) { (self.id, self.name) = (id, name) }
}

private struct Ticket: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  init() {}
  init(_ id: Int, _ name: String) { (self.id, self.name) = (id, name) }
}

private struct Named: MagicObject {
  @PrimaryMagicValue var key: String
  @MagicValue var text: String
  init() {}
  init(_ key: String, _ text: String) { (self.key, self.text) = (key, text) }
}

/// How objects are identified: in one store, in two stores, and among objects with the same key.
@Suite(.everyEngine) struct KeyTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  @Test func `rows unchanged in a second store cause no conflict there`() throws {
    let other = try MagicData.fresh()
    // The second store numbers its objects differently.
    try other.update((0..<5).map { Named("\($0)", "") })
    let boss = Clerk(70, "boss")
    let worker = Clerk(71, "worker")
    (worker.boss, worker.photo) = (boss, MagicAsset(value: "photo"))
    try magic.update(worker)
    let fetched = try magic.object(of: Clerk.self, primary: 71)
    try other.update(fetched)

    fetched.name = "A"
    try other.update(fetched, ifUnchanged: true)
    try magic.update(fetched, ifUnchanged: true)
    // A change that was saved in only one store is still pending for the other.
    fetched.name = "B"
    fetched.boss = nil
    try other.update(fetched, ifUnchanged: true)
    fetched.name = "C"
    fetched.photo = MagicAsset(value: "other")
    try magic.update(fetched, ifUnchanged: true)
    try other.update(fetched, ifUnchanged: true)
    for store in [magic, other] {
      let person = try store.object(of: Clerk.self, primary: 71)
      #expect(person.name == "C" && person.boss?.name == nil)
      #expect(try person.photo?.get() == "other")
    }
    // A concurrent change is a conflict only in the store that contains it.
    let touched = try magic.object(of: Clerk.self, primary: 71)
    touched.name = "D"
    try magic.update(touched)
    fetched.name = "E"
    try other.update(fetched, ifUnchanged: true)
    #expect(throws: MagicError.conflict(type: "Clerk", zIndex: 71)) {
      try magic.update(fetched, ifUnchanged: true)
    }
  }

  @Test func `each store compares relations by its own identities of the targets`() throws {
    struct Stage: MagicObject {
      @PrimaryMagicValue var id: String
      @OptionalMagicValue var next: Stage?
      @MagicValue var text: String
      init() {}
      init(_ id: String) { (self.id, text) = (id, "") }
    }
    let other = try MagicData.fresh()
    try other.update((0..<5).map { Stage("\($0)") })
    let (first, last) = (Stage("first"), Stage("last"))
    first.next = last
    try magic.update(first)
    let fetched = try magic.object(of: Stage.self, primary: "first")
    try other.update(fetched)
    for text in ["a", "b"] {
      fetched.text = text
      try other.update(fetched, ifUnchanged: true)
      try magic.update(fetched, ifUnchanged: true)
    }
    #expect(try other.object(of: Stage.self, primary: "first").next?.id == "last")
    let copy = try other.object(of: Stage.self, primary: "first")
    copy.next = nil
    try other.update(copy)
    fetched.text = "c"
    #expect(throws: MagicError.self) { try other.update(fetched, ifUnchanged: true) }
    try magic.update(fetched, ifUnchanged: true)
  }

  @Test func `ifUnchanged throws a conflict for a new object with an existing key`() throws {
    try magic.update(Ticket(7, "a"))
    try magic.update(Named("k", "a"))
    #expect(throws: MagicError.conflict(type: "Ticket", zIndex: 7)) {
      try magic.update(Ticket(7, "b"), ifUnchanged: true)
    }
    #expect(throws: MagicError.conflict(type: "Named", zIndex: 1)) {
      try magic.update(Named("k", "b"), ifUnchanged: true)
    }
    try magic.update(Clerk(7, "a"))
    #expect(throws: MagicError.conflict(type: "Clerk", zIndex: 7)) {
      try magic.update(Clerk(7, "b"), ifUnchanged: true)
    }
    try magic.update(Ticket(8, "new"), ifUnchanged: true)
    #expect(try magic.objects(of: Ticket.self).map(\.name) == ["a", "new"])
    #expect(try magic.objects(of: Named.self).map(\.text) == ["a"])
  }

  @Test func `changing the integer key of a saved object throws`() throws {
    let (tag, person) = (Ticket(7, "a"), Clerk(7, "a"))
    try magic.update(tag)
    try magic.update(person)
    for changed in [8, 9] {
      (tag.id, person.id) = (changed, changed)
      tag.name = "b"
      #expect(throws: MagicError.self) { try magic.update(tag) }
      #expect(throws: MagicError.self) { try magic.update(person) }
      #expect(throws: MagicError.self) { try magic.update([Ticket(1, "x"), tag]) }
      #expect(tag.id == changed)
    }
    #expect(try magic.objects(of: Ticket.self).map(\.id) == [7])
    (tag.id, person.id) = (7, 7)
    try magic.update(tag)
    try magic.update(person)
    #expect(try magic.object(of: Ticket.self, primary: 7).name == "b")
    // A removed object is new, so it may get any key.
    try magic.remove(tag)
    tag.id = 9
    try magic.update(tag)
    #expect(try magic.objects(of: Ticket.self).map(\.id) == [9])
  }

  @Test func `changing the string key of a saved object updates its key in the store`() throws {
    let named = Named("old", "a")
    try magic.update([named, Named("other", "b")])
    named.key = "new"
    try magic.update(named)
    #expect(try magic.objects(of: Named.self).map(\.key) == ["new", "other"])
    named.key = "other"
    #expect(throws: SQLiteError.self) { try magic.update(named) }
    #expect(try magic.objects(of: Named.self).map(\.key) == ["new", "other"])
  }

  @Test(arguments: [2, 40])
  func `new objects with the same key share a row with the last one's values`(count: Int) throws {
    let tags = (0..<count).map { Ticket(7, "\($0)") }
    let named = (0..<count).map { Named("k", "\($0)") }
    try magic.update(tags)
    try magic.update(named)
    #expect(try magic.objects(of: Ticket.self).map(\.name) == ["\(count - 1)"])
    #expect(try magic.objects(of: Named.self).map(\.text) == ["\(count - 1)"])
    // From now on, each object writes its own changes to the shared row.
    tags[0].name = "first"
    named[0].text = "first"
    try magic.update(tags)
    try magic.update(named)
    #expect(try magic.objects(of: Ticket.self).map(\.name) == ["first"])
    #expect(try magic.objects(of: Named.self).map(\.text) == ["first"])
  }

  @Test func `a new object with an existing key overwrites all values of that object`() throws {
    try magic.update([Clerk(1, "a"), Clerk(2, "b")])
    let fetched = try magic.object(of: Clerk.self, primary: 1)
    let again = Clerk(1, "again")
    #expect(try magic.update(again) == 1)
    #expect(try magic.object(of: Clerk.self, primary: 1).name == "again")
    // An object fetched earlier writes only its own changes.
    fetched.photo = MagicAsset(value: "x")
    try magic.update(fetched)
    let person = try magic.object(of: Clerk.self, primary: 1)
    #expect(person.name == "again")
    #expect(try person.photo?.get() == "x")
    #expect(try magic.count(of: Clerk.self) == 2)
  }
}
