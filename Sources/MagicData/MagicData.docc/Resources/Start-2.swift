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
  }
}
