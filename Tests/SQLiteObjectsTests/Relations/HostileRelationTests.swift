import Conformance
import MagicData
import Testing

/// Unusual and harmful uses of relations.
@Suite(.everyEngine) struct HostileRelationTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  private func again(_ tree: Tree) throws -> Tree {
    try magic.object(of: Tree.self, primary: tree.id)
  }

  @Test func `an object may reference itself through every kind of relation`() throws {
    let vertex = Vertex(id: "self")
    vertex.one = vertex
    vertex.list = [vertex, vertex]
    vertex.set = [vertex]
    vertex.byName = ["me": vertex]
    vertex.lazy.set([vertex])
    try magic.update(vertex)
    #expect(try magic.count(of: Vertex.self) == 1)
    let fetched = try magic.object(of: Vertex.self, primary: "self")
    #expect(fetched.one?.list[1].set.first?.byName["me"]?.id == "self")
    #expect(try fetched.lazy.get()[0].listOwners.count() == 1)
    try magic.remove(fetched)
    #expect(try magic.count(of: Vertex.self) == 0)
    #expect(try magic.violations() == 0)
  }

  @Test func `one of an object's several positions in an array can be removed`() throws {
    let (a, b) = (Leaf("a"), Leaf("b"))
    let tree = Tree("oak")
    tree.list = [a, b, a, a]
    try magic.update(tree)
    let fetched = try again(tree)
    fetched.list.remove(at: 2)
    try magic.update(fetched)
    #expect(try again(tree).list.map(\.text) == ["a", "b", "a"])
    fetched.list.swapAt(0, 1)
    try magic.update(fetched)
    #expect(try again(tree).list.map(\.text) == ["b", "a", "a"])
  }

  @Test func `a stream yields no object twice while others are removed`() async throws {
    let tree = Tree("oak")
    // Each removal is a separate transaction, so a cluster uses fewer objects.
    let part = Engine.current == .local ? 1 : 5
    let leaves = (0..<1_000 / part).map { Leaf("\($0)") }
    tree.lazyList.set(leaves)
    try await magic.update(tree)
    var received: [String] = []
    for try await leaf in try again(tree).lazyList.stream(batch: 500 / part) {
      received.append(leaf.text)
      // Removes objects before, at and after the stream's position.
      guard received.count == 300 / part else { continue }
      for leaf in leaves[0..<310 / part] + leaves[(900 / part)...] { try await magic.remove(leaf) }
    }
    #expect(Set(received).count == received.count)
    #expect(received.prefix(300 / part) == leaves[0..<300 / part].map(\.text)[...])
    #expect(try await again(tree).lazyList.count() == 590 / part)
  }

  @Test func `owners removed during a loop are yielded at most once`() async throws {
    let leaf = Leaf("a")
    try await magic.update(leaf)
    let trees = (0..<(Engine.current == .local ? 1_000 : 520)).map { number in
      let tree = Tree("\(number)", lazyOne: leaf)
      tree.set = [leaf]
      return tree
    }
    try await magic.update(trees)
    var received: [String] = []
    for try await tree in leaf.setOwners {
      received.append(tree.name)
      try await magic.remove(tree)
    }
    #expect(received == trees.map(\.name))
    #expect(try await leaf.setOwners.get().isEmpty)
  }

  @Test func `a removed object that a relation references is saved as a new one`() throws {
    let leaf = Leaf("a")
    let tree = Tree("oak")
    tree.list = [leaf]
    try magic.update(tree)
    let fetched = try again(tree)
    try magic.remove(leaf)
    #expect(try again(tree).list.isEmpty)
    // `leaf` is marked as removed, so it is inserted as a new object.
    tree.list = [leaf]
    try magic.update(tree)
    #expect(try again(tree).list.map(\.text) == ["a"])
    // The fetched tree references the removed row, and its save doesn't write these links again.
    fetched.name = "ash"
    try magic.update(fetched)
    #expect(try again(tree).name == "ash")
    #expect(try again(tree).list.map(\.text) == ["a"])
    #expect(try magic.violations() == 0)
  }

  @Test func `a lazy value of a removed owner throws missingTarget`() async throws {
    let tree = Tree("oak")
    tree.lazyList.set([Leaf("a")])
    try await magic.update(tree)
    let fetched = try again(tree)
    let (one, list) = (fetched.lazyOne, fetched.lazyList)
    try await magic.remove(tree)
    await #expect(throws: MagicError.missingTarget(type: "Tree", zIndex: 1)) {
      try await one.get()
    }
    #expect(try await list.get().isEmpty)
    #expect(try await list.count() == 0)
    // The lazy values are lost, so the object can't be saved again.
    await #expect(throws: MagicError.self) { try await magic.update(fetched) }
    #expect(try await magic.count(of: Tree.self) == 0)
  }

  @Test func `an object of another store is saved together with its related objects`() throws {
    let other = try MagicData.fresh()
    let (first, second) = (Vertex(id: "first"), Vertex(id: "second"))
    first.one = second
    second.list = [first, second]
    second.byName = ["back": first]
    try other.update(first)
    // In this store, other objects have the same rowids.
    try magic.update((0..<5).map { Vertex(id: "\($0)") })
    let fetched = try other.object(of: Vertex.self, primary: "first")
    // Lazy values that weren't fetched can't be copied to this store.
    #expect(throws: MagicError.foreignValue(type: "Vertex", property: "lazy")) {
      try magic.update(fetched)
    }
    fetched.lazy.set([])
    fetched.one?.lazy.set([fetched])
    try magic.update(fetched)
    let moved = try magic.object(of: Vertex.self, primary: "first")
    #expect(moved.one?.id == "second")
    #expect(moved.one?.list.map(\.id) == ["first", "second"])
    #expect(moved.one?.byName["back"]?.id == "first")
    #expect(try moved.one?.lazy.get().map(\.id) == ["first"])
    #expect(try magic.count(of: Vertex.self) == 7)
    #expect(try magic.violations() == 0)
  }

  @Test func `related objects of another store that were never accessed are saved, too`() throws {
    let other = try MagicData.fresh()
    let root = Node("root")
    root.children = [Node("a"), Node("b")]
    root.parent = Node("parent")
    try other.update(root)
    // In this store, other objects have the same rowids.
    try magic.update((0..<5).map { Node("\($0)") })
    let fetched = try #require(
      try other.objects(of: Node.self, where: \.$name == "root").first)
    try magic.update(fetched)
    let moved = try #require(try magic.objects(of: Node.self, where: \.$name == "root").first)
    #expect(moved.children.map(\.name) == ["a", "b"])
    #expect(moved.parent?.name == "parent")
    #expect(try magic.count(of: Node.self) == 9)
  }
}
