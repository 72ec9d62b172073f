import Conformance
import MagicData
import Testing

private struct Card: MagicObject {
  @MagicValue var title: String
  @MagicValue var owner: AsyncMagical<Leaf>
  @OptionalMagicValue var other: AsyncMagical<Leaf>?
  @MagicValue var list: AsyncMagical<[Leaf]>

  init() {}
  init(_ title: String) {
    self.title = title
    owner = AsyncMagical(value: Leaf("owner"))
    list = AsyncMagical(value: [Leaf("a")])
  }
}

/// Lazy relations read the store in calls that throw. The properties themselves can always be read.
@Suite(.everyEngine) struct LazyGetterTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  @Test func `the lazy values of a removed object throw and can be set`() throws {
    try magic.update(Card("one"))
    let card = try #require(try magic.object(of: Card.self).first)
    try magic.remove(card)
    #expect(throws: MagicError.self) { try card.owner.get() }
    #expect(throws: MagicError.self) { try card.list.count() }
    // The object can't be saved again without its lazy values.
    #expect(throws: MagicError.self) { try magic.update(card) }
    card.owner.set(Leaf("new"))
    card.list.set([])
    card.other = AsyncMagical(value: Leaf("other"))
    try magic.update(card)
    let again = try #require(try magic.object(of: Card.self).first)
    #expect(try again.owner.get().text == "new")
    #expect(try again.other?.get().text == "other")
  }

  @Test func `an optional lazy relation without a value is nil`() throws {
    let card = Card("one")
    try magic.update(card)
    #expect(try magic.object(of: Card.self).first?.other == nil)
    card.other = AsyncMagical(value: Leaf("other"))
    try magic.update(card)
    let fetched = try #require(try magic.object(of: Card.self).first)
    #expect(try fetched.other?.get().text == "other")
    try magic.removeAll(Leaf.where(\.$text == "other"))
    #expect(try magic.object(of: Card.self).first?.other == nil)
    #expect(throws: MagicError.lostTarget(type: "Card", property: "other", zIndex: 1)) {
      try fetched.other?.get()
    }
  }

  @Test func `a lazy relation is compared with an object`() throws {
    let (one, two) = (Card("one"), Card("two"))
    two.other = AsyncMagical(value: Leaf("other"))
    try magic.update([one, two])
    let owner = try one.owner.get()
    let other = try #require(try two.other?.get())
    func titles(_ filter: Filter<Card>) throws -> [String] {
      try magic.objects(of: Card.self, where: filter).map(\.title).sorted()
    }
    #expect(try titles(\.$owner == owner) == ["one"])
    #expect(try titles(\.$owner != owner) == ["two"])
    #expect(try titles(\.$other == other) == ["two"])
    #expect(try titles(\.$other != other) == ["one"])
    #expect(try titles(\.$owner == other) == [])
    #expect(throws: MagicError.notSaved(type: "Leaf")) { try titles(\.$owner == Leaf("new")) }
  }

  @Test func `lazy values throw when the store is closed`() throws {
    try magic.update(Card("one"))
    let card = try #require(try magic.object(of: Card.self).first)
    try magic.database.close()
    #expect(card.title == "one")
    #expect(throws: MagicError.closed) { try card.owner.get() }
    #expect(throws: MagicError.closed) { try card.list.get() }
  }
}
