import Conformance
import MagicData
import Testing

@Suite(.everyEngine) struct GraphSavingTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  private func again(_ tree: Tree) throws -> Tree {
    try magic.object(of: Tree.self, primary: tree.id)
  }

  @Test func `an object reached by several paths is saved once`() throws {
    let leaf = Leaf("shared")
    let (first, second) = (Tree("1", lazyOne: leaf), Tree("2", lazyOne: leaf))
    first.list = [leaf, leaf]
    second.set = [leaf]
    try magic.update([first, second])
    #expect(try magic.count(of: Leaf.self) == 1)
  }

  @Test func `saving unchanged objects writes nothing`() throws {
    let tree = Tree("oak")
    tree.list = (0..<50).map { Leaf("\($0)") }
    tree.lazyList.set(tree.list)
    try magic.update(tree)
    let (_, cost) = try magic.cost { try magic.update(tree) }
    #expect(cost.rows == 0)
    #expect(cost.statements <= 4)
    let fetched = try again(tree)
    _ = fetched.list.map(\.text)
    let (_, fetchedCost) = try magic.cost { try magic.update(fetched) }
    #expect(fetchedCost.rows == 0)
    #expect(fetchedCost.statements <= 4)
  }

  @Test func `a change deep in the graph is saved with its root`() throws {
    let tree = Tree("oak")
    tree.list = [Leaf("a"), Leaf("b")]
    try magic.update(tree)
    let fetched = try again(tree)
    fetched.list[1].text = "B"
    let (_, cost) = try magic.cost { try magic.update(fetched) }
    #expect(cost.rows == 1)
    #expect(try again(tree).list.map(\.text) == ["a", "B"])
  }

  @Test func `an unloaded lazy value keeps its links`() throws {
    let tree = Tree("oak")
    tree.lazyList.set([Leaf("a"), Leaf("b")])
    tree.lazyByName.set(["x": Leaf("c")])
    try magic.update(tree)
    let fetched = try again(tree)
    fetched.name = "elm"
    _ = try fetched.lazyList.count()
    let (_, cost) = try magic.cost { try magic.update(fetched) }
    #expect(cost.rows == 1)
    #expect(try again(tree).lazyList.get().map(\.text) == ["a", "b"])
    #expect(try again(tree).lazyByName.get().mapValues(\.text) == ["x": "c"])
  }

  @Test func `an assigned lazy value is saved`() throws {
    let tree = Tree("oak")
    tree.lazyList.set([Leaf("a"), Leaf("b")])
    try magic.update(tree)
    let fetched = try again(tree)
    fetched.lazyList.set([Leaf("c")])
    fetched.lazyOne.set(Leaf("d"))
    try magic.update(fetched)
    #expect(try again(tree).lazyList.get().map(\.text) == ["c"])
    #expect(try again(tree).lazyOne.get().text == "d")
  }

  @Test func `a saved lazy value doesn't overwrite concurrent changes`() throws {
    let tree = Tree("oak")
    tree.lazyList.set([Leaf("a")])
    try magic.update(tree)
    let other = try again(tree)
    other.lazyList.set([Leaf("b")])
    try magic.update(other)
    tree.name = "elm"
    try magic.update(tree)
    #expect(try again(tree).lazyList.get().map(\.text) == ["b"])
  }

  @Test func `unchanged links don't overwrite concurrent changes`() throws {
    let tree = Tree("oak")
    tree.list = [Leaf("a")]
    try magic.update(tree)
    let (first, second) = (try again(tree), try again(tree))
    first.list.append(Leaf("b"))
    try magic.update(first)
    second.name = "elm"
    try magic.update(second)
    tree.name = "fir"
    try magic.update(tree)
    #expect(try again(tree).list.map(\.text) == ["a", "b"])
  }

  @Test func `assigning another object's lazy value copies its links`() throws {
    let tree = Tree("oak")
    tree.lazyList.set([Leaf("a"), Leaf("b")])
    try magic.update(tree)
    let source = try again(tree)
    let copy = Tree("copy")
    copy.lazyList = source.lazyList
    copy.lazyOne = source.lazyOne
    try magic.update(copy)
    #expect(try again(copy).lazyList.get().map(\.text) == ["a", "b"])
    #expect(try again(copy).lazyOne.get().text == "lazy")
    #expect(try again(tree).lazyList.get().map(\.text) == ["a", "b"])
  }

  @Test func `inserting in front of 100,000 elements writes few rows`() throws {
    let tree = Tree("big")
    tree.list = (0..<(Engine.current == .local ? 100_000 : 2_000)).map { Leaf("\($0)") }
    try magic.update(tree)
    let fetched = try again(tree)
    fetched.list.insert(Leaf("first"), at: 0)
    let (_, cost) = try magic.cost { try magic.update(fetched) }
    // The object and its link.
    #expect(cost.rows <= 3)
    #expect(cost.statements <= 10)
    #expect(try again(tree).list.prefix(2).map(\.text) == ["first", "0"])
  }

  @Test func `a failure anywhere in the graph saves nothing`() throws {
    let tree = Tree("oak")
    tree.list = [Leaf("a"), Leaf()]
    #expect(throws: MagicError.missingValue(type: "Leaf", property: "text")) {
      try magic.update(tree)
    }
    #expect(try magic.count(of: Tree.self) == 0)
    #expect(try magic.count(of: Leaf.self) == 0)
    tree.list[1].text = "b"
    try magic.update(tree)
    #expect(try again(tree).list.map(\.text) == ["a", "b"])
  }

  @Test func `a chain of 20,000 fetched objects is saved and fetched without recursion`() throws {
    try magic.update((0..<20_000).map { Node("\($0)") })
    let nodes = try magic.object(of: Node.self)
    for (node, parent) in zip(nodes.dropFirst(), nodes) { node.parent = parent }
    try magic.update(nodes[19_999])
    let again = try magic.object(of: Node.self)
    #expect(again.count == 20_000)
    #expect(again[19_999].parent?.parent?.name == "19997")
    let last = try #require(try magic.objects(of: Node.self, where: \.$name == "2000").first)
    #expect(last.parent?.parent?.name == "1998")
  }
}
