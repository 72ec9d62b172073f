import Foundation
import SPON
import SQLiteCore
import SQLiteMapping
import SQLitePortable
import Testing
import TestSupport

/// The examples of the README's chapter, block by block. `.ci/checks/readme` compares the texts.
@Suite struct ReadmePortableTests {
  struct Person: Codable, Identifiable, Equatable {
    var id: Int
    var name: String
    var age: Int
  }

  struct Address: Codable, Equatable {
    var city: String
    var zip: String?
  }

  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  @Test func `items are stored, read, changed and deleted`() throws {
    let path = folder.file("people.sqlite3")
    let store = try CodableStore(path: path)
    try store.insert(items: [
      Person(id: 0, name: "Ricardo", age: 35), Person(id: 1, name: "Mike", age: 23),
    ])
    try store.insert(on: "VIP", item: Person(id: 2, name: "Paul", age: 40))
    let adults: [Person] = try store.read { $0.age >= 30 }
    try store.updateAllItems(
      of: Person.self, changes: { Person(id: $0.id, name: $0.name, age: $0.age + 1) },
      filter: { $0.age < 30 })
    try store.delete(items: adults)
    let vip: [Person] = try store.read(from: "VIP")
    #expect(adults.map(\.name) == ["Ricardo"])
    #expect(vip.map(\.name) == ["Paul"])
    let rest: [Person] = try store.read()
    #expect(rest == [Person(id: 1, name: "Mike", age: 24)])
  }

  @Test func `a SwiftDatabase file is imported`() throws {
    let (oldURL, newURL) = (URL(filePath: folder.file("old")), URL(filePath: folder.file("new")))
    try SavedBySwiftDatabase.data.write(to: oldURL)
    let imported = try CodableStore(importing: Data(contentsOf: oldURL))
    try imported.save(to: newURL)
    let store = try CodableStore(path: newURL.path, coder: JSONCoder())
    #expect(try store.count(of: SavedBySwiftDatabase.Person.self) == 1)
    try store.database.close()
  }

  @Test func `undecodable items are reported`() throws {
    let store = try CodableStore()
    try store.insert(on: "Person", item: Address(city: "x"))
    try store.insert(on: "Person", item: Person(id: 1, name: "Ann", age: 2))
    let report = try store.readReport(of: Person.self)
    print(report.items, report.undecodable.map(\.reason))
    #expect(report.items.map(\.name) == ["Ann"])
    #expect(report.undecodable.count == 1)
  }

  @Test func `a value is encoded as SPON and decoded`() throws {
    let text = try SPONEncoder().encodeText(Address(city: "Seabrook", zip: "77586"))
    // @obj:Address<city$=`Seabrook` zip$=`77586`>
    let address = try SPONDecoder().decode(Address.self, from: text)
    #expect(address == Address(city: "Seabrook", zip: "77586"))
    #expect(text == "@obj:Address<city$=`Seabrook` zip$=`77586`>")
    var strategies = MappingStrategies()
    strategies.nested = .spon
    guard case .coder = strategies.nested else { throw CancellationError() }
  }

  @Test func `a database is dumped, restored and copied`() throws {
    let path = folder.file("app.sqlite3")
    let database = try Database(path: path)
    try database.write { try $0.executeChange("CREATE TABLE note (text)") }
    let (text, json) = (folder.file("app.spon"), folder.file("app.jsonl"))
    try database.dump(to: .spon(path: text))
    let scratch = try Database.memory(restoring: .spon(path: text))
    try scratch.dump(to: .json(path: json)) { progress in print(progress.rows) }
    try database.restore(from: .json(path: json))
    try DataFile.json(path: json).copy(to: .sqlite(path: folder.file("copy.sqlite3")))
    #expect(
      try Database(path: folder.file("copy.sqlite3")).read { try $0.existingTables() } == ["note"])
  }
}
