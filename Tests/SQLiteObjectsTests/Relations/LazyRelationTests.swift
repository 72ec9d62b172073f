import Conformance
import MagicData
import Testing

@Suite(.everyEngine) struct LazyRelationTests {
  let magic: MagicData
  let tree: Tree

  /// Creates a tree with ten leaves and fetches it.
  init() throws {
    magic = try MagicData.fresh()
    let tree = Tree("oak", lazyOne: Leaf("one"))
    let leaves = (0..<10).map { Leaf("\($0)") }
    tree.lazyList.set(leaves + [leaves[0]])
    tree.lazySet.set(MagicalSet(leaves))
    tree.lazyByName.set(["a": leaves[1], "b": leaves[2]])
    try magic.update(tree)
    self.tree = try magic.object(of: Tree.self, primary: tree.id)
  }

  @Test func `each kind of relation is fetched on demand`() throws {
    #expect(try tree.lazyOne.get().text == "one")
    #expect(try tree.lazyList.get().map(\.text) == (0..<10).map { "\($0)" } + ["0"])
    #expect(try tree.lazySet.get().count == 10)
    #expect(try tree.lazyByName.get().mapValues(\.text) == ["a": "1", "b": "2"])
  }

  @Test func `every accessor has an async form`() async throws {
    let one = try await tree.lazyOne.get()
    #expect(one.text == "one")
    let list = try await tree.lazyList.get()
    #expect(list.count == 11)
    let count = try await magic.fetch(tree.lazySet.where(\.$text > "7").count)
    #expect(count == 2)
    let page = try await magic.fetch(tree.lazySet.where(\.$text > "3").limit(2, offset: 1))
    #expect(page.map(\.text) == ["5", "6"])
    let value = try await tree.lazyList.randomValue(in: 10..<11)
    #expect(value?.text == "0")
    let other = try await tree.lazySet.randomValue()
    #expect(other != nil)
  }

  @Test func `the count is available without fetching`() throws {
    #expect(try tree.lazyList.count() == 11)
    #expect(try tree.lazySet.count() == 10)
    #expect(try tree.lazyByName.count() == 2)
    #expect(try magic.fetch(tree.lazyList.where(\.$text == "0").count) == 1)
    let (_, cost) = try magic.cost { try tree.lazyList.count() }
    #expect(cost.statements == 1)
  }

  @Test func `pages and filters fetch a part of the objects`() throws {
    #expect(try tree.lazyList.objects(limit: 3, offset: 9).map(\.text) == ["9", "0"])
    #expect(
      try magic.fetch(tree.lazyList.where(\.$text == "0" || \.$text == "5")).map(\.text)
        == ["0", "5"])
    let pairs = try tree.lazyByName.objects()
    #expect(pairs.map(\.key) == ["a", "b"])
  }

  @Test func `a stream yields every element in order`() async throws {
    var texts: [String] = []
    for try await leaf in try tree.lazyList.stream(batch: 3) { texts.append(leaf.text) }
    #expect(texts == (0..<10).map { "\($0)" } + ["0"])
    var pairs: [String: String] = [:]
    for try await (key, leaf) in try tree.lazyByName.stream() { pairs[key] = leaf.text }
    #expect(pairs == ["a": "1", "b": "2"])
    var count = 0
    for try await _ in try tree.lazySet.stream(batch: 5) { count += 1 }
    #expect(count == 10)
  }

  @Test func `a random value is an element of the collection`() throws {
    var received: Set<String> = []
    for _ in 0..<300 { received.insert(try tree.lazyList.randomValue()?.text ?? "") }
    #expect(received.count == 10)
    #expect(try tree.lazyList.randomValue(in: 3..<4)?.text == "3")
    let pair = try tree.lazyByName.randomValue()
    #expect(pair?.key == "a" || pair?.key == "b")
    #expect(try tree.lazyList.randomValue(in: 3..<3) == nil)
  }

  @Test(arguments: [-1..<3, 5..<12, 12..<12])
  func `a range beyond the elements throws outOfRange`(range: Range<Int>) throws {
    #expect(throws: MagicError.outOfRange(count: 11)) {
      try tree.lazyList.randomValue(in: range)
    }
    tree.lazyList.set(try tree.lazyList.get())
    #expect(throws: MagicError.outOfRange(count: 11)) {
      try tree.lazyList.randomValue(in: range)
    }
  }

  @Test func `after a value is assigned, every accessor returns it`() throws {
    tree.lazyList.set([Leaf("x"), Leaf("y")])
    #expect(try tree.lazyList.count() == 2)
    #expect(try tree.lazyList.get().map(\.text) == ["x", "y"])
    #expect(try tree.lazyList.objects(limit: 1, offset: 1).map(\.text) == ["y"])
    #expect(try tree.lazyList.randomValue(in: 0..<1)?.text == "x")
    #expect(throws: MagicError.self) { try magic.fetch(tree.lazyList.where(\.$text == "x").count) }
  }

  @Test func `an assigned value can be streamed`() async throws {
    tree.lazyList.set([Leaf("x"), Leaf("y")])
    var texts: [String] = []
    for try await leaf in try tree.lazyList.stream() { texts.append(leaf.text) }
    #expect(texts == ["x", "y"])
  }

  @Test func `an unsaved lazy value that was never assigned throws detachedValue`() {
    let lazy = AsyncMagical<[Leaf]>()
    #expect(throws: MagicError.detachedValue(type: "Array<Leaf>")) { try lazy.get() }
    #expect(throws: MagicError.detachedValue(type: "Array<Leaf>")) { try lazy.count() }
    #expect(throws: MagicError.detachedValue(type: "Array<Leaf>")) {
      _ = try lazy.stream()
    }
  }

  @Test func `async access to a closed store throws closed`() async throws {
    let list = tree.lazyList
    try await magic.database.close()
    await #expect(throws: MagicError.closed) { try await list.get() }
    await #expect(throws: MagicError.closed) {
      for try await _ in try list.stream() {}
    }
  }

  @Test func `blocking access to a closed store throws closed`() throws {
    let (one, list) = (tree.lazyOne, tree.lazyList)
    let leaf = try #require(try list.get().first)
    try magic.database.close()
    #expect(throws: MagicError.closed) { try one.get() }
    #expect(throws: MagicError.closed) { try list.count() }
    #expect(throws: MagicError.closed) { try list.randomValue() }
    #expect(throws: MagicError.closed) { try leaf.setOwners.get() }
  }

  @Test func `a lazy value whose owner was removed throws missingTarget`() throws {
    let one = tree.lazyOne
    // A required object can't be removed. LazyGetterTests covers the removal of optional ones.
    #expect(throws: MagicError.restricted(type: "Leaf", by: ["Tree.lazyOne"])) {
      try magic.removeAll(Leaf.all)
    }
    let needed = try one.get().text
    try magic.removeAll(Leaf.where(\.$text != needed))
    #expect(try tree.lazyList.get().isEmpty)
    try magic.removeAll(Tree.all)
    #expect(throws: MagicError.missingTarget(type: "Tree", zIndex: 1)) { try one.get() }
  }

  @Test func `a stream of a million links keeps at most two batches in memory`() async throws {
    let magic = try await MagicData.fresh()
    let size = Engine.current == .local ? 1_000_000 : 20_000
    let crowd = try #require(try Crowd.withVisitors(size, in: magic))
    let count = try await crowd.visitors.count()
    #expect(count == size)
    let living = InstanceCounter()
    try await Visitor.$living.withValue(living) {
      var (sum, most) = (0, 0)
      for try await visitor in try crowd.visitors.stream(batch: 1000) {
        sum += visitor.number
        most = max(most, living.count)
      }
      #expect(sum == size * (size + 1) / 2)
      #expect(most <= 2001)
      let one = try await crowd.visitors.randomValue(in: size - 1..<size)
      #expect(one?.number == size)
    }
  }
}

struct Crowd: MagicObject {
  @MagicValue var name: String
  @MagicValue var visitors: AsyncMagical<[Visitor]>
  @MagicValue var guests: AsyncMagical<[Guest]>

  init() {}

  init(_ name: String) {
    self.name = name
    visitors = AsyncMagical(value: [])
    guests = AsyncMagical(value: [])
  }

  static func withVisitors(_ count: Int, in magic: MagicData) throws -> Crowd? {
    try magic.update(Crowd("big"))
    try magic.database.write { connection in
      try connection.executeChange(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) INSERT INTO Visitor (number) SELECT i FROM n"
      )
      try connection.executeChange(
        "INSERT INTO Crowd_visitors (owner, position, target) SELECT 1, z_index, z_index FROM Visitor"
      )
    }
    return try magic.object(of: Crowd.self).first
  }
}

/// An object with a reverse relation to the crowds that have it as a guest.
struct Guest: MagicObject {
  @OptionalMagicValue var name: String?
  @ReverseMagicValue(\Crowd.$guests) var crowds: AsyncReverseMagicSet<Crowd>

  init() {}
}

/// A class that counts its instances.
final class Visitor: MagicObject {
  @TaskLocal static var living: InstanceCounter?

  @MagicValue var number: Int
  private let living = Visitor.living

  enum CodingKeys: CodingKey { case number }

  init() { living?.add(1) }

  deinit { living?.add(-1) }
}
