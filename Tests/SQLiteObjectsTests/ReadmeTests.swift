import Conformance
import Foundation
import MagicData
import TestSupport
import Testing

struct City: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var population: Int
  @OptionMagicValue var founded: Date?
  @MagicValue var twins: [City]
  @ReverseMagicValue(\City.$twins) var twinnedBy: AsyncReverseMagicSet<City>
  @MagicValue var map: AsyncMagical<MagicAsset<String>>

  init() {}

  init(_ name: String, population: Int) {
    self.name = name
    self.population = population
    twins = []
    map = AsyncMagical(value: MagicAsset())
  }
}

/// The code of the README, block by block; `.ci/checks/readme` compares the texts.
@Suite(.everyEngine) struct ReadmeTests {
  private let home: TestFolder
  var folder: String { home.path }

  init() throws {
    home = try TestFolder()
  }

  @Test func `the first five minutes do what they say`() async throws {
    let magic = try await MagicData.at(folder)

    let toronto = City("Toronto", population: 2_794_356)
    let milan = City("Milan", population: 1_354_196)
    toronto.twins = [milan]
    try await magic.update(toronto)

    let fetched = try await magic.object(of: City.self, primary: toronto.id)
    fetched.founded = Date(timeIntervalSince1970: -4_291_574_400)
    try await magic.update(fetched)

    let large = try await magic.objects(
      of: City.self, where: \.$population > 2_000_000 && \.$founded != nil,
      orderedBy: [.descending(\.$population)], limit: 10)
    let admirers = try await milan.twinnedBy.get()
    #expect(large.map(\.name) == ["Toronto"])
    #expect(admirers.map(\.name) == ["Toronto"])

    toronto.map = AsyncMagical(value: MagicAsset(value: "<svg/>", pathExtension: "svg"))
    try await magic.update(toronto)
    let map = try await toronto.map.get().get()
    #expect(map == "<svg/>")

    let name = "Robert'); DROP TABLE City;--"
    try await magic.database.write { connection in
      try connection.executeChange("UPDATE City SET name = \(name) WHERE population < \(1_400_000)")
    }
    for (name, population) in try await magic.database.rows(
      "SELECT name, population FROM City ORDER BY name", as: String.self, Int.self)
    {
      print(name, population)
    }
    #expect(try await magic.object(of: City.self, primary: milan.id).name == name)
  }

  @Test func `queries find relations, values and groups`() throws {
    let magic = try MagicData.fresh()
    let toronto = City("Toronto", population: 2_794_357)
    toronto.twins = [City("Milan", population: 1_354_196)]
    try magic.update(toronto)

    let known = try magic.objects(
      of: City.self, where: (\City.$twinnedBy).contains { \.$population > 1_000_000 })
    let open = try magic.objects(
      of: City.self,
      where: (\City.$twins).count > 2 || (\City.$twins).allSatisfy { \.$founded != nil })

    for (name, population, twins) in try magic.values(
      of: \City.$name, \.$population, and: (\City.$twins).count)
    {
      print(name, population, twins ?? 0)
    }
    for (founded, (count, largest)) in try magic.aggregate(
      .count, .max(\City.$population), by: \.$founded, having: .count > 1,
      orderedBy: [.descending(.count)])
    {
      print(founded ?? .distantPast, count, largest ?? 0)
    }
    let odd = Filter<City>(sql: "\(\.$population) % \(2) = 1")

    #expect(known.map(\.name) == ["Milan"])
    #expect(open.map(\.name) == ["Milan"])
    #expect(try magic.count(of: City.self, where: odd) == 1)
  }
}
