import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

/// A record with one value of any type.
private struct Box<Content: Codable & Equatable>: Record, Equatable {
  static var tableName: String { "box" }
  var id: Int
  var content: Content
}

/// Saves values and checks that each is fetched unchanged.
///
/// - Returns: The storage classes of the stored values.
private func storageClasses<Content: Codable & Equatable>(
  _ contents: Content..., sourceLocation: SourceLocation = #_sourceLocation
) throws -> Set<String> {
  let database = try Database.fresh()
  for (id, content) in contents.enumerated() {
    let box = Box(id: id, content: content)
    try database.write { try $0.update(box) }
    let read = try database.read { try $0.object(of: Box<Content>.self, ifPresent: id) }
    #expect(read == box, sourceLocation: sourceLocation)
  }
  return Set(try database.rows("SELECT typeof(content) FROM box", as: String.self))
}

@Suite(.everyEngine) struct CodableRoundTripTests {
  @Test func `the extreme values of every integer width survive a round trip`() throws {
    #expect(try storageClasses(Int8.min, .max) == ["integer"])
    #expect(try storageClasses(Int16.min, .max) == ["integer"])
    #expect(try storageClasses(Int32.min, .max) == ["integer"])
    #expect(try storageClasses(Int64.min, .max) == ["integer"])
    #expect(try storageClasses(Int.min, .max) == ["integer"])
    #expect(try storageClasses(UInt8.min, .max) == ["integer"])
    #expect(try storageClasses(UInt16.min, .max) == ["integer"])
    #expect(try storageClasses(UInt32.min, .max) == ["integer"])
    #expect(try storageClasses(UInt(0), UInt(Int.max)) == ["integer"])
    #expect(try storageClasses(UInt64(0), UInt64(Int64.max)) == ["integer"])
  }

  @Test func `a value that SQLite can't store throws an error that names its column`() throws {
    let database = try Database.fresh()
    let large = #expect(throws: SQLiteError.self) {
      try database.write { try $0.update(Box(id: 1, content: UInt64.max)) }
    }
    #expect(large?.message.contains("content") == true)
    let nan = #expect(throws: SQLiteError.self) {
      try Database.fresh().write { try $0.update(Box(id: 1, content: Double.nan)) }
    }
    #expect(nan?.message.contains("content") == true)
  }

  @Test func `numbers and strings keep every bit`() throws {
    #expect(
      try storageClasses(0.1, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 5)
        == ["real"])
    #expect(try storageClasses(Float(0.1), .infinity, .leastNonzeroMagnitude) == ["real"])
    #expect(try storageClasses(true, false) == ["integer"])
    #expect(try storageClasses("", Engine.text("a\0b"), "e\u{301}", "🚲", "0123", "1e5") == ["text"])
  }

  @Test func `Foundation types and bytes are stored in dedicated forms`() throws {
    #expect(try storageClasses(Date(timeIntervalSinceReferenceDate: 0.1)) == ["text"])
    #expect(try storageClasses(Data(), Data([0, 1])) == ["blob"])
    #expect(try storageClasses([UInt8](), [0, 1]) == ["blob"])
    #expect(try storageClasses(UUID()) == ["text"])
    #expect(try storageClasses(Decimal(string: "0.1")) == ["text"])
    #expect(try storageClasses(URL(string: "https://example.org/a?b=c")) == ["text"])
    #expect(try storageClasses(Duration.seconds(1) + .nanoseconds(1)) == ["text"])
  }

  @Test func `structured values are stored as JSON`() throws {
    struct Point: Codable, Hashable {
      var x: Double
      var y: Double?
      var when: Date? = Date(timeIntervalSinceReferenceDate: 1.0 / 3)
    }
    struct Tree: Codable, Equatable {
      var name: String
      var children: [Tree] = []
    }
    #expect(try storageClasses(Point(x: 1, y: nil), Point(x: 0.1, y: 2)) == ["text"])
    #expect(try storageClasses([1, 2, 3], []) == ["text"])
    #expect(try storageClasses([[1], []], [[]]) == ["text"])
    #expect(try storageClasses(["b": 1, "a": 2], [:]) == ["text"])
    #expect(try storageClasses([1: Point(x: 1, y: 2)]) == ["text"])
    #expect(try storageClasses(Set([Point(x: 1, y: 2)])) == ["text"])
    #expect(try storageClasses(Tree(name: "a", children: [Tree(name: "b")])) == ["text"])
    #expect(
      try storageClasses(Date(timeIntervalSinceReferenceDate: 0)..<Date.distantFuture) == ["text"])
    #expect(try storageClasses([Data([1])], [Data()]) == ["text"])
    #expect(try storageClasses([UInt64.max]) == ["text"])
  }

  @Test func `nested JSON has sorted keys and readable dates`() throws {
    struct Point: Codable, Equatable {
      var y = 1
      var at = Date(timeIntervalSinceReferenceDate: 0)
    }
    let database = try Database.fresh()
    try database.write { try $0.update(Box(id: 1, content: Point())) }
    let json = try database.rows("SELECT content FROM box", as: String.self).first
    #expect(json == #"{"at":"2001-01-01 00:00:00","y":1}"#)
  }

  @Test func `enumerations are stored as raw values, or as JSON if they have payloads`() throws {
    enum Color: String, Codable { case red, green }
    enum Level: Int, Codable { case low = -1, high = 1 }
    enum Shape: Codable, Equatable {
      case point
      case circle(radius: Double)
      case polygon([Int], closed: Bool)
    }
    #expect(try storageClasses(Color.red, .green) == ["text"])
    #expect(try storageClasses(Level.low, .high) == ["integer"])
    #expect(
      try storageClasses(Shape.point, .circle(radius: 1), .polygon([1], closed: true)) == ["text"])
  }

  @Test func `optionals of every kind are stored as NULL or as their value`() throws {
    enum Color: String, Codable { case red }
    #expect(try storageClasses(Int?.none, 1) == ["null", "integer"])
    #expect(try storageClasses(String?.none, "") == ["null", "text"])
    #expect(try storageClasses(Color?.none, .red) == ["null", "text"])
    #expect(try storageClasses([Int]?.none, []) == ["null", "text"])
    #expect(
      try storageClasses(Date?.none, Date(timeIntervalSinceReferenceDate: 0)) == ["null", "text"])
    #expect(try storageClasses(Data?.none, Data()) == ["null", "blob"])
    #expect(try storageClasses([Int?]?.none, [nil, 1]) == ["null", "text"])
  }

  @Test func `wrappers of a single value are stored like that value`() throws {
    struct Meters: Codable, Equatable {
      var value: Double
      init(_ value: Double) { self.value = value }
      init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Double.self)
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
      }
    }
    struct Day: Codable, Equatable, RawRepresentable {
      var rawValue: Date
    }
    #expect(try storageClasses(Meters(1.5)) == ["real"])
    #expect(try storageClasses(Meters?.none, Meters(1)) == ["null", "real"])
    #expect(try storageClasses(Day(rawValue: Date(timeIntervalSinceReferenceDate: 1))) == ["text"])
  }

  @Test func `a value without properties is stored as an empty JSON object`() throws {
    struct Nothing: Codable, Equatable {}
    #expect(try storageClasses(Nothing()) == ["text"])
  }
}
