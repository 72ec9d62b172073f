import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

/// The values of a stored player.
private struct Model: Sendable {
  var name: String
  var age: Int
  var goals: Int
  var weight: Double
  var nick: String?
  var shirt: Int?
}

/// A filter and the equivalent Swift predicate.
private struct Meaning {
  let filter: Filter<Player>
  let holds: (Model) -> Bool
}

@Suite(.everyEngine) struct RandomFilterTests {
  private static let words = ["", "a", "A", "ab", "aB", "é", "zz", "%", "_", "a%"]

  @Test func `a thousand random filters match the same objects as Swift predicates`() throws {
    var random = SplitMix64(seed: 20_261_121)
    let magic = try MagicData.fresh()
    let models = (0..<120).map { _ in
      Model(
        name: Self.words.randomElement(using: &random) ?? "",
        age: .random(in: -5...5, using: &random), goals: .random(in: 0...3, using: &random),
        weight: Double(Int.random(in: -4...4, using: &random)) / 2,
        nick: Bool.random(using: &random) ? Self.words.randomElement(using: &random) : nil,
        shirt: Bool.random(using: &random) ? .random(in: -2...2, using: &random) : nil)
    }
    try magic.update(
      models.map { model in
        let player = Player(model.name, age: model.age)
        player.goals = model.goals
        player.weight = model.weight
        player.nick = model.nick
        player.shirt = model.shirt
        return player
      })
    for number in 0..<1_000 {
      let meaning = Self.meaning(depth: Int.random(in: 0...4, using: &random), &random)
      let found = try magic.objects(of: Player.self, where: meaning.filter).map(Self.description)
      let expected = models.filter(meaning.holds).map(Self.description)
      let sql = try meaning.filter.sql(in: magic).text
      try #require(found == expected, "filter \(number): \(sql)")
    }
  }

  private static func description(_ player: Player) -> String {
    "\(player.name) \(player.age) \(player.goals) \(player.weight) \(player.nick ?? "-") "
      + "\(player.shirt ?? 99)"
  }

  private static func description(_ model: Model) -> String {
    "\(model.name) \(model.age) \(model.goals) \(model.weight) \(model.nick ?? "-") "
      + "\(model.shirt ?? 99)"
  }

  private static func meaning(depth: Int, _ random: inout SplitMix64) -> Meaning {
    guard depth > 0 else { return leaf(&random) }
    let left = meaning(depth: depth - 1, &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return Meaning(filter: !left.filter) { !left.holds($0) }
    case 1:
      let right = meaning(depth: depth - 1, &random)
      return Meaning(filter: left.filter && right.filter) { left.holds($0) && right.holds($0) }
    default:
      let right = meaning(depth: depth - 1, &random)
      return Meaning(filter: left.filter || right.filter) { left.holds($0) || right.holds($0) }
    }
  }

  private static func leaf(_ random: inout SplitMix64) -> Meaning {
    let number = Int.random(in: -3...3, using: &random)
    let half = Double(number) / 2
    let word = words.randomElement(using: &random) ?? ""
    let numbers = (0..<2).map { _ in Int.random(in: -3...3, using: &random) }
    switch Int.random(in: 0..<26, using: &random) {
    case 0: return Meaning(filter: \.$age == number) { $0.age == number }
    case 1: return Meaning(filter: \.$age != number) { $0.age != number }
    case 2: return Meaning(filter: \.$age < number) { $0.age < number }
    case 3: return Meaning(filter: \.$age <= number) { $0.age <= number }
    case 4: return Meaning(filter: \.$age > number) { $0.age > number }
    case 5: return Meaning(filter: \.$age >= number) { $0.age >= number }
    case 6: return Meaning(filter: \.$shirt == number) { $0.shirt == number }
    case 7: return Meaning(filter: \.$shirt != number) { $0.shirt != number }
    case 8: return Meaning(filter: \.$shirt < number) { $0.shirt.map { $0 < number } ?? false }
    case 9: return Meaning(filter: \.$shirt == nil) { $0.shirt == nil }
    case 10: return Meaning(filter: \.$shirt != nil) { $0.shirt != nil }
    case 11: return Meaning(filter: \.$weight > half) { $0.weight > half }
    case 12: return Meaning(filter: \.$name == word) { $0.name == word }
    case 13: return Meaning(filter: \.$name != word) { $0.name != word }
    case 14: return Meaning(filter: \.$nick != word) { $0.nick != word }
    case 15:
      return Meaning(filter: \.$name < word) {
        $0.name.utf8.lexicographicallyPrecedes(word.utf8)
      }
    case 16: return Meaning(filter: (\Player.$name).hasPrefix(word)) { $0.name.hasPrefix(word) }
    case 17:
      return Meaning(filter: (\Player.$nick).contains(word)) {
        $0.nick.map { word.isEmpty || $0.contains(word) } ?? false
      }
    case 18:
      return Meaning(filter: (\Player.$shirt).isIn(numbers)) {
        $0.shirt.map { numbers.contains($0) } ?? false
      }
    case 19:
      let range = min(numbers[0], numbers[1])...max(numbers[0], numbers[1])
      return Meaning(filter: range ~= \.$age) { range ~= $0.age }
    case 20: return Meaning(filter: \.$age + \.$goals > number) { $0.age + $0.goals > number }
    case 21: return Meaning(filter: \.$age * 2 - 1 == number) { $0.age * 2 - 1 == number }
    case 22: return Meaning(filter: \.$age == \.$shirt) { $0.age == $0.shirt }
    case 23: return Meaning(filter: \.$name != \.$nick) { $0.name != $0.nick }
    case 24: return Meaning(filter: \.$age % 3 == number) { $0.age % 3 == number }
    default: return Meaning(filter: \.$age / 2 >= number) { $0.age / 2 >= number }
    }
  }
}
