import Foundation
import MagicData
import Synchronization
import Testing
import TestSupport

/// Tests databases with a schema that attacks its reader.
@Suite struct HostileSchemaTests {
  /// Counts the calls of a function that the attacker's schema calls.
  private final class Effect: Sendable {
    let count = Atomic(0)
  }

  /// An attack: the attacker's schema, the victim's query, and whether the query may return data,
  /// which is allowed if the attack has no effect.
  struct Attack: Sendable, CustomTestStringConvertible {
    let name: String
    let schema: String
    let query: String
    var mayAnswer = false
    var testDescription: String { name }

    init(
      _ name: String, _ schema: String, _ query: String = "SELECT * FROM v", mayAnswer: Bool = false
    ) {
      (self.name, self.schema, self.query, self.mayAnswer) = (name, schema, query, mayAnswer)
    }
  }

  static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
  static let attacks: [Attack] = [
    Attack("a view calls a function", "CREATE VIEW v AS SELECT effect()"),
    Attack(
      "a view calls a function in a subquery", "CREATE VIEW v AS SELECT * FROM (SELECT effect())"),
    Attack("a view filters by a function", "CREATE VIEW v AS SELECT 1 FROM t WHERE effect()"),
    Attack("a view sorts by a function", "CREATE VIEW v AS SELECT a FROM t ORDER BY effect()"),
    Attack(
      "a view of a view calls a function",
      "CREATE VIEW u AS SELECT effect(); CREATE VIEW v AS SELECT * FROM u"),
    Attack(
      "a generated column calls a function",
      "CREATE TABLE v (a, b AS (effect())); INSERT INTO v (a) VALUES (1)", "SELECT b FROM v"),
    Attack(
      "an index calls a function", "CREATE TABLE v (a); CREATE INDEX i ON v (effect())",
      "SELECT a FROM v; PRAGMA integrity_check", mayAnswer: true),
    Attack(
      "a partial index calls a function",
      "CREATE TABLE v (a); CREATE INDEX i ON v (a) WHERE effect()",
      "SELECT a FROM v; PRAGMA integrity_check", mayAnswer: true),
    Attack("a view loads a library", "CREATE VIEW v AS SELECT load_extension('/tmp/evil')"),
    Attack("a query loads a library", "", "SELECT load_extension('/tmp/evil')"),
    Attack("a view reads a file", "CREATE VIEW v AS SELECT readfile('/etc/passwd')"),
    Attack("a view writes a file", "CREATE VIEW v AS SELECT writefile('/tmp/evil', 'x')"),
    Attack("a view reads a pointer", "CREATE VIEW v AS SELECT fts3_tokenizer('simple')"),
    Attack("a view never ends", "CREATE VIEW v AS \(endless) SELECT i FROM n"),
    Attack("a view counts endless rows", "CREATE VIEW v AS \(endless) SELECT count(*) FROM n"),
    Attack("a view sorts endless rows", "CREATE VIEW v AS \(endless) SELECT i FROM n ORDER BY -i"),
    Attack(
      "a view joins endless rows",
      "CREATE VIEW v AS \(endless) SELECT count(*) FROM n a, n b, n c"),
    Attack("a view allocates too much memory", "CREATE VIEW v AS SELECT hex(zeroblob(100000000))"),
    Attack(
      "a view allocates memory with printf",
      "CREATE VIEW v AS SELECT length(printf('%.*c', 500000000, 'x'))",
      mayAnswer: true),
    Attack(
      "a view allocates memory with replace",
      "CREATE VIEW v AS SELECT replace(hex(zeroblob(1000000)), '0', hex(zeroblob(1000)))"),
    Attack(
      "a view doubles text endlessly",
      "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 'x' UNION ALL SELECT i || i FROM n) SELECT max(i) FROM n"
    ),
    Attack(
      "a LIKE pattern is slow",
      "CREATE VIEW v AS SELECT 1 WHERE hex(zeroblob(500)) LIKE '\(String(repeating: "%0", count: 600))1'"
    ),
    Attack(
      "a GLOB pattern is slow",
      "CREATE VIEW v AS SELECT 1 WHERE hex(zeroblob(500)) GLOB '\(String(repeating: "*0", count: 600))1'"
    ),
    Attack(
      "a view is deeply nested",
      "CREATE VIEW v AS SELECT 1\(String(repeating: " + 1", count: 150)) FROM t"),
    Attack(
      "a constraint calls a function when the file is checked",
      "CREATE TABLE v (a CHECK (effect())); INSERT INTO v VALUES (1)",
      "PRAGMA integrity_check; PRAGMA quick_check; SELECT * FROM v", mayAnswer: true),
    Attack(
      "a view has too many parts",
      "CREATE VIEW v AS \(Array(repeating: "SELECT 1", count: 60).joined(separator: " UNION ALL "))"
    ),
    Attack(
      "a program is too long",
      "CREATE VIEW v AS SELECT \((0..<1_900).map { "abs(\($0) + random())" }.joined(separator: ", ")) UNION SELECT \((0..<1_900).map { "abs(\($0) + random())" }.joined(separator: ", "))",
      mayAnswer: true),
    Attack("a file is attached", "", "ATTACH '/tmp/evil.db' AS x"),
    Attack("a file is vacuumed into", "", "VACUUM INTO '/tmp/evil.db'"),
    Attack(
      "the schema is made writable", "", "PRAGMA writable_schema = 1; DELETE FROM sqlite_schema"),
    Attack("a string is in double quotes", "", "SELECT \"nope\""),
    Attack("a virtual table reads pages", "CREATE VIEW v AS SELECT * FROM sqlite_dbpage"),
    Attack(
      "a view reads pragmas", "CREATE VIEW v AS SELECT * FROM pragma_database_list",
      mayAnswer: true),
    Attack(
      "JSON is deeply nested",
      "CREATE VIEW v AS SELECT json('\(String(repeating: "[", count: 5_000))')"),
    Attack("a row is written", "", "INSERT INTO t VALUES (2)"),
    Attack(
      "a shadow table is written", "CREATE VIRTUAL TABLE f USING fts5 (a)",
      "INSERT INTO f_data VALUES (1, x'00')"),
  ]

  /// Schema entries that can only be created by writing to the schema table.
  static let handmade: [(name: String, type: String, table: String, page: Int, sql: String)] = [
    ("v", "view", "v", 0, "CREATE VIEW v AS SELECT * FROM v"),
    ("v", "table", "v", 0, "CREATE VIRTUAL TABLE v USING effect()"),
    ("v", "table", "v", 0, "CREATE VIRTUAL TABLE v USING csv(filename='/etc/passwd')"),
    ("v", "table", "v", 1, "CREATE TABLE v (type, name, tbl_name, rootpage, sql)"),
    ("v", "table", "v", 2, "CREATE TABLE v (a PRIMARY KEY) WITHOUT ROWID"),
    ("v", "table", "v", 9_999_999, "CREATE TABLE v (a)"),
    ("v", "table", "v", -1, "CREATE TABLE v (a)"),
    ("v", "index", "t", 2, "CREATE INDEX v ON t (a)"),
    ("v", "table", "v", 2, "CREATE TABLE v (a); DROP TABLE t"),
    ("v", "table", "v", 2, "DROP TABLE t"),
    ("v", "table", "v", 2, "garbage"),
    ("v", "table", "v", 2, "CREATE TABLE sqlite_sequence (x)"),
    ("sqlite_stat1", "table", "sqlite_stat1", 2, "CREATE TABLE sqlite_stat1 (tbl, idx, stat)"),
    ("sqlite_v", "table", "sqlite_v", 2, "CREATE TABLE sqlite_v (a)"),
    ("v", "trigger", "t", 0, "CREATE TRIGGER v AFTER SELECT ON t BEGIN SELECT 1; END"),
    ("v\"; DROP TABLE t; --", "table", "v", 2, "CREATE TABLE v (a)"),
  ]

  private func make(_ path: String, _ schema: String) throws {
    var options = Database.Options()
    options.trustedSchema = true
    options.allowsSchemaDamage = true
    options.doubleQuotedStrings = true
    options.prepareConnection = { connection in
      // The attacker's program allows the function everywhere.
      try connection.addFunction("effect", isDeterministic: true, isUsableInSchema: true) {
        () -> Int in 1
      }
    }
    let database = try Database(path: path, options: options)
    try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    try database.executeMultipleChanges(SQL(unchecked: schema))
    try database.close()
  }

  private func options(_ effect: Effect) -> Database.Options {
    var options = Database.Options.untrusted
    options.accessTimeout = .milliseconds(400)
    options.prepareConnection = { connection in
      try connection.addFunction("effect", isDeterministic: true) { () -> Int in
        effect.count.add(1, ordering: .relaxed)
        return 1
      }
    }
    return options
  }

  @Test(arguments: attacks) func `a hostile schema has no effect`(attack: Attack) throws {
    let folder = try TestFolder.inMemory()
    let schema = attack.schema
    try make(folder.file(), schema)
    let before = try folder.bytes(of: "data.sqlite3")
    let effect = Effect()
    var answered = false
    do {
      let database = try Database(path: folder.file(), options: options(effect))
      for statement in attack.query.components(separatedBy: "; ") {
        _ = try database.executeQuery(SQL(unchecked: statement))
      }
      answered = true
    } catch is SQLiteError {
      // Rejected.
    }
    #expect(effect.count.load(ordering: .relaxed) == 0)
    // The victim's own query may call the function, but the schema may not.
    #expect(!answered || attack.mayAnswer)
    #expect(try folder.bytes(of: "data.sqlite3") == before)
    #expect(!FileManager.default.fileExists(atPath: "/tmp/evil.db"))
  }

  @Test(arguments: handmade.indices)
  func `a schema written by hand throws or returns data`(index: Int) throws {
    let folder = try TestFolder.inMemory()
    let (name, type, table, page, sql) = Self.handmade[index]
    try make(folder.file(), "")
    var damaging = Database.Options()
    damaging.allowsSchemaDamage = true
    let attacker = try Database(path: folder.file(), options: damaging)
    try attacker.withoutTransaction { connection in
      try connection.executeChange("PRAGMA writable_schema = 1")
      try connection.executeChange(
        "INSERT INTO sqlite_schema VALUES (\(type), \(name), \(table), \(page), \(sql))")
    }
    try attacker.close()
    let effect = Effect()
    for isWriting in [false, true] {
      var options = options(effect)
      if isWriting { options.mode = .readWrite }
      do {
        let database = try Database(path: folder.file(), options: options)
        for query in ["SELECT * FROM v", "SELECT * FROM t", "PRAGMA integrity_check", "ANALYZE"] {
          _ = try? database.executeQuery(SQL(unchecked: query))
        }
        for table in try database.read({ try $0.existingTables() }) {
          _ = try? database.read { try $0.columns(of: table) }
          _ = try? database.executeQuery("SELECT * FROM \(identifier: table)")
        }
        if isWriting {
          _ = try? database.executeChange("INSERT INTO t VALUES (2)")
          _ = try? database.executeChange("DELETE FROM t WHERE a = 2")
        }
        try database.close()
      } catch is SQLiteError {
        // Rejected.
      }
    }
    #expect(effect.count.load(ordering: .relaxed) == 0)
  }

  @Test(arguments: [
    "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT effect(); END",
    "CREATE TRIGGER r BEFORE DELETE ON t WHEN effect() BEGIN SELECT 1; END",
    "DROP TABLE t; CREATE TABLE t (a CHECK (effect()))",
    "DROP TABLE t; CREATE TABLE t (a, b DEFAULT (effect()))",
    "DROP TABLE t; CREATE TABLE t (a, b AS (effect()))",
    "DROP TABLE t; CREATE TABLE t (a, b AS (effect()) STORED)",
    "CREATE INDEX i ON t (effect())",
    "CREATE UNIQUE INDEX i ON t (a) WHERE effect()",
  ]) func `writes don't call functions that the schema references`(schema: String) throws {
    let folder = try TestFolder.inMemory()
    try make(folder.file(), schema)
    let effect = Effect()
    var writable = options(effect)
    writable.mode = .readWrite
    let database = try Database(path: folder.file(), options: writable)
    _ = try? database.executeChange("INSERT INTO t (a) VALUES (2)")
    _ = try? database.executeChange("UPDATE t SET a = a + 1")
    _ = try? database.executeChange("DELETE FROM t")
    #expect(effect.count.load(ordering: .relaxed) == 0)
  }

  @Test func `a function that is added later is hidden from the schema, too`() throws {
    let folder = try TestFolder.inMemory()
    try make(
      folder.file(), "CREATE TABLE v (a, b AS (effect())); INSERT INTO v (a) VALUES (1), (2)")
    let effect = Effect()
    let database = try Database(path: folder.file())
    try database.write { connection in
      var rows = 0
      try connection.forEachRow("SELECT a FROM v") { _ in
        rows += 1
        guard rows == 1 else { return }
        try connection.addFunction("effect") { () -> Int in
          effect.count.add(1, ordering: .relaxed)
          return 1
        }
      }
      #expect(rows == 2)
      #expect(throws: SQLiteError.self) { try connection.executeQuery("SELECT b FROM v") }
      #expect(throws: SQLiteError.self) { try connection.executeChange("UPDATE v SET a = 3") }
      // Without the function, the schema works as before.
      try connection.removeFunction("effect", argumentCount: 0)
      #expect(try connection.rows("SELECT a FROM v", as: Int.self) == [1, 2])
    }
    #expect(effect.count.load(ordering: .relaxed) == 0)
  }

  @Test func `an untrusted database has the documented settings`() throws {
    let folder = try TestFolder.inMemory()
    try make(folder.file(), "")
    let database = try Database(path: folder.file(), options: .untrusted)
    for (name, value) in ["trusted_schema": 0, "cell_size_check": 1, "mmap_size": 0] {
      let found = try database.rows(SQL(unchecked: "PRAGMA \(name)"), as: Int.self).first
      #expect(found == value, "\(name)")
    }
    try database.read { connection in
      #expect(connection.limit(.attachedDatabases) == 0)
      #expect(connection.limit(.patternLength) == 1_000)
      #expect(connection.limit(.instructions) == 25_000)
      #expect(connection.limit(.length) == 64 << 20)
      #expect(connection.limit(.expressionDepth) == 100)
    }
    #expect(database.options.accessTimeout == .seconds(10))
  }
}
