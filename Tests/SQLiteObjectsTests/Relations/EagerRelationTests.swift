import Conformance
import MagicData
import Testing

@Suite(.everyEngine) struct EagerRelationTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  private func again(_ tree: Tree) throws -> Tree {
    try magic.object(of: Tree.self, primary: tree.id)
  }

  @Test func `an optional reference is fetched as an object or nil`() throws {
    let tree = Tree("oak")
    try magic.update(tree)
    #expect(try again(tree).one == nil)
    tree.one = Leaf("a")
    try magic.update(tree)
    #expect(try again(tree).one?.text == "a")
    let fetched = try again(tree)
    fetched.one = nil
    try magic.update(fetched)
    #expect(try again(tree).one == nil)
    #expect(try magic.count(of: Leaf.self) == 2)
  }

  @Test func `an array keeps its order and its duplicates`() throws {
    let (a, b) = (Leaf("a"), Leaf("b"))
    let tree = Tree("oak")
    tree.list = [b, a, b]
    try magic.update(tree)
    let fetched = try again(tree)
    #expect(fetched.list.map(\.text) == ["b", "a", "b"])
    fetched.list[0].text = "B"
    #expect(fetched.list.map(\.text) == ["B", "a", "B"])
    #expect(try magic.count(of: Leaf.self) == 3)
  }

  @Test func `dictionaries have keys of any Codable type`() throws {
    let tree = Tree("oak")
    tree.byName = ["a": Leaf("1"), Engine.text("é\u{0}"): Leaf("2"), "": Leaf("3")]
    tree.bySide = [.left: Leaf("l"), .right: Leaf("r")]
    try magic.update(tree)
    let fetched = try again(tree)
    #expect(fetched.byName.mapValues(\.text) == ["a": "1", Engine.text("é\u{0}"): "2", "": "3"])
    #expect(fetched.bySide.mapValues(\.text) == [.left: "l", .right: "r"])
    fetched.bySide[.left] = fetched.bySide[.right]
    fetched.byName["a"] = nil
    try magic.update(fetched)
    #expect(try again(tree).bySide.mapValues(\.text) == [.left: "r", .right: "r"])
    #expect(try again(tree).byName.keys.sorted() == ["", Engine.text("é\u{0}")])
  }

  @Test func `a set contains each object once`() throws {
    let leaf = Leaf("a")
    let tree = Tree("oak")
    tree.set = [leaf, leaf, Leaf("b")]
    try magic.update(tree)
    #expect(try again(tree).set.map(\.text).sorted() == ["a", "b"])
  }

  @Test func `removing an object deletes links to it and sets references to nil`() throws {
    let leaf = Leaf("a")
    let tree = Tree("oak")
    tree.one = leaf
    tree.list = [leaf, Leaf("b"), leaf]
    tree.set = [leaf]
    tree.byName = ["a": leaf]
    try magic.update(tree)
    try magic.remove(leaf)
    let fetched = try again(tree)
    #expect(fetched.one == nil)
    #expect(fetched.list.map(\.text) == ["b"])
    #expect(fetched.set.isEmpty)
    #expect(fetched.byName.isEmpty)
    #expect(try magic.violations() == 0)
  }

  @Test func `relations are stored as integers, not as blobs`() throws {
    let tree = Tree("oak")
    tree.list = [Leaf("a")]
    try magic.update(tree)
    let columns = try magic.database.rows(
      "SELECT name FROM pragma_table_info('Tree') ORDER BY cid", as: String.self)
    #expect(columns == ["z_index", "id", "name", "one", "lazyOne"])
    #expect(
      try magic.database.rows(
        "SELECT typeof(owner) || typeof(position) || typeof(target) FROM Tree_list",
        as: String.self) == ["integerintegerinteger"])
  }

  @Test func `a cycle of three types is saved and fetched`() throws {
    let (a, b, c) = (RingA("a"), RingB("b"), RingC("c"))
    a.next = b
    b.next = c
    c.next = a
    try magic.update(a)
    let fetched = try #require(try magic.object(of: RingA.self).first)
    let round = try #require(fetched.next.next.next)
    #expect(round.name == "a")
    round.name = "A"
    #expect(fetched.name == "A")
    #expect(try magic.count(of: RingA.self) == 1)
    #expect(try magic.violations() == 0)
  }
}

struct RingA: MagicObject {
  @MagicValue var name: String
  @MagicValue var next: RingB

  init() {}
  init(_ name: String) { self.name = name }
}

struct RingB: MagicObject {
  @MagicValue var name: String
  @MagicValue var next: RingC

  init() {}
  init(_ name: String) { self.name = name }
}

struct RingC: MagicObject {
  @MagicValue var name: String
  @OptionalMagicValue var next: RingA?

  init() {}
  init(_ name: String) { self.name = name }
}
