import Foundation
import MagicData
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
@Suite struct ReadmeTests {
  let folder: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/Readme-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  @Test func `the first five minutes do what they say`() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }

    let magic = try MagicData(path: folder)

    let toronto = City("Toronto", population: 2_794_356)
    let milan = City("Milan", population: 1_354_196)
    toronto.twins = [milan]
    try await magic.update(toronto)

    let fetched = try await magic.object(of: City.self, primary: toronto.id)
    fetched.founded = Date(timeIntervalSince1970: -4_291_574_400)
    try await magic.update(fetched)

    let large = try await magic.objects(
      of: City.self, where: \.$population > 2_000_000 && \.$founded != nil,
      orderBy: [.descending(\.$population)], limit: 10)
    let admirers = try await milan.twinnedBy.get()
    #expect(large.map(\.name) == ["Toronto"])
    #expect(admirers.map(\.name) == ["Toronto"])

    toronto.map = AsyncMagical(value: try MagicAsset(value: "<svg/>", pathExtension: "svg"))
    try await magic.update(toronto)
    let map = try await toronto.map.get().value
    #expect(map == "<svg/>")

    let name = "Robert'); DROP TABLE City;--"
    try await magic.database.write { connection in
      try connection.executeChange("UPDATE City SET name = \(name) WHERE population < \(1_400_000)")
    }
    for (name, population) in try magic.database.rows(
      "SELECT name, population FROM City ORDER BY name", as: String.self, Int.self)
    {
      print(name, population)
    }
    #expect(try await magic.object(of: City.self, primary: milan.id).name == name)
  }

  @Test func `the low level does what it says`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }

    let database = try Database(path: "\(folder)/notes.sqlite3")
    try database.executeChange("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")

    try database.write { connection in
      var insert = try connection.statement("INSERT INTO note (text) VALUES (?1)")
      for text in ["buy milk", "call home"] { try insert.run(text) }
    }

    let rows = try database.executeQuery(
      "SELECT * FROM note WHERE text LIKE ?", withArgs: ["%milk"])
    let text = rows.first?["text"]?.asString()

    let ids = [1, 2, 3]
    let found = try database.read { connection in
      try connection.rows("SELECT text FROM note WHERE id IN \(ids)", as: String.self)
    }
    #expect(text == "buy milk")
    #expect(found == ["buy milk", "call home"])
  }
}
