import Conformance
import MagicData
import Testing

@Suite(.everyEngine) struct ReverseRelationTests {
  let magic: MagicData
  let leaf: Leaf

  /// Creates a leaf that many trees reference.
  init() throws {
    magic = try MagicData.fresh()
    leaf = Leaf("shared")
    let other = Leaf("other")
    let trees = (0..<20).map { number in
      let tree = Tree("\(number)", lazyOne: other)
      if number % 2 == 0 { tree.set = [leaf] }
      if number % 3 == 0 { tree.list = [leaf, other, leaf] }
      if number % 5 == 0 { tree.one = leaf }
      tree.lazyList.set(number < 4 ? [leaf] : [])
      return tree
    }
    try magic.update(trees + [Tree("none", lazyOne: other)])
    try magic.update(leaf)
  }

  @Test func `owners are found through each kind of relation`() throws {
    #expect(try leaf.setOwners.get().map(\.name) == (0..<10).map { "\($0 * 2)" })
    #expect(try leaf.listOwners.get().map(\.name) == (0..<7).map { "\($0 * 3)" })
    #expect(try leaf.oneOwners.get().map(\.name) == (0..<4).map { "\($0 * 5)" })
    #expect(try leaf.lazyOwners.get().map(\.name) == ["0", "1", "2", "3"])
  }

  @Test func `every accessor has an async form`() async throws {
    let owners = try await leaf.lazyOwners.get()
    #expect(owners.map(\.name) == ["0", "1", "2", "3"])
    let page = try await magic.fetch(leaf.oneOwners.where(\.$name != "0").limit(1))
    #expect(page.map(\.name) == ["5"])
    let filtered = try await magic.fetch(leaf.listOwners.where(\.$name > "2").count)
    #expect(filtered == 3)
  }

  @Test func `the database computes the count`() throws {
    _ = try leaf.listOwners.count()
    let (count, cost) = try magic.cost { try leaf.listOwners.count() }
    #expect(count == 7)
    #expect(cost.statements == 1)
    #expect(try leaf.setOwners.count() == 10)
    #expect(try leaf.oneOwners.count() == 4)
    #expect(try magic.fetch(leaf.setOwners.where(\.$name == "4").count) == 1)
  }

  @Test func `filters and pages fetch a part of the owners`() throws {
    #expect(try magic.fetch(leaf.setOwners.where(\.$name > "4")).map(\.name) == ["6", "8"])
    #expect(try magic.fetch(leaf.setOwners.all.limit(2, offset: 3)).map(\.name) == ["6", "8"])
  }

  @Test func `an empty literal is a set without owners`() async throws {
    let none: AsyncReverseMagicSet<Tree> = []
    let blocking = { (try none.count(), try none.get().count) }
    #expect(try blocking() == (0, 0))
    await #expect(throws: MagicError.self) {
      try await magic.fetch(none.where(\.$name == "0").count)
    }
    for try await tree in none { Issue.record("\(tree.name)") }
  }

  @Test func `a loop yields each owner once`() async throws {
    var names: [String] = []
    for try await tree in leaf.listOwners { names.append(tree.name) }
    #expect(names == (0..<7).map { "\($0 * 3)" })
  }

  @Test func `a loop over many owners fetches them in batches`() async throws {
    let magic = try await MagicData.fresh()
    let leaf = Leaf("busy")
    let trees = (0..<1200).map { number in
      let tree = Tree("\(number)", lazyOne: leaf)
      tree.set = [leaf]
      tree.one = leaf
      return tree
    }
    try await magic.update(trees)
    for owners in [leaf.setOwners, leaf.oneOwners] {
      var numbers: [Int] = []
      for try await tree in owners {
        numbers.append(Int(tree.name) ?? -1)
        if numbers.count == 3 { break }
      }
      #expect(numbers == [0, 1, 2])
      numbers = []
      for try await tree in owners { numbers.append(Int(tree.name) ?? -1) }
      #expect(numbers == Array(0..<1200))
    }
  }

  @Test func `each access queries the current owners`() throws {
    let tree = try #require(try leaf.oneOwners.get().first)
    tree.one = nil
    try magic.update(tree)
    #expect(try leaf.oneOwners.count() == 3)
    try magic.remove(tree)
    #expect(try leaf.setOwners.count() == 9)
  }

  @Test func `an object that was never saved has no owners`() throws {
    #expect(try Leaf("new").setOwners.get().isEmpty)
    #expect(try Leaf("new").setOwners.count() == 0)
  }

  @Test func `owners without eager relations are fetched by one statement`() throws {
    let magic = try MagicData.fresh()
    let crowd = Crowd("small")
    let visitor = Guest()
    crowd.guests.set([visitor, Guest(), visitor])
    try magic.update(crowd)
    _ = try visitor.crowds.get()
    let (crowds, cost) = try magic.cost { try visitor.crowds.get() }
    #expect(crowds.map(\.name) == ["small"])
    #expect(try crowds[0].guests.count() == 3)
    #expect(cost.statements == 1)
  }

  @Test func `a lookup among many links uses an index`() throws {
    let plans = try magic.database.read { connection in
      try connection.executeQuery(
        "EXPLAIN QUERY PLAN SELECT z_index FROM Tree WHERE Tree.z_index IN (SELECT owner FROM Tree_set WHERE target = 1) ORDER BY Tree.z_index"
      ).compactMap { $0["detail"]?.asString() }
    }
    #expect(plans.contains { $0.contains("Tree_set") && $0.contains("target=?") })
    #expect(!plans.contains { $0.hasPrefix("SCAN Tree") })
  }

  @Test func `raw SQL on owners may use column names that link tables have, too`() throws {
    let toy = Toy()
    let (cat, dog) = (Pet("Ann", "cat"), Pet("Bob", "dog"))
    cat.toys = [toy, toy]
    dog.toys = [toy]
    try magic.update([cat, dog])
    let ofAnn = Filter<Pet>(sql: "owner = 'Ann' AND target = 'cat'")
    #expect(try magic.fetch(toy.pets.where(ofAnn)).map(\.owner) == ["Ann"])
    #expect(try magic.fetch(toy.pets.where(ofAnn).limit(5)).map(\.owner) == ["Ann"])
    #expect(try magic.fetch(toy.pets.where(!ofAnn).limit(1)).map(\.owner) == ["Bob"])
    #expect(try magic.fetch(toy.pets.where(ofAnn).count) == 1)
    #expect(try toy.pets.count() == 2)
  }
}

private struct Toy: MagicObject {
  @MagicValue var name: String = ""
  @ReverseMagicValue(\Pet.$toys) var pets: AsyncReverseMagicSet<Pet>
}

private struct Pet: MagicObject {
  @MagicValue var owner: String
  @MagicValue var target: String
  @MagicValue var toys: [Toy] = []

  init() {}

  init(_ owner: String, _ target: String) {
    self.owner = owner
    self.target = target
  }
}
