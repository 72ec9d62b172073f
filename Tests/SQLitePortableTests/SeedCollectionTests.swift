import Foundation
import SPON
import SQLiteCore
import SQLitePortable
import Testing
import TestSupport

/// Runs each example of the README of the predecessor SwiftDatabase.
@Suite struct SeedCollectionTests {
  struct Person: Codable, Equatable {
    var id: Int
    var name: String
    var age: Int

    static func == (lhs: Self, rhs: Self) -> Bool {
      lhs.id == rhs.id
    }
  }

  let database: CodableStore

  init() throws { database = try CodableStore() }

  @Test func `the first example finds people older than thirty`() throws {
    try database.insert(item: Person(id: 0, name: "Ricardo", age: 35))
    try database.insert(item: Person(id: 1, name: "Mike", age: 23))
    try database.insert(item: Person(id: 2, name: "Paul", age: 40))

    let people: [Person] = try database.read { person in
      person.age > 30
    }
    #expect(people.map(\.name) == ["Ricardo", "Paul"])
  }

  @Test func `a store can be created with coders, data and a file URL`() throws {
    let folder = try TestFolder()
    let fileURL = URL(filePath: folder.file("people"))
    let myEncoder = JSONEncoder()
    let myDecoder = JSONDecoder()
    try database.insert(item: Person(id: 7, name: "Ann", age: 1))
    let databaseData: Data? = try database.data()

    let other = try CodableStore(
      encoder: myEncoder,
      decoder: myDecoder,
      data: nil,
      fileURL: fileURL
    )
    try other.insert(item: Person(id: 8, name: "Bob", age: 2))
    try other.save()
    try other.clear()
    #expect(try other.count(of: Person.self) == 0)
    try other.load()
    let people: [Person] = try other.read()
    #expect(people.map(\.name) == ["Bob"])

    guard let databaseData = databaseData else { return }
    let third = try CodableStore()
    try third.set(data: databaseData)
    let names: [Person] = try third.read()
    #expect(names.map(\.name) == ["Ann"])
    try third.save(to: fileURL)
    try database.load(from: fileURL)
    #expect(try database.count(of: Person.self) == 1)
    let reopened = try CodableStore(data: nil, fileURL: fileURL)
    #expect(try reopened.count(of: Person.self) == 1)
    #expect(throws: CodableStoreError.noFile) { try database.save() }
    #expect(throws: CodableStoreError.noFile) { try database.load() }
  }

  @Test func `one or several items can be inserted, with or without a table name`() throws {
    let ricardo = Person(id: 0, name: "Ricardo", age: 35)
    try database.insert(item: ricardo)
    let steve = Person(id: 1, name: "Steve", age: 50)
    try database.insert(on: "VIP", item: steve)
    let people: [Person] = [
      Person(id: 0, name: "Ricardo", age: 35),
      Person(id: 1, name: "Steve", age: 50),
    ]
    try database.insert(items: people)

    let all: [Person] = try database.read()
    let vip: [Person] = try database.read(from: "VIP")
    let adults: [Person] = try database.read { person in
      person.age > 40
    }
    #expect(all.map(\.id) == [0, 0, 1])
    #expect(vip.map(\.id) == [1])
    #expect(adults.map(\.id) == [1])
    #expect(try database.tableNames() == ["Person", "VIP"])
  }

  @Test func `one, several or all matching items can be updated`() throws {
    let ricardo = Person(id: 0, name: "Ricardo", age: 35)
    try database.insert(on: "VIP", item: Person(id: 1, name: "Steve", age: 50))
    try database.insert(item: ricardo)
    var steve = Person(id: 1, name: "Steve", age: 50)
    try database.insert(item: steve)

    steve.age = steve.age + 1
    try database.update(item: steve)
    try database.update(item: steve, from: "VIP")
    #expect(try database.update(items: [steve, ricardo]) == 2)
    var ages: [Person] = try database.read()
    #expect(ages.map(\.age) == [35, 51])
    ages = try database.read(from: "VIP")
    #expect(ages.map(\.age) == [51])

    let changed = try database.updateAllItems(
      of: Person.self,
      changes: { person in
        var person = person
        person.age = person.age + 1
        return person
      },
      filter: { person in
        person.age >= 40
      }
    )
    #expect(changed == 1)
    ages = try database.read()
    #expect(ages.map(\.age) == [35, 52])
  }

  @Test func `one, several or all matching items can be deleted`() throws {
    let ricardo = Person(id: 0, name: "Ricardo", age: 35)
    let steve = Person(id: 1, name: "Steve", age: 50)
    try database.insert(items: [ricardo, steve, ricardo, Person(id: 2, name: "Tim", age: 9)])
    try database.insert(on: "VIP", item: steve)

    #expect(try database.delete(item: ricardo) == 2)
    try database.delete(item: steve, from: "VIP")
    try database.delete(items: [ricardo, steve])
    try database.deleteAllItems(
      of: Person.self,
      filter: { person in
        person.age < 18
      }
    )
    #expect(try database.count(of: Person.self) == 0)
    #expect(try database.count(of: Person.self, in: "VIP") == 0)
  }

  @Test func `each call has an async version`() async throws {
    try await database.insert(item: Person(id: 1, name: "Steve", age: 50))
    let people: [Person] = try await database.read()
    #expect(people.map(\.name) == ["Steve"])

    let steve = Person(id: 1, name: "Steve", age: 51)
    try await database.insert(on: "VIP", items: [steve, steve])
    let both: [Person] = try await database.read(from: "VIP") { $0.age > 50 }
    #expect(both.count == 2)
    #expect(try await database.update(item: steve) == 1)
    #expect(try await database.update(items: [steve], from: "VIP") == 2)
    #expect(
      try await database.updateAllItems(
        of: Person.self,
        changes: { person in
          var person = person
          person.age += 1
          return person
        }) == 1)
    #expect(try await database.contains(item: steve))
    #expect(try await database.readReport(of: Person.self).items.map(\.age) == [52])
    #expect(try await database.delete(item: steve) == 1)
    #expect(try await database.delete(items: [steve], from: "VIP") == 2)
    #expect(try await database.deleteAllItems(of: Person.self) == 0)
    #expect(try await database.count(of: Person.self) == 0)
    #expect(try await database.removeUndecodable(as: Person.self).isEmpty)
    let data = try await database.data()
    try await database.set(data: data)
    let folder = try TestFolder()
    try await database.save(to: URL(filePath: folder.file("store")))
    try await database.load(from: URL(filePath: folder.file("store")))
    #expect(try await database.tableNames() == ["Person", "VIP"])
    try await database.clear()
    #expect(try await database.tableNames() == [])
  }
}
