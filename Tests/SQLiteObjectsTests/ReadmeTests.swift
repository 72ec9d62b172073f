import Conformance
import Foundation
import MagicData
import TestSupport
import Testing

struct City: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var population: Int
  @OptionalMagicValue var founded: Date?
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

extension Query<City> {
  var large: Query { self.where(\.$population > 1_000_000) }
}

/// The code of the README, block by block. `.ci/checks/readme` compares the texts.
@Suite(.everyEngine) struct ReadmeTests {
  private let home: TestFolder
  var folder: String { home.path }

  init() throws {
    home = try TestFolder()
  }

  @Test func `the README's first example works`() async throws {
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

  @Test func `queries over relations, values and groups work`() throws {
    let magic = try MagicData.fresh()
    let toronto = City("Toronto", population: 2_794_357)
    toronto.twins = [City("Milan", population: 1_354_196)]
    try magic.update(toronto)

    let known = try magic.objects(
      of: City.self, where: (\City.$twinnedBy).contains { \.$population > 1_000_000 })
    let open = try magic.objects(
      of: City.self,
      where: (\City.$twins).count > 2 || (\City.$twins).allSatisfy { \.$founded != nil })

    for (name, population, twins) in try magic.fetch(
      City.all.values(\.$name, \.$population, and: (\City.$twins).count))
    {
      print(name, population, twins ?? 0)
    }
    for (founded, (count, largest)) in try magic.fetch(
      City.all.aggregate(
        .count, .max(\.$population), by: \.$founded, having: .count > 1,
        orderedBy: [.descending(.count)]))
    {
      print(founded ?? .distantPast, count, largest ?? 0)
    }
    let odd = Filter<City>(sql: "\(\.$population) % \(2) = 1")

    #expect(known.map(\.name) == ["Milan"])
    #expect(open.map(\.name) == ["Milan"])
    #expect(try magic.count(of: City.self, where: odd) == 1)
  }

  @Test func `queries and requests are values`() async throws {
    let magic = try await MagicData.fresh()
    let toronto = City("Toronto", population: 2_794_356)
    toronto.twins = [City("Milan", population: 1_354_196), City("Sutton", population: 6_000)]
    try await magic.update(toronto)

    try composeQueries(magic, toronto)
    for try await count in magic.observe(City.all.large.count) {
      print(count)
      break
    }
  }

  private func composeQueries(_ magic: MagicData, _ toronto: City) throws {
    let populous = City.where(\.$population > 2_000_000).ordered(by: .descending(\.$population))
    let cities = try magic.fetch(populous.limit(10))
    let names = try magic.fetch(populous.values(\.$name))
    let undated = try magic.fetch(populous.where(\.$founded == nil).count)
    #expect(cities.map(\.name) == ["Toronto"])
    #expect(names == ["Toronto"])
    #expect(undated == 1)

    let twinned = try magic.fetch(City.where((\City.$twins).count > 0).large.values(\.$name))
    let twins = try magic.fetch(toronto.$twins.all.large)
    #expect(twinned == ["Toronto"])
    #expect(twins.map(\.name) == ["Milan"])

    func matches(name: String?, population: Int?) -> Query<City> {
      var query = City.ordered(by: .ascending(\.$name))
      if let name { query = query.where((\City.$name).hasPrefix(name)) }
      if let population { query = query.where(\.$population >= population) }
      return query
    }
    #expect(try magic.fetch(matches(name: nil, population: nil).count) == 3)
    #expect(try magic.fetch(matches(name: "T", population: nil).values(\.$name)) == ["Toronto"])
    #expect(try magic.fetch(matches(name: "T", population: 3_000_000).isEmpty))

    func printSummary(of query: Query<City>) throws {
      let names = try magic.fetch(query.values(\.$name))
      let total = try magic.fetch(query.aggregate(.sum(\.$population)))
      print(names, total)
    }
    try printSummary(of: matches(name: nil, population: 10_000))
  }
}
