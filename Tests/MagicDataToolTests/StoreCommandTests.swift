import Foundation
import MagicData
import MagicDataTool
import Terminal
import Testing
import TestSupport

@Suite struct StoreCommandTests {
  let fixture: ToolFixture

  init() throws { fixture = try ToolFixture() }

  @Test func `info shows tables, rows, assets and migrations`() throws {
    let database = try fixture.database()
    try database.migrate([Migration("a, \"b\"", .sql("SELECT 1"))])
    try database.close()
    let result = fixture.run("info", fixture.store)
    #expect(result.status == 0)
    let lines = result.output.split(separator: "\n")
    #expect(lines.first == "kind,name,rows,bytes,note")
    #expect(lines.contains { $0.hasPrefix("database,") && $0.contains("journal mode wal") })
    #expect(lines.contains { $0.hasPrefix("table,Person,3,") && $0.hasSuffix("Person") })
    #expect(lines.contains { $0.hasSuffix("/store/assets,3,6,\"3 in files, 0 in rows\"") })
    #expect(lines.contains("migration,\"a, \"\"b\"\"\",1,,"))
  }

  @Test func `check has no findings in an intact store`() {
    let result = fixture.run("check", fixture.store)
    #expect(result.status == 0)
    #expect(result.output == "check,subject,finding\n")
    #expect(fixture.run("repair", fixture.store).status == 0)
  }

  @Test func `check finds missing and damaged files and dangling foreign keys`() throws {
    let names = try fixture.names(in: fixture.files)
    try FileManager.default.removeItem(atPath: fixture.files + "/" + names[0])
    try Data("other".utf8).write(to: URL(filePath: fixture.files + "/" + names[1]))
    let database = try Database(
      path: fixture.store + "/default.sqlite3", options: .withoutForeignKeys)
    try database.executeMultipleChanges(
      """
      CREATE TABLE pet (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES Person);
      INSERT INTO pet (owner) VALUES (1), (77), (78);
      """)
    try database.close()
    let result = fixture.run("check", fixture.store)
    #expect(result.status == 3)
    #expect(result.output.contains("is missing"))
    #expect(result.output.contains("is damaged"))
    #expect(
      result.output.contains("foreign key,pet,\"2 rows reference missing rows of Person"))
    #expect(fixture.run("check", "--quick", fixture.store).output.split(separator: "\n").count == 2)
  }

  @Test func `check finds a missing assets folder`() throws {
    try FileManager.default.removeItem(atPath: fixture.store + "/assets")
    let result = fixture.run("check", fixture.store)
    #expect(result.status == 3)
    #expect(result.output.contains("the asset folder"))
    #expect(!FileManager.default.fileExists(atPath: fixture.store + "/assets"))
    #expect(fixture.run("backup", fixture.store, fixture.folder.path + "/copy").status == 1)
  }

  @Test func `repair first shows its plan and changes files only with --apply`() throws {
    let names = try fixture.names(in: fixture.files)
    let pending = fixture.store + "/assets/pending/\(String(repeating: "0", count: 32))"
    let unnamed = String(repeating: "a", count: 32)
    try FileManager.default.createDirectory(atPath: pending, withIntermediateDirectories: false)
    try FileManager.default.moveItem(
      atPath: fixture.files + "/" + names[0], toPath: pending + "/" + names[0])
    try Data().write(to: URL(filePath: pending + "/" + String(repeating: "b", count: 32)))
    try Data().write(to: URL(filePath: fixture.files + "/" + unnamed))
    let plan = fixture.run("repair", fixture.store)
    #expect(plan.status == 3)
    #expect(plan.output.split(separator: "\n").count == 4)
    #expect(plan.output.contains("\(unnamed),delete: no row references it"))
    #expect(try fixture.names(in: fixture.files).count == 3)
    let check = fixture.run("check", fixture.store)
    #expect(check.status == 0)
    #expect(check.output.split(separator: "\n").count == 4)
    let sweep = fixture.run("sweep", "--dry-run", fixture.store)
    #expect(sweep.output.split(separator: "\n").count == 4)

    let done = fixture.run("repair", "--apply", fixture.store)
    #expect(done.status == 0)
    #expect(done.output.dropFirst(12) == plan.output.dropFirst(13))
    #expect(try fixture.names(in: fixture.files) == names)
    #expect(!FileManager.default.fileExists(atPath: pending))
    #expect(fixture.run("check", fixture.store).output.split(separator: "\n").count == 1)
  }

  @Test func `repair rebuilds an index that doesn't match its table`() throws {
    let path = fixture.folder.path + "/plain.sqlite3"
    var options = Database.Options()
    options.journalMode = .delete
    options.allowsSchemaDamage = true
    let database = try Database(path: path, options: options)
    try database.executeMultipleChanges(
      """
      CREATE TABLE t (a);
      CREATE INDEX "an index" ON t (a);
      INSERT INTO t VALUES (1), (2), (3);
      """)
    try database.withoutTransaction { connection in
      try connection.executeChange("PRAGMA writable_schema = ON")
      // Changes the schema so that SQLite writes the next row without updating the index.
      try connection.executeChange(
        "UPDATE sqlite_schema SET sql = 'CREATE INDEX \"an index\" ON t (a) WHERE a < 3' WHERE type = 'index'"
      )
    }
    try database.close()
    let other = try Database(path: path, options: options)
    try other.executeChange("INSERT INTO t VALUES (4)")
    try other.withoutTransaction { connection in
      try connection.executeChange("PRAGMA writable_schema = ON")
      try connection.executeChange(
        "UPDATE sqlite_schema SET sql = 'CREATE INDEX \"an index\" ON t (a)' WHERE type = 'index'")
    }
    try other.close()
    #expect(fixture.run("check", path).status == 3)
    #expect(fixture.run("repair", path).output == "subject,to do\nan index,rebuild the index\n")
    #expect(fixture.run("check", path).status == 3)
    #expect(fixture.run("repair", "--apply", path).status == 0)
    #expect(fixture.run("check", path).status == 0)
    #expect(fixture.run("query", path, "PRAGMA journal_mode").status != 0)
    #expect(fixture.run("info", path).output.contains("journal mode delete"))
  }

  @Test func `a backup is a valid store, and a failed one leaves nothing`() throws {
    let copy = fixture.folder.path + "/copy"
    let names = try fixture.names(in: fixture.files)
    #expect(fixture.run("backup", fixture.store, copy).status == 0)
    #expect(try fixture.names(in: copy + "/assets/files") == names)
    #expect(fixture.run("check", copy).status == 0)
    #expect(fixture.run("backup", fixture.store, copy).status == 1)

    let interruption = Interruption()
    interruption.raise()
    let other = fixture.folder.path + "/other"
    #expect(fixture.run("backup", fixture.store, other, interruption: interruption).status == 130)
    #expect(!FileManager.default.fileExists(atPath: other))

    try FileManager.default.removeItem(atPath: fixture.files + "/" + names[0])
    let faulty = fixture.run("backup", fixture.store, other)
    #expect(faulty.status == 3)
    #expect(faulty.errors.contains("is missing"))
  }

  @Test func `backup copies a plain database, but only to a new path`() throws {
    let path = fixture.folder.path + "/plain.db"
    let database = try Database(path: path)
    try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    #expect(fixture.run("backup", path, path + "2").status == 0)
    #expect(fixture.run("query", path + "2", "SELECT * FROM t").output == "a\n1\n")
    #expect(fixture.run("backup", path, path + "2").status == 1)
    #expect(fixture.run("sweep", path).status == 1)
    let tables = fixture.run("query", path, "SELECT name FROM sqlite_schema").output
    #expect(tables == "name\nt\n")
  }

  @Test func `a dump can be restored as a store at a path with any name`() throws {
    let text = fixture.folder.path + "/text.spon"
    let copy = fixture.folder.path + "/copy"
    #expect(fixture.run("dump", fixture.store, text).status == 0)
    #expect(fixture.run("restore", text, copy).status == 0)
    let replaced = fixture.run("restore", "--replace", text, copy)
    #expect(replaced.status == 0, "\(replaced.errors)")
    #expect(fixture.run("query", "--write", copy, "DELETE FROM Person WHERE id = 1").status == 0)
    let magic = try MagicData(path: copy)
    #expect(try magic.count(of: Person.self) == 2)
  }

  @Test(arguments: ["spon", "json"])
  func `a dump can be restored, and --replace is required to overwrite`(format: String) throws {
    let text = fixture.folder.path + "/text.\(format)"
    let copy = fixture.folder.path + "/copy.sqlite3"
    let dump = fixture.run("dump", fixture.store, text)
    #expect(dump.status == 0)
    #expect(dump.errors.contains("3 asset files are not in the text"))
    #expect(fixture.run("dump", fixture.store, text).status == 1)
    #expect(fixture.run("dump", "--replace", fixture.store, text).status == 0)
    #expect(fixture.run("restore", text, copy).status == 0)
    #expect(fixture.run("restore", text, copy).status == 1)
    #expect(fixture.run("schema", fixture.store, copy).status == 0)
    #expect(fixture.run("query", "--write", fixture.store, "DELETE FROM Person").status == 0)
    #expect(fixture.run("restore", "--replace", text, fixture.store).status == 0)
    let count = fixture.run("query", fixture.store, "SELECT count(*) AS n FROM Person")
    #expect(count.output == "n\n3\n")
    try Data("nonsense".utf8).write(to: URL(filePath: text))
    #expect(fixture.run("restore", "--replace", text, fixture.store).status == 1)
    #expect(
      fixture.run("query", fixture.store, "SELECT count(*) AS n FROM Person").output == "n\n3\n")
  }

  @Test func `restoring a store's dump warns that its files are missing`() throws {
    let text = fixture.folder.path + "/text.spon"
    let copy = fixture.folder.path + "/copy.sqlite3"
    #expect(fixture.run("dump", fixture.store, text).status == 0)
    let restored = fixture.run("restore", text, copy)
    #expect(restored.status == 0)
    #expect(restored.errors.contains("3 asset files are not in the text"))
    let check = fixture.run("check", copy)
    #expect(check.status == 3)
    #expect(fixture.run("restore", "--help").output.contains("`check` therefore reports them"))
  }

  @Test func `import converts a SwiftDatabase file to a database`() throws {
    let (old, new) = (fixture.folder.path + "/old.json", fixture.folder.path + "/new")
    // [1,2] in base64.
    try Data(#"{"Int":{"typeDescription":"Array<Int>","data":"WzEsMl0="}}"#.utf8)
      .write(to: URL(filePath: old))
    #expect(fixture.run("import", old, new).status == 0)
    #expect(fixture.run("query", new, "SELECT item FROM \"items Int\"").output == "item\n1\n2\n")
    #expect(fixture.run("import", old, new).errors.contains("already exists"))
    #expect(fixture.run("import", old + "x", new + "2").errors.contains("is not a file"))
    try Data("nonsense".utf8).write(to: URL(filePath: old))
    #expect(fixture.run("import", old, new + "2").status == 1)
    #expect(try fixture.names(in: fixture.folder.path).sorted() == ["new", "old.json", "store"])
  }

  @Test func `schema prints SQL and the differences between two databases`() throws {
    let path = fixture.folder.path + "/a.sqlite3"
    let database = try Database(path: path)
    try database.executeMultipleChanges("CREATE TABLE t (a);\nCREATE INDEX i ON t (a)")
    #expect(fixture.run("schema", path).output == "CREATE TABLE t (a);\nCREATE INDEX i ON t (a);\n")
    let other = try Database(path: path + "2")
    try other.executeMultipleChanges("CREATE TABLE t (a, b)")
    let result = fixture.run("schema", path, path + "2")
    #expect(result.status == 3)
    #expect(result.output.contains("DROP INDEX i;"))
    #expect(result.output.contains("ALTER TABLE t ADD COLUMN b;"))
  }

  @Test(arguments: [true, false])
  func `control characters in names aren't printed to a terminal`(isTerminal: Bool) throws {
    let path = fixture.folder.path + "/a.sqlite3"
    let database = try Database(path: path)
    try database.executeChange("CREATE TABLE \(identifier: "x\u{1B}[2J\u{202E}") (a)")
    for command in ["info", "schema", "check"] {
      let output = fixture.run(command, path, isTerminal: isTerminal).output
      let controls = output.unicodeScalars.filter { $0.isControl && $0 != "\n" }
      #expect(controls.isEmpty || !isTerminal)
    }
  }

  @Test func `a damaged file never crashes a command`() throws {
    let path = fixture.folder.path + "/damaged.sqlite3"
    let database = try Database(path: path)
    try database.executeMultipleChanges(
      "CREATE TABLE t (a); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9999) INSERT INTO t SELECT i FROM n"
    )
    try database.close()
    var bytes = try Data(contentsOf: URL(filePath: path))
    var generator = SplitMix64(seed: 7)
    for round in 0..<40 {
      for _ in 0..<20 {
        bytes[Int.random(in: (round % 2 == 0 ? 100 : 0)..<bytes.count, using: &generator)] =
          UInt8.random(in: 0...255, using: &generator)
      }
      try bytes.write(to: URL(filePath: path))
      for words in [
        ["info"], ["check"], ["schema"], ["repair"], ["query", "SELECT * FROM t"],
        ["watch", "--for", "0"], ["repair", "--apply"],
      ] {
        let result = fixture.run(
          words: [words[0]] + words.dropFirst().filter { $0.hasPrefix("--") || $0 == "0" } + [path]
            + words.dropFirst().filter { $0.hasPrefix("SELECT") })
        #expect([0, 1, 3].contains(result.status), "\(words) \(result.errors)")
      }
    }
  }
}

extension Database.Options {
  static var withoutForeignKeys: Self {
    var options = Self()
    options.foreignKeys = false
    return options
  }
}
