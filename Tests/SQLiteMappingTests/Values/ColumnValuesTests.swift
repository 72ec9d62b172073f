import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

@Suite(.everyEngine) struct ColumnValuesTests {
  @Test func `a column is read as Foundation types`() throws {
    let date = Date(timeIntervalSince1970: 1_700_000_000.5)
    let uuid = UUID()
    let url = try #require(URL(string: "https://example.org/a?b=c"))
    let decimal = try #require(Decimal(string: "-12.50"))
    let database = try Database.fresh()
    let row = try #require(
      try database.executeQuery(
        "SELECT \(date), \(uuid), \(Data([1, 0])), \(decimal), \(url), NULL"
      ).first)
    #expect(row[0]?.asDate() == date)
    #expect(row[1]?.asUUID() == uuid)
    #expect(row[2]?.asData() == Data([1, 0]))
    #expect(row[3]?.asDecimal() == decimal)
    #expect(row[4]?.asURL() == url)
    #expect(row[5]?.asDate() == nil && row[5]?.asData() == nil)
    #expect(row[1]?.asDate() == nil && row[0]?.asUUID() == nil && row[0]?.asData() == nil)
    #expect(try row.get(0, as: Date.self) == date)
  }
}
