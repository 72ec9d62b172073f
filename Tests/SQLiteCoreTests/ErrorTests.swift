import Conformance
import SQLiteCore
import Testing

@Suite(.everyEngine) struct ErrorTests {
  let database: Database

  init() throws {
    database = try .fresh()
    try database.executeMultipleChanges(
      """
      CREATE TABLE city (name TEXT NOT NULL, country TEXT, price REAL CHECK (price > 0.5),
        UNIQUE (name, country));
      CREATE TABLE note (city REFERENCES city (rowid));
      CREATE TABLE strict (a INTEGER) STRICT;
      INSERT INTO city VALUES ('Rome', 'Italy', 1);
      """)
  }

  @Test func `a syntax error contains its offset`() throws {
    let error = sqliteError { _ = try database.executeQuery("SELECT * FORM city") }
    #expect(error?.code == .error)
    #expect(error?.sql == "SELECT * FORM city")
    #expect(error?.offset == 9)
    #expect(
      error?.description == "SQLite error 1: near \"FORM\": syntax error in: SELECT *  ⟶ FORM city")
  }

  @Test func `constraint errors name the table and columns that SQLite reports`() throws {
    let unique = sqliteError {
      try database.executeChange("INSERT INTO city VALUES ('Rome', 'Italy', 2)")
    }
    #expect(unique?.code == .uniqueConstraint)
    #expect(unique?.constraint?.table == "city")
    #expect(unique?.constraint?.columns == ["name", "country"])
    let null = sqliteError { try database.executeChange("INSERT INTO city (country) VALUES ('x')") }
    #expect(null?.code == .notNullConstraint)
    #expect(null?.constraint?.columns == ["name"])
    let check = sqliteError {
      try database.executeChange("INSERT INTO city VALUES ('Oslo', 'Norway', 0)")
    }
    #expect(check?.code == .checkConstraint)
    #expect(check?.constraint == nil)
    let type = sqliteError { try database.executeChange("INSERT INTO strict VALUES ('x')") }
    #expect(type?.code == .dataTypeConstraint)
  }

  @Test func `the description never contains bound values`() throws {
    let secret = "s3cr3t"
    let error = sqliteError {
      try database.executeChange("INSERT INTO city VALUES ('Rome', 'Italy', \(secret))")
    }
    #expect(error != nil)
    #expect(error?.description.contains(secret) == false)
  }

  @Test func `a primary code matches its extended ones`() throws {
    #expect(ResultCode.constraint ~= .uniqueConstraint)
    #expect(!(ResultCode.uniqueConstraint ~= .constraint))
    #expect(ResultCode(rawValue: 0x7f13).primary == .constraint)
    #expect(ResultCode.busy.message == "database is locked")
    #expect(ResultCode(rawValue: 4711).rawValue == 4711)
  }
}
