import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

private struct Country: Record, Equatable {
  enum Continent: String, Codable, CaseIterable { case africa, asia, europe }
  struct Motto: Codable, Equatable { var words: [String] }
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.unique("code"), .searched("name")]
  var id: Int?
  var code: String
  var name: String
  var continent: Continent
  var founded: Date
  var area: Double?
  var motto: Motto
  var flag: Data
}

private struct Town: Record, Equatable {
  static let primaryKeyType = PrimaryKeyType.computedInt
  static let traits: [PropertyTrait] = [
    .references("countryID", Country.self, onDelete: .restrict),
    .references("twin", Town.self),
  ]
  var id: Int?
  var name: String
  var countryID: Int?
  var twin: Int?
}

/// One of two types that reference each other.
private struct Chicken: Record {
  static let traits: [PropertyTrait] = [.references("egg", Egg.self)]
  var id: UUID
  var egg: UUID?
}

private struct Egg: Record {
  static let traits: [PropertyTrait] = [.references("chicken", Chicken.self)]
  var id: UUID
  var chicken: UUID?
}

private struct Unsuited: Record {
  static let traits: [PropertyTrait] = [.unique("id"), .unique("code")]
  var id: Int
}

private struct Moody: Record {
  enum Mood: String, Codable { case good, bad }
  var id: Int
  var mood: Mood
}

private struct Strict: Record {
  struct Negative: Error {}
  var id: Int
  init(from decoder: any Decoder) throws { throw Negative() }
}

private final class Person: Record {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  var id: Int?
  var name: String
  init(_ name: String) { self.name = name }
}

@Suite(.everyEngine) struct RecordTableTests {
  let database: Database

  init() throws { database = try Database.fresh() }

  @Test func `prepare creates the same table as a first save`() throws {
    #expect(try !database.read { try $0.tableExists(of: Country.self) })
    try database.write { try $0.prepare(Country.self) }
    #expect(try database.read { try $0.tableExists(of: Country.self) })
    #expect(try database.read { try $0.count(of: Country.self) } == 0)
    let prepared = try database.read { try $0.columns(of: "Country") }
    let other = try Database.fresh()
    try other.write {
      try $0.update(
        Country(
          code: "ca", name: "Canada", continent: .asia, founded: .now, motto: .init(words: []),
          flag: Data()))
    }
    #expect(try prepared == other.read { try $0.columns(of: "Country") })
    #expect(
      try database.read { try $0.existingIndexes() } == other.read { try $0.existingIndexes() })
    #expect(try database.read { try $0.check(of: Country.self) }.isEmpty)
    try database.write { try $0.prepare(Country.self) }
  }

  @Test func `a type can reference a type that was never saved, or itself`() throws {
    let town = try database.write { try $0.update(Town(name: "Toronto")) }
    try database.write { try $0.update(Town(name: "Bern", twin: town.id)) }
    #expect(try database.read { try $0.tableExists(of: Country.self) })
    #expect(throws: SQLiteError.self) {
      try database.write { try $0.update(Town(name: "?", countryID: 9)) }
    }
  }

  @Test func `two types can reference each other`() async throws {
    try await database.write { try $0.prepare(Chicken.self) }
    #expect(
      try await database.read { try $0.existingTables() } == ["Chicken", "Egg", "magicdata_meta"])
    let egg = Egg(id: UUID())
    try await database.write { try $0.update(egg) }
    try await database.write { try $0.update(Chicken(id: UUID(), egg: egg.id)) }
  }

  @Test func `a failed transaction creates no table, and the next write creates them`() throws {
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try database.write { connection in
        try connection.prepare(Town.self)
        throw Stop()
      }
    }
    #expect(try database.read { try $0.existingTables() }.isEmpty)
    try database.write { try $0.update(Town(name: "Toronto")) }
    #expect(try database.read { try $0.tableExists(of: Country.self) })
  }

  @Test func `a type that doesn't suit its traits throws each time`() throws {
    for _ in 0..<2 {
      #expect(throws: SQLiteError.self) { try database.write { try $0.update(Unsuited(id: 1)) } }
    }
    #expect(try !database.read { try $0.tableExists(of: Unsuited.self) })
  }

  @Test func `prepare throws an error that says why no sample value exists`() throws {
    let mood = #expect(throws: SQLiteError.self) {
      try database.write { try $0.prepare(Moody.self) }
    }
    #expect(mood?.message.contains("“mood” of the type Mood") == true)
    let strict = #expect(throws: SQLiteError.self) {
      try database.write { try $0.prepare(Strict.self) }
    }
    #expect(strict?.message.contains("Negative") == true)
    #expect(try database.read { try $0.existingTables() }.isEmpty)
    try database.write { try $0.update(Moody(id: 1, mood: .good)) }
  }

  @Test func `dropping a type deletes its table and metadata`() throws {
    try database.write { try $0.prepare(Country.self) }
    #expect(try database.write { try $0.drop(Country.self) })
    #expect(try database.read { try $0.existingTables() } == ["magicdata_meta"])
    #expect(
      try database.executeQuery("SELECT * FROM magicdata_meta WHERE key LIKE 'table:%'").isEmpty)
    #expect(try !database.write { try $0.drop(Country.self) })
    try database.write { try $0.prepare(Country.self) }
    #expect(try database.read { try $0.tableExists("COUNTRY") })
  }

  @Test func `a table that other rows reference isn't dropped`() throws {
    let canada = try database.write {
      try $0.update(
        Country(
          code: "ca", name: "Canada", continent: .asia, founded: .now, motto: .init(words: []),
          flag: Data()))
    }
    let toronto = try database.write { try $0.update(Town(name: "Toronto", countryID: canada.id)) }
    try database.write { try $0.update(Town(name: "York", twin: toronto.id)) }
    let error = #expect(throws: SQLiteError.self) {
      try database.write { try $0.drop(Country.self) }
    }
    #expect(error?.code == .foreignKeyConstraint)
    #expect(error?.message.contains("“Town”") == true)
    #expect(try database.read { try $0.count(of: Country.self) } == 1)
    #expect(try database.write { try $0.drop(Town.self) })
    #expect(try database.write { try $0.drop(Country.self) })
  }

  @Test func `a table that views and triggers use isn't dropped`() throws {
    try database.write { try $0.prepare(Town.self) }
    try database.executeMultipleChanges(
      """
      CREATE VIEW names AS SELECT name FROM Town;
      CREATE VIEW broken AS SELECT name FROM nowhere;
      CREATE TABLE log (n);
      CREATE TRIGGER logged AFTER INSERT ON log BEGIN DELETE FROM Town; END
      """)
    let error = #expect(throws: SQLiteError.self) { try database.write { try $0.drop(Town.self) } }
    #expect(error?.message.contains("“names”, “log”") == true)
    #expect(try database.read { try $0.tableExists(of: Town.self) })
    try database.executeMultipleChanges("DROP VIEW names; DROP TRIGGER logged")
    #expect(try database.write { try $0.drop(Town.self) })
  }

  @Test func `the next write of any connection recreates a dropped table`() throws {
    let folder = try TestFolder()
    let path = folder.url.appending(path: "a.sqlite3").path
    let one = try Database.at(path)
    let other = try Database.at(path)
    try one.write { try $0.update(Person("ann")) }
    try other.write { try $0.update(Person("bob")) }
    #expect(try one.write { try $0.drop(Person.self) })
    #expect(try other.read { try $0.objects(of: Person.self) }.isEmpty)
    #expect(try other.write { try $0.update(Person("eve")) }.id == 1)
    #expect(try one.write { try $0.update(Person("dan")) }.id == 2)
  }

  @Test func `class instances can be sent to calls that suspend, and returned`() async throws {
    let ann = Person("ann")
    let saved = try await database.write(giving: ann) { try $0.update($1) }
    #expect(saved.id == 1)
    saved.name = "Ann"
    try await database.write(giving: saved) { try $0.updateExisting($1) }
    let all = try await database.write(giving: [Person("bob"), Person("eve")]) { try $0.insert($1) }
    #expect(all.map(\.id) == [2, 3])
    let fetched = try await database.read(giving: ()) { connection, _ in
      try connection.objects(of: Person.self, orderedBy: .column("id"))
    }
    #expect(fetched.map(\.name) == ["Ann", "bob", "eve"])
    let one = try #require(
      try await database.read(giving: 2) { try $0.object(of: Person.self, ifPresent: $1) })
    #expect(try await database.write(giving: one) { try $0.remove($1) })
    let sql = try await database.read(giving: 3) { connection, id in
      try connection.fetch(.sql("SELECT * FROM Person WHERE id = \(id)", as: Person.self))
    }
    #expect(sql.map(\.name) == ["eve"])
    #expect(try await database.readBriefly { try $0.count(of: Person.self) } == 2)
  }

  private struct Counted: Record {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    var id = -1
    var text = ""
  }

  private struct Computed: Record {
    static let primaryKeyType = PrimaryKeyType.computedInt
    var id: Int
    var mood: Moody.Mood
  }

  @Test func `a generated key must be optional`() throws {
    let met = #expect(throws: SQLiteError.self) {
      try database.read { try $0.objects(of: Counted.self) }
    }
    #expect(met?.message.contains("must be optional") == true)
    #expect(throws: SQLiteError.self) { try database.write { try $0.insert(Counted()) } }
    // The library can't create a sample value of this type, so it detects the error in the first
    // saved value.
    #expect(try database.read { try $0.objects(of: Computed.self) }.isEmpty)
    let written = #expect(throws: SQLiteError.self) {
      try database.write { try $0.update(Computed(id: -1, mood: .good)) }
    }
    #expect(written?.message.contains("must be optional") == true)
    #expect(try database.read { try $0.existingTables() }.isEmpty)
  }
}
