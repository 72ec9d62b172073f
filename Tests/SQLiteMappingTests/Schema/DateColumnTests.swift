import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

private struct Meeting: Record, Equatable {
  static let tableName = "meeting"
  var id: Int
  var start: Date
  var end: Date?
}

private struct Label: Record {
  static let tableName = "meeting"
  var id: Int
  var start: String
  var end: String?
}

@Suite struct DateColumnTests {
  let database: Database

  init() throws {
    database = try Database.memory()
    try database.executeChange(
      "CREATE TABLE meeting (id INTEGER PRIMARY KEY, start DATETIME NOT NULL, \"end\" TIMESTAMP)")
  }

  @Test func `dates are stored as text in columns that are declared as DATETIME`() throws {
    let meeting = Meeting(id: 1, start: Date(timeIntervalSinceReferenceDate: 0.5), end: nil)
    let longer = Meeting(id: 2, start: Date(timeIntervalSinceReferenceDate: 1e9), end: Date())
    try database.write { try $0.insert([meeting, longer]) }
    #expect(try database.fetch(Meeting.ordered(by: .column("id"))) == [meeting, longer])
    #expect(try database.read { try $0.check(of: Meeting.self) }.isEmpty)
    #expect(
      try database.rows("SELECT DISTINCT typeof(start) FROM meeting", as: String.self) == ["text"])
  }

  @Test func `a string in such a column is rejected, because it may look like a number`() throws {
    let error = #expect(throws: SchemaError.self) {
      try database.write { try $0.insert(Label(id: 1, start: "007")) }
    }
    #expect(error?.differences.count == 2)
  }
}
