import Conformance
import Foundation
import SPON
import SQLiteCore
import SQLitePortable
import Testing
import TestSupport

@Suite(.everyEngine) struct CodableStoreTests {
  struct Note: Codable, Hashable, Identifiable {
    var id: Int
    var text: String
  }

  struct Tag: Codable, Hashable {
    var name: String
    var color: String

    static func == (left: Tag, right: Tag) -> Bool { left.name == right.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
  }

  struct Plain: Codable, Equatable {
    var number: Double
  }

  let store: CodableStore

  init() throws { store = try CodableStore() }

  private func plan(_ sql: SQL) throws -> String {
    try store.database.executeQuery(sql).map { $0["detail"]?.asString() ?? "" }.joined()
  }

  @Test func `looking up a hashable item uses the index`() throws {
    try store.insert(items: (0..<100).map { Note(id: $0, text: "note \($0)") })
    #expect(try store.contains(item: Note(id: 7, text: "note 7")))
    let detail = try plan(
      "EXPLAIN QUERY PLAN SELECT * FROM \"items Note\" WHERE key = 1 OR key IS NULL")
    #expect(detail.contains("USING INDEX"))
  }

  @Test func `more than one type can read and delete the items of a table`() throws {
    struct One: Codable, Hashable { var x: Int }
    struct Two: Codable, Hashable {
      var x: Int
      var y: Int?
    }
    try store.insert(on: "t", items: [One(x: 1), One(x: 2)])
    let read: [Two] = try store.read(from: "t")
    #expect(read == [Two(x: 1), Two(x: 2)])
    #expect(try store.delete(item: Two(x: 1), from: "t") == 1)
    #expect(try store.delete(item: One(x: 2), from: "t") == 1)
  }

  @Test func `items are compared by equality, not by id`() throws {
    struct Exact: Codable, Equatable, Identifiable {
      var id: Int
      var text: String
      static func == (left: Exact, right: Exact) -> Bool { left.text == right.text }
    }
    struct Hashed: Codable, Hashable, Identifiable {
      var id: Int
      var text: String
      static func == (left: Hashed, right: Hashed) -> Bool { left.text == right.text }
      func hash(into hasher: inout Hasher) { hasher.combine(text) }
    }
    try store.insert(items: [
      Exact(id: 1, text: "a"), Exact(id: 2, text: "a"), Exact(id: 3, text: "b"),
    ])
    #expect(try store.contains(item: Exact(id: 9, text: "b")))
    #expect(try store.update(item: Exact(id: 8, text: "b")) == 1)
    #expect(try store.delete(item: Exact(id: 9, text: "a")) == 2)
    let left: [Exact] = try store.read()
    #expect(left.map(\.id) == [8])
    try store.insert(items: [Hashed(id: 1, text: "a"), Hashed(id: 2, text: "a")])
    #expect(try store.delete(item: Hashed(id: 9, text: "a")) == 2)
  }

  @Test func `items are compared by equality, not by key or content`() throws {
    try store.insert(items: [Tag(name: "a", color: "red"), Tag(name: "b", color: "red")])
    #expect(try store.update(item: Tag(name: "a", color: "blue")) == 1)
    let tags: [Tag] = try store.read()
    #expect(tags.map(\.color) == ["blue", "red"])
    try store.insert(item: Note(id: 1, text: "x"))
    // The same id, but the items aren't equal.
    #expect(try store.update(item: Note(id: 1, text: "y")) == 0)
    #expect(try store.delete(item: Note(id: 1, text: "x")) == 1)
  }

  @Test(arguments: ["é", "e\u{301}", "K", "\u{212a}", ""])
  func `strings that are equal but encoded differently are found`(name: String) throws {
    struct Named: Codable, Identifiable, Equatable {
      var id: String
    }
    let names = ["é", "e\u{301}", "K", "\u{212a}", "", "k"]
    try store.insert(items: names.map { Named(id: $0) })
    #expect(try store.delete(item: Named(id: name)) == names.count { $0 == name })
  }

  @Test func `hashes of another process are recomputed`() throws {
    try store.insert(items: (0..<20).map { Tag(name: "\($0)", color: "") })
    try store.database.write { connection in
      try connection.executeChange("UPDATE magicdata_collections SET keys = 'hash 1'")
      try connection.executeChange("UPDATE \"items Tag\" SET key = -position")
    }
    // Inserts before this process has recomputed the hashes.
    try store.insert(item: Tag(name: "20", color: ""))
    for number in 0...20 {
      #expect(try store.contains(item: Tag(name: "\(number)", color: "x")), "\(number)")
    }
    #expect(try store.delete(items: (0...20).map { Tag(name: "\($0)", color: "") }) == 21)
  }

  @Test func `an undecodable value is kept and reported and doesn't affect other values`()
    throws
  {
    struct Old: Codable, Equatable { var number: Int }
    struct New: Codable, Equatable {
      var number: Int
      var name: String
    }
    try store.insert(on: "things", items: [Old(number: 1), Old(number: 2)])
    try store.insert(on: "things", items: [New(number: 3, name: "c")])
    let error = #expect(throws: CodableStoreError.self) {
      let _: [New] = try store.read(from: "things")
    }
    guard case .undecodable("things", 2, let first) = error else {
      throw error ?? .noFile
    }
    #expect(first.position == 1)
    #expect(error?.description.contains("name") == true)
    let report = try store.readReport(of: New.self, from: "things")
    #expect(report.items == [New(number: 3, name: "c")])
    #expect(report.undecodable.map(\.position) == [1, 2])
    try store.updateAllItems(
      of: New.self, from: "things", changes: { New(number: $0.number, name: "d") })
    try store.update(item: New(number: 3, name: "d"), from: "things")
    try store.deleteAllItems(of: New.self, from: "things")
    let old: [Old] = try store.read(from: "things")
    #expect(old.map(\.number) == [1, 2])
    #expect(try store.removeUndecodable(in: "things", as: New.self).count == 2)
    #expect(try store.count(of: New.self, in: "things") == 0)
  }

  @Test func `a value that can't be encoded makes the whole call throw without changes`() throws {
    let json = try CodableStore(coder: JSONCoder())
    try json.insert(items: [Plain(number: 1), Plain(number: 2)])
    #expect(throws: EncodingError.self) {
      try json.insert(items: [Plain(number: 3), Plain(number: .nan)])
    }
    #expect(throws: EncodingError.self) {
      try json.updateAllItems(of: Plain.self, changes: { Plain(number: $0.number == 2 ? .nan : 9) })
    }
    let plain: [Plain] = try json.read()
    #expect(plain.map(\.number) == [1, 2])
  }

  @Test func `an error in a closure rolls back the whole call`() throws {
    try store.insert(items: (0..<5).map { Plain(number: Double($0)) })
    #expect(throws: CancellationError.self) {
      try store.deleteAllItems(of: Plain.self) { item in
        if item.number == 3 { throw CancellationError() }
        return true
      }
    }
    #expect(try store.count(of: Plain.self) == 5)
  }

  @Test func `two types with the same name need separate tables`() throws {
    enum Other {
      struct Note: Codable, Equatable { var x: Int }
    }
    try store.insert(item: Note(id: 1, text: ""))
    #expect(throws: CodableStoreError.self) { try store.insert(item: Other.Note(x: 1)) }
    try store.insert(on: "other", item: Other.Note(x: 1))
    #expect(try store.tableNames() == ["Note", "other"])
  }

  @Test func `any string can name a table`() throws {
    let names = [
      "", "a", "A", "a\0b", "a_b", "x\"y", "'; DROP TABLE t;--", "é", "items a", "sqlite_",
    ]
    for (index, name) in names.enumerated() {
      try store.insert(on: name, item: Plain(number: Double(index)))
    }
    for (index, name) in names.enumerated() {
      let items: [Plain] = try store.read(from: name)
      #expect(items == [Plain(number: Double(index))], "\(name)")
    }
    #expect(try Set(store.tableNames()) == Set(names))
    #expect(try CodableStore(data: store.data()).tableNames().count == names.count)
  }

  @Test func `concurrent calls lose no changes`() async throws {
    struct Counter: Codable, Hashable, Identifiable {
      var id: Int
      var count: Int
      static func == (left: Counter, right: Counter) -> Bool { left.id == right.id }
      func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }
    try await store.insert(items: (0..<4).map { Counter(id: $0, count: 0) })
    try await withThrowingTaskGroup { group in
      for task in 0..<8 {
        group.addTask { [store] in
          for _ in 0..<25 {
            try await store.updateAllItems(
              of: Counter.self, changes: { Counter(id: $0.id, count: $0.count + 1) },
              filter: { $0.id == task % 4 })
            let _: [Counter] = try await store.read()
          }
        }
      }
      try await group.waitForAll()
    }
    let counters: [Counter] = try await store.read()
    #expect(counters.map(\.count) == [50, 50, 50, 50])
  }

  @Test func `objects identified by their address are found by equality`() throws {
    final class Node: Codable, Equatable, Identifiable {
      let name: String
      init(_ name: String) { self.name = name }
      static func == (left: Node, right: Node) -> Bool { left.name == right.name }
    }
    try store.insert(items: [Node("a"), Node("b")])
    #expect(try store.delete(item: Node("b")) == 1)
  }

  @Test func `text that isn't UTF-8 makes only its own item undecodable`() throws {
    try store.insert(items: [Note(id: 1, text: "a"), Note(id: 2, text: "b")])
    try store.database.write { connection in
      try connection.executeChange(
        "UPDATE \"items Note\" SET item = CAST(x'ff' AS TEXT) WHERE position = 1")
    }
    let report = try store.readReport(of: Note.self)
    #expect(report.items.map(\.id) == [2])
    #expect(report.undecodable.map(\.position) == [1])
    #expect(try store.update(item: Note(id: 1, text: "a")) == 0)
  }

  @Test func `a store in a file keeps its items`() throws {
    let folder = try TestFolder()
    try CodableStore(path: folder.file("a.sqlite3")).insert(item: Note(id: 1, text: "x"))
    let notes: [Note] = try CodableStore(path: folder.file("a.sqlite3")).read()
    #expect(notes == [Note(id: 1, text: "x")])
  }

  @Test func `data that isn't a store throws, and the store keeps its content`() throws {
    try store.insert(item: Plain(number: 1))
    for data in [
      Data("nonsense".utf8), Data(repeating: 0, count: 4_096),
      Data(try Database.memory().serialized()) + [1],
    ] {
      #expect(throws: CodableStoreError.self) { try store.set(data: data) }
    }
    let other = try Database.memory()
    try other.write { try $0.executeChange("CREATE TABLE t (a)") }
    let error = #expect(throws: CodableStoreError.self) {
      try store.set(data: Data(other.serialized()))
    }
    #expect(error?.description.contains("magicdata_collections") == true)
    #expect(try store.count(of: Plain.self) == 1)
    let folder = try TestFolder()
    #expect(throws: (any Error).self) { try store.load(from: URL(filePath: folder.file("none"))) }
    #expect(throws: SQLiteError.self) { try store.save(to: URL(filePath: "/nowhere/at/all")) }
  }

  @Test func `a store can share a database with other tables`() throws {
    let database = try Database.fresh()
    try database.write { connection in
      try connection.executeChange("CREATE TABLE note (a)")
      try connection.executeChange("INSERT INTO note VALUES (1)")
    }
    let store = CodableStore(database: database)
    try store.insert(item: Note(id: 1, text: "x"))
    let data = try store.data()
    try store.clear()
    try store.set(data: data)
    #expect(try store.count(of: Note.self) == 1)
    #expect(try database.rows("SELECT a FROM note", as: Int.self) == [1])
  }
}
