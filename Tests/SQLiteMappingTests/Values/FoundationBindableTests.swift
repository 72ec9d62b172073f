import Conformance
import SQLiteCore
import SQLiteMapping
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite(.everyEngine) struct FoundationBindableTests {
  let database: Database

  init() throws { database = try Database.fresh() }

  @Test func `every type survives a round trip in its default form`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 757_382_400.1)
    let data = Data([0, 1, 255])
    let uuid = UUID()
    let decimal = try #require(Decimal(string: "-12345678901234567890.5"))
    let url = try #require(URL(string: "https://example.org/a?b#c"))
    let duration = Duration(attoseconds: -1)
    let row = try database.rows(
      "SELECT \(date), \(data), \(uuid), \(decimal), \(url), \(duration)",
      as: Date.self, Data.self, UUID.self, Decimal.self, URL.self, Duration.self
    ).first
    let read = try #require(row)
    #expect(read == (date, data, uuid, decimal, url, duration))
  }

  @Test func `empty data is an empty blob`() throws {
    let row = try database.rows(
      "SELECT \(Data()), typeof(\(Data()))", as: Data.self, String.self
    ).first
    let read = try #require(row)
    #expect(read == (Data(), "blob"))
  }

  @Test func `nil is NULL`() throws {
    let nothing: Date? = nil
    let row = try database.rows("SELECT \(nothing)", as: Date?.self).first
    #expect(try #require(row) == nil)
  }

  @Test func `a value without a stored form throws before SQLite runs`() {
    let date = Date(timeIntervalSinceReferenceDate: .nan)
    #expect(throws: SQLiteError.self) { try database.rows("SELECT \(date)", as: Date.self).first }
    #expect(throws: SQLiteError.self) { try database.rows("SELECT 'x'", as: Date.self).first }
    #expect(throws: SQLiteError.self) { try database.rows("SELECT NULL", as: UUID.self).first }
  }
}
