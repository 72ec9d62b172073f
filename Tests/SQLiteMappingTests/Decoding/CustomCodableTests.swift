import Conformance
import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

@Suite(.everyEngine) struct CustomCodableTests {
  let database: Database

  init() throws { database = try Database.fresh() }

  @Test func `a class and its superclass share a row`() throws {
    class Animal: Record {
      static var tableName: String { "animal" }
      var id: Int
      var name: String
      init(id: Int, name: String) {
        self.id = id
        self.name = name
      }
    }
    final class Dog: Animal {
      var breed: String?
      private enum CodingKeys: CodingKey { case breed }
      init(id: Int, name: String, breed: String?) {
        self.breed = breed
        super.init(id: id, name: name)
      }
      required init(from decoder: any Decoder) throws {
        breed = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(
          String.self, forKey: .breed)
        try super.init(from: decoder)
      }
      override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(breed, forKey: .breed)
      }
    }
    try database.write {
      try $0.insert(contentsOf: [
        Dog(id: 1, name: "Rex", breed: "Collie"), Dog(id: 2, name: "Bo", breed: nil),
      ])
    }
    let dogs = try database.read { try $0.objects(of: Dog.self, orderedBy: .column("id")) }
    #expect(dogs.map(\.name) == ["Rex", "Bo"])
    #expect(dogs.map(\.breed) == ["Collie", nil])
  }

  @Test(.requires(.files)) func `nested values survive a round trip in a UTF-16 database`() throws {
    struct Town: Record, Equatable {
      var id: Int
      var names: [String]
    }
    try database.executeChange("PRAGMA encoding = 'UTF-16le'")
    let towns = (0..<50).map { id in
      Town(
        id: id, names: (0..<id).map { "Zürich, 東京, “\($0)” \(String(repeating: "é", count: $0))" })
    }
    try database.write { try $0.insert(contentsOf: towns) }
    #expect(try database.executeQuery("PRAGMA encoding")[0].values == [.text("UTF-16le")])
    #expect(try database.read { try $0.objects(of: Town.self, orderedBy: .column("id")) } == towns)
  }

  @Test func `a superclass can be encoded into a separate column`() throws {
    class Base: Codable {
      var a = 1
      init() {}
    }
    final class Derived: Base, Record {
      var id = 7
      private enum CodingKeys: CodingKey { case id }
      override init() { super.init() }
      required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        try super.init(from: container.superDecoder())
      }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try super.encode(to: container.superEncoder())
      }
    }
    let value = Derived()
    value.a = 42
    try database.write { try $0.update(value) }
    #expect(try database.read { try $0.object(of: Derived.self, ifPresent: 7) }?.a == 42)
    let stored = try database.rows("SELECT super FROM Derived", as: String.self)
    #expect(stored == [#"{"a":42}"#])
  }

  @Test func `nested containers in a custom encoding are JSON columns`() throws {
    struct Line: Record, Equatable {
      var id: Int
      var x: Int
      var y: Int
      var list: [Int]
      enum Keys: CodingKey { case id, point, list }
      enum PointKeys: CodingKey { case x, y }
      init(id: Int, x: Int, y: Int, list: [Int]) {
        (self.id, self.x, self.y, self.list) = (id, x, y, list)
      }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        id = try container.decode(Int.self, forKey: .id)
        let point = try container.nestedContainer(keyedBy: PointKeys.self, forKey: .point)
        x = try point.decode(Int.self, forKey: .x)
        y = try point.decode(Int.self, forKey: .y)
        var elements = try container.nestedUnkeyedContainer(forKey: .list)
        list = []
        while !elements.isAtEnd { list.append(try elements.decode(Int.self)) }
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(id, forKey: .id)
        var point = container.nestedContainer(keyedBy: PointKeys.self, forKey: .point)
        try point.encode(y, forKey: .y)
        try point.encode(x, forKey: .x)
        var elements = container.nestedUnkeyedContainer(forKey: .list)
        for element in list { try elements.encode(element) }
      }
    }
    let lines = [Line(id: 1, x: 1, y: 2, list: []), Line(id: 2, x: 3, y: 4, list: [5, 6])]
    try database.write { try $0.insert(contentsOf: lines) }
    #expect(try database.read { try $0.objects(of: Line.self, orderedBy: .column("id")) } == lines)
    let stored = try database.rows(
      "SELECT point, list FROM Line ORDER BY id", as: String.self, String.self)
    #expect(stored.map(\.0) == [#"{"x":1,"y":2}"#, #"{"x":3,"y":4}"#])
    #expect(stored.map(\.1) == ["[]", "[5,6]"])
  }

  @Test func `coding keys of any type name columns`() throws {
    struct Loose: Record, Equatable {
      var id: Int
      var values: [String: Int]
      struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
      }
      init(id: Int, values: [String: Int]) { (self.id, self.values) = (id, values) }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        id = try container.decode(Int.self, forKey: Key(stringValue: "id"))
        values = [:]
        for key in container.allKeys where key.stringValue != "id" {
          values[key.stringValue] = try container.decodeIfPresent(Int.self, forKey: key)
        }
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: Key(stringValue: "id"))
        for (key, value) in values { try container.encode(value, forKey: Key(stringValue: key)) }
      }
    }
    let first = Loose(id: 1, values: ["a": 1])
    try database.write { try $0.update(first) }
    #expect(try database.read { try $0.object(of: Loose.self, ifPresent: 1) } == first)
    // A property that earlier values lack, such as `b`, becomes an optional column.
    let others = [
      Loose(id: 2, values: ["a": 1]), Loose(id: 3, values: ["a": 1, "b": 2]),
      Loose(id: 4, values: ["a": 3]),
    ]
    #expect(try database.write { try $0.insert(contentsOf: others) } == 3)
    #expect(
      try database.read { try $0.objects(of: Loose.self, orderedBy: .column("id")) } == [first]
        + others)
  }

  @Test func `a type with one property has one column`() throws {
    struct Only: Record, Equatable { var id: Int }
    try database.write { try $0.insert(contentsOf: [Only(id: 1), Only(id: 2)]) }
    try database.write { try $0.update(Only(id: 2)) }
    #expect(
      try database.read { try $0.objects(of: Only.self, orderedBy: .column("id")) } == [
        Only(id: 1), Only(id: 2),
      ])
  }

  @Test func `a type that doesn't encode a keyed container throws`() throws {
    struct List: Record {
      var elements: [Int] = []
      init() {}
      init(from decoder: any Decoder) throws { elements = try [Int](from: decoder) }
      func encode(to encoder: any Encoder) throws { try elements.encode(to: encoder) }
    }
    #expect(throws: SQLiteError.self) { try database.write { try $0.update(List()) } }
  }

  @Test func `two properties with the same column name throw`() throws {
    struct Twins: Record {
      var id = 1
      var name = "a"
      var Name = "b"
    }
    let error = #expect(throws: SQLiteError.self) { try database.write { try $0.update(Twins()) } }
    #expect(error?.message.contains("Name") == true)
  }

  @Test func `the members of a nested value are stored sorted by name`() throws {
    struct Name: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
    struct Bag: Record {
      enum CodingKeys: CodingKey { case id, contents }
      var id: Int
      var contents: [String]
      init(id: Int, contents: [String]) {
        self.id = id
        self.contents = contents
      }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        contents = try container.nestedContainer(keyedBy: Name.self, forKey: .contents).allKeys
          .map(\.stringValue)
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        var nested = container.nestedContainer(keyedBy: Name.self, forKey: .contents)
        // Encodes each name twice: the second value replaces the first.
        for (number, name) in (contents + contents).enumerated() {
          try nested.encode(number, forKey: Name(stringValue: name))
        }
      }
    }
    var random = SplitMix64(seed: 77)
    let names = (0..<40).map { "n\($0)" }.shuffled(using: &random)
    try database.write { try $0.insert(Bag(id: 1, contents: names)) }
    let json = try database.rows("SELECT contents FROM Bag", as: String.self).first
    let expected = names.enumerated().sorted { $0.element < $1.element }
      .map { "\"\($0.element)\":\($0.offset + 40)" }
    #expect(json == "{\(expected.joined(separator: ","))}")
    #expect(
      try database.read { try $0.object(of: Bag.self, primary: 1) }.contents.sorted()
        == names.sorted())
  }
}
