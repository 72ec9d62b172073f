import Conformance
import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// Two tables and a link table between their rows.
struct LinkFixture {
  let database: Database
  let table: LinkTable

  init(_ arrangement: LinkTable.Arrangement, owners: Int = 3, targets: Int = 50) throws {
    let table = LinkTable(
      "links", arrangement, from: .init(table: "own", key: "id"),
      to: .init(table: "far", key: "id"))
    database = try Database.fresh()
    self.table = table
    try database.write { connection in
      try connection.executeChange("CREATE TABLE own (id INTEGER PRIMARY KEY)")
      try connection.executeChange("CREATE TABLE far (id INTEGER PRIMARY KEY)")
      try connection.ensure(table.definition)
      var owner = try connection.statement("INSERT INTO own VALUES (?)")
      for id in 1...owners { try owner.run(id) }
      var target = try connection.statement("INSERT INTO far VALUES (?)")
      for id in 1...targets { try target.run(id) }
    }
  }

  /// Returns the targets of an owner's links, in order.
  func targets(of owner: Int64) throws -> [Int64] {
    try database.read { try $0.links(table, of: [owner]).map(\.target) }
  }

  /// Sets a list. Returns the number of rows that it wrote and of statements that it ran.
  func setList(of owner: Int64, to targets: [Int64]) throws -> (rows: Int, statements: Int) {
    try database.write { connection in
      let rows = try connection.firstRow("SELECT total_changes()", as: Int.self) ?? 0
      let statements = connection.statementCount
      try connection.setList(table, of: owner, to: targets)
      let used = connection.statementCount - statements
      let changed = try connection.firstRow("SELECT total_changes()", as: Int.self) ?? 0
      return (changed - rows, used)
    }
  }

  /// Returns the number of rows that violate a foreign key.
  func violations() throws -> Int {
    try database.read { try $0.executeQuery("PRAGMA foreign_key_check").count }
  }

  /// Returns SQLite's query plan.
  func plan(_ sql: SQL) throws -> String {
    try database.read { connection in
      try connection.executeQuery("EXPLAIN QUERY PLAN \(sql)")
        .map { "\($0["detail"]?.asString() ?? "")" }.joined(separator: "; ")
    }
  }
}
