import CSQLite
import MagicData
import TestSupport
import Testing

private struct PlanNode: MagicObject {
  static let tableName = "PlanNode"
  static let traits: [PropertyTrait] = [.indexed(\Self.$name)]

  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var kind: Int
  @ReverseMagicValue(\PlanEdge.$from) var edges: AsyncReverseMagicSet<PlanEdge>
  @ReverseMagicValue(\PlanEdge.$to) var incoming: AsyncReverseMagicSet<PlanEdge>
  @MagicValue var tags: MagicalSet<PlanLabel>

  init() {}

  init(tags: MagicalSet<PlanLabel>) { (name, kind, self.tags) = ("", 0, tags) }
}

private struct PlanEdge: MagicObject {
  static let tableName = "PlanEdge"

  @PrimaryMagicValue var id: Int
  @MagicValue var weight: Int
  @MagicValue var from: PlanNode
  @OptionalMagicValue var to: PlanNode?

  init() {}

  init(from: PlanNode) { (weight, self.from) = (0, from) }
}

private struct PlanLabel: MagicObject {
  static let tableName = "PlanLabel"

  @PrimaryMagicValue var word: String
  @ReverseMagicValue(\PlanNode.$tags) var nodes: AsyncReverseMagicSet<PlanNode>

  init() {}

  init(_ word: String) { self.word = word }
}

/// A graph of 20,000 nodes and 100,000 edges. Every twentieth edge goes to one hub.
@Suite struct RelatedPlanTests {
  private static let nodeCount = 20_000
  private static let edgeCount = 100_000

  private let folder: TestFolder
  private let magic: MagicData
  private let hub: PlanNode
  private let common: PlanLabel

  init() throws {
    folder = try TestFolder()
    magic = try MagicData(path: folder.path)
    // The first save creates the tables.
    try magic.update(PlanEdge(from: PlanNode(tags: [PlanLabel("common")])))
    try magic.database.executeMultipleChanges(
      """
      DELETE FROM PlanEdge;
      DELETE FROM PlanNode;
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(SQL(unchecked: "\(Self.nodeCount)")))
      INSERT INTO PlanNode (id, name, kind) SELECT i, 'n' || i, i % 2 FROM n;
      WITH RECURSIVE e (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM e WHERE i < \(SQL(unchecked: "\(Self.edgeCount)")))
      INSERT INTO PlanEdge (id, weight, "from", "to")
      SELECT i, i % 10, i % 19997 + 1, CASE WHEN i % 20 = 0 THEN 1 ELSE i * 7 % 19993 + 1 END FROM e;
      INSERT INTO PlanNode_tags (owner, target)
      SELECT PlanNode.id, PlanLabel.z_index FROM PlanNode, PlanLabel WHERE PlanNode.id % 2 = 0;
      """)
    hub = try magic.object(of: PlanNode.self, primary: 1)
    common = try magic.object(of: PlanLabel.self, primary: "common")
  }

  private func plan(_ filter: Filter<PlanNode>) throws -> String {
    let condition = try filter.sql(in: magic)
    let sql: SQL = "SELECT 1 FROM PlanNode WHERE \(condition)"
    return try magic.database.read { try $0.explain(sql) }.allSteps.map(\.detail).joined(
      separator: "; ")
  }

  /// Returns how many thousand steps of SQLite's virtual machine a count takes, at most 20,000.
  private func steps(_ table: String, _ condition: SQL) throws -> Int {
    final class Count { var thousands = 0 }
    var pointer: OpaquePointer?
    defer { unsafe sqlite3_close(pointer) }
    let file = try #require(magic.database.path)
    unsafe #expect(sqlite3_open(file, &pointer) == SQLITE_OK)
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    let sql = "SELECT count(*) FROM \(table) WHERE \(condition.text)"
    unsafe #expect(sqlite3_prepare_v2(pointer, sql, -1, &statement, nil) == SQLITE_OK)
    for (index, value) in condition.values.enumerated() {
      let place = Int32(index + 1)
      switch value {
      case .integer(let number): unsafe sqlite3_bind_int64(statement, place, number)
      case .text(let text):
        unsafe csqlite_bind_text(statement, place, text, UInt64(text.utf8.count))
      default: Issue.record("unexpected type of value")
      }
    }
    let count = Count()
    unsafe sqlite3_progress_handler(
      pointer, 1_000,
      { context in
        guard let context = unsafe context else { return 1 }
        let count = unsafe Unmanaged<Count>.fromOpaque(context).takeUnretainedValue()
        count.thousands += 1
        return count.thousands > 20_000 ? 1 : 0
      }, Unmanaged.passUnretained(count).toOpaque())
    let result = withExtendedLifetime(count) { unsafe sqlite3_step(statement) }
    #expect(result == SQLITE_ROW, "more than 20 million steps")
    return count.thousands
  }

  @Test func `a filter on edges to a hub queries the edges once, not per node`() throws {
    let filter: Filter<PlanNode> = (\PlanNode.$edges).contains { \.$to == hub }
    let expected = try magic.database.rows(
      "SELECT count(DISTINCT \"from\") FROM PlanEdge WHERE \"to\" = 1", as: Int.self)
    #expect(try [magic.count(of: PlanNode.self, where: filter)] == expected)
    #expect(try steps("PlanNode", filter.sql(in: magic)) < 500)
    let text = try plan(filter)
    #expect(text.contains("SEARCH PlanNode USING INTEGER PRIMARY KEY"), "\(text)")
    #expect(!text.contains("CORRELATED"), "\(text)")
    #expect(text.contains("(to=?)"), "\(text)")
  }

  /// Filters on 20,000 nodes for which SQLite's planner could choose a slow plan.
  private var hard: [Filter<PlanNode>] {
    [
      (\PlanNode.$edges).contains { \.$to == hub },
      (\PlanNode.$edges).contains { \.$to == hub && \.$weight == 3 },
      (\PlanNode.$edges).contains { \.$to != hub },
      (\PlanNode.$edges).contains { \.$to.$name == "n1" },
      (\PlanNode.$edges).contains { \.$to.$kind == 3 },
      (\PlanNode.$edges).allSatisfy { \.$to == hub },
      (\PlanNode.$edges).allSatisfy { \.$weight < 100 },
      (\PlanNode.$edges).count { \.$to == hub } > 1,
      (\PlanNode.$edges).sum(\.$weight, where: \.$to == hub) > 100,
      (\PlanNode.$edges).isEmpty || (\PlanNode.$edges).contains { \.$to == hub },
      !(\PlanNode.$edges).contains { \.$to == hub },
      (\PlanNode.$edges.$to).contains(hub),
      (\PlanNode.$edges.$to).contains { \.$name == "n1" },
      (\PlanNode.$edges.$to.$incoming).contains { \.$weight == 11 },
      (\PlanNode.$edges.$to.$incoming).isEmpty,
      (\PlanNode.$edges.$to.$incoming).count > 100_000,
      (\PlanNode.$edges.$to.$incoming).max(\.$weight) > 10,
      (\PlanNode.$edges).contains { (\PlanEdge.$to.$incoming).contains { \.$weight == 11 } },
      (\PlanNode.$edges).contains { (\PlanEdge.$to.$incoming).count > 6_000 },
      (\PlanNode.$edges).contains { (\PlanEdge.$to.$incoming).allSatisfy { \.$weight == 11 } },
      (\PlanNode.$edges).count { (\PlanEdge.$to.$incoming).sum(\.$weight) > 10_000 } > 100,
      (\PlanNode.$tags).contains(common),
      (\PlanNode.$tags.$nodes).contains { \.$kind == 3 },
      (\PlanNode.$tags.$nodes).count > 100_000,
      (\PlanNode.$tags).contains { (\PlanLabel.$nodes).count == 3 },
      \.$kind == 1 && (\PlanNode.$edges).contains { \.$to == hub },
      \.$name == "n5" && (\PlanNode.$edges).contains { \.$to == hub },
    ]
  }

  @Test func `no filter on related rows takes quadratic time`() throws {
    for (index, filter) in hard.enumerated() {
      let steps = try steps("PlanNode", filter.sql(in: magic))
      #expect(steps < 12_000, "condition \(index): \(steps)")
    }
    let edges: [Filter<PlanEdge>] = [
      (\PlanEdge.$to.$incoming).count > 6_000,
      (\PlanEdge.$to.$incoming).contains { \.$weight == 11 },
      (\PlanEdge.$to.$incoming).sum(\.$weight) > 100_000,
      (\PlanEdge.$from.$edges).contains { \.$to == hub },
      \.$to.$name == "n1",
    ]
    for (index, filter) in edges.enumerated() {
      let steps = try steps("PlanEdge", filter.sql(in: magic))
      #expect(steps < 12_000, "condition \(index) on edges: \(steps)")
    }
  }

  @Test func `a filter on one object reads only its own related rows`() throws {
    let filters: [Filter<PlanNode>] = [
      \.$id == 5 && (\PlanNode.$edges).contains { \.$to == hub },
      \.$id == 5 && (\PlanNode.$tags).contains(common),
      \.$id == 5 && (\PlanNode.$edges).contains { \.$weight > 100 },
      \.$id == 5 && (\PlanNode.$edges).count > 100,
    ]
    for (index, filter) in filters.enumerated() {
      #expect(try steps("PlanNode", filter.sql(in: magic)) == 0, "condition \(index)")
    }
    let edge: Filter<PlanEdge> = \.$id == 7 && (\PlanEdge.$from.$edges).count > 100
    #expect(try steps("PlanEdge", edge.sql(in: magic)) == 0)
  }

  @Test func `the plan of a filter uses the appropriate indexes`() throws {
    let selective = try plan((\PlanNode.$edges).contains { \.$to.$name == "n1" })
    #expect(selective.contains("(name=?)") && selective.contains("(to=?)"), "\(selective)")
    #expect(!selective.contains("CORRELATED") && !selective.contains("SCAN"), "\(selective)")
    let tagged = try plan((\PlanNode.$tags).contains(common))
    #expect(tagged.contains("(target=?)") && !tagged.contains("SCAN"), "\(tagged)")
    let unindexed = try plan((\PlanNode.$edges).contains { \.$weight == 3 })
    #expect(unindexed.contains("SCAN magicdata_"), "\(unindexed)")
    let none = try plan((\PlanNode.$edges).allSatisfy { \.$to == hub })
    #expect(none.contains("SCAN magicdata_") && !none.contains("(to=?)"), "\(none)")
    let counted = try plan((\PlanNode.$edges).count { \.$to == hub } > 2)
    #expect(counted.contains("(to=?)") && !counted.contains("CORRELATED"), "\(counted)")
    #expect(!counted.contains("SCAN"), "\(counted)")
    let one = try plan(\.$name == "n5" && (\PlanNode.$edges).contains { \.$to == hub })
    #expect(one.contains("(name=?)") && one.contains("(from=?)"), "\(one)")
  }

  @Test func `a statement starts at the condition with fewest rows, in any order`() throws {
    let rare = try magic.object(of: PlanNode.self, primary: 19_990)
    let toHub: Filter<PlanNode> = (\PlanNode.$edges).contains { \.$to == hub }
    let toRare: Filter<PlanNode> = (\PlanNode.$edges).contains { \.$to == rare }
    let tagged: Filter<PlanNode> = (\PlanNode.$tags).contains(common)
    let filters: [Filter<PlanNode>] = [
      toHub && toRare, toRare && toHub, tagged && toRare, toRare && tagged,
      \.$name == "n5" && toHub, toHub && \.$name == "n5", tagged && toHub && toRare,
      \.$kind == 1 && toRare, toRare && (\PlanNode.$edges).contains { \.$weight > 3 },
      toRare && (\PlanNode.$edges).count { \.$to == hub } > 3,
    ]
    for (index, filter) in filters.enumerated() {
      #expect(try steps("PlanNode", filter.sql(in: magic)) <= 2, "condition \(index)")
    }
  }

  @Test func `few objects with many related rows are looked up individually`() throws {
    try magic.database.executeMultipleChanges(
      """
      UPDATE PlanEdge SET "from" = id % 3 + 1, "to" = NULL;
      DELETE FROM PlanNode WHERE id > 3;
      """)
    let common: Filter<PlanNode> = (\PlanNode.$edges).contains { \.$weight == 3 }
    // Checking 256 edges takes a few thousand steps.
    #expect(try steps("PlanNode", common.sql(in: magic)) <= 10)
    #expect(try magic.count(of: PlanNode.self, where: common) == 3)
    let none: Filter<PlanNode> = (\PlanNode.$edges).contains { \.$weight == 33 }
    #expect(try steps("PlanNode", none.sql(in: magic)) < 1_000)
    #expect(try magic.count(of: PlanNode.self, where: none) == 0)
  }

  @Test func `all forms of a filter return the same objects`() throws {
    for filter in hard where try magic.count(of: PlanNode.self, where: filter) < 10_000 {
      let ids = try magic.fetch(PlanNode.where(filter).values(\.$id))
      // With a key, the filter is evaluated for one object. Otherwise, most filters are evaluated
      // once for all objects.
      let list = ids.prefix(3) + [2, 3, 19_998, 20_000]
      for id in list {
        let isFound = try magic.count(of: PlanNode.self, where: \.$id == id && filter) == 1
        #expect(isFound == ids.contains(id))
      }
    }
  }

  @Test func `two relations can be compared`() throws {
    let same = try magic.database.rows(
      "SELECT count(*) FROM PlanEdge WHERE \"from\" IS \"to\"", as: Int.self)
    #expect(try [magic.count(of: PlanEdge.self, where: \.$from == \.$to)] == same)
    let others = try magic.count(of: PlanEdge.self, where: \.$from != \.$to)
    #expect(others == Self.edgeCount - same[0] && same[0] > 0)
  }
}
