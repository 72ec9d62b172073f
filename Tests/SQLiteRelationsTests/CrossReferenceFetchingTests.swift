import Conformance
import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Synchronization
import Testing
import TestSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

struct Address: Codable, Equatable {
  var addr1 = ""
  var addr2 = ""
  var city = ""
  var state = ""
  var zip = ""
}

/// The same record as in the SwiftletData seed.
final class Person: Record {
  static let tableName = "People"
  static let primaryKey = "id"

  var id = UUID().uuidString
  var firstName = ""
  var lastName = ""
  var addresses: [String: Address] = [:]

  init(firstName: String, lastName: String, addresses: [String: Address] = [:]) {
    self.firstName = firstName
    self.lastName = lastName
    self.addresses = addresses
  }
}

/// The record of the SwiftletData seed, with its cross reference as a static property instead of an
/// instance property.
final class Group: Record {
  static let tableName = "Groups"
  static let primaryKey = "id"
  static let people = CrossReference<Group, Person>(
    "PeopleInGroup", leftKeyName: "groupID", rightKeyName: "personID")

  var id = UUID().uuidString
  var name = ""

  init(name: String) { self.name = name }
}

@Suite(.everyEngine) struct CrossReferenceFetchingTests {
  let database: Database
  let tags = CrossReference<Town, Tag>("town_tag", leftKeyName: "townID", rightKeyName: "tagID")

  init() throws { database = try Database.fresh() }

  @Test func `a cross reference links groups and people like the SwiftletData seed`() throws {
    let addr1 = Address(addr1: "PO Box 1234", city: "Houston", state: "TX", zip: "77012")
    let addr2 = Address(
      addr1: "25 Nasa Rd 1", addr2: "Apt #123", city: "Seabrook", state: "TX", zip: "77586")
    let p1 = Person(
      firstName: "John", lastName: "Doe", addresses: ["home": addr1, "work": addr2])
    let p2 = Person(
      firstName: "Sue", lastName: "Smith", addresses: ["home": addr1, "work": addr2])
    let group = Group(name: "Employees")
    try database.write { connection in
      try connection.update(group)
      try connection.setLinks(of: group, to: [p1, p2], through: Group.people)
    }
    let tables = try database.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table'", as: String.self)
    #expect(Set(["People", "Groups", "PeopleInGroup"]).isSubset(of: tables))
    try database.read { connection in
      let found = try #require(try connection.object(of: Group.self, ifPresent: group.id))
      #expect(found.name == "Employees")
      let people = try connection.rightObjects(of: found, through: Group.people)
      #expect(Set(people.map(\.firstName)) == ["John", "Sue"])
      #expect(people.allSatisfy { $0.addresses == ["home": addr1, "work": addr2] })
      #expect(try connection.leftObjects(of: p2, through: Group.people).map(\.id) == [group.id])
    }
  }

  @Test(.requires(.tracing)) func `only the first link of a connection reads the schema`() throws {
    let log = Mutex<[String]>([])
    try database.write { connection in
      let town = try connection.update(Town(name: "Bonn"))
      let saved = try (0..<3).map { try connection.update(Tag(name: "\($0)")) }
      try connection.link(town, saved[0], through: tags)
      try connection.trace { event in
        if case .begins(let sql) = event { log.withLock { $0.append(sql) } }
      }
      try connection.link(town, saved[1], through: tags)
      try connection.link(town, saved[2], through: tags)
      try connection.trace(nil)
      #expect(try connection.linkCount(of: town, through: tags) == 3)
    }
    let statements = log.withLock { $0 }
    #expect(statements.count == 2)
    #expect(statements.allSatisfy { $0.hasPrefix("INSERT INTO") })
  }

  @Test func `links are saved after their table was dropped or rolled back`() throws {
    struct Undone: Error {}
    let town = try database.write { try $0.update(Town(name: "Bonn")) }
    let tag = try database.write { try $0.update(Tag(name: "old")) }
    #expect(throws: Undone.self) {
      try database.write { connection in
        try connection.link(town, tag, through: tags)
        throw Undone()
      }
    }
    try database.write { try $0.link(town, tag, through: tags) }
    #expect(try database.read { try $0.linkCount(of: town, through: tags) } == 1)
    try database.write { try $0.deleteTable("town_tag") }
    try database.write { try $0.setLinks(of: town, to: [tag], through: tags) }
    #expect(try database.read { try $0.linkCount(of: town, through: tags) } == 1)
    try database.write { try $0.deleteTable("town_tag") }
    try database.write { try $0.deleteTable(Tag.tableName) }
    let failure = #expect(throws: SQLiteError.self) {
      try database.write { try $0.link(town, tag, through: tags) }
    }
    #expect(failure?.code == .notFound)
  }

  @Test(arguments: [1, 100, 10_000])
  func `one statement fetches the related records of many records`(count: Int) throws {
    try database.write { connection in
      let towns = try connection.insert((0..<count).map { Town(name: "\($0)") })
      let all = try connection.insert((0..<10).map { Tag(name: "\($0)") })
      for (number, town) in towns.enumerated() {
        let own = [all[(number + 3) % 10], all[number % 10]]
        try connection.setLinks(of: town, to: own, through: tags)
      }
      // Also queries a town without links, and the first town twice.
      let bare = try connection.update(Town(name: "bare"))
      let before = connection.statementCount
      let found = try connection.rightObjects(
        ofEach: [bare] + towns.reversed() + [towns[0]], through: tags)
      #expect(connection.statementCount - before == 1)
      #expect(found.count == count + 2)
      #expect(found[0].isEmpty)
      #expect(found[1].map(\.name) == names(count - 1))
      #expect(found[count + 1].map(\.name) == names(0))
      #expect(found[count].map(\.name) == names(0))
    }
  }

  private func names(_ number: Int) -> [String] {
    [number % 10, (number + 3) % 10].sorted().map { "\($0)" }
  }

  /// A table that other code created may store links in any order or have no index for them.
  @Test(arguments: [
    "CREATE TABLE town_tag (townID, place, tagID, PRIMARY KEY (townID, place)) WITHOUT ROWID",
    "CREATE TABLE town_tag (townID INTEGER, place INTEGER, tagID INTEGER)",
  ])
  func `related records are sorted by key, regardless of the order of the links`(
    table: String
  ) throws {
    try database.write { connection in
      let towns = try connection.insert((0..<20).map { Town(name: "\($0)") })
      let all = try connection.insert((0..<30).map { Tag(name: "\($0)") })
      try connection.executeChange(SQL(unchecked: table))
      var generator = SplitMix64(seed: 7)
      var expected: [[Int]] = []
      for town in towns {
        let own = all.shuffled(using: &generator).prefix(Int.random(in: 0...9, using: &generator))
        for (place, tag) in own.enumerated() {
          try connection.executeChange(
            "INSERT INTO town_tag VALUES (\(town.id), \(place), \(tag.id))")
        }
        expected.append(own.compactMap(\.id).sorted())
      }
      let order = towns.indices.shuffled(using: &generator)
      for _ in 0..<2 {
        let found = try connection.rightObjects(
          ofEach: order.map { towns[$0] } + [towns[3], towns[3]], through: tags)
        #expect(found.map { $0.compactMap(\.id) } == (order + [3, 3]).map { expected[$0] })
      }
    }
  }

  @Test func `a class has one instance per key in a fetch`() throws {
    try database.write { connection in
      let groups = try connection.insert([Group(name: "a"), Group(name: "b")])
      let shared = Person(firstName: "Sue", lastName: "Smith")
      let own = Person(firstName: "John", lastName: "Doe")
      try connection.setLinks(of: groups[0], to: [shared, own], through: Group.people)
      try connection.setLinks(of: groups[1], to: [shared], through: Group.people)
      let found = try connection.rightObjects(ofEach: groups, through: Group.people)
      #expect(found.map(\.count) == [2, 1])
      #expect(found[0].contains { $0 === found[1][0] })
    }
  }

  @Test func `related records are sorted by a given column`() throws {
    let ordered = CrossReference<Group, Person>(
      "ordered", columns: [ColumnDefinition("place", .integer, isOptional: true)])
    let names = ["c", "a", "b"]
    let groups = [Group(name: "one"), Group(name: "two"), Group(name: "none")]
    try database.write { try $0.update(contentsOf: groups) }
    for group in groups.prefix(2) {
      for (place, name) in names.enumerated() {
        let person = Person(firstName: name, lastName: group.name)
        try database.write { try $0.update(person) }
        try database.write {
          try $0.link(
            group, person, through: ordered, values: ["place": group.name == "one" ? place : -place]
          )
        }
      }
    }
    let blocking = { [database] (group: Group, order: Ordering) in
      try database.read { try $0.rightObjects(of: group, through: ordered, orderedBy: order) }.map(
        \.firstName)
    }
    #expect(try blocking(groups[0], .column("place")) == names)
    #expect(try blocking(groups[1], .column("place")) == names.reversed())
    #expect(try blocking(groups[0], .column("firstName", descending: true)) == ["c", "b", "a"])
    let each = { [database] in
      try database.read {
        try $0.rightObjects(ofEach: groups, through: ordered, orderedBy: .column("place"))
      }
      .map { $0.map(\.firstName) }
    }
    #expect(try each() == [names, names.reversed(), []])
    let person = try #require(
      try database.read { try $0.objects(of: Person.self, where: "firstName = 'b'") }.first)
    let left = try database.read {
      try $0.leftObjects(
        of: person, through: ordered, orderedBy: .column("name"))
    }
    #expect(left.count == 1)
  }

  @Test func `class instances are linked by calls that suspend`() async throws {
    let group = try await database.write(giving: Group(name: "one")) { try $0.update($1) }
    let id = group.id
    let people = ["c", "a"].map { Person(firstName: $0, lastName: "") }
    try await database.write(giving: (group, people)) {
      try $0.setLinks(of: $1.0, to: $1.1, through: Group.people)
    }
    let again = try #require(
      try await database.read(giving: id) { try $0.object(of: Group.self, ifPresent: $1) })
    let found = try await database.read(giving: again) {
      try $0.rightObjects(of: $1, through: Group.people, orderedBy: .column("firstName"))
    }
    #expect(found.map(\.firstName) == ["a", "c"])
  }
}
