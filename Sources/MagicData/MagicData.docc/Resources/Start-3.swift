import Foundation
import MagicData

struct City: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var population: Int

  init() {}

  init(_ name: String, population: Int) {
    self.name = name
    self.population = population
  }
}

@main struct Cities {
  static func main() async throws {
    let magic = try await MagicData(path: "cities")
    let toronto = City("Toronto", population: 2_794_356)
    try await magic.update(toronto)
    print(toronto.id)  // 1 in the first run, a new id in each later one

    let large = try await magic.objects(
      of: City.self, where: \.$population > 1_000_000,
      orderedBy: [.descending(\.$population)], limit: 10)
    for city in large { print(city.name, city.population) }
  }
}
