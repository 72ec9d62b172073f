import Foundation
import MagicData
import MagicDataTool
import Synchronization
import Terminal
import Testing
import TestSupport

private struct Page: MagicObject {
  static var traits: [PropertyTrait] { [.searched(\Self.$title)] }

  @MagicValue var title: String

  init() {}

  init(_ title: String) { self.title = title }
}

@Suite struct QueryTests {
  let fixture: ToolFixture

  init() throws { fixture = try ToolFixture() }

  private func query(_ words: String..., isTerminal: Bool = false, columns: Int? = nil)
    -> ToolFixture.Result
  {
    fixture.run(words: ["query", fixture.store] + words, isTerminal: isTerminal, columns: columns)
  }

  @Test func `output to a pipe is CSV with the exact stored values`() {
    let result = query(
      """
      SELECT 1 AS i, 0.5 AS r, NULL AS n, '' AS e, 'a,"b"' || char(10) AS t, x'00ff' AS b, ' ' AS "s p",
        'a' || char(0) || 'b' AS z
      """)
    #expect(result.status == 0)
    #expect(
      result.output == "i,r,n,e,t,b,s p,z\n1,0.5,,\"\",\"a,\"\"b\"\"\n\",x'00ff',\" \",a\0b\n")
    #expect(result.errors == "")
  }

  @Test func `JSON lines have unique names and represent blobs and infinity as objects`() {
    let result = query(
      "--format", "json", "SELECT 1 AS a, 'ü\u{7}\"' AS a, 9e999 AS r, x'00' AS b, NULL AS n")
    #expect(
      result.output
        == #"{"a":1,"a:2":"ü\u0007\"","r":{"real":"inf"},"b":{"blob":"AA=="},"n":null}"# + "\n")
  }

  @Test func `output to a terminal is an aligned table without control characters`() {
    let result = query("SELECT id, name FROM Person ORDER BY id", isTerminal: true, columns: 80)
    #expect(
      result.output == """
        id  name
        ──  ───────────────────
         1  Ada
         2  Bob
         3  Cleo \\u{1B}[31m漢字
        3 rows

        """)
  }

  @Test(arguments: [20, 40, 79, 200])
  func `a table is at most as wide as the terminal`(columns: Int) {
    let result = query(
      "SELECT hex(zeroblob(100000)) AS a, zeroblob(100000) AS b, '漢字' || hex(zeroblob(99)) AS c, 5 AS d",
      isTerminal: true, columns: columns)
    for line in result.output.split(separator: "\n") {
      #expect(line.terminalWidth <= max(columns, 37))
    }
    let first = result.output.split(separator: "\n").dropFirst(2).first
    #expect(first?.contains("…") == true)
  }

  @Test func `control characters in column names are escaped`() {
    let result = query("SELECT 1 AS \"a\u{1B}[2Jb\u{202E}\"", isTerminal: true)
    #expect(!result.output.unicodeScalars.contains { $0.isControl && $0 != "\n" })
  }

  @Test func `text that isn't UTF-8 is shown as bytes`() {
    #expect(query("SELECT CAST(x'ff41' AS TEXT) AS t").output == "t\nx'ff41'\n")
  }

  @Test(arguments: [
    ("5", "integer"), ("-5", "integer"), ("05", "text"), ("5.0", "real"), ("1e999", "text"),
    ("x", "text"), ("", "text"), ("99999999999999999999", "text"), ("nan", "text"),
  ])
  func `parameter values are bound as integer, real or text`(word: String, type: String) {
    let result = query("SELECT typeof(:value) AS type, :value AS value", "--value=\(word)")
    #expect(result.output.hasPrefix("type,value\n\(type),"))
  }

  @Test func `parameters can have any name, and values are bound, never spliced`() throws {
    let evil = "'; DROP TABLE Person; --"
    #expect(query("SELECT $a || @b AS x", "--a", evil, "--b", "2").output == "x\n\(evil)2\n")
    #expect(query("SELECT :format AS x", "--:format", "1").output == "x\n1\n")
    #expect(try fixture.database().read { try $0.tableExists("Person") })
    for words in [["SELECT :a"], ["SELECT 1", "--a", "1"], ["SELECT :a", "--b", "1"]] {
      let result = fixture.run(words: ["query", fixture.store] + words)
      #expect(result.status == 1)
      #expect(result.errors.contains("SQLite error 25"))
    }
  }

  @Test func `an SQL error is shown with its line and a marker`() {
    let result = query("SELECT name,\n  nme FROM Person")
    #expect(result.status == 1)
    #expect(
      result.errors == """
        magicdata query: SQLite error 1: no such column: nme
          line 2:   nme FROM Person
                    ^

        """)
    #expect(query("SELECT 1; SELECT 2").status == 1)
    #expect(query("").status == 1)
    #expect(query("SELECT '\0'").status == 1)
  }

  @Test func `without --write, no statement changes anything`() throws {
    let before = try fixture.database().executeQuery("SELECT id, name FROM Person")
    for sql in [
      "DELETE FROM Person", "DROP TABLE Person", "INSERT INTO Person DEFAULT VALUES RETURNING id",
      "PRAGMA user_version = 7", "VACUUM", "VACUUM INTO '\(fixture.folder.path)/copy'",
      "ATTACH '\(fixture.folder.path)/other' AS other", "PRAGMA journal_mode = DELETE", "REINDEX",
    ] {
      #expect(query(sql).status != 0, "\(sql)")
    }
    #expect(try fixture.database().executeQuery("SELECT id, name FROM Person") == before)
    #expect(try fixture.names(in: fixture.folder.path) == ["store"])
  }

  @Test func `a statement that fires a full-text trigger requires --write, too`()
    throws
  {
    let magic = try MagicData(path: fixture.folder.path + "/pages")
    try magic.update(Page("Tea"))
    try magic.database.close()
    for sql in ["UPDATE Page SET title = 'Coffee'", "DELETE FROM Page"] {
      let result = fixture.run("query", fixture.folder.path + "/pages", sql)
      #expect(result.status == 2)
      #expect(result.errors.contains("add --write"), "\(result.errors)")
    }
    let result = fixture.run("query", fixture.folder.path + "/pages", "SELECT title FROM Page")
    #expect(result.output == "title\nTea\n")
  }

  @Test func `a statement that writes prints the number of changed rows`() {
    let changed = query("--write", "UPDATE Person SET name = name || '!'")
    #expect(changed.output == "")
    #expect(changed.errors == "3 rows changed\n")
    let returned = query("--write", "DELETE FROM Person WHERE id = 2 RETURNING id")
    #expect(returned.output == "id\n2\n")
    #expect(returned.errors == "1 row changed\n")
    #expect(query("--write", "CREATE TABLE t (a)").errors == "0 rows changed\n")
  }

  @Test func `a parameter without a value is named in the error`() {
    let missing = query("SELECT :x, :y, ?3", "--x", "1")
    #expect(missing.status == 1)
    #expect(missing.errors.contains("no value was given for the parameter :y, ?3"))
    #expect(query("SELECT :x, ?").errors.contains("the parameter :x, number 2"))
    let two = query("SELECT 1; SELECT 2")
    #expect(two.errors.contains("the SQL contains more than one statement"))
    #expect(!two.errors.contains("execute"))
  }

  @Test func `deleting rows also deletes their asset files`() throws {
    let result = query(
      "--write", "DELETE FROM Person WHERE name = :name", "--name", "Bob", isTerminal: true)
    #expect(result.status == 0)
    #expect(result.output == "1 row changed\n")
    #expect(try fixture.names(in: fixture.files).count == 2)
    #expect(
      query("--write", "INSERT INTO Person (name) VALUES (1), (2), (abs(-9223372036854775808))")
        .status == 1)
    #expect(query("SELECT count(*) AS n FROM Person").output == "n\n2\n")
  }

  @Test func `a write is rolled back if the output pipe is closed`() throws {
    let closed = Output(isTerminal: false) { _ throws(OutputError) in throw OutputError(code: 32) }
    let errors = Mutex("")
    let status = Tool.run(
      ["query", "--write", fixture.store, "DELETE FROM Person RETURNING id"], output: closed,
      errors: Output(isTerminal: false) { text in errors.withLock { $0 += text } })
    #expect(status == 141)
    #expect(errors.withLock { $0 } == "")
    #expect(query("SELECT count(*) AS n FROM Person").output == "n\n3\n")
  }

  @Test func `an interruption ends an endless statement`() {
    let interruption = Interruption()
    interruption.raise()
    let result = fixture.run(
      "query", fixture.store,
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
      interruption: interruption)
    #expect(result.status == 130)
    #expect(result.errors == "")
  }

  @Test func `a store that a newer program has migrated or created isn't changed`() throws {
    let migrated = try fixture.database()
    try migrated.migrate([
      Migration("first", .sql("SELECT 1")), Migration("second", .sql("SELECT 1")),
    ])
    try migrated.close()
    let sql = "UPDATE Person SET name = 'x'"
    let rejected = query("--write", "--migrated-to", "first", sql)
    #expect(rejected.status == 4)
    #expect(rejected.errors.contains("the last migration"))
    #expect(query("--write", "--migrated-to", "second", sql).status == 0)

    let newer = try fixture.database()
    try newer.executeChange("UPDATE magicdata_meta SET value = 2 WHERE key = 'format'")
    try newer.close()
    for words in [
      ["query", "--write", fixture.store, sql], ["repair", "--apply", fixture.store],
      ["repair", fixture.store], ["sweep", fixture.store],
    ] {
      let result = fixture.run(words: words)
      #expect(result.status == 4, "\(words)")
      #expect(result.errors.contains("the store was created by a newer version"))
    }
    #expect(query("SELECT count(*) AS n FROM Person WHERE name = 'x'").output == "n\n3\n")
  }

  @Test func `an extension that can't be loaded is a failure`() {
    for words in [["SELECT 1"], ["--write", "SELECT 1"]] {
      let result = fixture.run(
        words: ["query", fixture.store, "--extension", "/no/such/file.so"] + words)
      #expect(result.status == 1)
      #expect(result.output == "")
      #expect(result.errors.contains("/no/such/file.so: the extension cannot be loaded: "))
    }
  }

  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["MAGICDATA_SQLITE_VEC"] != nil,
      "sqlite-vec is missing: set MAGICDATA_SQLITE_VEC to the path of vec0.so"))
  func `a query can use an extension, and the other commands need none`() throws {
    let path = ProcessInfo.processInfo.environment["MAGICDATA_SQLITE_VEC"] ?? ""
    let made = query(
      "--extension", path, "--write", "CREATE VIRTUAL TABLE v USING vec0(a float[2])")
    #expect(made.status == 0)
    let added = query(
      "--extension=\(path)", "--write", "INSERT INTO v (rowid, a) VALUES (1, '[1, 2]')")
    #expect(added.status == 0)
    let search = "SELECT rowid, distance FROM v WHERE a MATCH '[1, 2]' AND k = 1"
    #expect(query("--extension", path, search).output == "rowid,distance\n1,0.0\n")
    let failed = query(search)
    #expect(failed.status == 1)
    #expect(failed.errors.contains("no such module: vec0"))
    for words in [["info"], ["check"], ["schema"], ["repair"], ["sweep"]] {
      #expect(fixture.run(words: words + [fixture.store]).status == 0, "\(words)")
    }
    let folder = try TestFolder()
    for words in [
      ["dump", fixture.store, folder.file("dump.spon")],
      ["restore", folder.file("dump.spon"), folder.file("copy.sqlite3")],
      ["backup", fixture.store, folder.file("backup")],
      ["schema", fixture.store, folder.file("copy.sqlite3")],
    ] {
      #expect(fixture.run(words: words).status == 0, "\(words)")
    }
    let copied = fixture.run(
      words: ["query", folder.file("copy.sqlite3"), "--extension", path, search])
    #expect(copied.output == "rowid,distance\n1,0.0\n")
  }

  @Test func `a locked database exits with status 5`() throws {
    let other = try fixture.database()
    try other.write { connection in
      try connection.executeChange("UPDATE Person SET name = name")
      #expect(query("--write", "--wait", "0", "UPDATE Person SET name = 'x'").status == 5)
    }
  }
}
