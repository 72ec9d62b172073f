import Conformance
import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Testing

struct Country: Record {
  static let primaryKey = "code"
  var code: String
  var name: String
}

struct City: Record {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.references("countryCode", Country.self)]
  var id: Int?
  var name: String
  var countryCode: String?
}

struct Town: Record {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  var id: Int?
  var name: String
}

struct Tag: Record {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  var id: Int?
  var name: String
}

@Suite(.everyEngine) struct RecordReferenceTests {
  let database: Database
  let country = RecordReference<City, Country>("countryCode")
  let townTags = CrossReference<Town, Tag>(
    "town_tag", leftKeyName: "townID", rightKeyName: "tagID",
    columns: [ColumnDefinition("weight", .integer, isOptional: true)])

  init() throws { database = try Database.fresh() }

  private func city(_ name: String, _ code: String? = nil) throws -> City {
    try database.write { try $0.update(City(name: name, countryCode: code)) }
  }

  @Test func `a foreign key references one record and is referenced by many`() throws {
    try database.write { connection in
      let canada = try connection.update(Country(code: "CA", name: "Canada"))
      let toronto = try connection.update(City(name: "Toronto", countryCode: "CA"))
      let ottawa = try connection.update(City(name: "Ottawa", countryCode: "CA"))
      let atlantis = try connection.update(City(name: "Atlantis"))
      #expect(try connection.target(of: toronto, through: country)?.name == "Canada")
      #expect(try connection.target(of: atlantis, through: country) == nil)
      #expect(
        try connection.owners(of: canada, through: country).map(\.name) == ["Toronto", "Ottawa"])
      let before = connection.statementCount
      let found = try connection.targets(ofEach: [toronto, atlantis, ottawa], through: country)
      #expect(connection.statementCount - before == 1)
      #expect(found.map { $0?.name } == ["Canada", nil, "Canada"])
    }
  }

  @Test func `a reference is a foreign key with an index`() throws {
    try database.write { connection in
      let canada = try connection.update(Country(code: "CA", name: "Canada"))
      let toronto = try connection.update(City(name: "Toronto", countryCode: "CA"))
      try connection.remove(canada)
      #expect(try connection.object(of: City.self, ifPresent: toronto.id ?? 0)?.countryCode == nil)
      let plan = try connection.executeQuery(
        "EXPLAIN QUERY PLAN SELECT * FROM City WHERE countryCode = 'CA'"
      ).compactMap { $0["detail"]?.asString() }
      #expect(plan.contains { $0.contains("USING INDEX City(countryCode)") })
    }
    let error = #expect(throws: SQLiteError.self) { try city("Nowhere", "XX") }
    #expect(error?.code.primary == .constraint)
  }

  @Test func `a cross reference links many to many through a table with chosen names`() throws {
    try database.write { connection in
      let toronto = try connection.update(Town(name: "Toronto"))
      let ottawa = try connection.update(Town(name: "Ottawa"))
      #expect(try connection.rightObjects(of: toronto, through: townTags).isEmpty)
      let tags = try connection.setLinks(
        of: toronto, to: [Tag(name: "big"), Tag(name: "lake")], through: townTags)
      #expect(tags.map(\.id) == [1, 2])
      try connection.setLinks(of: ottawa, to: [tags[0]], through: townTags)
      #expect(
        try connection.rightObjects(of: toronto, through: townTags).map(\.name) == ["big", "lake"])
      #expect(
        try connection.leftObjects(of: tags[0], through: townTags).map(\.name) == [
          "Toronto", "Ottawa",
        ])
      #expect(try connection.linkCount(of: toronto, through: townTags) == 2)
      #expect(
        try connection.rightObjects(ofEach: [ottawa, toronto], through: townTags).map {
          $0.map(\.name)
        }
          == [["big"], ["big", "lake"]])
      let columns = try connection.rows(
        "SELECT name FROM pragma_table_info('town_tag') ORDER BY cid", as: String.self)
      #expect(columns == ["townID", "tagID", "weight"])
    }
  }

  @Test func `linking again keeps existing links and their values`() throws {
    try database.write { connection in
      let toronto = try connection.update(Town(name: "Toronto"))
      let tags = try connection.setLinks(
        of: toronto, to: [Tag(name: "a"), Tag(name: "b")], through: townTags)
      try connection.link(toronto, tags[1], through: townTags, values: ["weight": 7])
      // A second save of the same owner must not delete its links.
      try connection.setLinks(of: toronto, to: tags + [Tag(name: "c")], through: townTags)
      #expect(try connection.linkCount(of: toronto, through: townTags) == 3)
      let weights = try connection.rows("SELECT weight FROM town_tag ORDER BY tagID", as: Int?.self)
      #expect(weights == [nil, 7, nil])
      #expect(try connection.unlink(toronto, tags[0], through: townTags))
      #expect(try !connection.unlink(toronto, tags[0], through: townTags))
      try connection.setLinks(of: toronto, to: [tags[1]], through: townTags)
      #expect(try connection.rightObjects(of: toronto, through: townTags).map(\.name) == ["b"])
      #expect(try connection.count(of: Tag.self) == 3)
    }
  }

  @Test func `links are deleted with either end`() throws {
    try database.write { connection in
      let toronto = try connection.update(Town(name: "Toronto"))
      let tags = try connection.setLinks(
        of: toronto, to: [Tag(name: "a"), Tag(name: "b")], through: townTags)
      try connection.remove(tags[0])
      #expect(try connection.rightObjects(of: toronto, through: townTags).map(\.name) == ["b"])
      try connection.remove(toronto)
      let left = try connection.rows("SELECT count(*) FROM town_tag", as: Int.self)
      #expect(left == [0])
      #expect(try connection.executeQuery("PRAGMA foreign_key_check").isEmpty)
    }
  }

  @Test func `linking a record that was never inserted throws a misuse error`() throws {
    let error = #expect(throws: SQLiteError.self) {
      try database.write {
        try $0.setLinks(of: Town(name: "New"), to: [Tag(name: "a")], through: townTags)
      }
    }
    #expect(error?.code == .misuse)
    #expect(try database.read { try $0.count(of: Tag.self) } == 0)
  }
}
