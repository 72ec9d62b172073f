import Conformance
import SQLiteCore
import Testing

@Suite(.everyEngine) struct QueryPlanTests {
  let database: Database

  init() throws {
    database = try Database.fresh()
    try database.executeMultipleChanges(
      """
      CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, body TEXT, date TEXT);
      CREATE INDEX "note title" ON note (title, date);
      CREATE TABLE tag (name TEXT PRIMARY KEY, note INTEGER) WITHOUT ROWID;
      CREATE VIRTUAL TABLE words USING fts5 (word);
      CREATE TABLE plain (a, b);
      """)
  }

  private func reading(_ sql: SQL) throws -> QueryPlan.Reading? {
    try database.read { try $0.explain(sql) }.readings.first
  }

  @Test func `a table without an index is scanned`() throws {
    let plan = try database.read { try $0.explain("SELECT * FROM note AS n WHERE body = 'x'") }
    #expect(plan.scannedTables == ["n"])
    #expect(plan.readings.map(\.index) == [.none])
    #expect(plan.steps.map(\.detail) == ["SCAN n"])
    #expect(plan.usedIndexes.isEmpty)
  }

  @Test func `a plan reports every way to find rows`() throws {
    let byID = try reading("SELECT * FROM note WHERE id = \(7)")
    #expect(byID?.index == .rowID)
    #expect(byID?.terms == ["rowid=?"])
    let byTitle = try reading("SELECT * FROM note WHERE title = 'x' AND date > 'y'")
    #expect(byTitle?.index == .named("note title", isCovering: false))
    #expect(byTitle?.terms == ["title=?", "date>?"])
    #expect(byTitle?.isSearch == true)
    #expect(byTitle?.table == "note")
    let covered = try reading("SELECT date FROM note WHERE title = 'x'")
    #expect(covered?.index == .named("note title", isCovering: true))
    #expect(try reading("SELECT * FROM tag WHERE name = 'x'")?.index == .primaryKey)
    let match = try reading("SELECT * FROM words WHERE words MATCH 'x'")
    guard case .virtual = match?.index else {
      Issue.record("\(String(describing: match))")
      return
    }
    #expect(match?.table == "words")
    let plan = try database.read {
      try $0.explain("SELECT * FROM plain x JOIN plain y ON x.a = y.b")
    }
    #expect(plan.readings.map(\.index) == [.none, .automatic])
    #expect(plan.scannedTables == ["x"])
  }

  @Test func `a plan reports sorts with their reasons`() throws {
    let query: SQL = "SELECT DISTINCT body FROM note ORDER BY date"
    #expect(try database.read { try $0.explain(query) }.sorts.sorted() == ["DISTINCT", "ORDER BY"])
    #expect(try database.read { try $0.explain("SELECT id FROM note ORDER BY id") }.sorts == [])
    #expect(
      try database.read { try $0.explain("SELECT count(*) FROM note GROUP BY body") }.sorts == [
        "GROUP BY"
      ])
  }

  @Test func `subqueries are nested steps of a plan`() throws {
    let plan = try database.read {
      try $0.explain(
        """
        SELECT (SELECT max(date) FROM note m WHERE m.title = n.title) FROM note n
        WHERE id IN (SELECT note FROM tag) UNION SELECT name FROM tag
        """)
    }
    #expect(plan.steps.count == 1)
    #expect(plan.steps.first?.kind == .compound)
    #expect(plan.allSteps.count(where: { $0.kind == .subquery }) == 2)
    #expect(plan.allSteps.count > plan.steps.count + plan.steps[0].steps.count)
    #expect(Set(plan.readings.map(\.table)) == ["n", "m", "tag"])
    #expect(plan.description.split(separator: "\n").count == plan.allSteps.count)
    // Newer versions sort both parts and merge them.
    let isNewer = Capabilities.versionNumber > 3_040_001
    let first = plan.description.prefix { $0 != "\n" }
    #expect(first == "COMPOUND QUERY" || isNewer && first == "MERGE (UNION)")
  }

  @Test func `each term of an OR is searched separately`() throws {
    let plan = try database.read {
      try $0.explain("SELECT * FROM note WHERE id = 1 OR title = 'x'")
    }
    #expect(plan.steps.map(\.kind) == [.anyTerm])
    #expect(plan.readings.map(\.isSearch) == [true, true])
    #expect(plan.usedIndexes == ["note title"])
  }

  @Test func `names that contain keywords of a plan are parsed as names`() throws {
    try database.executeMultipleChanges(
      """
      CREATE TABLE "a USING INDEX b (c=?)" (x);
      CREATE INDEX "i (x)" ON "a USING INDEX b (c=?)" (x);
      """)
    let sql: SQL = "SELECT rowid FROM \(identifier: "a USING INDEX b (c=?)") WHERE x = 1"
    let reading = try reading(sql)
    #expect(reading?.index == .named("i (x)", isCovering: true))
    #expect(reading?.table == "a USING INDEX b (c=?)")
  }

  @Test func `a statement that writes can be explained in a write`() throws {
    let sql: SQL = "DELETE FROM note WHERE title = 'x'"
    #expect(try database.write { try $0.explain(sql).usedIndexes } == ["note title"])
    #expect(try database.rows("SELECT count(*) FROM note", as: Int.self) == [0])
    #expect(throws: SQLiteError.self) { try database.read { try $0.explain("SELECT nothing") } }
  }

  @Test func `explain can be awaited`() async throws {
    #expect(
      try await database.read { try $0.explain("SELECT * FROM plain") }.scannedTables == ["plain"])
  }
}
