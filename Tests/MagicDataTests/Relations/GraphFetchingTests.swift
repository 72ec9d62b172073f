import MagicData
import Synchronization
import Testing

/// Counts the living objects of a test.
final class Living: Sendable {
  private let counter = Mutex(0)
  var count: Int { counter.withLock { $0 } }
  func add(_ number: Int) { counter.withLock { $0 += number } }
}

/// A class that says when it goes.
final class Witness: MagicObject {
  @TaskLocal static var living: Living?

  @MagicValue var name: String
  @OptionMagicValue var best: Witness?
  @MagicValue var friends: [Witness]
  private let living = Witness.living

  enum CodingKeys: CodingKey { case name, best, friends }

  init() { living?.add(1) }

  deinit { living?.add(-1) }

  convenience init(_ name: String) {
    self.init()
    self.name = name
    friends = []
  }
}

@Suite struct GraphFetchingTests {
  let magic: MagicData

  init() throws { magic = try MagicData(type: .memory) }

  @Test func `the number of statements does not depend on the number of objects`() throws {
    var counts: [Int] = []
    for number in [1, 100, 10_000] {
      let magic = try MagicData(type: .memory)
      let shared = (0..<10).map { Leaf("\($0)") }
      let trees = (0..<number).map { number in
        let tree = Tree("\(number)", lazyOne: shared[0])
        tree.one = shared[number % 10]
        tree.list = [shared[number % 10], shared[(number + 3) % 10]]
        tree.set = [shared[number % 7]]
        tree.byName = ["a": shared[number % 5]]
        return tree
      }
      try magic.update(trees)
      _ = try magic.object(of: Tree.self)
      let (fetched, cost) = try magic.cost { try magic.object(of: Tree.self) }
      #expect(fetched.count == number)
      #expect(fetched.last?.list.first?.text == "\((number - 1) % 10)")
      counts.append(cost.statements)
    }
    // BEGIN, COMMIT, trees, leaves, and the links of four eager collections.
    #expect(counts == [8, 8, 8])
  }

  @Test func `each depth of a relation to the own type is one statement`() throws {
    let root = Node("root")
    var level = [root]
    for depth in 1...4 {
      let next = level.flatMap { parent in
        parent.children = (0..<3).map { Node("\(parent.name).\(depth).\($0)") }
        return parent.children
      }
      level = next
    }
    try magic.update(root)
    func fetch() throws -> [Node] {
      try magic.objects(of: Node.self, where: \.$name == "root")
    }
    _ = try fetch()
    let (nodes, cost) = try magic.cost(fetch)
    #expect(nodes.first?.children.first?.children.first?.children.count == 3)
    // BEGIN, COMMIT, the root, four depths of links and nodes, and the links of the last depth.
    #expect(cost.statements == 3 + 4 * 2 + 1)
  }

  @Test func `one fetch gives one instance of a class for each z_index`() throws {
    let (anna, bert) = (Witness("Anna"), Witness("Bert"))
    anna.friends = [bert, bert]
    anna.best = bert
    bert.best = anna
    try magic.update(anna)
    let all = try magic.object(of: Witness.self)
    #expect(all.count == 2)
    #expect(all[0].friends.allSatisfy { $0 === all[1] })
    #expect(all[0].best === all[1])
    #expect(all[1].best === all[0])
  }

  @Test func `fetched cycles do not leak`() throws {
    let (anna, bert) = (Node("Anna"), Node("Bert"))
    anna.parent = bert
    bert.children = [anna, bert]
    try magic.update(anna)
    let (first, second) = (Witness("1"), Witness("2"))
    first.friends = [first, second]
    second.best = first
    try magic.update(first)
    let living = Living()
    try Witness.$living.withValue(living) {
      var all = try magic.object(of: Witness.self)
      #expect(all[0].friends[1].best === all[0])
      #expect(living.count >= 2)
      all = []
      #expect(living.count == 0)
    }
    // The first two hold each other, as they were told to.
    first.friends = []
  }

  @Test func `relations that are set among fetched objects do not leak`() throws {
    try magic.update([Witness("1"), Witness("2")])
    let living = Living()
    try Witness.$living.withValue(living) {
      var all = try magic.object(of: Witness.self)
      all[0].friends = [all[1], all[0]]
      all[1].best = all[0]
      #expect(all[0].friends[0].best === all[0])
      all = []
      #expect(living.count == 0)
    }
  }

  @Test func `a relation to fetched and new objects is kept as it was set`() throws {
    try magic.update([Witness("1"), Witness("2")])
    let all = try magic.object(of: Witness.self)
    let new = Witness("3")
    all[0].friends = [new, all[1], new]
    #expect(all[0].friends.map(\.name) == ["3", "2", "3"])
    #expect(all[0].friends[0] === new)
    try magic.update(all[0])
    #expect(all[0].friends.map(\.name) == ["3", "2", "3"])
    let again = try magic.object(of: Witness.self)
    #expect(again[0].friends.map(\.name) == ["3", "2", "3"])
    #expect(try magic.count(of: Witness.self) == 3)
  }

  @Test func `depth limits what is fetched at once`() throws {
    let root = Node("root")
    root.children = (0..<5).map { Node("\($0)") }
    for child in root.children { child.children = [Node("\(child.name).0")] }
    try magic.update(root)
    func fetch(_ depth: Int?) throws -> Node? {
      try magic.objects(of: Node.self, where: \.$name == "root", depth: depth).first
    }
    _ = try fetch(nil)
    #expect(try magic.cost { try fetch(0) }.cost.statements == 3)
    #expect(try magic.cost { try fetch(1) }.cost.statements == 5)
    let node = try #require(try fetch(0))
    #expect(node.children.map(\.name) == ["0", "1", "2", "3", "4"])
    // The next depth comes at once for all of them.
    let (names, cost) = try magic.cost {
      node.children.flatMap(\.children).map(\.name)
    }
    #expect(names == ["0.0", "1.0", "2.0", "3.0", "4.0"])
    #expect(cost.statements == 4)
  }

  @Test func `saving what was fetched to a depth leaves the rest alone`() throws {
    let root = Node("root")
    root.children = [Node("0"), Node("1")]
    root.children[0].parent = root
    try magic.update(root)
    let node = try #require(
      try magic.objects(of: Node.self, where: \.$name == "root", depth: 0).first)
    node.name = "new"
    try magic.update(node)
    let again = try #require(try magic.objects(of: Node.self, where: \.$name == "new").first)
    #expect(again.children.map(\.name) == ["0", "1"])
    #expect(again.children[0].parent?.name == "new")
  }
}
