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
