import Conformance
import MagicData
import Testing

/// An object with a primary value.
struct Keyed: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var text: String

  init() {}

  init(id: String, _ text: String) {
    self.id = id
    self.text = text
  }
}

@Suite(.everyEngine) struct MagicalSetTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  @Test func `objects with the same z_index are one element`() throws {
    let leaf = Leaf("a")
    try magic.update(leaf)
    let again = try #require(try magic.object(of: Leaf.self).first)
    again.text = "b"
    var set: MagicalSet<Leaf> = [leaf]
    set.insert(again)
    #expect(set.map(\.text) == ["b"])
    #expect(set.contains(leaf))
  }

  @Test func `an object that gets its z_index after the insertion is found by it`() throws {
    let leaf = Leaf("a")
    var set: MagicalSet<Leaf> = [leaf, Leaf("other")]
    try magic.update(leaf)
    let again = try #require(try magic.object(of: Leaf.self).first)
    #expect(set.contains(again))
    set.insert(again)
    #expect(set.count == 2)
    #expect(set.remove(again)?.text == "a")
    #expect(set.map(\.text) == ["other"])
  }

  @Test func `unsaved objects with the same primary value are one element`() {
    var set: MagicalSet<Keyed> = [Keyed(id: "1", "a"), Keyed(id: "2", "b")]
    set.insert(Keyed(id: "1", "c"))
    #expect(set.map(\.text) == ["c", "b"])
    #expect(set.contains(Keyed(id: "2", "")))
    #expect(set.remove(Keyed(id: "2", ""))?.text == "b")
  }

  @Test func `unsaved objects without a primary value are equal only to their copies`() {
    let leaf = Leaf("a")
    let copy = leaf
    var set: MagicalSet<Leaf> = [leaf, Leaf("a"), copy]
    #expect(set.count == 2)
    #expect(set.contains(copy))
    #expect(!set.contains(Leaf("a")))
    set.remove(copy)
    #expect(set.count == 1)
  }

  @Test func `a saved object isn't equal to an unsaved one`() throws {
    let saved = Keyed(id: "1", "saved")
    try magic.update(saved)
    var set: MagicalSet<Keyed> = [saved]
    set.insert(Keyed(id: "1", "new"))
    #expect(set.count == 2)
  }

  @Test func `an object saved after its insertion no longer matches by primary value`() throws {
    let first = Keyed(id: "1", "first")
    var set: MagicalSet<Keyed> = [first]
    try magic.update(first)
    set.insert(Keyed(id: "1", "new"))
    #expect(set.count == 2)
    set.insert(first)
    #expect(set.count == 2)
  }

  @Test func `objects that a save made equal are one element after deduplicate`() throws {
    let saved = Keyed(id: "1", "saved")
    try magic.update(saved)
    let new = Keyed(id: "1", "new")
    var set: MagicalSet<Keyed> = [saved, new, Keyed(id: "2", "other")]
    try magic.update(new)
    #expect(set.count == 3)
    set.deduplicate()
    #expect(set.map(\.text) == ["new", "other"])
  }

  @Test func `removing by a condition keeps the rest in order`() {
    var set = MagicalSet((0..<10).map { Leaf("\($0)") })
    let kept = set[4]
    set.removeAll { Int($0.text).map { $0 % 2 == 1 } ?? false }
    #expect(set.map(\.text) == ["0", "2", "4", "6", "8"])
    #expect(set.remove(kept)?.text == "4")
    #expect(set.map(\.text) == ["0", "2", "6", "8"])
  }

  @Test func `a set of 100,000 objects is created, saved, fetched and changed`() throws {
    let count = Engine.current == .local ? 100_000 : 2_000
    let tree = Tree("big")
    tree.set = MagicalSet((0..<count).map { Leaf("\($0)") })
    try magic.update(tree)
    let again = try magic.object(of: Tree.self, primary: tree.id)
    #expect(again.set.count == count)
    again.set.insert(Leaf("added"))
    let (_, cost) = try magic.cost { try magic.update(again) }
    // The new object, its link and the auto-increment counter of its table.
    #expect(cost.rows <= 3)
    #expect(cost.statements <= 12)
    let links = try magic.database.rows("SELECT count(*) FROM Tree_set", as: Int.self)
    #expect(links == [count + 1])
  }
}
