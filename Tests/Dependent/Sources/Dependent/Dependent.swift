import Foundation
import MagicData

// Objects like those in the README, and very small ones, which the compiler optimizes most.

struct Word: MagicObject {
  @MagicValue var text: String

  init() {}

  init(_ text: String) { self.text = text }
}

struct Pair: MagicObject {
  @MagicValue var first: Word
  @OptionalMagicValue var second: Word?

  init() {}

  init(_ first: Word, _ second: Word?) { (self.first, self.second) = (first, second) }
}

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

struct Film: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var script: MagicAsset<String> = MagicAsset()
  @MagicValue var poster: MagicAsset<Data> = MagicAsset()
  @MagicValue var video: AsyncMagical<MagicAsset<Data>> = AsyncMagical(value: MagicAsset())

  init() {}

  init(_ name: String) { self.name = name }
}

final class Draft: MagicObject {
  @PrimaryMagicValue var id: UUID
  @MagicValue var text: String = ""

  init() {}

  convenience init(_ text: String) {
    self.init()
    self.text = text
  }
}

struct Town: Record {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.indexed("country"), .default("country", "CA")]

  var id: Int?
  var name: String
  var country = "CA"
}

@main struct Dependent {
  static func main() async throws {
    let magic = try await MagicData(type: .temporary)
    try await magic.update([Pair(Word("a"), nil), Pair(Word("b"), Word("c"))])
    let (toronto, milan) = (
      City("Toronto", population: 2_794_356), City("Milan", population: 1_354_196)
    )
    toronto.twins = [milan]
    toronto.map = AsyncMagical(value: MagicAsset(value: "<svg/>", pathExtension: "svg"))
    try await magic.update(toronto)
    let film = Film("Metropolis")
    film.script = MagicAsset(value: "FADE IN")
    try await magic.update(film)
    try await magic.update(Draft("text"))
    let town = try await magic.database.write { try $0.update(Town(name: "Toronto")) }

    let large = try await magic.objects(of: City.self, where: \.$population > 2_000_000)
    let found: [String?] = [
      try await magic.objects(of: Pair.self).map { $0.first.text + ($0.second?.text ?? "") }
        .joined(),
      large[0].twins[0].name, try await large[0].map.get().get(),
      try await milan.twinnedBy.get().first?.name,
      try await magic.objects(of: Film.self)[0].script.get(),
      try await magic.objects(of: Draft.self)[0].text, town.id.map { "\($0)" },
    ]
    let expected = ["abc", "Milan", "<svg/>", "Toronto", "FADE IN", "text", "1"]
    guard found == expected else {
      print("found \(found), expected \(expected)")
      exit(1)
    }
    print("objects and records are read back")
  }
}
