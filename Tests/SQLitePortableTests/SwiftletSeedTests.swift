import Conformance
import Foundation
import SPON
import SQLiteCore
import SQLiteMapping
import SQLitePortable
import SQLiteRelations
import Testing
import TestSupport

/// Runs each example of the README of the predecessor SwiftletData that uses records, providers and
/// SQL. `SPONTests` contains the examples that use only SPON.
@Suite(.everyEngine) struct SwiftletSeedTests {
  final class Category: Record {
    enum CategoryType: String, Codable {
      case local
      case web
    }

    static let tableName = "Categories"
    static let primaryKeyType = PrimaryKeyType.computedInt

    // SwiftletData uses 0 for an unsaved record, but a row can have the key 0.
    var id: Int?
    var added = Date(timeIntervalSince1970: 1_760_000_000.125)
    var name = ""
    var description = ""
    var enabled = true
    var highlightColor = "#FFFFFF"
    var type: CategoryType = .local
    var icon = Data([0, 0xFF, 0x89, 0x50])

    init(name: String = "", type: CategoryType = .local) {
      self.name = name
      self.type = type
    }
  }

  struct Address: Codable, Equatable, Sendable {
    var addr1 = ""
    var addr2 = ""
    var city = ""
    var state = ""
    var zip = ""
  }

  static let nestedAsSPON = {
    var strategies = MappingStrategies()
    strategies.nested = .spon
    return strategies
  }()

  struct Person: Record {
    static let tableName = "People"
    static let primaryKeyType = PrimaryKeyType.uuid
    static let strategies = nestedAsSPON

    var id: String?
    var firstName = ""
    var lastName = ""
    var addresses: [String: Address] = [:]

    init(firstName: String, lastName: String, addresses: [String: Address] = [:]) {
      self.firstName = firstName
      self.lastName = lastName
      self.addresses = addresses
    }
  }

  struct Group: Record {
    static let tableName = "Groups"
    static let primaryKeyType = PrimaryKeyType.uuid
    static let people = CrossReference<Group, Person>(
      "PeopleInGroup", leftKeyName: "groupID", rightKeyName: "personID")

    var id: String?
    var name = ""

    init(name: String) { self.name = name }
  }

  let folder: TestFolder
  let database: Database

  init() throws {
    folder = try TestFolder()
    database = try Database.at(folder.file("data.sqlite3"))
  }

  let addr1 = Address(addr1: "PO Box 1234", addr2: "", city: "Houston", state: "TX", zip: "77012")
  let addr2 = Address(
    addr1: "25 Nasa Rd 1", addr2: "Apt #123", city: "Seabrook", state: "TX", zip: "77586")

  @Test func `one line creates the table and saves a record in any database`() throws {
    func save(to provider: Database) throws -> Category? {
      let category = Category(name: "Books", type: .web)

      // Saves to any database.
      let saved = try provider.write { try $0.update(category) }

      return try provider.read { try $0.object(of: Category.self, ifPresent: #require(saved.id)) }
    }
    for provider in [database, try Database.fresh()] {
      let category = try #require(try save(to: provider))
      #expect(category.id == 1)
      #expect(category.added == Date(timeIntervalSince1970: 1_760_000_000.125))
      #expect(category.type == .web)
      #expect(category.enabled)
      #expect(category.icon == Data([0, 0xFF, 0x89, 0x50]))
      #expect(category.name == "Books")
    }
  }

  @Test func `a computed key is one more than the greatest key`() throws {
    let first = try database.write { try $0.update(Category(name: "a")) }
    let second = try database.write { try $0.update(Category(name: "b")) }
    #expect([first.id, second.id] == [1, 2])
    try database.write { try $0.remove(second) }
    #expect(try database.write { try $0.update(Category(name: "c")) }.id == 2)
  }

  @Test func `the columns of a query's rows are read by name`() throws {
    try database.write { try $0.update(Category(name: "Books")) }
    let record = try database.executeQuery("SELECT * FROM Categories WHERE id = ?", withArgs: [1])
    #expect(record.count == 1)
    #expect(record[0]["name"]?.asString() == "Books")
    #expect(record[0]["missing"] == nil)
  }

  @Test func `a group can be saved repeatedly with its people and their addresses`() throws {
    let group = try saveGroup(in: database)
    let key = try #require(group.id)

    let read = try #require(try database.read { try $0.object(of: Group.self, ifPresent: key) })
    #expect(read.name == "Employees")
    try expectPeople(of: read, in: database)
    // SwiftletData lost all links when a group was saved twice.
    let people = try database.read { try $0.rightObjects(of: read, through: Group.people) }
    try database.write { connection in
      let saved = try connection.update(read)
      try connection.setLinks(of: saved, to: people, through: Group.people)
    }
    try expectPeople(of: read, in: database)
    #expect(try database.rows("SELECT count(*) FROM People", as: Int.self).first == 2)
    #expect(try database.rows("SELECT count(*) FROM PeopleInGroup", as: Int.self).first == 2)
    #expect(try database.executeQuery("PRAGMA foreign_key_check").isEmpty)
    let text = try database.rows(
      "SELECT addresses FROM People WHERE firstName = 'Sue'", as: String.self
    ).first
    let work =
      "work=@obj:Address<addr1$=`25 Nasa Rd 1` addr2$=`Apt #123` city$=`Seabrook` state$=`TX` zip$=`77586`>"
    #expect(text?.contains(work) == true)
  }

  @Test func `saving a group with its people is atomic`() throws {
    try database.executeChange(
      "CREATE TABLE PeopleInGroup (groupID TEXT, personID TEXT CHECK (0))")
    #expect(throws: SQLiteError.self) { _ = try saveGroup(in: database) }
    #expect(try database.read { try $0.count(of: Group.self) } == 0)
    #expect(try database.read { try $0.count(of: Person.self) } == 0)
  }

  @Test func `data can be moved between databases in text and database files`() throws {
    _ = try saveGroup(in: database)
    let spon = DataFile.spon(path: folder.file("data.spon"))
    let json = DataFile.json(path: folder.file("data.json"))
    let other = DataFile.sqlite(path: folder.file("other.sqlite3"))
    try database.dump(to: spon)
    try spon.copy(to: json)
    try json.copy(to: other)
    for provider in [
      try Database.memory(restoring: spon), try Database.memory(restoring: json),
      try Database(path: folder.file("other.sqlite3")),
    ] {
      let group = try #require(try provider.read { try $0.objects(of: Group.self) }.first)
      try expectPeople(of: group, in: provider)
      let added = try provider.write { try $0.update(Person(firstName: "Ann", lastName: "Lee")) }
      try provider.write { try $0.link(group, added, through: Group.people) }
      #expect(
        try provider.read { try $0.rightObjects(of: group, through: Group.people) }.count == 3)
    }
  }

  @Test func `downloaded JSON can be inserted in one line`() throws {
    let download = Data(
      """
      [{"firstName": "John", "lastName": "Doe", "addresses": {}},
       {"firstName": "Sue", "lastName": "Smith", "addresses": {"home": {"addr1": "PO Box 1234",
        "addr2": "", "city": "Houston", "state": "TX", "zip": "77012"}}}]
      """.utf8)
    let people = try database.write {
      try $0.insert(
        try JSONDecoder().decode([Person].self, from: download))
    }
    #expect(people.allSatisfy { $0.id?.count == 36 })
    let sue = try database.read { try $0.objects(of: Person.self, where: "firstName = 'Sue'") }
    #expect(sue.map(\.addresses) == [["home": addr1]])
  }

  @Test func `SQLite parses the example SQL of the predecessor's parser`() throws {
    let sql: SQL = """
      CREATE TABLE IF NOT EXISTS parts
      (
      	part_id           INTEGER   PRIMARY KEY,
      	stock             INTEGER   DEFAULT 0   NOT NULL,
      	description       TEXT      CHECK( description != '' )    -- empty strings not allowed
      );
      """
    try database.executeChange(sql)
    let columns = try database.read { try $0.columns(of: "parts") }
    #expect(columns.map(\.name) == ["part_id", "stock", "description"])
    #expect(columns.map(\.defaultSQL) == [nil, "0", nil])
    #expect(throws: SQLiteError.self) {
      try database.executeChange("INSERT INTO parts (description) VALUES ('')")
    }
    let statement: SQL = "SELECT * FORM parts"
    let error = #expect(throws: SQLiteError.self) { try database.executeQuery(statement) }
    #expect(error?.message.contains("FORM") == true)
  }

  private func saveGroup(in provider: Database) throws -> Group {
    let p1 = Person(
      firstName: "John", lastName: "Doe", addresses: ["home": addr1, "work": addr2])
    let p2 = Person(
      firstName: "Sue", lastName: "Smith", addresses: ["home": addr1, "work": addr2])
    return try provider.write { connection in
      let group = try connection.update(Group(name: "Employees"))
      try connection.setLinks(of: group, to: [p1, p2], through: Group.people)
      return group
    }
  }

  private func expectPeople(of group: Group, in provider: Database) throws {
    let people = try provider.read { try $0.rightObjects(of: group, through: Group.people) }
    #expect(people.map(\.firstName).sorted() == ["John", "Sue"])
    #expect(people.allSatisfy { $0.addresses == ["home": addr1, "work": addr2] })
  }
}
