import Conformance
import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

/// The first version of a type. The other versions follow.
private struct One: Record, Equatable {
  static var tableName: String { "thing" }
  var id: Int
  var name: String
}

private struct Two: Record, Equatable {
  static var tableName: String { "thing" }
  static let traits: [PropertyTrait] = [.default("score", 7)]
  var id: Int
  var name: String
  var note: String?
  var score: Int
}

private struct Three: Record {
  static var tableName: String { "thing" }
  var id: Int
  var name: String
  var size: Int
}

private struct Four: Record {
  static var tableName: String { "thing" }
  var id: Int
  var name: Int
}

/// The new version of a type: it adds properties after a searched one.
private struct Kiosk: Record, Equatable {
  static let traits: [PropertyTrait] = [
    .default("country", "CH"), .default("open", true), .searched("name"),
  ]
  static var strategies: MappingStrategies {
    var strategies = MappingStrategies()
    strategies.keys = .convertToSnakeCase
    return strategies
  }
  var id: Int
  var name: String
  var country: String
  var open: Bool
  var openedOn: String?
}

/// The old version of the type, without these properties.
private struct OldKiosk: Record {
  static var tableName: String { "Kiosk" }
  static let traits: [PropertyTrait] = [.searched("name")]
  var id: Int
  var name: String
}

@Suite(.everyEngine) struct GrowthTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  @Test func `new optional and defaulted properties are added by the next write`() throws {
    try folder.open { try $0.write { try $0.update(One(id: 1, name: "a")) } }
    try folder.open { database in
      try database.write { try $0.update(Two(id: 2, name: "b", note: "n", score: 1)) }
      let all = try database.read { try $0.objects(of: Two.self, orderedBy: .column("id")) }
      #expect(
        all == [
          Two(id: 1, name: "a", note: nil, score: 7), Two(id: 2, name: "b", note: "n", score: 1),
        ])
    }
  }

  @Test func `new optional and defaulted properties can be read before the first write`() throws {
    try folder.open {
      try $0.write {
        try $0.insert(contentsOf: [OldKiosk(id: 1, name: "a"), OldKiosk(id: 2, name: "b")])
      }
    }
    try folder.open { database in
      func kiosk(_ id: Int, _ name: String) -> Kiosk {
        Kiosk(id: id, name: name, country: "CH", open: true, openedOn: nil)
      }
      let both = [kiosk(1, "a"), kiosk(2, "b")]
      func expectBoth() throws {
        #expect(
          try database.read { try $0.objects(of: Kiosk.self, orderedBy: .column("id")) } == both)
        #expect(try database.read { try $0.object(of: Kiosk.self, primary: 2) } == both[1])
        #expect(try database.read { try $0.object(of: Kiosk.self, ifPresent: 3) } == nil)
        #expect(
          try database.read { try $0.fetch(Kiosk.all.search(.all(of: "a"))) }.map(\.value) == [
            both[0]
          ])
        try database.read { connection in
          var keys: [Value] = []
          try connection.forEachObject(of: Kiosk.self, withKeys: [.integer(2)]) { key, value in
            keys.append(key)
            #expect(value == both[1])
          }
          #expect(keys == [.integer(2)])
        }
      }
      try expectBoth()
      let columns = try database.read { try $0.columns(of: "Kiosk").map(\.name) }
      #expect(columns == ["id", "name"])
      try database.write { try $0.prepare(Kiosk.self) }
      try expectBoth()
      try database.write {
        try $0.update(Kiosk(id: 2, name: "c", country: "DE", open: false, openedOn: "today"))
      }
      let changed = try database.read { try $0.object(of: Kiosk.self, primary: 2) }
      #expect(
        changed == Kiosk(id: 2, name: "c", country: "DE", open: false, openedOn: "today"))
    }
  }

  @Test func `a missing column throws if no write will add it`() throws {
    struct Foreign: Record {
      static let tableName = "thing"
      static let isReadOnly = true
      static let traits: [PropertyTrait] = [.default("score", 7)]
      var id: Int
      var score: Int
    }
    struct ForeignNote: Record {
      static let tableName = "thing"
      static let isReadOnly = true
      var id: Int
      var note: String?
    }
    struct Keyed: Record {
      static let tableName = "thing"
      static let primaryKeyType = PrimaryKeyType.autoIncrement
      static let primaryKey = "number"
      var number: Int?
    }
    struct Plain: Record {
      static let tableName = "thing"
      var id: Int
      var size: Int
    }
    let database = try Database.fresh()
    try database.executeMultipleChanges(
      "CREATE TABLE thing (id INTEGER PRIMARY KEY NOT NULL); INSERT INTO thing VALUES (1)")
    #expect(throws: RowDecodingError.self) {
      try database.read { try $0.objects(of: Foreign.self) }
    }
    #expect(throws: RowDecodingError.self) {
      try database.read { try $0.objects(of: ForeignNote.self) }
    }
    #expect(throws: RowDecodingError.self) {
      try database.read { try $0.object(of: Plain.self, primary: 1) }
    }
    let other = try Database.fresh()
    try other.executeMultipleChanges(
      "CREATE TABLE thing (id INTEGER PRIMARY KEY NOT NULL); INSERT INTO thing VALUES (1)")
    #expect(throws: RowDecodingError.self) { try other.read { try $0.objects(of: Keyed.self) } }
  }

  @Test func `a new property without a default throws while the table has rows`() throws {
    try folder.open { try $0.write { try $0.update(One(id: 1, name: "a")) } }
    try folder.open { database in
      let error = #expect(throws: SchemaError.self) {
        try database.write { try $0.update(Three(id: 2, name: "b", size: 1)) }
      }
      #expect(error?.description.contains("size") == true)
      let columns = try database.read { try $0.columns(of: "thing") }
      #expect(columns.map(\.name) == ["id", "name"])
      try database.write { try $0.removeAll(of: Three.self) }
      try database.write { try $0.update(Three(id: 2, name: "b", size: 1)) }
      #expect(try database.read { try $0.count(of: Three.self) } == 1)
    }
  }

  @Test func `a property whose type changed throws`() throws {
    try folder.open { try $0.write { try $0.update(One(id: 1, name: "a")) } }
    try folder.open { database in
      #expect(throws: SchemaError.self) {
        try database.write { try $0.update(Four(id: 2, name: 5)) }
      }
      let count = try database.rows("SELECT count(*) FROM thing", as: Int.self)
      #expect(count == [1])
    }
  }

  @Test func `a column without a property is kept if it is optional or has a default`() throws {
    try folder.open { try $0.write { try $0.update(Two(id: 1, name: "a", note: "n", score: 3)) } }
    try folder.open { database in
      try database.write { try $0.update(One(id: 1, name: "b")) }
      #expect(try database.rows("SELECT note FROM thing", as: String.self) == ["n"])
    }
  }

  @Test func `a table that other code created is used unchanged`() throws {
    let database = try Database.fresh()
    try database.executeMultipleChanges(
      """
      CREATE TABLE thing (name VARCHAR(20) NOT NULL, extra, id INTEGER PRIMARY KEY);
      INSERT INTO thing VALUES ('x', NULL, 5);
      """)
    try database.write { try $0.update(One(id: 6, name: "y")) }
    #expect(try database.read { try $0.objects(of: One.self) }.map(\.name) == ["x", "y"])
    #expect(try database.read { try $0.existingTables() } == ["thing"])
  }

  @Test func `a read-only type can't write`() throws {
    struct Schema: Record {
      static var tableName: String { "sqlite_schema" }
      static var primaryKey: String { "name" }
      static var isReadOnly: Bool { true }
      var name: String
      var type: String
    }
    let database = try Database.fresh()
    try database.write { try $0.update(One(id: 1, name: "a")) }
    #expect(
      try database.read { try $0.object(of: Schema.self, ifPresent: "thing") }?.type == "table")
    let schema = Schema(name: "x", type: "table")
    let error = #expect(throws: SQLiteError.self) { try database.write { try $0.update(schema) } }
    #expect(error?.code == .readOnly)
    #expect(throws: SQLiteError.self) { try database.write { try $0.insert(contentsOf: [schema]) } }
    #expect(throws: SQLiteError.self) { try database.write { try $0.remove(schema) } }
    #expect(throws: SQLiteError.self) { try database.write { try $0.removeAll(of: Schema.self) } }
  }

  @Test func `a check reports all differences`() throws {
    struct Thing: Record {
      static let traits: [PropertyTrait] = [.indexed("name")]
      static var prototype: Thing? { Thing(id: 0, name: "", size: 0, note: nil) }
      var id: Int
      var name: String
      var size: Int
      var note: String?
    }
    let database = try Database.fresh()
    let first = try database.write { try $0.check(of: Thing.self) }
    #expect(first.map(\.kind) == [.missingTable])
    try database.executeMultipleChanges(
      """
      CREATE TABLE Thing (id TEXT PRIMARY KEY NOT NULL, name TEXT, note TEXT NOT NULL, old, must NOT NULL);
      INSERT INTO Thing VALUES ('a', NULL, '', 1, 2);
      """)
    let differences = try database.write { try $0.check(of: Thing.self) }
    let kinds = Dictionary(grouping: differences, by: \.kind).mapValues { $0.compactMap(\.column) }
    #expect(
      kinds == [
        .type: ["id"], .nulls: ["name"], .missingColumn: ["size"], .notNull: ["note"],
        .extraColumn: ["old"], .extraColumnWithoutDefault: ["must"], .missingIndex: ["name"],
      ])
    struct Fine: Record { var id: Int; var name: String? }
    try database.write { try $0.update(Fine(id: 1)) }
    let none = try database.write { try $0.check(of: Fine.self) }
    #expect(none.isEmpty)
  }

  @Test func `a database of a newer program throws and isn't changed`() throws {
    try folder.open { try $0.write { try $0.update(One(id: 1, name: "a")) } }
    try folder.open {
      try $0.executeChange("UPDATE magicdata_meta SET value = 1000 WHERE key = 'format'")
    }
    try folder.open { database in
      let error = #expect(throws: SQLiteError.self) {
        try database.write { try $0.update(One(id: 2, name: "b")) }
      }
      #expect(error?.code == .schema)
      #expect(throws: SQLiteError.self) { try database.read { try $0.objects(of: One.self) } }
      let count = try database.rows("SELECT count(*) FROM thing", as: Int.self)
      #expect(count == [1])
    }
  }
}
