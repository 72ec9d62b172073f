import Conformance
import MagicData
import Synchronization
import TestSupport
import Testing

private struct PlanSpot: MagicObject {
  static let tableName = "Node"
  static let traits: [PropertyTrait] = [.indexed(\Self.$name), .indexed(\Self.$size, \Self.$kind)]

  @PrimaryMagicValue var id: Int
  @MagicValue var name: String = ""
  @MagicValue var word: String = ""
  @MagicValue var size: Int = 0
  @MagicValue var kind: Int = 0
  @ReverseMagicValue(\PlanRoad.$from) var edges: AsyncReverseMagicSet<PlanRoad>
  @ReverseMagicValue(\PlanRoad.$to) var incoming: AsyncReverseMagicSet<PlanRoad>
  @MagicValue var tags: MagicalSet<PlanMark> = []

  init() {}
}

private struct PlanRoad: MagicObject {
  static let tableName = "Edge"
  static let traits: [PropertyTrait] = [.indexed(\Self.$grade)]

  @PrimaryMagicValue var id: Int
  @MagicValue var grade: String = ""
  @MagicValue var word: String = ""
  @MagicValue var size: Int = 0
  @MagicValue var from: PlanSpot
  @OptionalMagicValue var to: PlanSpot?

  init() {}
}

private struct PlanMark: MagicObject {
  static let tableName = "Label"

  @PrimaryMagicValue var word: String

  init() {}

  init(_ word: String) { self.word = word }
}

/// How SQLite runs queries on related objects. The tables have no statistics, and the rows don't
/// matter.
@Suite struct FilterPlanTests {
  private final class Statements: Sendable {
    let list = Mutex<[String]>([])
  }

  private let folder: TestFolder
  private let magic: MagicData
  private let statements: Statements
  private let node: PlanSpot
  private let label: PlanMark

  init() throws {
    folder = try TestFolder()
    let statements = Statements()
    var options = Database.Options()
    options.prepareConnection = { connection in
      try connection.trace(showsValues: true) { event in
        if case .begins(let sql) = event { statements.list.withLock { $0.append(sql) } }
      }
    }
    self.statements = statements
    magic = try MagicData(path: folder.path, options: options)
    let edge = PlanRoad()
    edge.from = PlanSpot()
    edge.from.tags = [PlanMark("x")]
    try magic.update(edge)
    node = edge.from
    label = try magic.object(of: PlanMark.self, primary: "x")
  }

  /// Returns the plan of the first statement that `work` runs and that begins with `verb`.
  private func plan(_ verb: String = "SELECT", _ work: () throws -> Void) throws -> QueryPlan {
    // The first call for a type inspects its tables.
    try work()
    statements.list.withLock { $0 = [] }
    try work()
    let sql = statements.list.withLock { list in list.first { $0.hasPrefix(verb) } }
    let statement = SQL(unchecked: try #require(sql))
    return try magic.database.write { try $0.explain(statement) }
  }

  private func plan(_ request: Request<[Int]>) throws -> QueryPlan {
    try plan { _ = try magic.fetch(request) }
  }

  private func nodes(_ filter: Filter<PlanSpot>) throws -> QueryPlan {
    try plan(PlanSpot.where(filter).values(\.$id))
  }

  private func edges(_ filter: Filter<PlanRoad>) throws -> QueryPlan {
    try plan(PlanRoad.where(filter).values(\.$id))
  }

  @Test func `a filter on a reference starts at the referenced objects`() throws {
    let indexed: [Filter<PlanRoad>] = [
      \.$to.$name == "x", (\PlanRoad.$to.$name).isIn(["x", "y"]), \.$to == node, \.$to.$id == 5,
      (\PlanRoad.$to).isIn([node]), (\PlanRoad.$to.$name).hasPrefix("x"),
    ]
    for (index, filter) in indexed.enumerated() {
      let plan = try edges(filter)
      #expect(plan.scannedTables.isEmpty, "\(index): \(plan)")
      #expect(plan.usedIndexes.contains("Edge(to)"), "\(index): \(plan)")
    }
    for filter in [\.$to.$word == "x", \.$to.$kind < 5] as [Filter<PlanRoad>] {
      let plan = try edges(filter)
      #expect(plan.scannedTables == ["magicdata_1"], "\(plan)")
      #expect(plan.usedIndexes.contains("Edge(to)"), "\(plan)")
    }
    let negated = try edges(\.$to.$name != "x")
    #expect(negated.usedIndexes.contains("Node(name)"), "\(negated)")
    #expect(!"\(negated)".contains("CORRELATED"), "\(negated)")
  }

  @Test func `a filter on a collection reads it once, through the condition's index`() throws {
    let indexed: [Filter<PlanSpot>] = [
      (\PlanSpot.$edges).contains { \.$to == node },
      (\PlanSpot.$edges).contains { \.$to.$id == 5 },
      (\PlanSpot.$edges).contains { \.$to.$name == "x" },
      (\PlanSpot.$edges).contains { (\PlanRoad.$to).isIn([node]) },
      (\PlanSpot.$edges).contains { \.$grade == "x" },
      (\PlanSpot.$edges.$to).contains(node),
      (\PlanSpot.$edges).count { \.$grade == "x" } >= 2,
      (\PlanSpot.$edges).sum(\.$size, where: \.$to == node) > 5,
      (\PlanSpot.$edges).max(\.$size, where: \.$to == node) > 5,
      (\PlanSpot.$tags).contains(label),
      (\PlanSpot.$tags).contains { \.$word == "x" },
    ]
    for (index, filter) in indexed.enumerated() {
      let plan = try nodes(filter)
      #expect(plan.scannedTables.isEmpty, "\(index): \(plan)")
      #expect(!"\(plan)".contains("CORRELATED"), "\(index): \(plan)")
      #expect("\(plan)".contains("SEARCH Node USING INTEGER PRIMARY KEY"), "\(index): \(plan)")
    }
  }

  @Test func `the negation of a condition on a collection uses the same index`() throws {
    let filters: [Filter<PlanSpot>] = [
      !(\PlanSpot.$edges).contains { \.$to == node },
      (\PlanSpot.$edges).allSatisfy { \.$grade != "x" },
      (\PlanSpot.$edges).count { \.$grade == "x" } == 0,
      (\PlanSpot.$edges).count { \.$grade == "x" } < 3,
    ]
    for (index, filter) in filters.enumerated() {
      let plan = try nodes(filter)
      #expect(plan.scannedTables == ["Node"], "\(index): \(plan)")
      #expect(plan.usedIndexes.isSubset(of: ["Edge(to)", "Edge(grade)"]), "\(index): \(plan)")
      #expect(!"\(plan)".contains("CORRELATED"), "\(index): \(plan)")
    }
  }

  @Test(.needsOlderPlanner)
  func `a condition without an index reads the related rows once`() throws {
    let filters: [Filter<PlanSpot>] = [
      (\PlanSpot.$edges).contains { \.$word == "x" },
      (\PlanSpot.$edges).contains { \.$size > 5 },
      (\PlanSpot.$edges).count { \.$word == "x" } >= 2,
      (\PlanSpot.$edges).sum(\.$size) > 5,
    ]
    for (index, filter) in filters.enumerated() {
      let plan = try nodes(filter)
      let edges = index < 2 ? "magicdata_4" : "magicdata_1"
      #expect(plan.scannedTables.count { $0 == edges } == 1, "\(plan)")
      // The other branch of `contains`, for few nodes with many edges, reads each node's edges.
      let correlated = plan.allSteps.count { $0.detail.hasPrefix("CORRELATED") }
      #expect(correlated == (index < 2 ? 1 : 0), "\(index): \(plan)")
      #expect(branches(plan) == (index < 2 ? 2 : 0), "\(index): \(plan)")
    }
  }

  @Test func `without a condition, the index of the relation suffices`() throws {
    for filter in [
      (\PlanSpot.$edges).isEmpty, (\PlanSpot.$edges).count > 5, !(\PlanSpot.$edges).isEmpty,
    ] {
      let plan = try nodes(filter)
      #expect(plan.scannedTables == ["Node"], "\(plan)")
      #expect("\(plan)".contains("USING COVERING INDEX Edge(from) (from=?)"), "\(plan)")
    }
  }

  /// Returns the number of branches in a statement that compares row counts before it starts.
  private func branches(_ plan: QueryPlan) -> Int {
    plan.allSteps.count { $0.detail.hasPrefix("LEFT-MOST") || $0.detail.hasPrefix("UNION ALL") }
  }

  @Test func `with several conditions, a statement starts at the one with fewest rows`() throws {
    let filters: [Filter<PlanSpot>] = [
      \.$name == "x" && (\PlanSpot.$edges).contains { \.$to == node },
      (\PlanSpot.$edges).contains { \.$to == node }
        && (\PlanSpot.$edges).contains { \.$grade == "x" },
      (\PlanSpot.$tags).contains(label) && (\PlanSpot.$tags).contains { \.$word == "y" },
      (\PlanSpot.$edges).contains { \.$to == node }
        && (\PlanSpot.$edges).count { \.$grade == "x" } > 2,
    ]
    for (index, filter) in filters.enumerated() {
      let plan = try nodes(filter)
      #expect(branches(plan) == 2, "\(index): \(plan)")
      #expect(Set(plan.scannedTables).allSatisfy { $0.hasPrefix("magicdata_") }, "\(plan)")
      #expect("\(plan)".contains("SEARCH Node USING INTEGER PRIMARY KEY"), "\(index): \(plan)")
    }
    let both = try nodes((\PlanSpot.$edges).contains { \.$grade == "x" && \.$to == node })
    #expect(branches(both) == 3, "\(both)")
    #expect(both.usedIndexes.isSuperset(of: ["Edge(to)", "Edge(grade)"]), "\(both)")
  }

  @Test func `an index on both properties needs no choice between branches`() throws {
    let plan = try nodes(\.$size == 5 && \.$kind == 3)
    #expect(branches(plan) == 0 && plan.usedIndexes == ["Node(size,kind)"], "\(plan)")
    let separate = try edges(\.$grade == "x" && \.$to == node)
    // The third branch reads all rows.
    #expect(branches(separate) == 3, "\(separate)")
    let single = try nodes(\.$name == "x" && \.$word == "y")
    #expect(branches(single) == 0 && single.usedIndexes == ["Node(name)"], "\(single)")
  }

  @Test func `with one indexed condition, a second branch reads all objects`() throws {
    let filters: [Filter<PlanSpot>] = [
      \.$word == "x" && (\PlanSpot.$edges).contains { \.$to == node },
      (\PlanSpot.$edges).contains { \.$word == "x" }
        && (\PlanSpot.$edges).contains { \.$to == node },
    ]
    for filter in filters {
      let plan = try nodes(filter)
      #expect(branches(plan) == 2, "\(plan)")
      #expect(plan.usedIndexes.contains("Edge(to)"), "\(plan)")
    }
  }

  @Test func `a query by key looks up one object and only its related rows`() throws {
    let filters: [Filter<PlanSpot>] = [
      \.$id == 5 && (\PlanSpot.$edges).contains { \.$to == node },
      \.$id == 5 && (\PlanSpot.$edges).contains { \.$word == "x" },
      \.$id == 5 && (\PlanSpot.$edges).count { \.$grade == "x" } > 2,
    ]
    for (index, filter) in filters.enumerated() {
      let plan = try nodes(filter)
      #expect(branches(plan) == 0 && plan.scannedTables.isEmpty, "\(index): \(plan)")
      #expect(plan.usedIndexes == ["Edge(from)"], "\(index): \(plan)")
    }
  }

  @Test func `limited queries choose between the sort order and the filter's index`() throws {
    let filter: Filter<PlanSpot> = (\PlanSpot.$edges).contains { \.$to == node }
    let ordered = [
      PlanSpot.where(filter).limit(5),
      PlanSpot.where(filter).ordered(by: .descending(\.$name)).limit(5),
    ]
    for query in ordered {
      let plan = try plan(query.values(\.$id))
      #expect(branches(plan) == 2, "\(plan)")
      #expect(plan.usedIndexes.isSuperset(of: ["Edge(to)", "Edge(from)"]), "\(plan)")
    }
    // All objects are sorted, so all of them are found first.
    let sorted = try plan(
      PlanSpot.where(filter).ordered(by: .ascending(\.$word)).limit(5).values(\.$id))
    #expect(branches(sorted) == 0 && sorted.usedIndexes == ["Edge(to)"], "\(sorted)")
    let page = try plan { _ = try magic.fetch(PlanSpot.where(filter).page(limit: 5)) }
    #expect(branches(page) == 2, "\(page)")
  }

  @Test func `objects, counts and writes find their rows like values`() throws {
    let filter: Filter<PlanSpot> = (\PlanSpot.$edges).contains { \.$to == node }
    let works: [(String, () throws -> Void)] = [
      ("SELECT", { _ = try magic.objects(of: PlanSpot.self, where: filter) }),
      ("SELECT", { _ = try magic.count(of: PlanSpot.self, where: filter) }),
      ("SELECT", { _ = try magic.fetch(PlanSpot.where(filter).aggregate(.sum(\.$size))) }),
      ("UPDATE", { _ = try magic.updateAll(PlanSpot.where(filter), set: [.set(\.$size, to: 1)]) }),
      ("DELETE FROM \"Node\"", { _ = try magic.removeAll(PlanSpot.where(filter)) }),
    ]
    for (verb, work) in works {
      let plan = try plan(verb, work)
      #expect("\(plan)".contains("SEARCH Node USING INTEGER PRIMARY KEY"), "\(plan)")
      #expect(plan.usedIndexes.contains("Edge(to)"), "\(plan)")
      #expect(!plan.scannedTables.contains("Edge"), "\(plan)")
    }
  }

  @Test func `a sort by a property of a related object is a join`() throws {
    let values = try plan(PlanRoad.ordered(by: .ascending(\.$to.$name)).limit(5).values(\.$id))
    let objects = try plan {
      _ = try magic.objects(of: PlanRoad.self, orderedBy: [.ascending(\.$to.$name)], limit: 5)
    }
    for plan in [values, objects] {
      #expect(!"\(plan)".contains("CORRELATED"), "\(plan)")
      #expect(plan.scannedTables == ["Edge"], "\(plan)")
    }
  }
}
