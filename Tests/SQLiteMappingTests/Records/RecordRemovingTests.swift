import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

private struct Seat: Record, Equatable {
  static let primaryKeys = ["row", "number"]
  var row: String
  var number: Int
  var guest: String?
}

private struct Token: Record, Equatable {
  static let primaryKeyType = PrimaryKeyType.uuid
  static var strategies: MappingStrategies {
    var strategies = MappingStrategies()
    strategies.uuids = .blob
    return strategies
  }
  var id: UUID?
  var weight: Double
}

/// A record that encodes some of its columns as nested containers.
private struct Mark: Record {
  static var primaryKey: String { "id" }
  var id: Int
  var x = 0

  enum Keys: String, CodingKey { case id, place, list }
  enum PlaceKeys: String, CodingKey { case x }

  init(id: Int) { self.id = id }

  init(from decoder: any Decoder) throws {
    id = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .id)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    var place = container.nestedContainer(keyedBy: PlaceKeys.self, forKey: .place)
    try place.encode(x, forKey: .x)
    var list = container.nestedUnkeyedContainer(forKey: .list)
    try list.encode(x)
    try container.encode(id, forKey: .id)
  }
}

@Suite(.everyEngine) struct RecordRemovingTests {
  let database: Database

  init() throws { database = try Database.fresh() }

  @Test func `rows of several records are removed together, and missing ones don't count`()
    throws
  {
    let seats = (1...5).map { Seat(row: "A", number: $0, guest: $0 == 2 ? "Al" : nil) }
    try database.write { try $0.insert(contentsOf: seats) }
    let gone = [seats[0], seats[1], seats[0], Seat(row: "B", number: 3, guest: nil)]
    #expect(try database.write { try $0.remove(contentsOf: gone) } == 2)
    #expect(
      try database.read { try $0.objects(of: Seat.self, orderedBy: .column("number")) }
        == seats[2...].map(\.self))
    // A sequence that isn't an array.
    let others = Set([3, 4]).lazy.map { seats[$0] }
    #expect(try database.write { try $0.remove(contentsOf: others) } == 2)
    #expect(try database.read { try $0.count(of: Seat.self) } == 1)
  }

  @Test func `only the key selects the row, not the record's other values`() throws {
    let token = try database.write { try $0.update(Token(weight: 1)) }
    #expect(try database.read { try $0.has(Token(id: token.id, weight: .nan)) })
    #expect(try database.read { try $0.has(Token(id: UUID(), weight: 1)) } == false)
    #expect(try database.write { try $0.remove(Token(id: token.id, weight: .nan)) })
    #expect(try database.read { try $0.has(token) } == false)
  }

  @Test func `a record without a key doesn't exist`() throws {
    try database.write { try $0.update(Token(weight: 1)) }
    #expect(try database.read { try $0.has(Token(weight: 1)) } == false)
    #expect(try database.write { try $0.remove(Token(weight: 1)) } == false)
    #expect(
      try database.write { try $0.remove(contentsOf: [Token(weight: 1), Token(weight: 2)]) } == 0)
    #expect(try database.read { try $0.count(of: Token.self) } == 1)
  }

  @Test func `a record with a custom encoding is found by its key`() throws {
    try database.write { try $0.insert(contentsOf: [Mark(id: 1), Mark(id: 2)]) }
    #expect(try database.read { try $0.has(Mark(id: 2)) })
    #expect(try database.write { try $0.remove(contentsOf: [Mark(id: 2), Mark(id: 3)]) } == 1)
    #expect(try database.read { try $0.has(Mark(id: 2)) } == false)
  }

  @Test func `no record exists while the table is missing`() throws {
    let seat = Seat(row: "A", number: 1, guest: nil)
    #expect(try database.write { try $0.remove(contentsOf: [seat]) } == 0)
    #expect(try database.write { try $0.remove(seat) } == false)
    #expect(try database.read { try $0.has(seat) } == false)
  }

  @Test func `removing several records is atomic`() throws {
    let seats = (1...3).map { Seat(row: "A", number: $0, guest: nil) }
    try database.write { try $0.insert(contentsOf: seats) }
    try database.executeChange(
      """
      CREATE TRIGGER keep BEFORE DELETE ON Seat WHEN old.number = 2
      BEGIN SELECT raise(ABORT, 'taken'); END
      """)
    #expect(throws: SQLiteError.self) {
      let seats = (1...3).map { Seat(row: "A", number: $0, guest: nil) }
      try database.write { try $0.remove(contentsOf: seats) }
    }
    #expect(try database.read { try $0.count(of: Seat.self) } == 3)
  }
}
