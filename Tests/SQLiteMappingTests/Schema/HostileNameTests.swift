import Conformance
import SQLiteCore
import SQLiteMapping
import Testing

/// A record with arbitrary property names.
private struct Hostile: Record, Equatable {
  @TaskLocal static var table = ""
  static var tableName: String { table }
  static let primaryKey = "key"

  var values: [String: String]

  struct Name: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(_ values: [String: String]) { self.values = values }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Name.self)
    values = [:]
    for key in container.allKeys {
      values[key.stringValue] = try container.decode(String.self, forKey: key)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Name.self)
    for (name, value) in values {
      try container.encode(value, forKey: Name(stringValue: name))
    }
  }
}

@Suite(.everyEngine) struct HostileNameTests {
  static let names = [
    "order", "group", "index", "select", "table", "where", "values", "null", "rowid", "oid",
    "default", "check", "primary", "references", "excluded", "new", "old", "\"", "\"\"", "'", "`",
    "[", "]", "a b", " a", "a ", "a.b", "a;b", "--", "/*", "?", "?1", ":a", "@a", "$a", "é",
    "e\u{301}", "日本語", "🚲", "\"\u{301}", "'); DROP TABLE x;--", "\u{202E}x", "\n", "%s", "\\",
    "1", "sum(1)",
  ]

  @Test(arguments: names) func `any text can name a column`(name: String) throws {
    let value = Hostile(["key": "1", name: name])
    try Hostile.$table.withValue("t") {
      let database = try Database.fresh()
      try database.write { try $0.insert(contentsOf: [value]) }
      #expect(try database.read { try $0.object(of: Hostile.self, ifPresent: "1") } == value)
      #expect(
        try database.read { try $0.objects(of: Hostile.self, orderedBy: .column(name)) } == [value])
      try database.write { try $0.update(value) }
      #expect(
        try database.read { try $0.count(of: Hostile.self, where: "\(identifier: name) = \(name)") }
          == 1)
      #expect(try database.write { try $0.remove(value) })
    }
  }

  @Test(arguments: names) func `any text can name a table`(name: String) throws {
    let value = Hostile(["key": "1", "a": name])
    try Hostile.$table.withValue(name) {
      let database = try Database.fresh()
      try database.write { try $0.update(value) }
      try database.write { try $0.update(value) }
      #expect(try database.read { try $0.objects(of: Hostile.self) } == [value])
      #expect(try database.write { try $0.removeAll(of: Hostile.self) } == 1)
    }
  }

  @Test(arguments: ["", "a\0b"]) func `an empty name or a name with NUL throws`(name: String) throws
  {
    try Hostile.$table.withValue("t") {
      let database = try Database.fresh()
      #expect(throws: SQLiteError.self) {
        try database.write { try $0.update(Hostile(["key": "1", name: "x"])) }
      }
      #expect(try database.read { try $0.existingTables() }.isEmpty)
    }
    try Hostile.$table.withValue(name) {
      let database = try Database.fresh()
      #expect(throws: SQLiteError.self) {
        try database.write { try $0.update(Hostile(["key": "1"])) }
      }
      #expect(throws: SQLiteError.self) { try database.read { try $0.objects(of: Hostile.self) } }
    }
  }

  @Test(arguments: ["", "a\0b"], [true, false])
  func `a record with an invalid name doesn't change its type's columns`(
    name: String, isFirst: Bool
  ) throws {
    try Hostile.$table.withValue("t") {
      let database = try Database.fresh()
      if !isFirst { try database.write { try $0.update(Hostile(["key": "0", "a": "0"])) } }
      #expect(throws: SQLiteError.self) {
        try database.write { try $0.update(Hostile(["key": "1", name: "x"])) }
      }
      let values = [Hostile(["key": "2", "a": "2"]), Hostile(["key": "3", "a": "3", "b": "3"])]
      // Both in one closure: a connection that has seen no value without “b” would treat it as
      // required.
      try database.write { connection in
        for value in values { try connection.update(value) }
      }
      #expect(try database.read { try $0.count(of: Hostile.self) } == (isFirst ? 2 : 3))
      #expect(try database.read { try $0.object(of: Hostile.self, ifPresent: "3") } == values[1])
    }
  }
}
