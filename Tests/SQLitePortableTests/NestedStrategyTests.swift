import Conformance
import Foundation
import SPON
import SQLiteCore
import SQLiteMapping
import SQLitePortable
import Testing

@Suite(.everyEngine) struct NestedStrategyTests {
  struct Address: Codable, Equatable {
    var city = "Seabrook"
    var zip: String?
  }

  struct Person: Record, Equatable {
    static let tableName = "People"
    static let primaryKey = "id"
    static let primaryKeyType = PrimaryKeyType.uuid
    static var strategies: MappingStrategies {
      var strategies = MappingStrategies()
      strategies.nested = .spon
      return strategies
    }

    var id = UUID().uuidString
    var addresses: [String: Address] = [:]
    var seen: [Date] = []
  }

  @Test func `nested values of a record are stored as SPON text`() throws {
    let database = try Database.fresh()
    let person = Person(
      addresses: ["home": Address(zip: "77586")], seen: [Date(timeIntervalSince1970: 0.25)])
    try database.write { try $0.update(person) }
    let row = try #require(
      try database.rows(
        "SELECT addresses, seen FROM People", as: String.self, String.self
      ).first)
    #expect(row.0 == "@obj:Dictionary<home=@obj:Address<city$=`Seabrook` zip$=`77586`>>")
    #expect(row.1 == "@array[`1970-01-01T00:00:00.25Z`#]")
    #expect(try database.read { try $0.object(of: Person.self, ifPresent: person.id) } == person)
  }
}
