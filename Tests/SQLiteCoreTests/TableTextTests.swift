import Conformance
import SQLiteCore
import Testing

/// Tests of changing a column's constraint in the SQL of a handwritten table.
@Suite(.everyEngine) struct TableTextTests {
  /// Returns the table's SQL after a change, or nil if it couldn't be changed.
  private func text(
    _ sql: String, _ change: (inout TableText) -> Bool
  ) throws -> String? {
    let database = try Database.fresh()
    return try database.write { connection in
      try connection.executeChange("CREATE TABLE p (id INTEGER PRIMARY KEY)")
      try connection.executeChange(SQL(unchecked: sql))
      guard try connection.rewriteTable("t", change) else { return nil }
      #expect(try connection.rows("PRAGMA integrity_check", as: String.self) == ["ok"])
      return try connection.firstRow(
        "SELECT sql FROM sqlite_schema WHERE name = 't'", as: String.self)
    }
  }

  @Test func `removing NOT NULL removes its name and keeps the following CHECK`() throws {
    let changed = try text(
      "CREATE TABLE t (a INT CONSTRAINT must /* ! */ NOT NULL ON CONFLICT FAIL CHECK (a NOT NULL), b)"
    ) { $0.setNotNull("a", false) }
    #expect(changed == "CREATE TABLE t (a INT  CHECK (a NOT NULL), b)")
  }

  @Test func `CHECK constraints, collations and comments are preserved`() throws {
    let start = "CREATE TABLE t ( -- mine\n  a TEXT COLLATE NOCASE CHECK (a IS NOT NULL) /* a */"
    let end = ", [b c] INT REFERENCES p (id) ON UPDATE SET NULL -- to p\n, CHECK (a <> 'not null'))"
    #expect(
      try text(start + end) { $0.setNotNull("A", true) }
        == "CREATE TABLE t ( -- mine\n  a TEXT COLLATE NOCASE CHECK (a IS NOT NULL) NOT NULL /* a */"
        + end)
    #expect(
      try text(start + end) { $0.setDeleteRule("b c", .cascade) }
        == start + end.replacing("p (id)", with: "p (id) ON DELETE CASCADE"))
    #expect(try text(start + end) { $0.setNotNull("c", true) } == nil)
  }
}
