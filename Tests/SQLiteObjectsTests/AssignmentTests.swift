import Conformance
import Foundation
import MagicData
import Testing

private struct Card: MagicObject {
  @MagicValue var front: MagicAsset<String>
  @MagicValue var back: MagicAsset<String>
  @MagicValue var left: AsyncMagical<MagicAsset<String>>
  @MagicValue var right: AsyncMagical<MagicAsset<String>>

  init() {}

  init(_ name: String) {
    front = MagicAsset(value: "\(name) FRONT", pathExtension: "f")
    back = MagicAsset(value: "\(name) BACK")
    left = AsyncMagical(value: MagicAsset(value: "\(name) LEFT"))
    right = AsyncMagical(value: MagicAsset(value: "\(name) RIGHT"))
  }
}

private struct Needle: MagicObject {
  @PrimaryMagicValue var id: String
  init() {}
  init(_ id: String) { self.id = id }
}

private struct Twig: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var one: AsyncMagical<Needle>
  @MagicValue var other: AsyncMagical<Needle>
  @MagicValue var list: AsyncMagical<[Needle]>
  @MagicValue var rest: AsyncMagical<[Needle]>
  @MagicValue var set: AsyncMagical<MagicalSet<Needle>>
  @MagicValue var table: AsyncMagical<[String: Needle]>

  init() {}

  init(_ name: String) {
    one = AsyncMagical(value: Needle("\(name) one"))
    other = AsyncMagical(value: Needle("\(name) other"))
    list = AsyncMagical(value: [Needle("\(name) 1"), Needle("\(name) 2")])
    rest = AsyncMagical(value: [Needle("\(name) 3")])
    set = AsyncMagical(value: [Needle("\(name) set")])
    table = AsyncMagical(value: [name: Needle("\(name) table")])
  }

  var everything: [String] {
    get throws {
      try [one.get().id, other.get().id]
        + (list.get() + rest.get() + set.get().elements + table.get().values).map(\.id)
    }
  }
}

/// Assets and lazy relations that are assigned to other properties: the save uses the contents
/// from before the save.
@Suite(.everyEngine) struct AssignmentTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh(.temporary) }

  private func cards() throws -> [Card] { try magic.objects(of: Card.self) }

  private func contents() throws -> [String?] {
    try cards().flatMap {
      try [$0.front.get(), $0.back.get(), $0.left.get().get(), $0.right.get().get()]
    }
  }

  @Test(arguments: [0, 1 << 20])
  func `two assets of an object can be swapped`(minimumFileSize: Int) throws {
    magic.assets.minimumFileSize = minimumFileSize
    try magic.update(Card("a"))
    let card = try cards()[0]
    (card.front, card.back) = (card.back, card.front)
    (card.left, card.right) = (card.right, card.left)
    try magic.update(card)
    #expect(try contents() == ["a BACK", "a FRONT", "a RIGHT", "a LEFT"])
    // The object itself shows the swapped contents and can be swapped back.
    #expect(try [card.front.get(), card.left.get().get()] == ["a BACK", "a RIGHT"])
    #expect(try card.back.pathExtension == "f")
    (card.front, card.back) = (card.back, card.front)
    (card.left, card.right) = (card.right, card.left)
    try magic.update(card)
    #expect(try contents() == ["a FRONT", "a BACK", "a LEFT", "a RIGHT"])
    #expect(try magic.assets.verify().isEmpty)
  }

  @Test(arguments: [0, 1 << 20])
  func `assets can be rotated among objects of one save`(minimumFileSize: Int) throws {
    magic.assets.minimumFileSize = minimumFileSize
    try magic.update(["a", "b", "c"].map(Card.init))
    let all = try cards()
    let fronts = all.map(\.front)
    let lefts = try all.map { try $0.left.get() }
    for (place, card) in all.enumerated() {
      card.front = fronts[(place + 1) % 3]
      card.left.set(lefts[(place + 2) % 3])
    }
    try magic.update(all)
    #expect(try cards().map { try $0.front.get() } == ["b FRONT", "c FRONT", "a FRONT"])
    #expect(try cards().map { try $0.left.get().get() } == ["c LEFT", "a LEFT", "b LEFT"])
    #expect(try cards().map { try $0.back.get() } == ["a BACK", "b BACK", "c BACK"])
    #expect(try magic.assets.verify().isEmpty)
  }

  @Test func `an assigned asset keeps its content if its source is replaced`() throws {
    try magic.update(Card("a"))
    let card = try cards()[0]
    let old = card.front
    card.front = MagicAsset(value: "NEW")
    card.back = old
    try magic.update(card)
    #expect(try contents()[..<2] == ["NEW", "a FRONT"])
    // Assigning the current value of a property isn't a change.
    let path = try card.front.path
    card.front = card.front
    try magic.update(card)
    #expect(try card.front.path == path)
    // An asset without content is assigned like any other.
    card.front.set(nil)
    try magic.update(card)
    (card.front, card.back) = (card.back, card.front)
    try magic.update(card)
    #expect(try contents()[..<2] == ["a FRONT", nil])
  }

  @Test func `swapped assets can be saved again after a rollback`() throws {
    try magic.update(Card("a"))
    let card = try cards()[0]
    (card.front, card.back) = (card.back, card.front)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try magic.transaction {
        try magic.update(card)
        throw Stop()
      }
    }
    #expect(try contents()[..<2] == ["a FRONT", "a BACK"])
    try magic.update(card)
    #expect(try contents()[..<2] == ["a BACK", "a FRONT"])
    #expect(try magic.assets.verify().isEmpty)
  }

  @Test func `lazy relations can be swapped within an object and between two`() throws {
    try magic.update([Twig("a"), Twig("b")])
    let both = try magic.objects(of: Twig.self)
    let (a, b) = (both[0], both[1])
    let expected = [
      ["a other", "b one", "a 3", "a 1", "a 2", "b set", "b table"],
      ["a one", "b other", "b 1", "b 2", "b 3", "a set", "a table"],
    ]
    (a.one, a.other, b.one) = (a.other, b.one, a.one)
    (a.list, a.rest) = (a.rest, a.list)
    (a.set, b.set) = (b.set, a.set)
    (a.table, b.table) = (b.table, a.table)
    try magic.update([a, b])
    #expect(try magic.objects(of: Twig.self).map { try $0.everything } == expected)
    // The objects themselves show the swapped relations.
    #expect(try [a.everything, b.everything] == expected)
    a.list.set([])
    try magic.update(a)
    #expect(try b.everything == expected[1])
    #expect(try magic.object(of: Twig.self, primary: 1).rest.get().map(\.id) == ["a 1", "a 2"])
  }
}
