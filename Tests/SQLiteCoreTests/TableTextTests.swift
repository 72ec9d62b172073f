import Conformance
import SQLiteCore
import Testing

/// What becomes of a table made by hand when a column's constraint changes in its text.
@Suite(.everyEngine) struct TableTextTests {
  /// The table's text after a change.
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

  @Test func `a name goes with its NOT NULL, and not to the CHECK behind it`() throws {
    let changed = try text(
      "CREATE TABLE t (a INT CONSTRAINT must /* ! */ NOT NULL ON CONFLICT FAIL CHECK (a NOT NULL), b)"
    ) { $0.setNotNull("a", false) }
    #expect(changed == "CREATE TABLE t (a INT  CHECK (a NOT NULL), b)")
  }

  @Test func `checks, collations and comments stay`() throws {
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
