import Conformance
import SQLiteCore
import SQLiteMapping
import Testing

/// Tests of records with doubly optional properties. They are rejected because NULL can represent
/// only one of the two nil values.
@Suite(.everyEngine) struct NestedOptionalRecordTests {
  private struct Twice: Record {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    var id: Int?
    var x: Double??
  }

  private struct Once: Record, Equatable {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    var id: Int?
    var list: [Int?]?
  }

  let database: Database

  init() throws { database = try Database.fresh() }

  @Test(arguments: [false, true])
  func `a doubly optional property throws an error that names it`(tableExists: Bool) throws {
    if tableExists {
      try database.executeChange("CREATE TABLE Twice (id INTEGER PRIMARY KEY, x REAL)")
    }
    for value: Double?? in [.none, .some(.none), 1] {
      let error = #expect(throws: SQLiteError.self) {
        try database.write { try $0.insert(Twice(id: nil, x: value)) }
      }
      #expect(error?.message.contains("“x” is an optional of an optional") == true)
    }
    #expect(try database.read { try $0.existingTables() }.contains("Twice") == tableExists)
  }

  @Test func `optional elements of a collection survive a round trip`() throws {
    let saved = try database.write { try $0.insert(Once(id: nil, list: [1, nil])) }
    #expect(try database.read { try $0.object(of: Once.self, ifPresent: 1) } == saved)
  }
}
