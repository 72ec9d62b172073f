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
    let magic = try await MagicData(path: "cities")
    let toronto = City("Toronto", population: 2_794_356)
    let milan = City("Milan", population: 1_354_196)
    toronto.twins = [milan]
    // This also saves Milan, a related object.
    try await magic.update(toronto)
    let admirers = try await milan.twinnedBy.get()
    print(admirers.map(\.name))  // ["Toronto"]

    let known = try await magic.objects(
      of: City.self, where: (\City.$twinnedBy).contains { \.$population > 1_000_000 })
    print(known.map(\.name))  // Milan, once for each run

    // The file is deleted when its object is deleted.
    toronto.map = AsyncMagical(value: MagicAsset(value: "<svg/>", pathExtension: "svg"))
    try await magic.update(toronto)
    print(try await toronto.map.get().get() ?? "no map")  // <svg/>
  }
}
