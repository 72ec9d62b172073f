import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

private struct Ticket: Record, Equatable {
  static let primaryKeyType = PrimaryKeyType.computedInt
  var id: Int?
  var text: String
}

private struct Token: Record, Equatable {
  static let primaryKeyType = PrimaryKeyType.uuid
  static var strategies: MappingStrategies {
    var strategies = MappingStrategies()
    strategies.uuids = .blob
    return strategies
  }
  var id: UUID?
  var text: String
}

private struct Badge: Record, Equatable {
  static let primaryKeyType = PrimaryKeyType.uuid
  static var strategies: MappingStrategies {
    var strategies = MappingStrategies()
    strategies.uuids = .lowercaseText
    return strategies
  }
  var id: UUID?
  var text: String
}

private struct Word: Record, Equatable {
  static let primaryKey = "text"
  var text: String
  var count: Int
}

private struct Seat: Record, Equatable {
  static let primaryKeys = ["row", "number"]
  var row: String
  var number: Int
  var guest: String?
}

private struct Account: Record, Equatable {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.unique("email"), .indexed("name")]
  var id: Int?
  var email: String
  var name: String
}

private struct Declared: Record, Equatable {
  typealias PrimaryKey = UUID
  static let primaryKeyType = PrimaryKeyType.uuid
  var id: UUID?
}

@Suite(.everyEngine) struct PrimaryKeyTests {
  let database: Database

  init() throws { database = try Database.fresh() }

  @Test func `lookups accept keys of the declared type`() async throws {
    let id = try #require(try await database.write { try $0.update(Declared()) }.id)
    #expect(
      try await database.readBriefly { try $0.object(of: Declared.self, ifPresent: id) }
        == Declared(id: id))
    #expect(try await database.readBriefly { try $0.has(of: Declared.self, primary: id) })
    #expect(try await database.write { try $0.remove(of: Declared.self, primary: id) })
  }

  @Test func `keys that another program wrote in lowercase are found, updated and removed`() throws
  {
    let text = "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"
    let id = try #require(UUID(uuidString: text))
    try database.executeMultipleChanges(
      "CREATE TABLE Badge (id TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL)")
    try database.executeChange("INSERT INTO Badge VALUES (\(text), 'a')")

    var badge = try #require(try database.fetch(Badge.all).first)
    #expect(badge == Badge(id: id, text: "a"))
    badge.text = "b"
    let saved = badge
    try database.write { try $0.update(saved) }
    let rows = try database.rows("SELECT id || text FROM Badge", as: String.self)
    #expect(rows == [text + "b"])
    #expect(try database.read { try $0.object(of: Badge.self, primary: id) } == saved)
    #expect(try database.write { try $0.remove(of: Badge.self, primary: id) })

    try database.write { try $0.update(Badge(text: "c")) }
    let key = try database.rows("SELECT id FROM Badge", as: String.self)
    #expect(key == key.map { $0.lowercased() })
  }

  @Test func `a computed key is one more than the greatest key`() throws {
    #expect(try database.write { try $0.update(Ticket(text: "a")) }.id == 1)
    #expect(try database.write { try $0.update(Ticket(id: 10, text: "b")) }.id == 10)
    #expect(try database.read { try $0.makeKey(for: Ticket.self) } == .integer(11))
    #expect(try database.write { try $0.update(Ticket(text: "c")) }.id == 11)
    try database.write { try $0.remove(of: Ticket.self, primary: 11) }
    #expect(
      try database.write { try $0.insert(contentsOf: [Ticket(text: "d"), Ticket(text: "e")]) } == 2)
    let ids = try database.read { try $0.objects(of: Ticket.self, orderedBy: .column("id")) }.map(
      \.id)
    #expect(ids == [1, 10, 11, 12])
  }

  @Test func `a missing UUID key is generated and stored by the strategy`() throws {
    let token = try database.write { try $0.update(Token(text: "a")) }
    let id = try #require(token.id)
    #expect(try database.read { try $0.object(of: Token.self, ifPresent: id) } == token)
    #expect(try database.read { try $0.has(of: Token.self, primary: id) })
    #expect(try database.rows("SELECT typeof(id) FROM Token", as: String.self) == ["blob"])
    try database.write { try $0.insert(contentsOf: [Token(text: "b"), Token(text: "c")]) }
    #expect(Set(try database.read { try $0.objects(of: Token.self) }.map(\.id)).count == 3)
  }

  @Test func `a key that the caller assigns is the table's primary key`() throws {
    try database.write { try $0.update(Word(text: "a", count: 1)) }
    try database.write { try $0.update(Word(text: "a", count: 2)) }
    #expect(try database.read { try $0.objects(of: Word.self) } == [Word(text: "a", count: 2)])
    #expect(try database.read { try $0.makeKey(for: Word.self) } == nil)
  }

  @Test func `a missing key that isn't generated throws`() throws {
    struct Loose: Record { var id: String? }
    #expect(throws: SQLiteError.self) { try database.write { try $0.update(Loose(id: nil)) } }
    try database.write { try $0.update(Loose(id: "a")) }
    #expect(throws: SQLiteError.self) { try database.write { try $0.update(Loose(id: nil)) } }
    #expect(try database.read { try $0.count(of: Loose.self) } == 1)
  }

  @Test func `a composite key identifies rows`() throws {
    try database.write { try $0.update(Seat(row: "A", number: 1, guest: nil)) }
    try database.write { try $0.update(Seat(row: "A", number: 2, guest: "Bo")) }
    try database.write { try $0.update(Seat(row: "A", number: 1, guest: "Al")) }
    #expect(try database.read { try $0.object(of: Seat.self, ifPresent: "A", 1) }?.guest == "Al")
    #expect(try database.read { try $0.count(of: Seat.self) } == 2)
    #expect(try database.write { try $0.remove(Seat(row: "A", number: 2, guest: nil)) })
    #expect(try database.read { try $0.has(of: Seat.self, primary: "A", 2) } == false)
    #expect(throws: SQLiteError.self) {
      try database.read { try $0.object(of: Seat.self, ifPresent: "A") }
    }
  }

  @Test func `a row found by another unique property keeps its key`() throws {
    let first = try database.write { try $0.update(Account(email: "a@b.c", name: "Al")) }
    let again = try database.write {
      try $0.update(Account(email: "a@b.c", name: "Bo"), matching: ["email"])
    }
    #expect(again == Account(id: first.id, email: "a@b.c", name: "Bo"))
    let other = try database.write {
      try $0.update(Account(email: "d@e.f", name: "Di"), matching: ["email"])
    }
    #expect(other.id != first.id)
    #expect(throws: SQLiteError.self) {
      try database.write { try $0.update(Account(email: "x", name: "y"), matching: ["name"]) }
    }
  }

  @Test func `a unique property rejects a second row, and an index is created`() throws {
    try database.write { try $0.update(Account(email: "a", name: "x")) }
    #expect(throws: SQLiteError.self) {
      try database.write { try $0.update(Account(email: "a", name: "y")) }
    }
    let plan = try database.executeQuery("EXPLAIN QUERY PLAN SELECT * FROM Account WHERE name = ''")
    #expect(plan.first?["detail"]?.asString()?.contains("Account(name)") == true)
  }

  @Test func `updating a row doesn't delete rows that reference it`() throws {
    try database.write { try $0.update(Account(id: 1, email: "a", name: "x")) }
    try database.executeMultipleChanges(
      """
      CREATE TABLE letter (account INTEGER REFERENCES Account (id) ON DELETE CASCADE);
      INSERT INTO letter VALUES (1);
      """)
    try database.write { try $0.update(Account(id: 1, email: "b", name: "y")) }
    #expect(try database.rows("SELECT count(*) FROM letter", as: Int.self) == [1])
  }

  @Test func `two types can't claim the same table`() throws {
    struct Other: Record {
      static var tableName: String { "WORD" }
      var id: Int
    }
    try database.write { try $0.update(Word(text: "a", count: 1)) }
    let error = #expect(throws: SQLiteError.self) {
      try database.write { try $0.update(Other(id: 1)) }
    }
    #expect(error?.message.contains("tableName") == true)
  }
}
