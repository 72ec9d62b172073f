import SQLiteCore
import SQLiteHistory
import Testing
import TestSupport

/// Tests patches with rows that exchange unique values, which no order of single updates can apply.
@Suite struct ExchangeTests {
  /// A way to apply a patch.
  enum Way: CaseIterable, Sendable {
    case ordinary
    /// Without triggers and foreign key actions, like undo.
    case exact

    @discardableResult
    func apply(
      _ patch: Patch, to database: Database,
      _ onConflict: ((PatchConflict) throws -> PatchResolution)? = nil
    ) throws -> PatchReport {
      switch self {
      case .ordinary: try database.apply(patch, onConflict: onConflict)
      case .exact: try database.write { try $0.applyExactly(patch, onConflict: onConflict) }
      }
    }
  }

  /// A table with rows that exchange values: its schema and rows, and the change.
  struct Example: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let schema: SQL
    let change: SQL
  }

  private static let swap: SQL = """
    UPDATE t SET code = 'tmp' WHERE id = 1; UPDATE t SET code = 'A' WHERE id = 2;
    UPDATE t SET code = 'B' WHERE id = 1
    """

  static let examples = [
    Example(
      testDescription: "a unique column",
      schema: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
        INSERT INTO t VALUES (1, 'A'), (2, 'B')
        """,
      change: swap),
    Example(
      testDescription: "NOT NULL and CHECK",
      schema: """
        CREATE TABLE t (
          id TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL UNIQUE CHECK (n BETWEEN 0 AND 2)) STRICT;
        INSERT INTO t VALUES ('a', 1), ('b', 2)
        """,
      change: """
        UPDATE t SET n = 0 WHERE id = 'a'; UPDATE t SET n = 1 WHERE id = 'b';
        UPDATE t SET n = 2 WHERE id = 'a'
        """),
    Example(
      testDescription: "without rowids, several columns, three rows",
      schema: """
        CREATE TABLE t (
          a TEXT, b INTEGER, list TEXT NOT NULL, place REAL NOT NULL, PRIMARY KEY (a, b),
          UNIQUE (list, place)) WITHOUT ROWID;
        INSERT INTO t VALUES ('x', 1, 'l', 1.5), ('x', 2, 'l', 2.5), ('y', 1, 'm', 1.5)
        """,
      change: """
        UPDATE t SET place = -place;
        UPDATE t SET list = 'l', place = 2.5 WHERE b = 1 AND a = 'x';
        UPDATE t SET list = 'm', place = 1.5 WHERE b = 2;
        UPDATE t SET list = 'l', place = 1.5 WHERE a = 'y'
        """),
    Example(
      testDescription: "an expression",
      schema: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT NOT NULL);
        CREATE UNIQUE INDEX i ON t (lower(code));
        INSERT INTO t VALUES (1, 'A'), (2, 'B')
        """,
      change: swap),
    Example(
      testDescription: "a property of JSON",
      schema: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, doc TEXT NOT NULL CHECK (json_valid(doc)));
        CREATE UNIQUE INDEX i ON t (json_extract(doc, '$.id'));
        INSERT INTO t VALUES (1, '{"id":1}'), (2, '{"id":2}')
        """,
      change: """
        UPDATE t SET doc = '{}' WHERE id = 1; UPDATE t SET doc = '{"id":1}' WHERE id = 2;
        UPDATE t SET doc = '{"id":2}' WHERE id = 1
        """),
    Example(
      testDescription: "a generated column",
      schema: """
        CREATE TABLE t (
          id INTEGER PRIMARY KEY, code TEXT, seal BLOB AS (CAST(upper(code) AS BLOB)) STORED UNIQUE);
        INSERT INTO t (id, code) VALUES (1, 'A'), (2, 'B')
        """,
      change: swap),
    Example(
      testDescription: "an index of some rows",
      schema: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, code BLOB, isMain INTEGER NOT NULL);
        CREATE UNIQUE INDEX i ON t (code) WHERE isMain = 1;
        CREATE UNIQUE INDEX j ON t (code) WHERE isMain = 0;
        INSERT INTO t VALUES (1, x'00', 0), (2, x'00', 1), (3, x'01', 0)
        """,
      change: """
        UPDATE t SET isMain = 2 WHERE id = 1; UPDATE t SET isMain = 0 WHERE id = 2;
        UPDATE t SET isMain = 1 WHERE id = 1
        """),
    Example(
      testDescription: "with an insert and a delete",
      schema: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
        INSERT INTO t VALUES (1, 'A'), (2, 'B'), (3, 'C')
        """,
      change: """
        DELETE FROM t WHERE id = 3; UPDATE t SET code = 'C' WHERE id = 1;
        UPDATE t SET code = 'A' WHERE id = 2; INSERT INTO t VALUES (4, 'B')
        """),
  ]

  /// Returns a database with indexes and triggers that may use any function and virtual table.
  private func fresh() throws -> Database {
    var options = Database.Options()
    options.trustedSchema = true
    return try Database.memory(options: options)
  }

  private func dump(_ database: Database) throws -> [String] {
    try database.executeQuery("SELECT * FROM t ORDER BY 1, 2").map { "\($0.values)" }
  }

  @Test(arguments: examples, Way.allCases)
  func `a patch and its inverse can be applied to a copy`(_ example: Example, _ way: Way) throws {
    let one = try fresh(), other = try fresh()
    for database in [one, other] { try database.executeMultipleChanges(example.schema) }
    let before = try dump(one)
    let patch = try one.patch { try $0.executeMultipleChanges(example.change) }
    let after = try dump(one)
    #expect(before != after)
    let report = try way.apply(patch, to: other)
    #expect(report.appliedCount == patch.count)
    #expect(try dump(other) == after)
    try way.apply(patch.inverted, to: other)
    #expect(try dump(other) == before)
    #expect(try other.rows("PRAGMA ignore_check_constraints", as: Int.self).first == 0)
  }

  @Test func `a journal's patch applies exchanged values to a copy`() throws {
    let folder = try TestFolder()
    let database = try Database(path: folder.file())
    let copy = try fresh()
    for database in [database, copy] {
      try database.executeMultipleChanges(Self.examples[0].schema)
    }
    let journal = try database.journal()
    let mark = try journal.mark()
    try database.write { try $0.executeMultipleChanges(Self.swap) }
    try copy.apply(#require(try journal.patch(since: mark)), isIdempotent: true)
    #expect(try dump(copy) == dump(database))
  }

  @Test(arguments: Way.allCases)
  func `columns that were added later keep their values`(_ way: Way) throws {
    let database = try fresh()
    try database.executeMultipleChanges(Self.examples[0].schema)
    let patch = try database.patch { try $0.executeMultipleChanges(Self.swap) }
    try database.executeMultipleChanges(
      """
      ALTER TABLE t ADD COLUMN note TEXT DEFAULT 'none';
      ALTER TABLE t ADD COLUMN double AS (id * 2);
      UPDATE t SET note = 'note ' || id; UPDATE t SET note = CAST(x'ff' AS TEXT) WHERE id = 2
      """)
    try way.apply(patch.inverted, to: database)
    #expect(
      try database.rows(
        "SELECT id || code || typeof(note) || hex(note) || double FROM t ORDER BY id",
        as: String.self)
        == ["1Atext6E6F746520312", "2BtextFF4"])
  }

  @Test(arguments: Way.allCases)
  func `conflicts of exchanged rows are resolved column by column`(_ way: Way) throws {
    let schema: SQL = """
      CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT, size INTEGER);
      INSERT INTO t VALUES (1, 'A', 'a', 1), (2, 'B', 'b', 2), (3, 'C', 'c', 3)
      """
    let one = try fresh()
    try one.executeMultipleChanges(schema)
    let patch = try one.patch {
      try $0.executeMultipleChanges(Self.swap)
      try $0.executeChange("UPDATE t SET name = name || '!', size = size + 10 WHERE id < 3")
    }
    let answers: [(PatchResolution, [String])] = [
      (.merge, ["1Bours11", "2Ab!12"]),
      (.set(["name": .text("given"), "size": .integer(7)]), ["1Bgiven7", "2Ab!12"]),
      (.replace, ["1Ba!11", "2Ab!12"]),
    ]
    for (answer, expected) in answers {
      let other = try fresh()
      try other.executeMultipleChanges(schema)
      try other.executeChange("UPDATE t SET name = 'ours' WHERE id = 1")
      let report = try way.apply(patch, to: other) { _ in answer }
      #expect(report.resolved.map(\.resolution) == [answer])
      #expect(report.appliedCount == 2)
      #expect(
        try other.rows("SELECT id || code || name || size FROM t WHERE id < 3", as: String.self)
          == expected)
    }
    // An omitted row keeps the value that the other row needs.
    let other = try fresh()
    try other.executeMultipleChanges(schema)
    try other.executeChange("UPDATE t SET name = 'ours' WHERE id = 1")
    let before = try dump(other)
    let report = try way.apply(patch, to: other) { _ in .omit }
    #expect(report.resolved.map(\.conflict.kind) == [.data, .constraint])
    #expect(try dump(other) == before)
  }

  @Test(arguments: Way.allCases)
  func `rows blocked by another row are conflicts, and the rest is exchanged`(_ way: Way) throws {
    let one = try fresh(), other = try fresh()
    for database in [one, other] { try database.executeMultipleChanges(Self.examples[0].schema) }
    for database in [one, other] {
      try database.executeChange("INSERT INTO t VALUES (3, 'C'), (4, 'D')")
    }
    let patch = try one.patch {
      try $0.executeMultipleChanges(Self.swap)
      try $0.executeMultipleChanges(
        "UPDATE t SET code = 'E' WHERE id = 4; UPDATE t SET code = 'D' WHERE id = 3")
    }
    try other.executeChange("INSERT INTO t VALUES (5, 'E')")
    let report = try way.apply(patch, to: other) { _ in .omit }
    #expect(report.appliedCount == 2)
    #expect(report.resolved.map(\.conflict.kind) == [.constraint, .constraint])
    #expect(
      try other.rows("SELECT id || code FROM t ORDER BY id", as: String.self)
        == ["1B", "2A", "3C", "4D", "5E"])
    #expect(throws: PatchError.self) { try way.apply(patch, to: other) }
  }

  @Test(arguments: Way.allCases)
  func `child rows keep a parent with exchanged values`(_ way: Way) throws {
    let schema: SQL = """
      CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE);
      CREATE TABLE child (
        id INTEGER PRIMARY KEY, owner INTEGER REFERENCES t ON DELETE CASCADE,
        code TEXT NOT NULL REFERENCES t (code) ON DELETE CASCADE ON UPDATE CASCADE);
      INSERT INTO t VALUES (1, 'A'), (2, 'B');
      INSERT INTO child VALUES (1, 1, 'A'), (2, 2, 'B')
      """
    let one = try fresh(), other = try fresh()
    for database in [one, other] { try database.executeMultipleChanges(schema) }
    let patch = try one.patch { try $0.executeMultipleChanges(Self.swap) }
    #expect(patch.tables.map(\.name).contains("child"))
    try way.apply(patch, to: other)
    #expect(try dump(other) == dump(one))
    #expect(
      try other.rows("SELECT id || owner || code FROM child ORDER BY id", as: String.self)
        == ["11B", "22A"])
  }

  @Test func `triggers run for each update, so a search index stays up to date`() throws {
    let schema: SQL = """
      CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT UNIQUE, note TEXT);
      CREATE VIRTUAL TABLE f USING fts5 (code, content = 't', content_rowid = 'id');
      CREATE TRIGGER changed AFTER UPDATE ON t BEGIN
        INSERT INTO f (f, rowid, code) VALUES ('delete', old.id, old.code);
        INSERT INTO f (rowid, code) VALUES (new.id, new.code);
      END;
      INSERT INTO t VALUES (1, 'A', ''), (2, 'B', '');
      INSERT INTO f (f) VALUES ('rebuild')
      """
    let one = try fresh(), other = try fresh()
    for database in [one, other] { try database.executeMultipleChanges(schema) }
    let patch = try one.patch { try $0.executeMultipleChanges(Self.swap) }
    try other.apply(patch)
    #expect(try other.rows("SELECT rowid FROM f WHERE f MATCH 'b'", as: Int.self) == [1])
    try other.executeChange("INSERT INTO f (f, rank) VALUES ('integrity-check', 1)")
    // An error that a trigger raises is a conflict.
    try other.executeMultipleChanges(
      """
      CREATE TRIGGER short BEFORE UPDATE ON t WHEN new.code NOT IN ('A', 'B')
      BEGIN SELECT RAISE(ABORT, 'unknown'); END
      """)
    let error = #expect(throws: PatchError.self) { try other.apply(patch.inverted) }
    #expect(error?.conflicts.map(\.kind) == [.constraint, .constraint])
    #expect(try dump(other) == dump(one))
  }

  @Test(arguments: Way.allCases)
  func `random permutations of unique values can be applied and inverted`(_ way: Way) throws {
    var generator = SplitMix64(seed: 13)
    for round in 0..<60 {
      let count = Int.random(in: 2...12, using: &generator)
      let one = try fresh()
      try one.executeMultipleChanges(
        """
        CREATE TABLE t (
          id INTEGER PRIMARY KEY, code TEXT UNIQUE, place INTEGER NOT NULL UNIQUE, note TEXT)
        """)
      for id in 0..<count {
        try one.executeChange("INSERT INTO t VALUES (\(id), \("c\(id)"), \(id), \("n\(id)"))")
      }
      let other = try Database.memory(serialized: one.serialized())
      let before = try dump(one)
      let codes = (0..<count).shuffled(using: &generator)
      let places = (0..<count).shuffled(using: &generator)
      let patch = try one.patch { connection in
        try connection.executeChange("UPDATE t SET code = NULL, place = -1 - place")
        for id in 0..<count where round % 4 != 0 || id != codes[0] {
          try connection.executeChange(
            "UPDATE t SET code = \("c\(codes[id])"), place = \(places[id]) WHERE id = \(id)")
        }
        if round % 3 == 0 { try connection.executeChange("DELETE FROM t WHERE id = \(codes[0])") }
      }
      try way.apply(Patch(data: patch.data), to: other)
      #expect(try dump(other) == dump(one), "round \(round)")
      try way.apply(patch.inverted, to: other)
      #expect(try dump(other) == before, "round \(round)")
    }
  }
}
