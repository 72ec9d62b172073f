import Foundation
import MagicData

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

@main struct Cities {
  static func main() async throws {
    let magic = try await MagicData(type: .temporary)  // or MagicData(path: "cities")

    // Saving an object also saves the objects that it references.
    let toronto = City("Toronto", population: 2_794_356)
    let milan = City("Milan", population: 1_354_196)
    toronto.twins = [milan]
    try await magic.update(toronto)

    // This writes one column. Concurrent changes to other columns survive.
    let fetched = try await magic.object(of: City.self, primary: toronto.id)
    fetched.founded = Date(timeIntervalSince1970: -4_291_574_400)
    try await magic.update(fetched)

    // Conditions are written in Swift and evaluated by SQLite.
    let large = try await magic.objects(
      of: City.self, where: \.$population > 2_000_000 && \.$founded != nil,
      orderedBy: [.descending(\.$population)], limit: 10)
    let admirers = try await milan.twinnedBy.get()
    print(large.map(\.name), admirers.map(\.name))  // ["Toronto"] ["Toronto"]

    // An asset is a file that is deleted together with its object.
    toronto.map = AsyncMagical(value: MagicAsset(value: "<svg/>", pathExtension: "svg"))
    try await magic.update(toronto)
    print(try await toronto.map.get().get() ?? "no map")  // <svg/>

    // You can always use SQL. An interpolated value is bound, never spliced into the text.
    let name = "Robert'); DROP TABLE City;--"
    try await magic.database.executeChange(
      "UPDATE City SET name = \(name) WHERE population < \(1_400_000)")
    for (name, population) in try await magic.database.rows(
      "SELECT name, population FROM City ORDER BY name", as: String.self, Int.self)
    {
      print(name, population)
    }
  }
}
