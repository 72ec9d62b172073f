import Conformance
import SQLiteCore
import SQLiteMapping
import SQLiteSchema
import Testing

// The code blocks of SQLiteSchema's documentation and of the README, word for word.
@Suite(.everyEngine) struct ReadmeSchemaTests {
  let database: Database

  init() throws {
    database = try Database.fresh()
    try database.executeMultipleChanges(
      """
      CREATE TABLE City (
        id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, size TEXT, mayor TEXT, CHECK (length(name) < 40));
      CREATE INDEX big ON City (size) WHERE size > 5;
      INSERT INTO City VALUES (3, 'Ulm', '12', 'Ann'), (4, 'Bonn', '30', 'Bob');
      """)
  }

  @Test func `the overview example runs`() throws {
    let schema = try database.schemaModel()
    for table in schema.tables { print(table.name.name.text, table.definition?.checks ?? []) }

    try database.migrate([
      Migration(
        "sizes are numbers",
        .changeType("size", to: "REAL", in: "City"),
        .setNotNull("size", in: "City", default: .real(0)),
        .addConstraint("CONSTRAINT positive CHECK (size >= 0)", in: "City"))
    ])
    #expect(try database.schemaModel().table("City")?.checks.count == 2)
  }

  @Test func `a schema model is read`() throws {
    let schema = try database.schemaModel()
    let city = try #require(schema.table("City"))
    print(city.checks)  // [length(name) < 40]
    print(city.columns[1].collation?.text ?? "none")  // NOCASE
    for index in schema.indexes(on: "City") { print(index.name.name, index.where ?? "all rows") }
    #expect(city.checks.map(\.description) == ["length(name) < 40"])
  }

  @Test func `two schemas are compared`() throws {
    let wanted = try Database.fresh()
    for change in try database.schemaChanges(to: wanted.schemaModel()) {
      print(change, change.statement?.printed() ?? "by rebuilding the table")
    }
    #expect(try database.schemaChanges(to: wanted.schemaModel()).count == 2)
  }

  @Test func `a plan is shown`() throws {
    let migrations = [Migration("positive sizes", .addConstraint("CHECK (size > 0)", in: "City"))]
    print(try database.schemaPlan(of: migrations))
    // positive sizes:
    //   add CHECK (size > 0) to “City”
    // = City gets CHECK (size > 0)
    #expect(
      try database.schemaPlan(of: migrations).description
        == "positive sizes:\n  add CHECK (size > 0) to “City”\n= City gets CHECK (size > 0)")
  }

  @Test func `a table is changed`() throws {
    try database.migrate([
      Migration(
        "tidy cities",
        .changeType("size", to: "REAL", in: "City"),
        .dropConstraint("CHECK (length(name) < 40)", in: "City"),
        .addConstraint("COLLATE NOCASE", of: "mayor", in: "City"),
        .reorder(["name"], in: "City"))
    ])
    #expect(try database.schemaModel().table("City")?.checks.isEmpty == true)
  }

  @Test func `an error names the rows that violate a constraint`() throws {
    try database.executeChange("DELETE FROM City WHERE size < '2'")
    try database.executeChange("INSERT INTO City (id, size) VALUES (3, 12)")
    do {
      try database.migrate([Migration("big", .addConstraint("CHECK (size > 20)", in: "City"))])
    } catch let error as RebuildError {
      print(error)
      // the table “City” cannot be changed: CHECK constraint failed: size > 20 by the rows with rowid 3
      print(error.rowIDs)  // [3]
    }
    try database.executeChange("UPDATE City SET size = 12 WHERE id = 3")
    let error = #expect(throws: RebuildError.self) {
      try database.migrate([Migration("big", .addConstraint("CHECK (size > '20')", in: "City"))])
    }
    #expect(error?.rowIDs == [3])
    #expect(
      error?.description
        == "the table “City” cannot be changed: CHECK constraint failed: size > '20' by the rows with rowid 3"
    )
  }
}
