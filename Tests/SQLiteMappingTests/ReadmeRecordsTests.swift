import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

/// Compiles and runs the code of the article “Records” and of the README's section about records.
@Suite(.everyEngine) struct ReadmeRecordsTests {
  let database: Database

  init() throws { database = try Database.fresh() }

  private func fill() throws {
    // Writing
    let toronto = try database.write { try $0.update(Town(name: "Toronto", population: 2_615_060)) }
    let others = try database.write {
      try $0.insert([
        Town(name: "Bern", country: "CH", population: 133_883),
        Town(name: "Montréal", population: 1_762_949, tags: ["île", "fleuve"]),
      ])
    }
    #expect(toronto.id == 1)
    #expect(others.map(\.id) == [2, 3])
  }

  @Test func `records are visited one by one in a read`() async throws {
    try fill()
    let residents = try await database.read { connection in
      var sum = 0
      try connection.forEach(Town.all) { sum += $0.population }
      return sum
    }
    #expect(residents == 2_615_060 + 133_883 + 1_762_949)
  }

  @Test func `requests are fetched and observed`() async throws {
    try fill()
    // Observing
    let count = try await database.fetch(Town.where("country = \("CA")").count)
    for try await towns in database.observe(Town.ordered(by: .column("name"))) {
      print(towns.map(\.name))
      break
    }
    #expect(count == 2)
  }

  @Test func `tables are created and dropped`() async throws {
    try await database.write { try $0.prepare(Town.self) }
    if try await database.readBriefly({ try $0.tableExists(of: Town.self) }) {
      try await database.write { try $0.drop(Town.self) }
    }
    #expect(try await !database.readBriefly { try $0.tableExists(of: Town.self) })
  }

  @Test func `records are saved, fetched, queried and removed`() throws {
    try fill()
    let millions = (1...5).map { Town(name: "\($0)", population: $0) }

    // Many
    try database.write { try $0.insert(contentsOf: millions) }

    // Reading
    let big = Town.where("population > \(1_000_000)").ordered(by: .column("name"))
    let towns = try database.fetch(big.limit(10))
    let count = try database.fetch(big.count)
    let bern = try database.read { try $0.object(of: Town.self, primary: 2) }  // or throws
    let nowhere = try database.read { try $0.object(of: Town.self, ifPresent: 99) }  // nil
    #expect(towns.map(\.name) == ["Montréal", "Toronto"])
    #expect(bern.name == "Bern")
    #expect(nowhere == nil)
    #expect(count == 2)
    #expect(try database.fetch(Town.where("country = \("CA")")).count == 7)
    #expect(try database.read { try $0.count(of: Town.self, where: "country = \("CA")") } == 7)

    // Queries
    nonisolated struct Summary: Decodable {
      var country: String
      var towns: Int
    }
    let summaries = try database.fetch(
      .sql("SELECT country, count(*) AS towns FROM Town GROUP BY country", as: Summary.self))
    let names = try database.fetch(.sql("SELECT name FROM Town ORDER BY id", as: String.self))
    #expect(summaries.map(\.towns) == [7, 1])
    #expect(names.first == "Toronto")

    // Removing
    try database.write { connection in
      try connection.remove(of: Town.self, primary: 2)
      try connection.removeAll(of: Town.self, where: "population < \(10)")
    }
    #expect(try database.read { try $0.count(of: Town.self) } == 2)
  }

  @Test func `records have composite and UUID keys`() throws {
    try database.write { try $0.update(Membership(person: 1, club: 2, role: "guest")) }

    // By key
    let membership = try database.read { try $0.object(of: Membership.self, primary: 1, 2) }
    let account = try database.write {
      try $0.update(
        Account(email: "ann@example.org", name: "Ann"), matching: ["email"])
    }
    #expect(membership.role == "guest")
    #expect(account.id != nil)
    let again = try database.write {
      try $0.update(
        Account(email: "ann@example.org", name: "Anna"), matching: ["email"])
    }
    #expect(again.id == account.id)
  }

  @Test func `joined rows are decoded into nested values`() throws {
    try fill()
    try database.executeMultipleChanges(
      "CREATE TABLE country (code TEXT, name TEXT); INSERT INTO country VALUES ('CH', 'Schweiz')")

    // Joined
    nonisolated struct Country: Decodable {
      var code: String
      var name: String
    }
    nonisolated struct Place: Decodable {
      var name: String
      var country: Country?
    }
    let places = try database.fetch(
      .sql(
        """
        SELECT town.name, country.code AS "country.code", country.name AS "country.name"
        FROM Town AS town LEFT JOIN country ON country.code = town.country ORDER BY town.id
        """, as: Place.self))
    #expect(places.map { $0.country?.name } == [nil, "Schweiz", nil])
  }

  @Test func `records are found by full-text search`() throws {
    try database.write { try $0.insert(Note(title: "Fleuve", text: "the river of Montréal")) }

    // Search
    let found = try database.fetch(
      Note.all.search(.all(of: "montréal riv").or(.prefix("riv"))))
    for result in found { print(result.value.title, result.rank, result.snippet) }
    #expect(found.map(\.snippet) == ["the [river] of Montréal"])
  }

  @Test func `migrations run, and a check reports differences`() throws {
    try fill()

    // Migrations
    let migrations = [
      Migration("residents", .renameColumn("population", to: "residents", in: "Town")),
      Migration(
        "names in capitals",
        .transform("Town") { row in
          ["name": try row.get("name", as: String.self).uppercased()]
        }),
    ]
    let plan = try database.migrationPlan(of: migrations)
    let made = try database.migrate(migrations)
    #expect(plan.count == 4)
    #expect(made == ["residents", "names in capitals"])
    let names = try database.read {
      try $0.fetch(.sql("SELECT name FROM Town ORDER BY id", as: String.self))
    }
    #expect(names == ["TORONTO", "BERN", "MONTRÉAL"])

    // Check
    let differences = try database.read { try $0.check(of: Town.self) }
    for difference in differences { print(difference) }
    #expect(differences.map(\.column).contains("population"))
  }

  @Test func `strategies change columns, and a read-only record maps a foreign table`() throws {
    try database.write {
      try $0.update(Measurement(id: 1, takenAt: Date(timeIntervalSince1970: 1)))
    }
    let taken = try database.read {
      try $0.fetch(.sql("SELECT taken_at FROM Measurement", as: Int.self))
    }
    #expect(taken == [1_000])
    try database.executeMultipleChanges(
      """
      CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT, title TEXT, hash INTEGER);
      INSERT INTO moz_places VALUES (1, 'https://swift.org', NULL, 7);
      """)
    #expect(
      try database.read { try $0.objects(of: Visit.self) }.map(\.url) == ["https://swift.org"])
    #expect(throws: SQLiteError.self) {
      try database.write { try $0.insert(Visit(id: 2, url: "", title: nil)) }
    }
  }

  @Test func `a decoding error describes the row`() throws {
    try fill()
    try database.executeChange("UPDATE Town SET population = 'many' WHERE id = 2")

    // Errors
    do {
      _ = try database.read { try $0.objects(of: Town.self) }
    } catch let error as RowDecodingError {
      print(error.type, error.codingPath, error.column ?? "", error.storageClass ?? "", error.sql)
    }
    #expect(throws: RowDecodingError.self) { try database.read { try $0.objects(of: Town.self) } }
  }
}

extension ReadmeRecordsTests {
  // The table
  struct Town: Record, Equatable {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    static let traits: [PropertyTrait] = [.indexed("country"), .default("country", "CA")]

    var id: Int?
    var name: String
    var country = "CA"
    var population: Int
    var founded: Date?
    var tags: [String] = []
  }

  // Keys
  struct Membership: Record {
    static let primaryKeys = ["person", "club"]
    var person: Int
    var club: Int
    var role: String
  }

  struct Account: Record {
    static let primaryKeyType = PrimaryKeyType.uuid
    static let traits: [PropertyTrait] = [.unique("email")]
    var id: UUID?
    var email: String
    var name: String
  }

  // Searched
  struct Note: Record, Equatable {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    static let traits: [PropertyTrait] = [.searched("title", "text")]
    var id: Int?
    var title: String
    var text: String
  }

  // Strategies
  struct Measurement: Record {
    static var strategies: MappingStrategies {
      var strategies = MappingStrategies()
      strategies.dates = .millisecondsSince1970
      strategies.keys = .convertToSnakeCase
      return strategies
    }

    var id: Int
    var takenAt: Date
  }

  // Others
  struct Visit: Record {
    static let tableName = "moz_places"
    static let isReadOnly = true
    var id: Int
    var url: String
    var title: String?
  }
}
