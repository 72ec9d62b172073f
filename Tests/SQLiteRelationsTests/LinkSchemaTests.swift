import Conformance
import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Testing

@Suite(.everyEngine) struct LinkSchemaTests {
  let database: Database

  init() throws {
    database = try Database.fresh()
    try database.executeMultipleChanges(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY);
      INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (10), (20), (30);
      """)
  }

  private func table(_ arrangement: LinkTable.Arrangement) -> LinkTable {
    LinkTable(
      "link", arrangement, from: .init(table: "a", key: "id"), to: .init(table: "b", key: "id"))
  }

  @Test(arguments: [LinkTable.Arrangement.list, .set, .dictionary])
  func `links are deleted with either end and found from both`(
    arrangement: LinkTable.Arrangement
  ) throws {
    let table = table(arrangement)
    try database.write { connection in
      try connection.ensure(table.definition)
      switch arrangement {
      case .list: try connection.setList(table, of: 1, to: [20, 10])
      case .set: try connection.setSet(table, of: 1, to: [10, 20])
      case .dictionary:
        try connection.setDictionary(table, of: 1, to: [.text("x"): 20, .text("y"): 10])
      }
    }
    let found = try database.read { try $0.links(table, of: [1, 2]).map(\.target) }
    #expect(found == (arrangement == .set ? [10, 20] : [20, 10]))
    try database.executeChange("DELETE FROM b WHERE id = 20")
    #expect(try database.read { try $0.links(table, of: [1]).map(\.target) } == [10])
    try database.executeChange("DELETE FROM a WHERE id = 1")
    #expect(try database.read { try $0.links(table, of: [1]) }.isEmpty)
    let plan = try database.executeQuery(
      "EXPLAIN QUERY PLAN SELECT owner FROM link WHERE target = 10")
    #expect(plan.first?["detail"]?.asString()?.contains("INDEX") == true)
  }

  @Test func `a link to a missing row throws when the transaction commits`() throws {
    let table = table(.set)
    try database.write { try $0.ensure(table.definition) }
    #expect(throws: SQLiteError.self) {
      try database.write { try $0.setSet(table, of: 1, to: [99]) }
    }
    #expect(try database.read { try $0.links(table, of: [1]) }.isEmpty)
  }
}
