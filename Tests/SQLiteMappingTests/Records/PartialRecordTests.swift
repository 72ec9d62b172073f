import Conformance
import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

/// A record with some of the columns of its table.
private struct Part: Record, Equatable {
  static let tableName = "person"
  var id: Int
  var name: String
}

/// A read-only record of the same table.
private struct Glance: Record, Equatable {
  static let tableName = "person"
  static let isReadOnly = true
  var name: String
}

@Suite(.everyEngine) struct PartialRecordTests {
  let folder: TestFolder

  init() throws {
    folder = try TestFolder()
    try folder.open {
      try $0.executeMultipleChanges(
        """
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL);
        INSERT INTO person VALUES (1, 'Ann', 30)
        """)
    }
  }

  @Test func `a type with some of the columns can update existing rows`() throws {
    try folder.open { database in
      try database.write { try $0.updateExisting(Part(id: 1, name: "Bob")) }
      try database.write { try $0.updateExisting(contentsOf: [Part(id: 1, name: "Cem")]) }
      let row = try database.rows("SELECT name, age FROM person", as: String.self, Int.self).first
      #expect(row?.0 == "Cem" && row?.1 == 30)
      let error = #expect(throws: SQLiteError.self) {
        try database.write { try $0.updateExisting(Part(id: 2, name: "nobody")) }
      }
      #expect(error?.code == .notFound)
      #expect(try database.read { try $0.count(of: Part.self) } == 1)
    }
  }

  @Test func `a type with some of the columns can't insert, even after an update`()
    throws
  {
    try folder.open { database in
      for _ in 0..<2 {
        #expect(throws: SchemaError.self) {
          try database.write { try $0.insert(Part(id: 2, name: "x")) }
        }
        #expect(throws: SchemaError.self) {
          try database.write { try $0.update(Part(id: 1, name: "x")) }
        }
        try database.write { try $0.updateExisting(Part(id: 1, name: "Dan")) }
      }
      #expect(try database.read { try $0.objects(of: Part.self) } == [Part(id: 1, name: "Dan")])
    }
  }

  @Test func `a read-only type throws an error that names its missing table`() throws {
    let found = try folder.open { try $0.read { try $0.objects(of: Glance.self) } }
    #expect(found == [Glance(name: "Ann")])
    let empty = try Database.fresh()
    let uses: [() throws -> Void] = [
      { _ = try empty.read { try $0.objects(of: Glance.self) } },
      { _ = try empty.read { try $0.object(of: Glance.self, where: "name = 'x'") } },
      { _ = try empty.read { try $0.object(of: Glance.self, ifPresent: 1) } },
      { _ = try empty.read { try $0.count(of: Glance.self) } },
      { _ = try empty.read { try $0.has(of: Glance.self, primary: 1) } },
    ]
    for use in uses {
      let error = #expect(throws: SQLiteError.self) { try use() }
      #expect(error?.message.contains("“person”") ?? false)
    }
    // Without a table, a type that can write has no records.
    #expect(try Database.fresh().read { try $0.objects(of: Part.self) } == [])
  }

  @Test func `a record that encodes no key doesn't get the previous record's key`() throws {
    struct Page: Record {
      enum CodingKeys: CodingKey { case id, text }
      var id: Int?
      var text: String
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if let id { try container.encode(id, forKey: .id) }
        try container.encode(text, forKey: .text)
      }
    }
    try Database.fresh().read { connection throws in
      #expect(try connection.keyValue(of: Page(id: 7, text: "a")) == .integer(7))
      #expect(throws: SQLiteError.self) { try connection.keyValue(of: Page(id: nil, text: "b")) }
      #expect(try connection.keyValue(of: Page(id: 8, text: "c")) == .integer(8))
      #expect(try connection.value(of: "text", in: Page(id: 8, text: "c")) == .text("c"))
    }
  }
}
