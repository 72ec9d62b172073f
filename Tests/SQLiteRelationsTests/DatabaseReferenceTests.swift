import Conformance
import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Testing

@Suite(.everyEngine) struct DatabaseReferenceTests {
  let database: Database
  let country = RecordReference<City, Country>("countryCode")
  let townTags = CrossReference<Town, Tag>(
    "town_tag", leftKeyName: "townID", rightKeyName: "tagID",
    columns: [ColumnDefinition("weight", .integer, isOptional: true)])

  init() throws { database = try Database.fresh() }

  @Test func `a reference is followed in both directions by blocking calls`() throws {
    let canada = try database.write { try $0.update(Country(code: "CA", name: "Canada")) }
    let toronto = try database.write { try $0.update(City(name: "Toronto", countryCode: "CA")) }
    let atlantis = try database.write { try $0.update(City(name: "Atlantis")) }
    #expect(try database.read { try $0.target(of: toronto, through: country) }?.name == "Canada")
    let targets = try database.read {
      try $0.targets(ofEach: [atlantis, toronto], through: country)
    }
    #expect(targets.map { $0?.name } == [nil, "Canada"])
    #expect(
      try database.read { try $0.owners(of: canada, through: country) }.map(\.name) == ["Toronto"])
  }

  @Test func `a reference is followed in both directions by a task`() async throws {
    let canada = try await database.write { try $0.update(Country(code: "CA", name: "Canada")) }
    let toronto = try await database.write {
      try $0.update(City(name: "Toronto", countryCode: "CA"))
    }
    let atlantis = try await database.write { try $0.update(City(name: "Atlantis")) }
    #expect(
      try await database.readBriefly { try $0.target(of: toronto, through: country) }?.name
        == "Canada")
    let targets = try await database.readBriefly {
      try $0.targets(ofEach: [atlantis, toronto], through: country)
    }
    #expect(targets.map { $0?.name } == [nil, "Canada"])
    #expect(
      try await database.readBriefly { try $0.owners(of: canada, through: country) }.map(\.name)
        == ["Toronto"])
  }

  @Test func `links are inserted and followed by blocking calls`() throws {
    let toronto = try database.write { try $0.update(Town(name: "Toronto")) }
    let ottawa = try database.write { try $0.update(Town(name: "Ottawa")) }
    let tags = try database.write {
      try $0.setLinks(
        of: toronto, to: [Tag(name: "big"), Tag(name: "lake")], through: townTags)
    }
    try database.write { try $0.link(ottawa, tags[1], through: townTags, values: ["weight": 3]) }
    #expect(
      try database.read { try $0.rightObjects(of: toronto, through: townTags) }.map(\.name) == [
        "big", "lake",
      ])
    #expect(
      try database.read { try $0.leftObjects(of: tags[1], through: townTags) }.map(\.name)
        == ["Toronto", "Ottawa"])
    #expect(
      try database.read { try $0.rightObjects(ofEach: [ottawa, toronto], through: townTags) }.map(
        \.count)
        == [1, 2])
    #expect(try database.read { try $0.linkCount(of: toronto, through: townTags) } == 2)
    #expect(try database.write { try $0.unlink(toronto, tags[0], through: townTags) })
    #expect(try database.read { try $0.linkCount(of: toronto, through: townTags) } == 1)
  }

  @Test func `links are inserted and followed by a task`() async throws {
    let toronto = try await database.write { try $0.update(Town(name: "Toronto")) }
    let ottawa = try await database.write { try $0.update(Town(name: "Ottawa")) }
    let tags = try await database.write {
      try $0.setLinks(
        of: toronto, to: [Tag(name: "big"), Tag(name: "lake")], through: townTags)
    }
    try await database.write {
      try $0.link(ottawa, tags[1], through: townTags, values: ["weight": 3])
    }
    #expect(
      try await database.readBriefly { try $0.rightObjects(of: toronto, through: townTags) }.map(
        \.name)
        == ["big", "lake"])
    #expect(
      try await database.readBriefly { try $0.leftObjects(of: tags[1], through: townTags) }.map(
        \.name)
        == ["Toronto", "Ottawa"])
    #expect(
      try await database.readBriefly {
        try $0.rightObjects(ofEach: [ottawa, toronto], through: townTags)
      }.map(\.count)
        == [1, 2])
    #expect(
      try await database.readBriefly { try $0.linkCount(of: toronto, through: townTags) } == 2)
    let weight = try await database.rows(
      "SELECT weight FROM town_tag WHERE townID = \(ottawa.id ?? 0)", as: Int?.self)
    #expect(weight == [3])
    #expect(try await database.write { try $0.unlink(toronto, tags[0], through: townTags) })
    #expect(
      try await database.readBriefly { try $0.linkCount(of: toronto, through: townTags) } == 1)
  }

  @Test func `a failed write on a task changes nothing`() async throws {
    await #expect(throws: SQLiteError.self) {
      try await database.write {
        try $0.setLinks(
          of: Town(name: "New"), to: [Tag(name: "a")], through: townTags)
      }
    }
    #expect(try await database.readBriefly { try $0.count(of: Tag.self) } == 0)
  }
}
