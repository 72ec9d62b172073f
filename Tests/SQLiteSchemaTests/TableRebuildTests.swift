import Conformance
import SQLSyntax
import SQLiteCore
import SQLiteMapping
import SQLiteSchema
import Synchronization
import Testing

@Suite(.everyEngine) struct TableRebuildTests {
  let database: Database

  /// A handwritten table with everything that PRAGMAs don't report.
  static let city = """
    CREATE TABLE City ( -- our cities
      id INTEGER PRIMARY KEY AUTOINCREMENT, /* never reused */
      name TEXT COLLATE NOCASE CONSTRAINT named NOT NULL ON CONFLICT ABORT,
      size  VARCHAR( 10 ) DEFAULT ('1'), -- in square miles
      shout TEXT AS (upper(name)) STORED,
      [mayor] INTEGER REFERENCES Person (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
      CONSTRAINT short CHECK (length(City.name) < 40),
      UNIQUE (name, size) ON CONFLICT REPLACE
    )
    """

  init() throws {
    database = try Database.fresh()
    try database.executeMultipleChanges(
      """
      CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT);
      \(SQL(unchecked: Self.city));
      CREATE TABLE Street (
        id INTEGER PRIMARY KEY, city INTEGER NOT NULL REFERENCES City (id) ON DELETE CASCADE);
      CREATE TABLE log (what TEXT, size);
      CREATE INDEX big ON City (size DESC) WHERE size > '5' /* few */;
      CREATE INDEX folded ON City (lower(name), mayor);
      CREATE VIEW cities AS SELECT * FROM City -- all of them
      ;
      CREATE VIEW names AS SELECT name FROM City;
      CREATE TRIGGER added AFTER INSERT ON City BEGIN
        INSERT INTO log VALUES (new.name, /* as it is */ new.size);
      END;
      CREATE TRIGGER moved AFTER UPDATE OF mayor ON City BEGIN SELECT 1; END;
      CREATE TRIGGER streets AFTER DELETE ON Street BEGIN
        INSERT INTO City VALUES (NULL, 'from ' || old.id, '7', NULL);
      END;
      INSERT INTO Person VALUES (1, 'Ann');
      INSERT INTO City (id, name, size, mayor) VALUES (3, 'Ulm', '12', 1), (9, 'Bonn', '30', NULL), (7, 'Aachen', NULL, 1);
      DELETE FROM City WHERE id = 9;
      INSERT INTO Street VALUES (1, 3), (2, 7);
      ANALYZE;
      """)
  }

  /// Returns the migrations that have run, followed by one with the given steps.
  private func history(_ steps: [Migration.Step]) throws -> [Migration] {
    guard
      try database.rows("SELECT 1 FROM sqlite_schema WHERE name = 'magicdata_meta'", as: Int.self)
        == [1]
    else { return [Migration("step 0", steps)] }
    let made = try database.rows(
      "SELECT substr(key, 11) FROM magicdata_meta WHERE key GLOB 'migration:*' ORDER BY value",
      as: String.self)
    return made.map { Migration($0) } + [Migration("step \(made.count)", steps)]
  }

  private func migrate(_ steps: Migration.Step...) throws {
    try database.migrate(try history(steps))
    try check()
  }

  private func rebuildError(_ steps: Migration.Step...) throws -> RebuildError? {
    let before = try content()
    let history = try history(steps)
    let error = #expect(throws: RebuildError.self) { try database.migrate(history) }
    #expect(try content() == before)
    try check()
    return error
  }

  /// Checks what must be true after each change.
  private func check() throws {
    #expect(try database.rows("PRAGMA integrity_check", as: String.self) == ["ok"])
    #expect(try database.executeQuery("PRAGMA foreign_key_check").isEmpty)
    #expect(try database.rows("PRAGMA foreign_keys", as: Int.self) == [1])
    let left = try database.executeQuery(
      "SELECT name FROM sqlite_schema WHERE name LIKE '%rebuild%'")
    #expect(left.isEmpty)
  }

  private func sql(_ name: String) throws -> String? {
    try database.rows("SELECT sql FROM sqlite_schema WHERE name = \(name)", as: String.self).first
  }

  private func columns(of table: String) throws -> [String] {
    try database.read { try $0.columns(of: table).map(\.name) }
  }

  private func content() throws -> [String] {
    try database.rows(
      "SELECT type || name || tbl_name || ifnull(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'magic%' ORDER BY type, name",
      as: String.self)
      + (["City", "Street", "Person", "log", "sqlite_sequence", "sqlite_stat1"].flatMap { table in
        try database.executeQuery("SELECT * FROM \(identifier: table) ORDER BY 1, 2").map {
          "\(table) \($0.values)"
        }
      })
  }

  @Test func `a rebuild keeps every byte of SQL that it doesn't change`() throws {
    let before = try content()
    try migrate(.changeType("size", to: "INTEGER", in: "city"))
    #expect(
      try sql("City") == Self.city.replacing("VARCHAR( 10 )", with: "INTEGER"))
    // Everything else is unchanged, except for the converted values.
    let after = try content()
    let changed = zip(before, after).filter { $0 != $1 }
    #expect(after.count == before.count)
    #expect(changed.count == 2, "\(changed)")
    #expect(
      try database.rows(
        "SELECT id, size, typeof(size) FROM City ORDER BY id", as: Int.self, Int?.self, String.self
      )
      .map { "\($0)" } == ["(3, Optional(12), \"integer\")", "(7, nil, \"null\")"])
  }

  @Test func `a database without tables has nothing to rebuild`() throws {
    let empty = try Database.fresh()
    let migration = Migration("sizes", .changeType("size", to: "INTEGER", in: "city"))
    #expect(try empty.migrate([migration]) == ["sizes"])
    #expect(throws: RebuildError.self) {
      try empty.migrate([migration, Migration("more", .reorder(["size"], in: "city"))])
    }
  }

  @Test func `a rebuild keeps the key sequence and the rows of other tables`()
    throws
  {
    try migrate(.changeType("size", to: "REAL", in: "City"))
    #expect(try database.rows("SELECT city FROM Street ORDER BY id", as: Int.self) == [3, 7])
    try database.executeChange("INSERT INTO City (name) VALUES ('Trier')")
    #expect(try database.rows("SELECT max(id) FROM City", as: Int.self) == [10])
    #expect(
      try database.rows("SELECT what FROM log ORDER BY rowid", as: String.self).last == "Trier")
    try database.executeChange("DELETE FROM City WHERE id = 3")
    #expect(try database.rows("SELECT city FROM Street", as: Int.self) == [7])
  }

  @Test func `conversions that would lose values throw an error with the rowids`() throws {
    try database.executeMultipleChanges(
      """
      UPDATE City SET size = 'big' WHERE id = 3;
      INSERT INTO City (id, name, size) VALUES (20, 'x', '1.5'), (21, 'y', '99999999999999999999');
      """)
    #expect(
      try rebuildError(.changeType("size", to: "INTEGER", in: "City"))?.rowIDs == [3, 20, 21])
    #expect(try rebuildError(.changeType("size", to: "REAL", in: "City"))?.rowIDs == [3])
    try migrate(.changeType("size", to: "DECIMAL(10, 2)", in: "City"))
    try database.executeMultipleChanges(
      """
      CREATE TABLE n (a INTEGER, b REAL);
      INSERT INTO n VALUES (9007199254740993, 0.5), (1, 0.30000000000000004);
      """)
    #expect(try rebuildError(.changeType("a", to: "REAL", in: "n"))?.rowIDs == [1])
    #expect(try rebuildError(.changeType("b", to: "TEXT", in: "n"))?.rowIDs == [2])
    #expect(try rebuildError(.changeType("b", to: "TEXT, c TEXT", in: "n")) != nil)
    #expect(try rebuildError(.changeType("b", to: "TEXT NOT NULL", in: "n")) != nil)
    #expect(
      try rebuildError(.changeType("z", to: "TEXT", in: "n"))?.description.contains("z") == true)
    try migrate(.changeType("a", to: "", in: "n"))
    #expect(try sql("n") == "CREATE TABLE n (a, b REAL)")
  }

  @Test func `strict tables and tables without rowids can be rebuilt, too`() throws {
    try database.executeMultipleChanges(
      """
      CREATE TABLE s (a TEXT, b) /* not yet */;
      CREATE TABLE w (k TEXT, v TEXT, PRIMARY KEY (k DESC)) WITHOUT ROWID, STRICT;
      INSERT INTO w VALUES ('b', '1'), ('a', '2'), ('c', 'no');
      """)
    #expect(try rebuildError(.changeType("v", to: "INTEGER", in: "w"))?.rowIDs == [])
    try database.executeChange("DELETE FROM w WHERE k = 'c'")
    try migrate(.changeType("v", to: "INTEGER", in: "w"))
    #expect(try database.rows("SELECT v FROM w ORDER BY k", as: Int.self) == [2, 1])
    #expect(
      try sql("w")
        == "CREATE TABLE w (k TEXT, v INTEGER, PRIMARY KEY (k DESC)) WITHOUT ROWID, STRICT")
    try database.executeMultipleChanges(
      "CREATE TABLE x (a TEXT, b TEXT) STRICT; INSERT INTO x VALUES ('1', 'a'), ('z', 'b'), ('3', 'c'), ('q', 'd')"
    )
    #expect(try rebuildError(.changeType("a", to: "INT", in: "x"))?.rowIDs == [2, 4])
  }

  @Test func `rowids without a column are preserved`() throws {
    try database.executeMultipleChanges(
      """
      CREATE TABLE r (rowid TEXT, b); INSERT INTO r (_rowid_, rowid) VALUES (5, 'x'), (17, 'y');
      CREATE TABLE full (rowid, oid, _rowid_);
      """)
    try migrate(.addConstraint("CHECK (rowid <> '')", in: "r"))
    #expect(try database.rows("SELECT _rowid_ FROM r ORDER BY 1", as: Int.self) == [5, 17])
    #expect(try rebuildError(.reorder(["oid"], in: "full"))?.description.contains("rowid") == true)
  }

  @Test func `rows that violate a new constraint throw an error with the rowids`() throws {
    let check = try rebuildError(.addConstraint("CONSTRAINT big CHECK (size > 20)", in: "City"))
    #expect(check?.rowIDs == [3])
    #expect(check?.description.contains("big") == true)
    try database.executeMultipleChanges(
      "CREATE TABLE u (a, b); INSERT INTO u VALUES (1, 1), (2, 1), (1, 2), (NULL, 3), (NULL, 4), (2, 5)"
    )
    let unique = try rebuildError(.addConstraint("UNIQUE (a)", in: "u"))
    #expect(unique?.rowIDs == [3, 6])
    #expect(unique?.description.contains("rebuild") == false)
    // A constraint that would silently replace rows throws here.
    #expect(
      try rebuildError(.addConstraint("UNIQUE (a) ON CONFLICT REPLACE", in: "u"))?.rowIDs == [3, 6])
    #expect(
      try rebuildError(.addConstraint("NOT NULL ON CONFLICT IGNORE", of: "a", in: "u"))?.rowIDs == [
        4, 5,
      ])
    let before = try content()
    let foreign = #expect(throws: SQLiteError.self) {
      try database.migrate(
        try history([.addConstraint("FOREIGN KEY (b) REFERENCES Person", in: "u")]))
    }
    #expect(foreign?.message.contains("rowid 3, 4, 5, 6)") == true, "\(foreign?.message ?? "")")
    #expect(try content() == before)
    try migrate(.addConstraint("UNIQUE (b, a)", in: "u"))
    #expect(try sql("u") == "CREATE TABLE u (a, b, UNIQUE (b, a))")
  }

  @Test func `a constraint is added and dropped by its name or its definition`() throws {
    try migrate(
      .addConstraint("CONSTRAINT early CHECK (id < 1000)", in: "City"),
      .addConstraint("DEFAULT 'x' CHECK (name <> '')", of: "name", in: "City"))
    #expect(throws: SQLiteError.self) {
      try database.executeChange("INSERT INTO City (id, name) VALUES (2000, 'far')")
    }
    #expect(throws: SQLiteError.self) {
      try database.executeChange("INSERT INTO City (name) VALUES ('')")
    }
    try migrate(
      .dropConstraint(named: "EARLY", in: "City"), .dropConstraint("check(name<>'')", in: "City"),
      .dropConstraint("DEFAULT 'x'", of: "name", in: "City"))
    #expect(try sql("City") == Self.city)
    try migrate(
      .dropConstraint(named: "named", in: "City"),
      .dropConstraint("REFERENCES Person(id) ON DELETE SET NULL", of: "mayor", in: "City"))
    #expect(
      try sql("City")
        == Self.city.replacing(" CONSTRAINT named NOT NULL ON CONFLICT ABORT", with: "").replacing(
          " REFERENCES Person (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED", with: ""))
    #expect(try rebuildError(.dropConstraint(named: "gone", in: "City")) != nil)
    #expect(try rebuildError(.dropConstraint("CHECK (1)", in: "City")) != nil)
    #expect(try rebuildError(.addConstraint("CHECK (1), other TEXT", in: "City")) != nil)
    #expect(try rebuildError(.addConstraint("CHECK (\(1))", in: "City")) != nil)
    #expect(try rebuildError(.addConstraint("AS (1)", of: "size", in: "City")) != nil)
    #expect(
      try rebuildError(.addConstraint("PRIMARY KEY (name)", in: "City"))?.description.contains(
        "primary key") == true)
    #expect(
      try rebuildError(.addConstraint("CHECK (nothing > 1)", in: "City"))?.description.contains(
        "nothing") == true)
  }

  @Test func `setNotNull fills NULLs with the given value or the column's default`() throws {
    try migrate(.setNotNull("size", in: "City"))
    #expect(try database.rows("SELECT size FROM City ORDER BY id", as: String.self) == ["12", "1"])
    #expect(try sql("City") == Self.city.replacing("DEFAULT ('1')", with: "DEFAULT ('1') NOT NULL"))
    try database.executeMultipleChanges(
      """
      CREATE TABLE d (a, b INT DEFAULT NULL, c DEFAULT word, e DEFAULT -2, f NULL);
      INSERT INTO d VALUES (1, NULL, NULL, NULL, 1), (2, NULL, NULL, NULL, NULL);
      """)
    #expect(try rebuildError(.setNotNull("b", in: "d"))?.rowIDs == [1, 2])
    #expect(try rebuildError(.setNotNull("f", in: "d"))?.rowIDs == [2])
    try migrate(
      .setNotNull("a", in: "d"), .setNotNull("b", in: "d", default: .integer(4)),
      .setNotNull("c", in: "d"), .setNotNull("e", in: "d"),
      .setNotNull("f", in: "d", default: .text("a'b")))
    #expect(
      try database.executeQuery("SELECT b, c, e, f FROM d").map { $0.values } == [
        [.integer(4), .text("word"), .integer(-2), .integer(1)],
        [.integer(4), .text("word"), .integer(-2), .text("a'b")],
      ])
    #expect(
      try sql("d")
        == "CREATE TABLE d (a NOT NULL, b INT DEFAULT NULL NOT NULL, c DEFAULT word NOT NULL, e DEFAULT -2 NOT NULL, f NOT NULL)"
    )
    // A column that is already NOT NULL isn't changed.
    let before = try content()
    try migrate(.setNotNull("a", in: "d"))
    #expect(try content() == before)
  }

  @Test func `columns are reordered, and dependent SQL then names its columns`() throws {
    try migrate(.reorder(["name", "mayor"], in: "City"))
    #expect(
      try columns(of: "City") == ["name", "mayor", "id", "size", "shout"])
    #expect(
      try columns(of: "cities") == ["id", "name", "size", "shout", "mayor"])
    let view = try sql("cities")
    #expect(
      view?.hasPrefix("CREATE VIEW cities AS SELECT id, name, size, shout, [mayor] FROM City")
        == true)
    #expect(
      try sql("streets")?.contains("INSERT INTO City (id, name, size, [mayor]) VALUES (NULL,")
        == true)
    try database.executeChange("DELETE FROM Street WHERE id = 1")
    #expect(
      try database.rows("SELECT size FROM City WHERE name = 'from 1'", as: String.self) == ["7"])
    #expect(try sql("City")?.contains("-- in square miles") == true)
    #expect(try rebuildError(.reorder(["name", "none"], in: "City")) != nil)
    #expect(try rebuildError(.reorder(["name", "NAME"], in: "City")) != nil)
  }

  @Test func `reordering throws if a view depends on the column order`() throws {
    try database.executeMultipleChanges(
      """
      CREATE VIEW pairs AS SELECT c.*, p.name AS who FROM City AS c JOIN Person AS p ON p.id = c.mayor;
      CREATE VIEW both AS SELECT * FROM City JOIN Person ON Person.id = City.mayor;
      """)
    let error = try rebuildError(.reorder(["name"], in: "City"))
    #expect(error?.obstacles == ["the view “both” uses * and depends on the order of the columns"])
    try database.executeChange("DROP VIEW both")
    try migrate(.reorder(["name"], in: "City"))
    #expect(
      try columns(of: "pairs") == ["id", "name", "size", "shout", "mayor", "who"])
  }

  @Test func `dropping a column also drops its own constraints, keys and indexes`() throws {
    try database.executeMultipleChanges(
      """
      CREATE TABLE child (
        id INTEGER PRIMARY KEY, a INT UNIQUE CHECK (a > 0), b INT REFERENCES Person, c TEXT,
        CHECK (c <> ''), -- of c
        FOREIGN KEY (c) REFERENCES Person (id), UNIQUE (c)
      );
      CREATE INDEX by_c ON child (c) WHERE c > 'a';
      INSERT INTO child VALUES (1, 2, 1, NULL), (5, 3, NULL, NULL);
      """)
    try migrate(
      .dropColumnByRebuilding("a", in: "child"), .dropColumnByRebuilding("b", in: "child"),
      .dropColumnByRebuilding("c", in: "child"))
    #expect(try columns(of: "child") == ["id"])
    #expect(try database.read { try $0.existingIndexes(of: "child") }.isEmpty)
    #expect(try database.rows("SELECT id FROM child", as: Int.self) == [1, 5])
    #expect(try rebuildError(.dropColumnByRebuilding("id", in: "child")) != nil)
  }

  @Test func `a searched column can be dropped`() throws {
    struct Memo: Record {
      static let traits: [PropertyTrait] = [.searched("title", "text")]
      var id: Int
      var title: String
      var text: String
    }
    try database.write { try $0.insert(Memo(id: 1, title: "garden", text: "roses")) }
    try migrate(.dropColumnByRebuilding("text", in: "Memo"))
    let names: SQL = "SELECT name FROM pragma_table_info('Memo_search')"
    #expect(try database.rows(names, as: String.self) == ["title"])
    #expect(
      try database.rows("SELECT title FROM Memo_search('garden')", as: String.self) == ["garden"])
  }

  @Test(arguments: [
    ("id", ["primary key", "“city” of “Street”"]),
    ("name", ["upper(name)", "UNIQUE (name, size)", "“folded”"]),
    ("size", ["UNIQUE (name, size)"]),
    ("mayor", ["“folded”", "“moved” declares UPDATE OF"]),
  ])
  func `dropping a column throws an error that names its dependents`(
    column: String, words: [String]
  )
    throws
  {
    let error = try rebuildError(.dropColumnByRebuilding(column, in: "City"))
    for word in words { #expect(error?.description.contains(word) == true, "\(error!) \(word)") }
  }

  @Test func `dropping a column throws if a view or trigger would break`() throws {
    try database.executeMultipleChanges(
      """
      CREATE TABLE t (a, b, c);
      CREATE VIEW v AS SELECT b FROM t;
      CREATE VIEW broken AS SELECT gone FROM t;
      CREATE TRIGGER g AFTER INSERT ON log BEGIN UPDATE t SET c = new.what; END;
      """)
    #expect(try rebuildError(.dropColumnByRebuilding("b", in: "t"))?.obstacles.count == 1)
    #expect(
      try rebuildError(.dropColumnByRebuilding("b", in: "t"))?.description.contains("“v”") == true)
    #expect(
      try rebuildError(.dropColumnByRebuilding("c", in: "t"))?.description.contains("“g”") == true)
    // A view that is already broken doesn't prevent the change.
    try migrate(.dropColumnByRebuilding("a", in: "t"))
  }

  @Test func `rebuilding anything but a user's table throws`() throws {
    try database.executeChange("CREATE VIRTUAL TABLE f USING fts5(a)")
    #expect(
      try rebuildError(.changeType("a", to: "INT", in: "f"))?.description.contains("virtual")
        == true)
    #expect(
      try rebuildError(.changeType("a", to: "INT", in: "none"))?.description.contains(
        "no such table")
        == true)
    #expect(
      try rebuildError(.changeType("a", to: "INT", in: "names"))?.description.contains(
        "no such table")
        == true)
  }

  @Test func `temporary triggers are preserved`() throws {
    try database.write { connection in
      try connection.executeMultipleChanges(
        """
        CREATE TEMP TABLE seen (name);
        CREATE TEMP TRIGGER watch AFTER INSERT ON City BEGIN INSERT INTO seen VALUES (new.name); END;
        """)
    }
    try migrate(.changeType("size", to: "REAL", in: "City"))
    try database.executeChange("INSERT INTO City (name) VALUES ('Trier')")
    #expect(
      try database.write { try $0.rows("SELECT name FROM seen", as: String.self) } == ["Trier"])
  }

  @Test func `a plan shows the changes without making them`() throws {
    let before = try content()
    let migrations = [
      Migration(
        "m", .changeType("size", to: "REAL", in: "City"),
        .addConstraint("CHECK (size>0)", in: "City"), .dropTable("Street"))
    ]
    let plan = try database.schemaPlan(of: migrations)
    #expect(try content() == before)
    #expect(plan.steps.first == "m:")
    #expect(
      plan.changes.map(\.description) == [
        "trigger streets is dropped", "table Street is dropped", "City gets CHECK (size > 0)",
        "column size of City becomes size REAL DEFAULT ('1')",
      ])
    #expect(plan.description.contains("= City gets CHECK (size > 0)"))
  }

  @Test func `the async methods return the same plan, model and changes`() async throws {
    let migrations = [Migration("m", .changeType("size", to: "REAL", in: "City"))]
    let blocking = try { try database.schemaPlan(of: migrations) }()
    #expect(try await database.schemaPlan(of: migrations) == blocking)
    #expect(try await database.schemaModel() == { try database.schemaModel() }())
    #expect(
      try await database.schemaChanges(to: SQLSchema()).count
        == { try database.schemaChanges(to: SQLSchema()).count }())
  }

  @Test(.requires(.rowChanges))
  func `observers are notified of a schema change, but of no row changes`() throws {
    let reported = Mutex<[CommittedChanges]>([])
    let subscription = database.subscribe(to: .values) { changes in
      reported.withLock { $0.append(changes) }
    }
    try migrate(.changeType("size", to: "REAL", in: "City"))
    subscription.cancel()
    let changes = reported.withLock { $0 }.filter { !$0.isEmpty }
    #expect(changes.contains { $0.changesSchema && $0.mayRebuild("city") })
    let tables = Set(changes.flatMap(\.rows).map(\.table))
    #expect(tables.isSubset(of: ["magicdata_meta"]), "\(tables)")
  }
}

/// Tests random tables and steps: rows, and everything that a step doesn't name, are preserved.
@Suite(.everyEngine) struct RandomRebuildTests {
  private struct Source: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state ^ (state >> 29)) &* 0x9e37_79b9_7f4a_7c15
    }
  }

  /// Returns the SQL of a table with five columns and random comments and constraints.
  private func table(_ random: inout Source) -> String {
    let types = ["", "INTEGER", "TEXT", "REAL", "NUMERIC(3)", "BLOB", "VARCHAR ( 9 )"]
    let constraints = [
      "", "DEFAULT 7", "CHECK (1 OR c2 > 0)", "COLLATE nocase", "NOT NULL DEFAULT ''",
      "CONSTRAINT \"a name\" CHECK (length(c1) < 99) /* , */", "-- to the end )\n", "UNIQUE",
    ]
    let columns = (0..<5).map { number in
      let first = constraints.randomElement(using: &random) ?? ""
      let second = constraints.randomElement(using: &random) ?? ""
      return "c\(number) \(types.randomElement(using: &random) ?? "") \(first) \(second)"
    }
    let keys = ["", ", PRIMARY KEY (c0)", ", UNIQUE (c1, c0)", ", CHECK (c0 IS NOT 'x') -- last\n"]
    return
      "CREATE TABLE /* t */ t (\(columns.joined(separator: ",\n"))\(keys.randomElement(using: &random) ?? "") )"
  }

  private func step(_ random: inout Source) -> Migration.Step {
    let column = "c\(Int.random(in: 0..<5, using: &random))"
    switch Int.random(in: 0..<7, using: &random) {
    case 0:
      return .changeType(
        column, to: ["NUMERIC", "", "BLOB"].randomElement(using: &random) ?? "", in: "t")
    case 1: return .addConstraint("CHECK (\(identifier: column) IS NOT 'never')", in: "t")
    case 2: return .setNotNull(column, in: "t", default: .integer(5))
    case 3: return .reorder([column], in: "t")
    case 4: return .addConstraint("COLLATE rtrim", of: column, in: "t")
    case 5: return .dropColumnByRebuilding(column, in: "t")
    default: return .dropConstraint("UNIQUE", of: column, in: "t")
    }
  }

  @Test func `everything that a step doesn't name is preserved`() throws {
    var count = 0
    let seeds = Engine.current == .cluster ? 20 : 150
    for seed in 0..<seeds { count += try run(seed: seed) }
    // Most steps must succeed rather than throw.
    #expect(count > seeds * 2, "\(count)")
  }

  /// Returns the number of successful steps out of five.
  private func run(seed: Int) throws -> Int {
    var random = Source(state: UInt64(seed) &* 77 &+ 5)
    let database = try Database.fresh()
    let sql = table(&random)
    try database.executeMultipleChanges(
      """
      \(SQL(unchecked: sql));
      CREATE INDEX i ON t (c3) WHERE c4 > 1;
      CREATE TABLE log (a, b);
      CREATE TRIGGER r AFTER DELETE ON t BEGIN INSERT INTO log VALUES (old.c2, 1); END;
      """)
    for number in 0..<6 {
      let values = [
        "\(number)", "x\(number)", "\(number).5", number == 3 ? "10" : "a b\(number)",
        "\(number * 100)",
      ]
      _ = try? database.executeChange(
        "INSERT INTO t VALUES (\(values[0]), \(values[1]), \(values[2]), \(values[3]), \(values[4]))"
      )
    }
    func rows() throws -> [[String: String]] {
      try database.executeQuery("SELECT rowid AS rowid_, * FROM t ORDER BY 1").map { row in
        Dictionary(
          uniqueKeysWithValues: try row.columnNames.enumerated().map { index, name in
            (name, try row.get(index, as: Value.self).text)
          })
      }
    }
    var made: [Migration] = []
    for number in 0..<5 {
      let before = try rows()
      let text = try database.rows(
        "SELECT sql FROM sqlite_schema WHERE name = 't'", as: String.self)[0]
      let schema = try database.schemaModel()
      let next = made + [Migration("\(number)", step(&random))]
      do {
        try database.migrate(next)
        made = next
        let after = try rows()
        #expect(after.count == before.count)
        for (old, new) in zip(before, after) {
          for (name, value) in new where old[name] != "null" {
            #expect(old[name] == value, "\(text)")
          }
        }
        let changes = schema.changes(to: try database.schemaModel()).filter {
          $0.name == "t" && $0.kind != .create
        }
        #expect(changes.count <= 2, "\(changes)")
      } catch let error as RebuildError {
        #expect(!error.obstacles.isEmpty)
        #expect(try rows() == before)
        #expect(try database.schemaModel() == schema)
      }
      #expect(try database.rows("PRAGMA integrity_check", as: String.self) == ["ok"])
      let now = try database.rows(
        "SELECT sql FROM sqlite_schema WHERE name = 't'", as: String.self)[0]
      #expect(
        now.hasPrefix("CREATE TABLE t (") || now.hasPrefix("CREATE TABLE /* t */ t ("), "\(now)")
    }
    return made.count
  }
}

extension Value {
  /// The value in a form that is equal after a lossless conversion.
  fileprivate var text: String {
    switch self {
    case .null: "null"
    case .integer(let number): "\(Double(number))"
    case .real(let number): "\(number)"
    case .text(let text): Double(text).map { "\($0)" } ?? text
    case .blob(let bytes): "\(bytes)"
    }
  }
}
