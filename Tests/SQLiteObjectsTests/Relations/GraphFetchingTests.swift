import Conformance
import MagicData
import Synchronization
import Testing

/// Counts the instances of a test that haven't been released.
final class InstanceCounter: Sendable {
  private let counter = Mutex(0)
  var count: Int { counter.withLock { $0 } }
  func add(_ number: Int) { counter.withLock { $0 += number } }
}

/// A class that counts its instances.
final class Witness: MagicObject {
  @TaskLocal static var living: InstanceCounter?

  @MagicValue var name: String
  @OptionalMagicValue var best: Witness?
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

@Suite(.everyEngine) struct GraphFetchingTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  @Test func `the number of statements doesn't depend on the number of objects`() throws {
    var counts: [Int] = []
    for number in [1, 100, Engine.current == .local ? 10_000 : 500] {
      let magic = try MagicData.fresh()
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

  @Test func `each level of a recursive relation takes two statements`() throws {
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
    // BEGIN, COMMIT, the root, links and nodes of four levels, and the links of the last level.
    #expect(cost.statements == 3 + 4 * 2 + 1)
  }

  @Test func `a fetch creates one instance of a class per row`() throws {
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

  @Test func `fetched cycles don't leak`() throws {
    let (anna, bert) = (Node("Anna"), Node("Bert"))
    anna.parent = bert
    bert.children = [anna, bert]
    try magic.update(anna)
    let (first, second) = (Witness("1"), Witness("2"))
    first.friends = [first, second]
    second.best = first
    try magic.update(first)
    let living = InstanceCounter()
    try Witness.$living.withValue(living) {
      var all = try magic.object(of: Witness.self)
      #expect(all[0].friends[1].best === all[0])
      #expect(living.count >= 2)
      all = []
      #expect(living.count == 0)
    }
    // Breaks the cycle between the two saved objects.
    first.friends = []
  }

  @Test func `a saved cycle is released when one of its relations is changed`() throws {
    let living = InstanceCounter()
    try Witness.$living.withValue(living) {
      do {
        let (first, second) = (Witness("1"), Witness("2"))
        first.friends = [first, second]
        try magic.update(first)
        first.friends = []
      }
      #expect(living.count == 0)
      do {
        let (first, second) = (Witness("3"), Witness("4"))
        first.best = second
        second.best = first
        try magic.update(first)
        second.best = second
        first.best = nil
        second.best = nil
        // Each object still has the stored value to compare with.
        try magic.update(second, ifUnchanged: true)
        first.name = "5"
        try magic.update(first, ifUnchanged: true)
      }
      #expect(living.count == 0)
    }
    #expect(try magic.objects(of: Witness.self, where: \.$name == "5").first?.best == nil)
  }

  @Test func `relations set between fetched objects don't leak`() throws {
    try magic.update([Witness("1"), Witness("2")])
    let living = InstanceCounter()
    try Witness.$living.withValue(living) {
      var all = try magic.object(of: Witness.self)
      all[0].friends = [all[1], all[0]]
      all[1].best = all[0]
      #expect(all[0].friends[0].best === all[0])
      all = []
      #expect(living.count == 0)
    }
  }

  @Test func `a relation to fetched and new objects keeps the assigned order`() throws {
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

  @Test func `a fetch loads all related objects, and properties don't read the database`() throws {
    let root = Node("root")
    root.children = (0..<5).map { Node("\($0)") }
    for child in root.children { child.children = [Node("\(child.name).0")] }
    root.children[4].children[0].parent = root
    try magic.update(root)
    let node = try #require(
      try magic.objects(of: Node.self, where: \.$name == "root").first)
    let (names, cost) = try magic.cost { node.children.flatMap(\.children).map(\.name) }
    #expect(names == ["0.0", "1.0", "2.0", "3.0", "4.0"])
    #expect(cost.statements == 0)
    try magic.removeAll(Node.all)
    try magic.database.close()
    #expect(node.children[4].children[0].parent?.name == "root")
    #expect(node.children[0].children[0].parent == nil)
  }

  @Test func `a removed object keeps its related objects and is saved with them again`() throws {
    let (anna, bert) = (Witness("Anna"), Witness("Bert"))
    anna.friends = [bert, bert]
    bert.friends = [bert]
    try magic.update(anna)
    let found = try #require(
      try magic.objects(of: Witness.self, where: \.$name == "Anna").first)
    let friend = found.friends[0]
    try magic.remove(found)
    try magic.remove(friend)
    #expect(found.friends.map(\.name) == ["Bert", "Bert"])
    #expect(friend.friends.map(\.name) == ["Bert"])
    try magic.update(found)
    #expect(found.friends[1].friends[0] === friend)
    let again = try magic.object(of: Witness.self)
    #expect(again.map(\.name) == ["Anna", "Bert"])
    #expect(again.map { $0.friends.map(\.name) } == [["Bert", "Bert"], ["Bert"]])
    anna.friends = []
    bert.friends = []
  }

  @Test func `an object that was removed and saved again can be assigned`() throws {
    try magic.update([Witness("1"), Witness("2"), Witness("3")])
    let all = try magic.object(of: Witness.self)
    try magic.remove(all[1])
    try magic.update(all[1])
    all[0].best = all[1]
    all[0].friends = [all[1], all[2]]
    #expect(all[0].best === all[1])
    #expect(all[0].friends.map(\.name) == ["2", "3"])
    try magic.update(all[0])
    let again = try magic.objects(of: Witness.self, where: \.$name == "1")
    #expect(again.first?.best?.name == "2")
    #expect(again.first?.friends.map(\.name) == ["2", "3"])
  }

  /// Creates a store with a chain of nodes. Each node references the next one.
  private static func chain(_ count: Int) throws -> MagicData {
    let magic = try MagicData.fresh()
    try magic.update(Node("only"))
    try magic.remove(magic.object(of: Node.self)[0])
    try magic.database.executeChange(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO Node (z_index, name, parent) SELECT i, 'n' || i, nullif(i, \(count)) + 1 FROM n
      """)
    return magic
  }

  private static func expectLength(_ count: Int, of first: Node?) {
    var node = first
    var length = 1
    while let next = node?.parent { (node, length) = (next, length + 1) }
    #expect(length == count)
    #expect(node?.name == "n\(count)")
  }

  @Test func `a long chain is fetched and released without recursion`() async throws {
    // A cluster's nodes belong to this process, so the test can't run in another one.
    guard Engine.current == .local else { return try Self.fetchAll(2_000) }
    await #expect(processExitsWith: .success) { try GraphFetchingTests.fetchAll(100_000) }
  }

  private static func fetchAll(_ count: Int) throws {
    let magic = try chain(count)
    expectLength(count, of: try magic.object(of: Node.self).first)
    // The process ends without waiting for threads that may still hold the store.
    try magic.close()
  }

  private static func fetchByFirst(_ count: Int) throws {
    let magic = try chain(count)
    let first = try magic.objects(of: Node.self, where: Filter(sql: "z_index = 1")).first
    expectLength(count, of: first)
    try magic.close()
  }

  @Test func `a long chain is fetched from its first object`() async throws {
    guard Engine.current == .local else { return try Self.fetchByFirst(500) }
    await #expect(processExitsWith: .success) { try GraphFetchingTests.fetchByFirst(5_000) }
  }

  @Test func `fetching a dictionary key that isn't of the key type throws`() throws {
    let tree = Tree("oak")
    tree.bySide = [.left: Leaf("l")]
    try magic.update(tree)
    try magic.database.executeChange("UPDATE Tree_bySide SET key = 'above'")
    let error = #expect(throws: MagicError.self) { try magic.object(of: Tree.self) }
    #expect(
      error?.description
        == "Tree.bySide of the object 1 cannot be read: one of its keys does not fit the dictionary's key type"
    )
  }
}
