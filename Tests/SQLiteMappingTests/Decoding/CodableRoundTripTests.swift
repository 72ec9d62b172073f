import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

/// A row with one value of any type.
private struct Box<Content: Codable & Equatable>: Record, Equatable {
  static var tableName: String { "box" }
  var id: Int
  var content: Content
}

/// Writes values and reads them back, each in a new database.
///
/// - Returns: The storage classes that they were stored in.
private func storedClasses<Content: Codable & Equatable>(
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
  @Test func `integers of every width keep their extremes`() throws {
    #expect(try storedClasses(Int8.min, .max) == ["integer"])
    #expect(try storedClasses(Int16.min, .max) == ["integer"])
    #expect(try storedClasses(Int32.min, .max) == ["integer"])
    #expect(try storedClasses(Int64.min, .max) == ["integer"])
    #expect(try storedClasses(Int.min, .max) == ["integer"])
    #expect(try storedClasses(UInt8.min, .max) == ["integer"])
    #expect(try storedClasses(UInt16.min, .max) == ["integer"])
    #expect(try storedClasses(UInt32.min, .max) == ["integer"])
    #expect(try storedClasses(UInt(0), UInt(Int.max)) == ["integer"])
    #expect(try storedClasses(UInt64(0), UInt64(Int64.max)) == ["integer"])
  }

  @Test func `what SQLite cannot hold is refused by name`() throws {
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

  @Test func `numbers and texts keep every bit`() throws {
    #expect(
      try storedClasses(0.1, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 5)
        == ["real"])
    #expect(try storedClasses(Float(0.1), .infinity, .leastNonzeroMagnitude) == ["real"])
    #expect(try storedClasses(true, false) == ["integer"])
    #expect(try storedClasses("", Engine.text("a\0b"), "e\u{301}", "🚲", "0123", "1e5") == ["text"])
  }

  @Test func `Foundation's values and bytes have forms of their own`() throws {
    #expect(try storedClasses(Date(timeIntervalSinceReferenceDate: 0.1)) == ["text"])
    #expect(try storedClasses(Data(), Data([0, 1])) == ["blob"])
    #expect(try storedClasses([UInt8](), [0, 1]) == ["blob"])
    #expect(try storedClasses(UUID()) == ["text"])
    #expect(try storedClasses(Decimal(string: "0.1")) == ["text"])
    #expect(try storedClasses(URL(string: "https://example.org/a?b=c")) == ["text"])
    #expect(try storedClasses(Duration.seconds(1) + .nanoseconds(1)) == ["text"])
  }

  @Test func `values made of values are JSON`() throws {
    struct Point: Codable, Hashable {
      var x: Double
      var y: Double?
      var when: Date? = Date(timeIntervalSinceReferenceDate: 1.0 / 3)
    }
    struct Tree: Codable, Equatable {
      var name: String
      var children: [Tree] = []
    }
    #expect(try storedClasses(Point(x: 1, y: nil), Point(x: 0.1, y: 2)) == ["text"])
    #expect(try storedClasses([1, 2, 3], []) == ["text"])
    #expect(try storedClasses([[1], []], [[]]) == ["text"])
    #expect(try storedClasses(["b": 1, "a": 2], [:]) == ["text"])
    #expect(try storedClasses([1: Point(x: 1, y: 2)]) == ["text"])
    #expect(try storedClasses(Set([Point(x: 1, y: 2)])) == ["text"])
    #expect(try storedClasses(Tree(name: "a", children: [Tree(name: "b")])) == ["text"])
    #expect(
      try storedClasses(Date(timeIntervalSinceReferenceDate: 0)..<Date.distantFuture) == ["text"])
    #expect(try storedClasses([Data([1])], [Data()]) == ["text"])
    #expect(try storedClasses([UInt64.max]) == ["text"])
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

  @Test func `enumerations are their raw values, or JSON with a payload`() throws {
    enum Color: String, Codable { case red, green }
    enum Level: Int, Codable { case low = -1, high = 1 }
    enum Shape: Codable, Equatable {
      case point
      case circle(radius: Double)
      case polygon([Int], closed: Bool)
    }
    #expect(try storedClasses(Color.red, .green) == ["text"])
    #expect(try storedClasses(Level.low, .high) == ["integer"])
    #expect(
      try storedClasses(Shape.point, .circle(radius: 1), .polygon([1], closed: true)) == ["text"])
  }

  @Test func `optionals of every kind are NULL or their value`() throws {
    enum Color: String, Codable { case red }
    #expect(try storedClasses(Int?.none, 1) == ["null", "integer"])
    #expect(try storedClasses(String?.none, "") == ["null", "text"])
    #expect(try storedClasses(Color?.none, .red) == ["null", "text"])
    #expect(try storedClasses([Int]?.none, []) == ["null", "text"])
    #expect(
      try storedClasses(Date?.none, Date(timeIntervalSinceReferenceDate: 0)) == ["null", "text"])
    #expect(try storedClasses(Data?.none, Data()) == ["null", "blob"])
    #expect(try storedClasses([Int?]?.none, [nil, 1]) == ["null", "text"])
  }

  @Test func `single values in wrappers are what they wrap`() throws {
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
    #expect(try storedClasses(Meters(1.5)) == ["real"])
    #expect(try storedClasses(Meters?.none, Meters(1)) == ["null", "real"])
    #expect(try storedClasses(Day(rawValue: Date(timeIntervalSinceReferenceDate: 1))) == ["text"])
  }

  @Test func `an empty value is an empty object`() throws {
    struct Nothing: Codable, Equatable {}
    #expect(try storedClasses(Nothing()) == ["text"])
  }
}
