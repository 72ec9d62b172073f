import Conformance
import Foundation
import MagicData
import Testing

enum Level: Int, Codable, MagicComparable, Equatable { case low, middle, high }

struct Team: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @OptionalMagicValue var city: String?
  @OptionalMagicValue var captain: Player?

  init() {}

  init(_ title: String, city: String? = nil) {
    self.title = title
    self.city = city
  }
}

struct Player: MagicObject {
  @PrimaryMagicValue var id: UUID
  @MagicValue var name: String
  @MagicValue var age: Int
  @MagicValue var goals: Int
  @MagicValue var weight: Double
  @MagicValue var isKeeper: Bool
  @MagicValue var level: Level
  @MagicValue var born: Date
  @MagicValue var wage: Decimal
  @OptionalMagicValue var nick: String?
  @OptionalMagicValue var shirt: Int?
  @OptionalMagicValue var team: Team?
  @MagicValue var friends: [Player]
  @MagicValue var rivals: MagicalSet<Player>

  static var traits: [PropertyTrait] { [.indexed(\Self.$age), .indexed(\Self.$name)] }

  init() {}

  init(_ name: String, age: Int) {
    self.name = name
    self.age = age
    goals = 0
    weight = 70
    isKeeper = false
    level = .middle
    born = Date(timeIntervalSince1970: 0)
    wage = 1
    friends = []
    rivals = []
  }
}

/// Fifty filters as users write them. They must compile fast, and SQLite must accept each.
let spelledFilters: [Filter<Player>] = {
  var filters: [Filter<Player>] = []
  func spell(_ filter: Filter<Player>) { filters.append(filter) }
  spell(\.$age > 30)
  spell(\.$age >= 30 && \.$age < 40)
  spell(\.$age > 30 && \.$name != "x")
  spell(\.$age > 30 && (\.$name == "x" || \.$nick == nil))
  spell(\.$nick != nil)
  spell(\.$nick == "Z")
  spell(\.$nick != "Z" && \.$shirt != 7)
  spell(!(\.$nick == "Z"))
  spell(!(\.$age > 3 || \.$goals > 5) && \.$isKeeper == true)
  spell(\.$isKeeper == false)
  spell(18...65 ~= \.$age)
  spell(18..<65 ~= \.$age && 1...11 ~= \.$shirt)
  spell((\Player.$age).isIn(18...65))
  spell((\Player.$name).isIn(["Ann", "Bob", "Cem"]))
  spell((\Player.$shirt).isIn([1, 2, 3]) || \.$shirt == nil)
  spell((\Player.$name).hasPrefix("An"))
  spell((\Player.$name).contains("nn") && \.$age > 3)
  spell((\Player.$nick).like("A%"))
  spell(!(\Player.$nick).like("A%"))
  spell(\.$age + 1 > 30)
  spell(\.$age + \.$goals > 30)
  spell(\.$age * 2 - \.$goals >= 10)
  spell(\.$goals % 2 == 0)
  spell(\.$goals / 2 != 4)
  spell(\.$weight * 1.5 > 100)
  spell(\.$weight > 70.5 || \.$weight < 60)
  spell(\.$age > \.$goals)
  spell(\.$age == \.$shirt)
  spell(\.$name == \.$nick)
  spell(\.$name != \.$nick && \.$age <= 3)
  spell(\.$level > .low)
  spell(\.$level == .high)
  spell((\Player.$level).isIn([.low, .high]))
  spell(\.$born < Date(timeIntervalSince1970: 1_000))
  spell(\.$born >= Date(timeIntervalSince1970: 1_000) && \.$age > 1)
  spell(\.$wage == 12)
  spell(\.$wage != 12 && \.$nick == nil)
  spell(\.$team == nil)
  spell(\.$team != nil && \.$age > 3)
  spell(\.$team.$title == "Reds")
  spell(\.$team.$title == "Reds" && \.$team.$city != "Bern")
  spell(\.$team.$city == nil)
  spell(\.$team.$captain.$age > 30)
  spell((\Player.$team.$title).hasPrefix("R") || \.$age > 20)
  spell((\Player.$friends).contains(where: \.$age > 30))
  spell((\Player.$friends).contains(where: \.$age > 30 && \.$nick == nil) && \.$goals > 2)
  spell((\Player.$friends).contains(where: (\Player.$rivals).contains(where: \.$name == "Ann")))
  spell((\Player.$rivals).isEmpty && \.$age > 7)
  spell((\Player.$friends).count > 2 || \.$age > 7 && \.$goals > 2 && \.$nick != "a" && \.$age < 99)
  spell(
    Filter(sql: "age % \(2) = 1") && \.$name > "B" && (\.$age < 20 || \.$goals >= 3 || \.$shirt > 4)
  )
  return filters
}()

@Suite(.everyEngine) struct FilterSpellingTests {
  let magic: MagicData

  init() throws {
    magic = try MagicData.fresh()
    try magic.update(Player("Ann", age: 31))
  }

  @Test(arguments: spelledFilters.indices)
  func `SQLite accepts each filter as written`(index: Int) throws {
    let filter = spelledFilters[index]
    let matching = try magic.count(of: Player.self, where: filter)
    let others = try magic.count(of: Player.self, where: !filter)
    #expect(matching + others == 1)
  }
}
