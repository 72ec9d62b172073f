import SQLiteCore
import Testing
import TestSupport

/// Tests of manipulated schemas in files that are opened with `.untrusted`.
@Suite struct SchemaTrustTests {
  typealias Row = (type: String, name: String, table: String, page: Int, sql: String?)

  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func make(_ script: String, _ rows: [Row] = []) throws -> String {
    let path = folder.file()
    var options = Database.Options()
    options.allowsSchemaDamage = true
    let database = try Database(path: path, options: options)
    try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (7)")
    try database.executeMultipleChanges(SQL(unchecked: script))
    try database.withoutTransaction { connection in
      try connection.executeChange("PRAGMA writable_schema = 1")
      for row in rows {
        try connection.executeChange(
          "INSERT INTO sqlite_schema VALUES (\(row.type), \(row.name), \(row.table), \(row.page), \(row.sql))"
        )
      }
    }
    try database.close()
    return path
  }

  private func error(_ rows: Row...) throws -> SQLiteError? {
    let path = try make("", rows)
    return #expect(throws: SQLiteError.self) { _ = try Database(path: path, options: .untrusted) }
  }

  @Test(
    arguments: [
      ("hidden", "v", "CREATE VIEW v AS SELECT a FROM t"),
      ("VIEW", "v", "CREATE VIEW v AS SELECT a FROM t"),
      ("table", "v", "CREATE TRIGGER v AFTER INSERT ON t BEGIN SELECT 1; END"),
      ("index", "v", "CREATE TABLE v (a)"), ("view", "v", "CREATE INDEX v ON t (a)"),
      ("table", "v", "CREATE TABLE w (a)"),
      ("table", "v", "DROP TABLE t"),
      ("table", "v", "crazy"), ("table", "v", ""), ("table", "v", nil), ("view", "v", nil),
    ] as [(String, String, String?)])
  func `SQLite itself rejects a schema row whose type or SQL is wrong`(
    type: String, name: String, sql: String?
  ) throws {
    _ = try error((type, name, name, type == "view" ? 0 : 2, sql))
  }

  @Test(arguments: [
    "CREATE VIRTUAL TABLE v USING csv(filename='/etc/passwd')",
    "CREATE VIRTUAL TABLE v USING effect()",
    "CREATE VIRTUAL TABLE v USING dbstat", "CREATE VIRTUAL TABLE v USING fts5vocab(f, row)",
    "CREATE VIRTUAL TABLE v USING fts5(a, tokenize='trigram case_sensitive')",
    "CREATE VIRTUAL TABLE v USING fts5(a, TOKENIZE = \"porter trigram case_sensitive 1 case_sensitive\")",
    "CREATE VIRTUAL TABLE v USING fts5(a, tokenize = 'mine')",
    "CREATE VIRTUAL TABLE v USING fts5(a, tokenize = porter 'mine')",
    "CREATE VIRTUAL TABLE v USING fts4(a, tokenize=icu en_US)",
    "CREATE VIRTUAL TABLE v USING fts3(a, tokenize mine)",
  ])
  func `an unknown module or tokenizer throws an error that names the table`(sql: String) throws {
    #expect(try error(("table", "v", "v", 0, sql))?.message.contains("“v”") == true)
  }

  @Test(arguments: [
    "CREATE VIRTUAL TABLE v USING fts5(a", "CREATE VIRTUAL TABLE v",
    "CREATE VIRTUAL TABLE v USING fts5(a) garbage",
  ])
  func `a virtual table with invalid SQL throws`(sql: String) throws {
    _ = try error(("table", "v", "v", 0, sql))
  }

  @Test func `a valid schema is accepted`() throws {
    let path = try make(
      """
      CREATE TABLE "a ""b" (id INTEGER PRIMARY KEY AUTOINCREMENT, c TEXT UNIQUE);
      CREATE UNIQUE INDEX [i x] ON "a ""b" (lower(c)) WHERE c > '';
      CREATE VIEW IF NOT EXISTS main.v AS SELECT c FROM "a ""b" /* ; */;
      CREATE TEMP VIEW w AS SELECT 1;
      CREATE TRIGGER "tr" AFTER INSERT ON t BEGIN DELETE FROM t; SELECT 1; END;
      CREATE TABLE main.'quoted' (a, PRIMARY KEY (a)) WITHOUT ROWID;
      CREATE VIRTUAL TABLE f USING fts5(a, b UNINDEXED, tokenize = 'porter unicode61 remove_diacritics 0', content='');
      CREATE VIRTUAL TABLE g USING FTS5(a, tokenize="trigram case_sensitive 1");
      CREATE VIRTUAL TABLE h USING fts4(a, tokenize=unicode61 "tokenchars=-_", prefix="2,3");
      CREATE VIRTUAL TABLE i USING fts3;
      CREATE VIRTUAL TABLE k USING fts5(a, tokenize=ascii);
      CREATE VIRTUAL TABLE r USING rtree(id, x0, x1);
      ALTER TABLE t RENAME TO "new; name";
      INSERT INTO f (rowid, a) VALUES (1, 'one two');
      ANALYZE;
      """)
    let database = try Database(path: path, options: .untrusted)
    #expect(try database.rows("SELECT a FROM \"new; name\"", as: Int.self) == [7])
    #expect(try database.rows("SELECT rowid FROM f('ones')", as: Int.self) == [1])
    var more = Database.Options.untrusted
    more.allowedModules = ["fts5", "fts4"]
    #expect(throws: SQLiteError.self) { _ = try Database(path: path, options: more) }
    more.allowedModules?.formUnion(["fts3", "rtree"])
    _ = try Database(path: path, options: more)
    more.allowedModules = nil
    _ = try Database(path: path, options: more)
  }
}
