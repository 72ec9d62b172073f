import Conformance
import MagicData
import Testing

private struct Volume: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var pages: Int

  init() {}
  init(_ id: String, _ pages: Int = 1) { (self.id, self.pages) = (id, pages) }
}

private struct Bookcase: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var list = AsyncMagical<[Volume]>(value: [])
  @MagicValue var set = AsyncMagical<MagicalSet<Volume>>(value: [])
  @MagicValue var byName = AsyncMagical<[String: Volume]>(value: [:])
  @OptionalMagicValue var next: Bookcase?
  @OptionalMagicValue var number: Int?

  static var traits: [PropertyTrait] { [.unique(\Self.$number)] }

  init() {}
  init(_ id: String) { self.id = id }
}

/// The ways to save a bookcase.
private enum Save: CaseIterable {
  case one, several, transaction, nested, asOwner, asOwnersOwner, again

  func run(_ bookcase: Bookcase, in magic: MagicData) throws {
    switch self {
    case .one: try magic.update(bookcase)
    case .several: try magic.update([Bookcase("other"), bookcase])
    case .transaction: try magic.transaction { _ = try magic.update(bookcase) }
    case .nested:
      try magic.transaction { try magic.transaction { _ = try magic.update(bookcase) } }
    case .asOwner:
      let owner = Bookcase("owner")
      owner.next = bookcase
      try magic.update(owner)
    case .asOwnersOwner:
      let (owner, other) = (Bookcase("owner"), Bookcase("owner's owner"))
      (other.next, owner.next) = (owner, bookcase)
      try magic.update(other)
    case .again:
      try magic.update(bookcase)
      try magic.update(bookcase)
    }
  }
}

private struct Failure: Error {}

/// Queries of lazy collections whose changes were saved.
@Suite(.everyEngine) struct LazyQueryTests {
  private let magic: MagicData
  private let a = Volume("a", 10)
  private let b = Volume("b", 20)
  private let c = Volume("c", 30)

  init() throws { magic = try MagicData.fresh() }

  /// Expects that queries of the three collections return the objects with these keys.
  private func expect(_ ids: Set<String>, _ bookcase: Bookcase, in store: MagicData? = nil) throws {
    let store = store ?? magic
    for query in [bookcase.list.all, bookcase.set.all, bookcase.byName.all] {
      #expect(Set(try store.fetch(query).map(\.id)) == ids)
      #expect(try store.fetch(query.count) == ids.count)
      #expect(try store.fetch(query.where(\.$id == "b").count) == (ids.contains("b") ? 1 : 0))
    }
  }

  private func expectUnsaved(_ bookcase: Bookcase) {
    #expect(throws: MagicError.unsavedChanges(type: "Array<Volume>")) {
      try magic.fetch(bookcase.list.all)
    }
    #expect(throws: MagicError.unsavedChanges(type: "MagicalSet<Volume>")) {
      try magic.fetch(bookcase.set.all.count)
    }
    #expect(throws: MagicError.unsavedChanges(type: "Dictionary<String, Volume>")) {
      try magic.fetch(bookcase.byName.where(\.$pages > 1))
    }
  }

  /// Sets the three collections.
  private func set(_ volumes: [Volume], _ bookcase: Bookcase) {
    bookcase.list.set(volumes)
    bookcase.set.set(MagicalSet(volumes))
    bookcase.byName.set(Dictionary(uniqueKeysWithValues: volumes.map { ($0.id, $0) }))
  }

  private func add(_ volume: Volume, _ bookcase: Bookcase) throws {
    bookcase.list.append(volume)
    bookcase.set.insert(volume)
    try bookcase.byName.set(volume, forKey: volume.id)
  }

  private func remove(_ volume: Volume, _ bookcase: Bookcase) {
    bookcase.list.remove(volume)
    bookcase.set.remove(volume)
    bookcase.byName.remove(volume)
  }

  @Test(arguments: Save.allCases)
  private func `saved changes can be queried`(save: Save) throws {
    let created = Bookcase("created")
    try magic.update(Bookcase("fetched"))
    let fetched = try magic.object(of: Bookcase.self, primary: "fetched")
    for bookcase in [created, fetched] {
      set([a, b], bookcase)
      expectUnsaved(bookcase)
      try save.run(bookcase, in: magic)
      try expect(["a", "b"], bookcase)
      try add(c, bookcase)
      expectUnsaved(bookcase)
      try save.run(bookcase, in: magic)
      try expect(["a", "b", "c"], bookcase)
      remove(b, bookcase)
      expectUnsaved(bookcase)
      try save.run(bookcase, in: magic)
      try expect(["a", "c"], bookcase)
      set([b], bookcase)
      expectUnsaved(bookcase)
      try save.run(bookcase, in: magic)
      try expect(["b"], bookcase)
      bookcase.list.removeAll()
      bookcase.set.removeAll()
      bookcase.byName.removeAll()
      expectUnsaved(bookcase)
      try save.run(bookcase, in: magic)
      try expect([], bookcase)
    }
  }

  @Test func `an empty collection that was saved can be queried`() throws {
    let bookcase = Bookcase("x")
    expectUnsaved(bookcase)
    try magic.insert(bookcase)
    try expect([], bookcase)
    #expect(try magic.fetch(bookcase.list.all.isEmpty))
  }

  @Test func `a query sees what others have saved since`() throws {
    let bookcase = Bookcase("x")
    set([a], bookcase)
    try magic.update(bookcase)
    let other = try magic.object(of: Bookcase.self, primary: "x")
    try add(b, other)
    try magic.update(other)
    try expect(["a", "b"], bookcase)
    #expect(try bookcase.list.get().map(\.id) == ["a"])
  }

  @Test func `after a failed save, changes are unsaved until the next save`() throws {
    let rival = Bookcase("rival")
    rival.number = 1
    try magic.update(rival)
    let bookcase = Bookcase("x")
    set([a], bookcase)
    bookcase.number = 1
    #expect(throws: (any Error).self) { try magic.update(bookcase) }
    expectUnsaved(bookcase)
    bookcase.number = 2
    try magic.update(bookcase)
    try expect(["a"], bookcase)
    // The row fails after the links of the other object were written.
    try add(b, bookcase)
    let twin = Bookcase("twin")
    twin.number = 1
    #expect(throws: (any Error).self) { try magic.update([bookcase, twin]) }
    expectUnsaved(bookcase)
    try magic.update(bookcase)
    try expect(["a", "b"], bookcase)
  }

  @Test func `a query in a transaction sees its saves, and a rollback makes them unsaved`() throws {
    let bookcase = Bookcase("x")
    set([a], bookcase)
    #expect(throws: Failure.self) {
      try magic.transaction {
        expectUnsaved(bookcase)
        try magic.update(bookcase)
        try expect(["a"], bookcase)
        throw Failure()
      }
    }
    expectUnsaved(bookcase)
    try magic.transaction {
      try magic.update(bookcase)
      #expect(throws: Failure.self) {
        try magic.transaction {
          try add(b, bookcase)
          try magic.update(bookcase)
          try expect(["a", "b"], bookcase)
          throw Failure()
        }
      }
      expectUnsaved(bookcase)
    }
    try magic.update(bookcase)
    try expect(["a", "b"], bookcase)
  }

  @Test func `an object that was removed and saved again can be queried`() throws {
    let bookcase = Bookcase("x")
    set([a, b], bookcase)
    try magic.update(bookcase)
    try magic.remove(bookcase)
    #expect(throws: Failure.self) {
      try magic.transaction {
        try magic.update(bookcase)
        try expect(["a", "b"], bookcase)
        throw Failure()
      }
    }
    try magic.update(bookcase)
    try expect(["a", "b"], bookcase)
    try add(c, bookcase)
    try magic.update(bookcase)
    try expect(["a", "b", "c"], bookcase)
  }

  @Test func `each store is queried for what was saved in it`() throws {
    let other = try MagicData.fresh()
    let bookcase = Bookcase("x")
    set([a, b], bookcase)
    try magic.update(bookcase)
    #expect(throws: MagicError.notSaved(type: "Bookcase")) { try other.fetch(bookcase.list.all) }
    try other.insert(Bookcase("y"))
    try other.update(bookcase)
    try expect(["a", "b"], bookcase)
    try expect(["a", "b"], bookcase, in: other)
    let stored = try other.object(of: Bookcase.self, primary: "x")
    set([], stored)
    try other.update(stored)
    try expect(["a", "b"], bookcase)
    try expect([], bookcase, in: other)
    try add(c, bookcase)
    expectUnsaved(bookcase)
    try magic.update(bookcase)
    try expect(["a", "b", "c"], bookcase)
  }

  @Test(arguments: [false, true], [false, true])
  func `objects that were saved with one shared value each have their own`(
    isFetched: Bool, areSavedTogether: Bool
  ) throws {
    func bookcase(_ id: String) throws -> Bookcase {
      guard isFetched else { return Bookcase(id) }
      try magic.update(Bookcase(id))
      return try magic.object(of: Bookcase.self, primary: id)
    }
    let (one, two) = (try bookcase("one"), try bookcase("two"))
    set([a, b], one)
    (two.list, two.set, two.byName) = (one.list, one.set, one.byName)
    if areSavedTogether {
      try magic.update([one, two])
    } else {
      try magic.update(one)
      try magic.update(two)
    }
    try expect(["a", "b"], one)
    try expect(["a", "b"], two)
    try add(c, two)
    try magic.update(two)
    try expect(["a", "b"], one)
    try expect(["a", "b", "c"], two)
    remove(a, one)
    try magic.update(one)
    try expect(["b"], one)
    try expect(["a", "b", "c"], two)
  }

  @Test func `a value that another object saved first is saved by its own object, too`() throws {
    let (one, two) = (Bookcase("one"), Bookcase("two"))
    try magic.update([one, two])
    set([a, b], one)
    (two.list, two.set, two.byName) = (one.list, one.set, one.byName)
    try magic.update(two)
    try magic.update(one)
    for id in ["one", "two"] {
      try expect(["a", "b"], try magic.object(of: Bookcase.self, primary: id))
    }
    try expect(["a", "b"], one)
  }

  @Test func `the query of a released object's collection can be fetched`() throws {
    func saved() throws -> AsyncMagical<[Volume]> {
      let bookcase = Bookcase("x")
      set([a, b], bookcase)
      try magic.update(bookcase)
      return bookcase.list
    }
    let list = try saved()
    #expect(try magic.fetch(list.all).map(\.id) == ["a", "b"])
  }
}
