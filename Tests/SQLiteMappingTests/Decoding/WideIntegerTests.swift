import Conformance
import SQLiteCore
import SQLiteMapping
import Testing

@Suite(.everyEngine) struct WideIntegerTests {
  struct Wide: Record {
    var id: Int
    var number: Int128
  }

  struct Unsigned: Record {
    var id: Int
    var number: UInt128?
  }

  @Test func `128-bit integers throw because SQLite stores 64 bits`() throws {
    let database = try Database.fresh()
    #expect(throws: (any Error).self) {
      try database.write { try $0.insert(Wide(id: 1, number: 1)) }
    }
    #expect(throws: (any Error).self) {
      try database.write { try $0.insert(Unsigned(id: 1, number: 1)) }
    }
    #expect(try database.executeQuery("SELECT 1 FROM sqlite_schema WHERE name = 'Wide'") == [])
    let error = #expect(throws: RowDecodingError.self) {
      try database.read { try $0.fetch(.sql("SELECT 1 AS id, 1 AS number", as: Wide.self)) }
    }
    #expect(error?.description.contains("number") == true)
  }
}
