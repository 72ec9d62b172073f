import Conformance
import MagicData
import TestSupport
import Testing

private struct FindNode: MagicObject {
  static let traits: [PropertyTrait] = [.indexed(\Self.$name)]

  @PrimaryMagicValue var id: Int
  @MagicValue var name: String = ""
  @MagicValue var kind: Int = 0
  @MagicValue var tags: MagicalSet<FindLabel> = []
  @ReverseMagicValue(\FindEdge.$from) var edges: AsyncReverseMagicSet<FindEdge>
  @ReverseMagicValue(\FindEdge.$to) var incoming: AsyncReverseMagicSet<FindEdge>

  init() {}
}

private struct FindEdge: MagicObject {
  static let traits: [PropertyTrait] = [.indexed(\Self.$grade)]

  @PrimaryMagicValue var id: Int
  @MagicValue var grade: String = ""
  @MagicValue var size: Int = 0
  @MagicValue var from: FindNode
  @OptionalMagicValue var to: FindNode?

  init() {}
}

private struct FindLabel: MagicObject {
  @PrimaryMagicValue var word: String

  init() {}

  init(_ word: String) { self.word = word }
}

/// Random filters with conditions that match few rows or many, so that statements start at any of
/// the conditions.
@Suite struct RandomFilterPlanTests {
  private struct Node: Hashable {
    let id: Int
    let name: String
    let kind: Int
    let tags: Set<Int>
    var edges: [Edge] = []
    var incoming: [Edge] = []
  }

  private struct Edge: Hashable {
    let id: Int
    let grade: String
    let size: Int
    let from: Int
    let to: Int?
  }

  /// A filter and the equivalent Swift predicate.
  private struct Meaning<Object: MagicObject, Row> {
    let filter: Filter<Object>
    let holds: (Row) -> Bool
  }

  private static let words = ["rare", "half", "w1", "w2", "none"]

  private let magic: MagicData
  private let nodes: [Node]
  private let edges: [Edge]
  private let objects: [FindNode]
  private let labels: [FindLabel]

  init() throws {
    magic = try MagicData(type: .temporary)
    var random = SplitMix64(seed: 26)
    let labels = ["half", "rare", "some"].map { FindLabel($0) }
    let first = FindNode()
    first.tags = [labels[0], labels[1], labels[2]]
    let edge = FindEdge()
    edge.from = first
    try magic.update(edge)
    func word(_ row: Int) -> String {
      row % 400 == 7 ? "rare" : Bool.random(using: &random) ? "half" : "w\(row % 9)"
    }
    var nodes = (1...800).map { id in
      var tags: Set<Int> = id % 300 == 5 ? [2] : []
      if Bool.random(using: &random) { tags.insert(1) }
      if Int.random(in: 0..<9, using: &random) == 0 { tags.insert(3) }
      return Node(id: id, name: word(id), kind: id % 7, tags: tags)
    }
    let edges = (1...4_000).map { id in
      var to: Int? = Int.random(in: 9...700, using: &random)
      if id % 500 == 3 { to = 5 } else if Bool.random(using: &random) { to = 1 }
      if id % 40 == 0 { to = nil }
      return Edge(
        id: id, grade: word(id), size: .random(in: 0..<100, using: &random),
        from: Int.random(in: 3...790, using: &random), to: to)
    }
    for edge in edges {
      nodes[edge.from - 1].edges.append(edge)
      if let to = edge.to { nodes[to - 1].incoming.append(edge) }
    }
    try magic.database.write { [nodes] connection in
      for table in ["FindEdge", "FindNode_tags", "FindNode"] {
        try connection.executeChange("DELETE FROM \(identifier: table)")
      }
      for node in nodes {
        try connection.executeChange(
          "INSERT INTO FindNode (id, name, kind) VALUES (\(node.id), \(node.name), \(node.kind))")
        for tag in node.tags {
          try connection.executeChange(
            "INSERT INTO FindNode_tags (owner, target) SELECT \(node.id), z_index FROM FindLabel WHERE word = \(labels[tag - 1].word)"
          )
        }
      }
      for edge in edges {
        try connection.executeChange(
          "INSERT INTO FindEdge (id, grade, size, \"from\", \"to\") VALUES (\(edge.id), \(edge.grade), \(edge.size), \(edge.from), \(edge.to))"
        )
      }
    }
    self.nodes = nodes
    self.edges = edges
    self.labels = labels
    objects = try magic.objects(of: FindNode.self)
  }

  private func node(_ random: inout SplitMix64) -> Int {
    [1, 5, 20, 799].randomElement(using: &random) ?? 1
  }

  /// Returns a random condition on edges.
  private func edgeTerm(_ random: inout SplitMix64) -> Meaning<FindEdge, Edge> {
    let word = Self.words.randomElement(using: &random) ?? ""
    let number = node(&random)
    let object = objects[number - 1]
    let size = Int.random(in: 0...100, using: &random)
    let nodes = nodes
    func target(_ edge: Edge) -> Node? { edge.to.map { nodes[$0 - 1] } }
    switch Int.random(in: 0..<14, using: &random) {
    case 0: return Meaning(filter: \.$to == object) { $0.to == number }
    case 1: return Meaning(filter: \.$to != object) { $0.to != number }
    case 2: return Meaning(filter: \.$to.$id == number) { $0.to == number }
    case 3: return Meaning(filter: \.$to.$name == word) { target($0)?.name == word }
    case 4: return Meaning(filter: \.$to.$name != word) { target($0)?.name != word }
    case 5: return Meaning(filter: \.$to.$kind < 3) { target($0).map { $0.kind < 3 } ?? false }
    case 6:
      return Meaning(filter: (\FindEdge.$to.$name).isIn([word, "w3"])) {
        target($0).map { $0.name == word || $0.name == "w3" } ?? false
      }
    case 7: return Meaning(filter: \.$grade == word) { $0.grade == word }
    case 8: return Meaning(filter: \.$size < size) { $0.size < size }
    case 9: return Meaning(filter: \.$from.$kind == 3) { nodes[$0.from - 1].kind == 3 }
    case 10:
      return Meaning(filter: (\FindEdge.$to.$incoming).count > 20) {
        (target($0)?.incoming.count ?? 0) > 20
      }
    case 11:
      return Meaning(filter: (\FindEdge.$from.$edges).contains { \.$to == object }) {
        nodes[$0.from - 1].edges.contains { $0.to == number }
      }
    case 12: return Meaning(filter: (\FindEdge.$to).isIn([object])) { $0.to == number }
    default: return Meaning(filter: \.$to == nil) { $0.to == nil }
    }
  }

  private func edges(_ random: inout SplitMix64) -> Meaning<FindEdge, Edge> {
    var meaning = edgeTerm(&random)
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      meaning = joined(meaning, edgeTerm(&random), &random)
    }
    return meaning
  }

  private func joined<Object, Row>(
    _ left: Meaning<Object, Row>, _ right: Meaning<Object, Row>, _ random: inout SplitMix64
  ) -> Meaning<Object, Row> {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: Meaning(filter: left.filter || right.filter) { left.holds($0) || right.holds($0) }
    case 1: Meaning(filter: left.filter && !right.filter) { left.holds($0) && !right.holds($0) }
    default: Meaning(filter: left.filter && right.filter) { left.holds($0) && right.holds($0) }
    }
  }

  /// Returns a random condition on nodes.
  private func nodeTerm(_ random: inout SplitMix64) -> Meaning<FindNode, Node> {
    let word = Self.words.randomElement(using: &random) ?? ""
    let inner = edges(&random)
    let count = Int.random(in: 0...3, using: &random)
    let number = node(&random)
    let tag = Int.random(in: 1...3, using: &random)
    let nodes = nodes
    switch Int.random(in: 0..<16, using: &random) {
    case 0: return Meaning(filter: \.$name == word) { $0.name == word }
    case 1: return Meaning(filter: \.$kind == count) { $0.kind == count }
    case 2: return Meaning(filter: (\FindNode.$edges).isEmpty) { $0.edges.isEmpty }
    case 3:
      return Meaning(filter: (\FindNode.$tags).contains(labels[tag - 1])) { $0.tags.contains(tag) }
    case 4: return Meaning(filter: (\FindNode.$tags).count >= count) { $0.tags.count >= count }
    case 5:
      return Meaning(filter: (\FindNode.$edges).allSatisfy { inner.filter }) {
        $0.edges.allSatisfy(inner.holds)
      }
    case 6:
      return Meaning(filter: (\FindNode.$edges).count { inner.filter } >= count) {
        $0.edges.count(where: inner.holds) >= count
      }
    case 7:
      return Meaning(filter: (\FindNode.$edges).count { inner.filter } == count) {
        $0.edges.count(where: inner.holds) == count
      }
    case 8:
      return Meaning(filter: (\FindNode.$edges).count { inner.filter } != count) {
        $0.edges.count(where: inner.holds) != count
      }
    case 9:
      return Meaning(filter: (\FindNode.$edges).sum(\.$size, where: inner.filter) < 50 * count) {
        $0.edges.filter(inner.holds).reduce(0) { $0 + $1.size } < 50 * count
      }
    case 10:
      return Meaning(filter: (\FindNode.$edges).max(\.$size, where: inner.filter) > 50) {
        ($0.edges.filter(inner.holds).map(\.size).max() ?? 0) > 50
      }
    case 11:
      return Meaning(filter: (\FindNode.$edges.$to).contains(objects[number - 1])) {
        $0.edges.contains { $0.to == number }
      }
    case 12:
      return Meaning(filter: (\FindNode.$edges.$to.$incoming).count > 60 * count) {
        $0.edges.reduce(0) { $0 + ($1.to.map { nodes[$0 - 1].incoming.count } ?? 0) } > 60 * count
      }
    default:
      return Meaning(filter: (\FindNode.$edges).contains { inner.filter }) {
        $0.edges.contains(where: inner.holds)
      }
    }
  }

  private func nodes(_ random: inout SplitMix64) -> Meaning<FindNode, Node> {
    var meaning = nodeTerm(&random)
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      meaning = joined(meaning, nodeTerm(&random), &random)
    }
    return meaning
  }

  /// Returns the rows within a limit and an offset.
  private func part<Row>(_ rows: [Row], _ limit: Int?, _ offset: Int) -> [Row] {
    Array(rows.dropFirst(offset).prefix(limit ?? .max))
  }

  @Test(arguments: [1, 2, 3])
  func `random filters on nodes match their Swift predicates, in any order`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for round in 0..<150 {
      let meaning = nodes(&random)
      let sql = try meaning.filter.sql(in: magic).text
      let found = nodes.filter(meaning.holds)
      let limit = Bool.random(using: &random) ? Int.random(in: 0...60, using: &random) : nil
      let offset = limit == nil ? 0 : Int.random(in: 0...3, using: &random)
      var query = FindNode.where(meaning.filter)
      var expected = found
      switch Int.random(in: 0..<4, using: &random) {
      case 0: break
      case 1:
        query = query.ordered(by: .ascending(\.$name))
        expected.sort { ($0.name, $0.id) < ($1.name, $1.id) }
      case 2:
        query = query.ordered(by: .descending(\.$name), .ascending(\.$kind))
        expected.sort { ($1.name, $0.kind, $0.id) < ($0.name, $1.kind, $1.id) }
      default:
        query = query.ordered(by: .descending((\FindNode.$edges).count))
        expected.sort { ($1.edges.count, $0.id) < ($0.edges.count, $1.id) }
      }
      if let limit { query = query.limit(limit, offset: offset) }
      let ids = part(expected.map(\.id), limit, offset)
      try #require(try magic.fetch(query.values(\.$id)) == ids, "\(round): \(sql)")
      if round % 5 == 0 {
        try #require(try magic.fetch(query).map(\.id) == ids, "\(round): \(sql)")
        try #require(try magic.fetch(query.count) == ids.count, "\(round): \(sql)")
        let total = try magic.fetch(query.aggregate(.sum(\.$id)))
        try #require(total == ids.reduce(0, +), "\(round): \(sql)")
      }
    }
  }

  @Test(arguments: [4, 5])
  func `random filters on edges match their predicates, also by reference`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for round in 0..<120 {
      let meaning = edges(&random)
      let sql = try meaning.filter.sql(in: magic).text
      var expected = edges.filter(meaning.holds)
      var query = FindEdge.where(meaning.filter)
      if Bool.random(using: &random) {
        query = query.ordered(by: .ascending(\.$to.$name))
        func name(_ edge: Edge) -> String { edge.to.map { nodes[$0 - 1].name } ?? "" }
        expected.sort { (name($0), $0.id) < (name($1), $1.id) }
      }
      let limit = Bool.random(using: &random) ? Int.random(in: 0...60, using: &random) : nil
      if let limit { query = query.limit(limit) }
      let ids = part(expected.map(\.id), limit, 0)
      try #require(try magic.fetch(query.values(\.$id)) == ids, "\(round): \(sql)")
      if round % 10 == 0 {
        try #require(try magic.fetch(query).map(\.id) == ids, "\(round): \(sql)")
      }
      let number = node(&random)
      let incoming = objects[number - 1].incoming.where(meaning.filter).values(\.$id)
      let own = nodes[number - 1].incoming.filter(meaning.holds).map(\.id)
      try #require(try magic.fetch(incoming) == own, "\(round): \(sql)")
    }
  }

  @Test func `pages are complete, and writes change exactly the matching rows`() throws {
    struct Undone: Error {}
    var random = SplitMix64(seed: 6)
    for round in 0..<40 {
      let meaning = nodes(&random)
      let sql = try meaning.filter.sql(in: magic).text
      let ids = nodes.filter(meaning.holds).map(\.id)
      let query = FindNode.where(meaning.filter)
      if round % 4 == 0 {
        var (found, end, hasMore) = ([Int](), PagePosition<FindNode>?.none, true)
        while hasMore {
          let page = try magic.fetch(query.page(after: end, limit: 70))
          found += page.objects.map(\.id)
          (end, hasMore) = (page.end, page.hasMore)
        }
        try #require(found == ids, "\(round): \(sql)")
      }
      #expect(throws: Undone.self) {
        try magic.transaction {
          let count = try magic.updateAll(query, set: [.set(\.$kind, to: 77)])
          try #require(count == ids.count, "\(round): \(sql)")
          let changed = try magic.fetch(FindNode.where(\.$kind == 77).values(\.$id))
          try #require(changed == ids, "\(round): \(sql)")
          throw Undone()
        }
      }
    }
  }
}
