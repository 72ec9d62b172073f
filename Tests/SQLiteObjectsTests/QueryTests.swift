import Conformance
import Foundation
import MagicData
import Testing

@Suite(.everyEngine) struct QueryTests {
  let magic: MagicData
  let reds = Team("Reds", city: "Bern")
  let blues = Team("Blues")

  /// Creates Ann (30, Reds, friends Bob and Cem), Bob (40, Blues) and Cem (50, no team).
  init() throws {
    magic = try MagicData.fresh()
    let ann = Player("Ann", age: 30)
    let bob = Player("Bob", age: 40)
    let cem = Player("Cem", age: 50)
    ann.team = reds
    bob.team = blues
    reds.captain = ann
    ann.friends = [bob, cem]
    bob.rivals = [ann]
    ann.goals = 3
    cem.goals = 4
    cem.nick = "C"
    try magic.update([ann, bob, cem])
  }

  func names(_ filter: Filter<Player>) throws -> String {
    try magic.objects(of: Player.self, where: filter, orderedBy: [.ascending(\.$name)])
      .map(\.name).joined(separator: " ")
  }

  @Test func `negative limits and offsets throw`() throws {
    for (limit, offset) in [(-1, 0), (.min, 0), (1, -1), (nil, .min)] as [(Int?, Int)] {
      #expect(throws: SQLiteError.self) {
        try magic.objects(of: Player.self, limit: limit, offset: offset)
      }
      #expect(throws: SQLiteError.self) {
        try magic.objects(of: Team.self, limit: limit, offset: offset)
      }
      #expect(throws: SQLiteError.self) {
        try magic.fetch(Player.all.limit(limit, offset: offset).values(\.$name))
      }
      #expect(throws: SQLiteError.self) {
        try magic.fetch(Player.all.aggregate(.count, by: \.$name, limit: limit, offset: offset))
      }
    }
    #expect(try magic.objects(of: Player.self, limit: .max, offset: .max).isEmpty)
  }

  @Test func `a filter follows a relation`() throws {
    #expect(try names(\.$team.$title == "Reds") == "Ann")
    #expect(try names(\.$team.$title != "Reds") == "Bob Cem")
    #expect(try names(\.$team.$city == nil) == "Bob Cem")
    #expect(try names(\.$team.$captain.$name == "Ann") == "Ann")
    #expect(try names((\Player.$team.$title).hasPrefix("B")) == "Bob")
  }

  @Test func `a filter compares a relation with an object`() throws {
    #expect(try names(\.$team == reds) == "Ann")
    #expect(try names(\.$team != reds) == "Bob Cem")
    #expect(throws: MagicError.notSaved(type: "Team")) { try names(\.$team == Team("new")) }
  }

  @Test func `a filter tests the elements of a collection`() throws {
    let ann = try #require(try magic.objects(of: Player.self, where: \.$name == "Ann").first)
    #expect(try names((\Player.$friends).contains(where: \.$age > 40)) == "Ann")
    #expect(try names((\Player.$friends).contains(where: \.$age > 60)) == "")
    #expect(try names((\Player.$friends).isEmpty) == "Bob Cem")
    #expect(try names((\Player.$friends).count == 2) == "Ann")
    #expect(try names((\Player.$rivals).contains(ann)) == "Bob")
    #expect(
      try names((\Player.$friends).contains(where: (\Player.$rivals).contains(where: \.$age == 30)))
        == "Ann")
    #expect(try names((\Player.$team.$captain.$friends).contains(where: \.$name == "Cem")) == "Ann")
  }

  @Test func `contains and hasPrefix compare bytes, like follows SQLite's rule`() throws {
    #expect(try names((\Player.$name).contains("n")) == "Ann")
    #expect(try names((\Player.$name).contains("N")) == "")
    #expect(try names((\Player.$name).like("a%")) == "Ann")
    #expect(try names((\Player.$name).hasPrefix("a")) == "")
    #expect(try names(!(\Player.$nick).hasPrefix("C")) == "Ann Bob")
  }

  @Test func `filters can contain arithmetic`() throws {
    #expect(try names(\.$age + \.$goals > 33) == "Bob Cem")
    #expect(try names(\.$age * 2 - \.$goals == 57) == "Ann")
    #expect(try names(\.$shirt + 1 > 0) == "")
  }

  @Test func `objects can be sorted through relations and by arithmetic`() throws {
    let byTitle = try magic.objects(of: Player.self, orderedBy: [.descending(\.$team.$title)])
    #expect(byTitle.map(\.name) == ["Ann", "Bob", "Cem"])
    let byGoals = try magic.objects(
      of: Player.self, orderedBy: [.descending(\.$goals - \.$age)], limit: 2, offset: 1)
    #expect(byGoals.map(\.name) == ["Bob", "Cem"])
  }

  @Test func `values are fetched without their objects`() async throws {
    let cities = try await magic.fetch(Team.ordered(by: .ascending(\.$title)).values(\.$city))
    #expect(cities == [nil, "Bern"])
    let goals = try await magic.fetch(Player.where(\.$age >= 30).distinct().values(\.$goals))
    #expect(goals.sorted() == [0, 3, 4])
    #expect(try await magic.fetch(Player.where(\.$age > 45).values(\.$team.$title)) == [nil])
  }

  @Test func `sums, averages, minimums, maximums and counts are computed`() async throws {
    #expect(try await magic.fetch(Player.all.aggregate(.sum(\.$goals))) == 7)
    #expect(try await magic.fetch(Player.where(\.$age > 90).aggregate(.sum(\.$goals))) == 0)
    #expect(try await magic.fetch(Player.all.aggregate(.average(\.$age))) == 40)
    #expect(try await magic.fetch(Player.where(\.$age > 90).aggregate(.average(\.$age))) == nil)
    #expect(try await magic.fetch(Player.all.aggregate(.min(\.$name))) == "Ann")
    #expect(try await magic.fetch(Player.all.aggregate(.max(\.$shirt))) == nil)
    #expect(try await magic.fetch(Player.all.aggregate(Aggregate<Player, Int>.count(\.$nick))) == 1)
    #expect(try await magic.fetch(Player.all.aggregate(.sum(\Player.$age - \Player.$goals))) == 113)
  }

  @Test func `groups have their own aggregates`() throws {
    let groups = try magic.fetch(Player.all.aggregate(.sum(\.$age), by: \.$team.$title))
    #expect(groups.map(\.key) == [nil, "Blues", "Reds"])
    #expect(groups.map(\.value) == [50, 40, 30])
    let counts = try magic.fetch(Player.all.aggregate(.count, by: \.$isKeeper))
    #expect(counts.map(\.key) == [false])
    #expect(counts.map(\.value) == [3])
  }

  @Test func `a sum that overflows throws`() throws {
    try magic.update([Player("x", age: .max)])
    #expect(throws: SQLiteError.self) { try magic.fetch(Player.all.aggregate(.sum(\.$age))) }
  }

  @Test(
    arguments: [
      (\.$age > 30, "Player(age)"),
      (\.$age == 30 && \.$nick != "x", "Player(age)"),
      ((\Player.$name).hasPrefix("An"), "Player(name)"),
      (18...20 ~= \.$age, "Player(age)"),
      ((\Player.$age).isIn([1, 2]), "Player(age)"),
    ] as [(Filter<Player>, String)])
  func `a declared index is used`(filter: Filter<Player>, index: String) throws {
    let condition = try filter.sql(in: magic)
    let plan = try magic.database.read {
      try $0.executeQuery("EXPLAIN QUERY PLAN SELECT * FROM Player WHERE \(condition)")
    }
    let steps = try plan.map { try $0.get("detail", as: String.self) }
    #expect(steps.contains { $0.hasPrefix("SEARCH Player USING INDEX \(index)") }, "\(steps)")
  }

  @Test func `objects can be removed by a filter`() throws {
    #expect(try magic.removeAll(Player.where(\.$team.$title == "Reds")) == 1)
    #expect(try names(\.$age > 0) == "Bob Cem")
  }
}
