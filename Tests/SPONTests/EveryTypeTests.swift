import Foundation
import SPON
import Testing

/// Tests each type that has its own `Codable` method, in each kind of container.
@Suite struct EveryTypeTests {
  struct Members: Codable, Equatable {
    var bool = true
    var string = "a`b"
    var double = -0.5
    var float: Float = 1.5
    var int = Int.min
    var int8 = Int8.min
    var int16 = Int16.min
    var int32 = Int32.min
    var int64 = Int64.min
    var int128 = Int128.min
    var uint = UInt.max
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64.max
    var uint128 = UInt128.max
  }

  struct Optionals: Codable, Equatable {
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
    var members: Members?
  }

  /// A value that encodes the members as elements of an array.
  struct Elements: Codable, Equatable {
    var members = Members()
    var isWhole = true

    init() {}

    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encodeNil()
      try container.encode(members.bool)
      try container.encode(members.string)
      try container.encode(members.double)
      try container.encode(members.float)
      try container.encode(members.int)
      try container.encode(members.int8)
      try container.encode(members.int16)
      try container.encode(members.int32)
      try container.encode(members.int64)
      try container.encode(members.int128)
      try container.encode(members.uint)
      try container.encode(members.uint8)
      try container.encode(members.uint16)
      try container.encode(members.uint32)
      try container.encode(members.uint64)
      try container.encode(members.uint128)
      #expect(container.count == 17 && container.codingPath.isEmpty)
      var keyed = container.nestedContainer(keyedBy: Key.self)
      try keyed.encodeNil(forKey: .nothing)
      try members.encode(to: keyed.superEncoder(forKey: .some))
      try Optionals(int8: 3).encode(to: keyed.superEncoder())
      var inner = container.nestedUnkeyedContainer()
      try inner.encode("inner")
      try members.encode(to: container.superEncoder())
    }

    enum Key: String, CodingKey {
      case nothing, some, absent
    }

    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      #expect(try container.decodeNil())
      #expect(try !container.decodeNil())
      members.bool = try container.decode(Bool.self)
      members.string = try container.decode(String.self)
      members.double = try container.decode(Double.self)
      members.float = try container.decode(Float.self)
      members.int = try container.decode(Int.self)
      members.int8 = try container.decode(Int8.self)
      members.int16 = try container.decode(Int16.self)
      members.int32 = try container.decode(Int32.self)
      members.int64 = try container.decode(Int64.self)
      members.int128 = try container.decode(Int128.self)
      members.uint = try container.decode(UInt.self)
      members.uint8 = try container.decode(UInt8.self)
      members.uint16 = try container.decode(UInt16.self)
      members.uint32 = try container.decode(UInt32.self)
      members.uint64 = try container.decode(UInt64.self)
      members.uint128 = try container.decode(UInt128.self)
      #expect(container.currentIndex == 17 && container.codingPath.isEmpty)
      let keyed = try container.nestedContainer(keyedBy: Key.self)
      #expect(try keyed.contains(.nothing) && keyed.decodeNil(forKey: .nothing))
      #expect(!keyed.contains(.absent))
      let inSuper = try Members(from: keyed.superDecoder(forKey: .some))
      let optionals = try Optionals(from: keyed.superDecoder())
      var inner = try container.nestedUnkeyedContainer()
      let text = try inner.decode(String.self)
      let last = try Members(from: container.superDecoder())
      isWhole =
        inSuper == members && last == members && text == "inner"
        && optionals == Optionals(int8: 3) && container.isAtEnd
      #expect(throws: DecodingError.self) { try container.decode(Int.self) }
      #expect(throws: DecodingError.self) { _ = try container.decodeNil() }
    }
  }

  /// A value that encodes itself in a single-value container.
  struct Single<Value: Codable & Equatable & Sendable>: Codable, Equatable {
    var value: Value

    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder) throws {
      value = try decoder.singleValueContainer().decode(Value.self)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      #expect(container.codingPath.count <= 1)
      try container.encode(value)
    }
  }

  private func roundTrip<Value: Codable & Equatable>(_ value: Value) throws {
    let text = try SPONEncoder().encodeText(value)
    #expect(try SPONDecoder().decode(Value.self, from: text) == value, "\(text)")
    let data = try SPONEncoder().encode(value)
    #expect(try SPONDecoder().decode(Value.self, from: data) == value)
  }

  @Test func `all types can be encoded as members`() throws { try roundTrip(Members()) }

  @Test func `all types can be encoded as optional members`() throws {
    try roundTrip(Optionals())
    try roundTrip(
      Optionals(
        bool: false, string: "", double: 0, float: -1, int: 0, int8: 1, int16: 2, int32: 3,
        int64: 4, uint: 5, uint8: 6, uint16: 7, uint32: 8, uint64: 9, members: Members()))
  }

  @Test func `all types can be encoded as elements`() throws { try roundTrip(Elements()) }

  @Test func `all types can be encoded as single values`() throws {
    func check<Value: Codable & Equatable & Sendable>(_ value: Value) throws {
      try roundTrip(Single(value))
      try roundTrip(["key": Single(value)])
      try roundTrip([Single(value)])
    }
    let members = Members()
    try check(members.bool)
    try check(members.string)
    try check(members.double)
    try check(members.float)
    try check(members.int)
    try check(members.int8)
    try check(members.int16)
    try check(members.int32)
    try check(members.int64)
    try check(members.int128)
    try check(members.uint)
    try check(members.uint8)
    try check(members.uint16)
    try check(members.uint32)
    try check(members.uint64)
    try check(members.uint128)
    try check(members)
  }

  @Test func `decoding another type throws an error with the coding path`() throws {
    let text = try SPONEncoder().encodeText(["a": ["x"]])
    do {
      _ = try SPONDecoder().decode([String: [Int]].self, from: text)
      Issue.record("decoding must throw")
    } catch DecodingError.typeMismatch(_, let context) {
      #expect(context.codingPath.map(\.stringValue) == ["a", "Index 0"])
    }
    // The object contains no superclass.
    struct Sub: Decodable {
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Elements.Key.self)
        _ = try container.superDecoder()
      }
    }
    #expect(throws: DecodingError.self) { try SPONDecoder().decode(Sub.self, from: text) }
  }
}
