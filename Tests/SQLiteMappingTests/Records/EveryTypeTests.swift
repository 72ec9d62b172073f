import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

/// Tests of every type that `Codable` has a dedicated method for, as a property, as an optional and
/// in JSON columns.
@Suite(.everyEngine) struct EveryTypeTests {
  struct Optionals: Record, Equatable, Sendable {
    var id: Int
    var bool: Bool?
    var string: String?
    var double: Double?
    var float: Float?
    var int: Int?
    var int8: Int8?
    var int16: Int16?
    var int32: Int32?
    var int64: Int64?
    var uint: UInt?
    var uint8: UInt8?
    var uint16: UInt16?
    var uint32: UInt32?
    var uint64: UInt64?
    var date: Date?
    var list: [Int]?
  }

  struct Members: Record, Equatable, Sendable {
    var id = 1
    var bool = true
    var string = "a"
    var double = -0.5
    var float: Float = 1.5
    var int = Int.min
    var int8 = Int8.min
    var int16 = Int16.min
    var int32 = Int32.min
    var int64 = Int64.min
    var uint = UInt(Int64.max)
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64(Int64.max)
  }

  static let full = Optionals(
    id: 2, bool: false, string: "", double: 0, float: -1, int: 0, int8: 1, int16: 2, int32: 3,
    int64: 4, uint: 5, uint8: 6, uint16: 7, uint32: 8, uint64: 9,
    date: Date(timeIntervalSince1970: 1), list: [])

  /// A type that passes its decoder to another type, like a class to its superclass.
  struct Wrapped: Decodable, Equatable {
    var optionals: Optionals
    var again: Optionals

    init(from decoder: any Decoder) throws {
      optionals = try Optionals(from: decoder)
      again = try Optionals(from: decoder)
    }
  }

  /// A value that encodes itself with every kind of container.
  struct Tree: Codable, Equatable {
    var text: String

    enum Key: String, CodingKey {
      case text, nothing, nested, list, some
    }

    init(_ text: String) { self.text = text }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(text, forKey: .text)
      try container.encodeNil(forKey: .nothing)
      var nested = container.nestedContainer(keyedBy: Key.self, forKey: .nested)
      try nested.encode(text, forKey: .text)
      var single = nested.superEncoder(forKey: .some).singleValueContainer()
      try single.encodeNil()
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try list.encodeNil()
      try list.encode(text)
      var inner = list.nestedUnkeyedContainer()
      try inner.encode(1)
      var keyed = list.nestedContainer(keyedBy: Key.self)
      try keyed.encode(2, forKey: .some)
      var last = list.superEncoder().singleValueContainer()
      try last.encode(text)
      var above = container.superEncoder().singleValueContainer()
      try above.encode(text)
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      text = try container.decode(String.self, forKey: .text)
      #expect(try container.decodeNil(forKey: .nothing))
      let nested = try container.nestedContainer(keyedBy: Key.self, forKey: .nested)
      #expect(try nested.decode(String.self, forKey: .text) == text)
      #expect(try nested.superDecoder(forKey: .some).singleValueContainer().decodeNil())
      var list = try container.nestedUnkeyedContainer(forKey: .list)
      #expect(try list.decodeNil())
      #expect(try list.decode(String.self) == text)
      var inner = try list.nestedUnkeyedContainer()
      #expect(try inner.decode(Int.self) == 1)
      let keyed = try list.nestedContainer(keyedBy: Key.self)
      #expect(try keyed.decode(Int.self, forKey: .some) == 2)
      #expect(try list.superDecoder().singleValueContainer().decode(String.self) == text)
      #expect(try container.superDecoder().singleValueContainer().decode(String.self) == text)
    }
  }

  struct WithTree: Record, Equatable {
    var id: Int
    var tree: Tree?
    var trees: [Tree]
  }

  /// A value that encodes itself in a single value container.
  struct Single<Value: Codable & Equatable>: Codable, Equatable {
    var value: Value

    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder) throws {
      value = try decoder.singleValueContainer().decode(Value.self)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }

  struct Singles: Record, Equatable {
    var id = 1
    var bool = Single(true)
    var string = Single("a")
    var double = Single(0.5)
    var float = Single(Float(1.5))
    var int = Single(Int.min)
    var int8 = Single(Int8.min)
    var int16 = Single(Int16.min)
    var int32 = Single(Int32.min)
    var int64 = Single(Int64.min)
    var uint = Single(UInt(7))
    var uint8 = Single(UInt8.max)
    var uint16 = Single(UInt16.max)
    var uint32 = Single(UInt32.max)
    var uint64 = Single(UInt64(8))
    var list = Single([1, 2])
    var tree = Single(Tree("a"))
  }

  /// A record that encodes a column through a super encoder, like a class does for its superclass.
  struct SuperEncoded: Record, Equatable {
    var id = 1
    var members = Single("a")

    enum Key: String, CodingKey {
      case id, members
    }

    init() {}

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(id, forKey: .id)
      try Tree("handed").encode(to: container.superEncoder(forKey: .members))
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      id = try container.decode(Int.self, forKey: .id)
      members = Single(try Tree(from: container.superDecoder(forKey: .members)).text)
    }
  }

  @Test func `values that encode into a single value container survive a round trip`() throws {
    let database = try Database.fresh()
    try database.write { try $0.update(Singles()) }
    #expect(try database.read { try $0.objects(of: Singles.self) } == [Singles()])
    try database.executeChange("UPDATE Singles SET int8 = 1000")
    #expect(throws: RowDecodingError.self) {
      try database.read { try $0.objects(of: Singles.self) }
    }
  }

  @Test func `a record can encode a column through a super encoder, or throws`() throws {
    let database = try Database.fresh()
    do {
      try database.write { try $0.update(SuperEncoded()) }
      let found = try database.read { try $0.objects(of: SuperEncoded.self) }
      #expect(found.map(\.members.value) == ["handed"])
    } catch is EncodingError {
      #expect(try database.read { try $0.existingTables() }.isEmpty)
    }
  }

  @Test func `optional properties of every type survive a round trip`() throws {
    let database = try Database.fresh()
    let empty = Optionals(id: 1)
    try database.write { try $0.insert(contentsOf: [empty, Self.full]) }
    #expect(try database.read { try $0.objects(of: Optionals.self) } == [empty, Self.full])
    try database.write { try $0.update(Optionals(id: 2)) }
    #expect(
      try database.read { try $0.object(of: Optionals.self, ifPresent: 2) } == Optionals(id: 2))
    try database.write { try $0.update(Self.full) }
    let both = try database.read {
      try $0.fetch(.sql("SELECT * FROM Optionals ORDER BY id", as: Wrapped.self))
    }
    #expect(
      both.map(\.optionals) == [empty, Self.full] && both.map(\.again) == [empty, Self.full])
    let wide = try database.read {
      try $0.fetch(.sql("SELECT * FROM Optionals WHERE id = 2", as: Members.self))
    }
    #expect(wide.first?.uint16 == 7)
  }

  @Test func `properties of every type survive a round trip and reject NULL`() throws {
    let database = try Database.fresh()
    try database.write { try $0.update(Members()) }
    #expect(try database.read { try $0.objects(of: Members.self) } == [Members()])
    let columns = (0..<15).map { _ in "NULL" as SQL }
    #expect(throws: RowDecodingError.self) {
      try database.read {
        try $0.fetch(.sql("SELECT \(SQL(joining: columns, separator: ", "))", as: Members.self))
      }
    }
  }

  @Test func `a value that uses every kind of container survives a round trip`() throws {
    let database = try Database.fresh()
    let value = WithTree(id: 1, tree: Tree("a"), trees: [Tree("b"), Tree("")])
    try database.write { try $0.update(value) }
    #expect(try database.read { try $0.objects(of: WithTree.self) } == [value])
    try database.write { try $0.update(WithTree(id: 1, tree: nil, trees: [])) }
    #expect(
      try database.read { try $0.objects(of: WithTree.self) } == [
        WithTree(id: 1, tree: nil, trees: [])
      ])
  }

  @Test func `a lazy sequence of records is saved in batches, atomically`() throws {
    let database = try Database.fresh()
    let values = (1...2_500).lazy.map { Members(id: $0) }
    #expect(try database.write { try $0.insert(contentsOf: values) } == 2_500)
    #expect(try database.write { try $0.update(contentsOf: values) } == 2_500)
    // The last record, with key 2,500, already exists.
    let again = (2_500...4_700).reversed().lazy.map { Members(id: $0) }
    #expect(throws: SQLiteError.self) { try database.write { try $0.insert(contentsOf: again) } }
    #expect(try database.read { try $0.count(of: Members.self) } == 2_500)
  }

  @Test func `records are saved and removed by tasks`() async throws {
    let database = try Database.fresh()
    let first = Members()
    #expect(try await database.write { try $0.insert(first) } == first)
    var changed = first
    changed.string = "b"
    let second = changed
    try await database.write { try $0.updateExisting(second) }
    changed.int = 3
    let value = changed
    #expect(try await database.write { try $0.update(value, matching: ["id"]) } == value)
    #expect(
      try await database.write { try $0.update(contentsOf: [value, Members(id: 2)]) }
        == 2)
    #expect(try await database.write { try $0.insert(contentsOf: [Members(id: 3)]) } == 1)
    #expect(
      try await database.write {
        try $0.updateExisting(contentsOf: [value, Members(id: 3)])
      } == 2)
    await #expect(throws: SQLiteError.self) {
      try await database.write {
        try $0.updateExisting(contentsOf: [value, Members(id: 9)])
      }
    }
    #expect(
      try await database.readBriefly { try $0.objects(of: Members.self) }.map(\.id) == [1, 2, 3])
    #expect(
      try await database.readBriefly { try $0.object(of: Members.self, ifPresent: 1) } == value)
    #expect(try await database.readBriefly { try $0.has(of: Members.self, primary: 2) })
    #expect(try await database.write { try $0.remove(of: Members.self, primary: 2) })
    #expect(try await database.readBriefly { try $0.count(of: Members.self) } == 2)
    #expect(try await database.write { try $0.removeAll(of: Members.self, where: "id > 2") } == 1)
    #expect(try await database.read { try $0.makeKey(for: Members.self) } == nil)
    #expect(try await database.write { try $0.remove(value) })
  }
}
