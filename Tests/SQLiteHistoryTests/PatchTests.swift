import CSQLite
import Foundation
import SQLiteCore
import SQLiteHistory
import Testing
import TestSupport

/// Tests patches, and compares them with changesets of SQLite's session extension.
@Suite struct PatchTests {
  static let schema = """
    CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT, size REAL, seal BLOB);
    CREATE TABLE pair (a TEXT, b INTEGER, note, PRIMARY KEY (b, a)) WITHOUT ROWID;
    CREATE TABLE word (name TEXT PRIMARY KEY, n INTEGER DEFAULT 5);
    """

  private func database(_ schema: String = schema) throws -> Database {
    let database = try Database.memory()
    try database.executeMultipleChanges(SQL(unchecked: schema))
    return database
  }

  @Test func `a patch contains each row once`() throws {
    let database = try database()
    try database.executeChange("INSERT INTO town VALUES (1, 'a', 1.5, x'00'), (2, 'b', NULL, NULL)")
    let patch = try database.patch { connection in
      try connection.executeChange("INSERT INTO town VALUES (3, 'c', 3, NULL)")
      try connection.executeChange("UPDATE town SET name = 'd' WHERE id = 3")
      try connection.executeChange("UPDATE town SET name = 'e' WHERE id = 1")
      try connection.executeChange("UPDATE town SET size = 2.5 WHERE id = 1")
      try connection.executeChange("INSERT INTO town VALUES (4, 'gone', 3, NULL)")
      try connection.executeChange("DELETE FROM town WHERE id = 4")
      try connection.executeChange("UPDATE town SET id = 5 WHERE id = 2")
      try connection.savepoint {
        try connection.executeChange("DELETE FROM town")
        return TransactionOutcome.rollback
      }
    }
    let table = try #require(patch.tables.first)
    #expect(patch.tables.count == 1)
    #expect(table.name == "town")
    #expect(table.columns == ["id", "name", "size", "seal"])
    #expect(
      Set(table.rows) == [
        Patch.Row(
          .insert, isIndirect: false, old: [nil, nil, nil, nil],
          new: [.integer(3), .text("d"), .real(3), .null]),
        Patch.Row(
          .update, isIndirect: false, old: [.integer(1), .text("a"), .real(1.5), nil],
          new: [nil, .text("e"), .real(2.5), nil]),
        Patch.Row(
          .delete, isIndirect: false, old: [.integer(2), .text("b"), .null, .null],
          new: [nil, nil, nil, nil]),
        Patch.Row(
          .insert, isIndirect: false, old: [nil, nil, nil, nil],
          new: [.integer(5), .text("b"), .null, .null]),
      ])
  }

  @Test func `a patch equals the session extension's changeset`() throws {
    var generator = SplitMix64(seed: 21)
    let database = try database()
    let session = try SessionDatabase()
    try session.execute(Self.schema)
    let other = try SessionDatabase()
    try other.execute(Self.schema)
    for _ in 0..<60 {
      let script = Self.randomScript(&generator)
      let patch = try database.patch { connection in
        for sql in script { _ = try? connection.executeChange(SQL(unchecked: sql)) }
      }
      let data = try session.changeset {
        for sql in script { try? session.execute(sql) }
      }
      let theirs = try Patch(data: data)
      #expect(theirs.content == patch.content)
      #expect(try Patch(data: patch.data).content == patch.content)
      // SQLite can apply the patch's bytes and invert them.
      try other.apply(patch.data)
      for table in ["town", "pair", "word"] {
        #expect(try other.dump(table) == database.dump(table))
        #expect(try session.dump(table) == database.dump(table))
      }
      #expect(try Patch(data: sessionInverted(patch.data)).content == patch.inverted.content)
    }
  }

  static func randomScript(_ generator: inout SplitMix64) -> [String] {
    (0..<Int.random(in: 1...12, using: &generator)).map { _ in
      let key = Int.random(in: 1...12, using: &generator)
      let other = Int.random(in: 1...12, using: &generator)
      let value =
        ["NULL", "1", "2.5", "'text'", "x'0102'", "''", "x''", "\(key)"]
        .randomElement(using: &generator) ?? "NULL"
      switch Int.random(in: 0..<12, using: &generator) {
      case 0, 1: return "INSERT OR REPLACE INTO town VALUES (\(key), \(value), \(other), x'00')"
      case 2: return "UPDATE town SET name = \(value) WHERE id = \(key)"
      case 3: return "UPDATE OR IGNORE town SET id = \(other) WHERE id = \(key)"
      case 4: return "DELETE FROM town WHERE id = \(key)"
      case 5: return "INSERT OR IGNORE INTO pair VALUES ('\(key)', \(other), \(value))"
      case 6: return "UPDATE OR REPLACE pair SET b = \(other) WHERE a = '\(key)'"
      case 7: return "DELETE FROM pair WHERE b > \(key)"
      case 8: return "INSERT OR REPLACE INTO word (name) VALUES ('w\(key)')"
      case 9: return "UPDATE word SET n = n + 1 WHERE name > 'w\(key)'"
      case 10: return "DELETE FROM town"
      default: return "UPDATE pair SET note = \(value) WHERE b = \(key)"
      }
    }
  }

  @Test func `patches are combined like the session extension combines changesets`() throws {
    var generator = SplitMix64(seed: 5)
    let database = try database()
    var last: Patch?
    for _ in 0..<80 {
      let script = Self.randomScript(&generator)
      let before = try ["town", "pair", "word"].map { try database.dump($0) }
      let patch = try database.patch { connection in
        for sql in script { _ = try? connection.executeChange(SQL(unchecked: sql)) }
      }
      if let last {
        let both = try last.combined(with: patch)
        #expect(try Patch(data: sessionCombined(last.data, patch.data)).content == both.content)
        try database.apply(both.inverted)
        try database.apply(both)
        try database.apply(patch.inverted)
        #expect(try ["town", "pair", "word"].map { try database.dump($0) } == before)
        try database.apply(patch)
      }
      last = patch
    }
  }

  @Test func `an encoded patch keeps its column names`() throws {
    let database = try database()
    let patch = try database.patch {
      try $0.executeMultipleChanges(
        "INSERT INTO town VALUES (1, 'a', 1, x'00'); INSERT INTO word VALUES ('a', 1)")
    }
    let again = try JSONDecoder().decode(Patch.self, from: JSONEncoder().encode(patch))
    #expect(again == patch)
    let altered = try self.database("CREATE TABLE word (name TEXT PRIMARY KEY, m INTEGER)")
    let error = #expect(throws: PatchError.self) {
      try altered.apply(again.filtered { $0 == "word" })
    }
    #expect(error?.description.contains("no column “n”") == true)
  }

  @Test(arguments: [
    ("a TEXT", "UPDATE t SET a = 'x' WHERE a = 1"), ("a TEXT", "DELETE FROM t"),
    ("a TEXT UNIQUE NOT NULL", "INSERT INTO t VALUES (3)"),
    ("a TEXT PRIMARY KEY", "INSERT INTO t VALUES (NULL)"),
    ("a TEXT PRIMARY KEY", "UPDATE t SET a = NULL WHERE a = 1"),
  ])
  func `changes of rows without a primary key throw, because VACUUM renumbers them`(
    columns: String, change: String
  ) throws {
    let database = try database(
      "CREATE TABLE t (\(columns)); CREATE TABLE u (id INTEGER PRIMARY KEY)")
    try database.executeChange("INSERT INTO t VALUES (1), (2)")
    let before = try database.dump("t", order: "1")
    func work(_ connection: Connection) throws {
      try connection.executeChange("INSERT INTO u DEFAULT VALUES")
      try connection.executeChange(SQL(unchecked: change))
    }
    let error = #expect(throws: PatchError.self) { try database.patch { try work($0) } }
    #expect(error?.reason == .noKey(table: "t"))
    #expect("\(try #require(error))".contains("declare a PRIMARY KEY"))
    // In an enclosing transaction, all changes of the closure are rolled back.
    try database.write { connection in
      #expect(throws: PatchError.self) { try connection.patch { try work(connection) } }
    }
    #expect(try database.dump("t", order: "1") == before)
    #expect(try database.dump("u", order: "1").isEmpty)
    // Changes without a net effect don't count.
    let empty = try database.patch { connection in
      try connection.executeMultipleChanges(
        "INSERT INTO t VALUES ('9'); DELETE FROM t WHERE a = '9'")
    }
    #expect(empty.isEmpty)
  }

  @Test(arguments: ["", " WITHOUT ROWID"])
  func `keys that differ in case or storage class identify different rows`(kind: String) throws {
    let nocase = "k TEXT NOT NULL COLLATE NOCASE PRIMARY KEY, v"
    let rtrim = "k TEXT NOT NULL COLLATE RTRIM PRIMARY KEY, v"
    // With this key, both spellings can exist.
    let binary = "k TEXT NOT NULL COLLATE NOCASE, v, PRIMARY KEY (k COLLATE BINARY)"
    for (columns, rows, change) in [
      (nocase, "('a', 1)", "UPDATE t SET k = 'A'"),
      (nocase, "('a', 1)", "INSERT OR REPLACE INTO t VALUES ('A', 9)"),
      (rtrim, "('a', 1)", "UPDATE t SET k = 'a '"),
      ("k NOT NULL PRIMARY KEY, v", "(2, 1)", "UPDATE t SET k = 2.0"),
      (binary, "('a', 1), ('A', 3)", "DELETE FROM t WHERE v = 1"),
      (binary, "('a', 1), ('A', 3)", "UPDATE t SET v = 4 WHERE v = 3"),
    ] {
      let schema = "CREATE TABLE t (\(columns))\(kind); INSERT INTO t VALUES \(rows)"
      let one = try database(schema), other = try database(schema)
      let before = try one.dump("t", order: "k COLLATE BINARY")
      let patch = try one.patch { try $0.executeChange(SQL(unchecked: change)) }
      let after = try one.dump("t", order: "k COLLATE BINARY")
      #expect(after != before)
      try other.apply(patch)
      #expect(try other.dump("t", order: "k COLLATE BINARY") == after)
      // A journal may deliver the patch twice.
      #expect(try other.apply(patch, isIdempotent: true).appliedCount == 0)
      try other.apply(patch.inverted)
      #expect(try other.dump("t", order: "k COLLATE BINARY") == before)
    }
  }

  @Test func `inserting a row whose key differs only in case is a conflict`() throws {
    let schema = "CREATE TABLE t (k TEXT NOT NULL COLLATE NOCASE PRIMARY KEY, v)"
    let one = try database(schema), other = try database(schema)
    let patch = try one.patch { try $0.executeChange("INSERT INTO t VALUES ('A', 1)") }
    try other.executeChange("INSERT INTO t VALUES ('a', 2)")
    let error = #expect(throws: PatchError.self) { try other.apply(patch) }
    #expect(error?.conflicts.map(\.kind) == [.constraint])
    try other.apply(patch) { _ in .omit }
    // The inverted patch deletes “A”, which doesn't exist.
    let missing = #expect(throws: PatchError.self) { try other.apply(patch.inverted) }
    #expect(missing?.conflicts.map(\.kind) == [.notFound])
    #expect(try other.dump("t") == database(schema + "; INSERT INTO t VALUES ('a', 2)").dump("t"))
  }

  @Test(arguments: [
    ("INSERT INTO t VALUES ('x', CAST(X'FF' AS TEXT))", "v"),
    ("INSERT INTO t VALUES (CAST(X'FF' AS TEXT), 1)", "k"),
    ("UPDATE t SET v = CAST(X'FF' AS TEXT) WHERE k = 'a'", "v"),
    ("UPDATE t SET v = 'good' WHERE k = 'b'", "v"), ("UPDATE t SET v = X'FE' WHERE k = 'b'", "v"),
    ("DELETE FROM t WHERE k = 'b'", "v"), ("UPDATE t SET v = 1 WHERE v = 'key'", "k"),
  ])
  func `changes of text that isn't UTF-8 throw and are rolled back`(
    change: String, column: String
  ) throws {
    let database = try database(
      """
      CREATE TABLE t (k TEXT PRIMARY KEY NOT NULL, v);
      INSERT INTO t VALUES ('a', 1), ('b', CAST(X'FE' AS TEXT)), (CAST(X'FD' AS TEXT), 'key')
      """)
    let journal = try database.journal(), mark = try journal.mark()
    func rows() throws -> [[Value]] {
      try database.executeQuery("SELECT typeof(k), hex(k), typeof(v), hex(v) FROM t").map(\.values)
    }
    let before = try rows()
    let error = #expect(throws: PatchError.self) {
      try database.patch { try $0.executeChange(SQL(unchecked: change)) }
    }
    #expect(error?.reason == .notUTF8(table: "t", column: column))
    #expect(try rows() == before)
    try database.executeChange(SQL(unchecked: change))
    let journaled = #expect(throws: PatchError.self) { try journal.patch(since: mark) }
    #expect(journaled?.reason == .notUTF8(table: "t", column: column))
  }

  @Test func `a row keeps invalid text in a column that hasn't changed`() throws {
    let schema = """
      CREATE TABLE t (k TEXT PRIMARY KEY NOT NULL, v, w);
      INSERT INTO t VALUES ('a', CAST(X'FF' AS TEXT), 1)
      """
    let one = try database(schema), other = try database(schema)
    let patch = try one.patch { try $0.executeChange("UPDATE t SET w = 2") }
    try other.apply(patch)
    let row = try other.executeQuery("SELECT typeof(v), hex(v), w FROM t").map(\.values)
    #expect(row == [[.text("text"), .text("FF"), .integer(2)]])
  }

  @Test(arguments: ["[\"id\",\"a\",\"A\"]", "[\"a\",\"a\",\"a\"]", "[\"id\",\"a\"]"])
  func `decoding a patch with unknown or repeated columns throws`(columns: String) throws {
    let database = try database("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)")
    let patch = try database.patch { try $0.executeChange("INSERT INTO t VALUES (1, 2, 3)") }
    let text = String(decoding: try JSONEncoder().encode(patch), as: UTF8.self)
    let forged = text.replacing("[\"id\",\"a\",\"b\"]", with: columns)
    #expect(forged != text)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Patch.self, from: Data(forged.utf8))
    }
  }

  @Test func `applying another program's changeset with rowids throws`() throws {
    let table = Patch.Table(
      name: "t", keyPositions: [1, 0], columns: nil,
      rows: [
        Patch.Row(.insert, isIndirect: false, old: [nil, nil], new: [.integer(1), .text("x")])
      ])
    let database = try database("CREATE TABLE t (a)")
    let data = Patch(tables: [table]).data
    let error = #expect(throws: PatchError.self) { try database.apply(Patch(data: data)) }
    #expect(error?.reason == .noKey(table: "t"))
  }

  @Test func `generated columns are omitted, and their source columns are exact`() throws {
    let schema = """
      CREATE TABLE g (
        v AS (a + 1) VIRTUAL, a INTEGER, k TEXT PRIMARY KEY, s AS (a * 2) STORED, w AS (1), b)
      """
    let without = schema + " WITHOUT ROWID"
    for schema in [schema, without] {
      let one = try database(schema), other = try database(schema)
      for sql in [
        "INSERT INTO g (a, k, b) VALUES (1, 'x', 10), (2, 'y', 20)",
        "UPDATE g SET b = 30 WHERE k = 'x'", "UPDATE g SET a = 7 WHERE k = 'y'",
        "UPDATE g SET k = 'z' WHERE k = 'y'", "DELETE FROM g WHERE k = 'x'",
      ] {
        let patch = try one.patch { try $0.executeChange(SQL(unchecked: sql)) }
        #expect(patch.tables.first?.columns == ["a", "k", "b"])
        try other.apply(try Patch(data: patch.data))
        #expect(try other.dump("g", order: "k") == one.dump("g", order: "k"))
      }
    }
  }

  @Test func `a patch contains blobs that were written in place`() throws {
    let one = try database(), other = try database()
    try other.apply(
      try one.patch { try $0.executeChange("INSERT INTO town VALUES (1, 'abc', 1, zeroblob(300))") }
    )
    let patch = try one.patch { connection in
      try connection.withBlob(table: "town", column: "seal", rowID: 1, isWritable: true) { blob in
        try blob.write([1, 2, 3], at: 297)
        try blob.write([9], at: 0)
      }
      try connection.withBlob(table: "town", column: "name", rowID: 1, isWritable: true) { blob in
        try blob.write([UInt8(ascii: "x")], at: 1)
      }
    }
    try other.apply(patch)
    #expect(try other.dump("town") == one.dump("town"))
    #expect(try one.rows("SELECT name FROM town", as: String.self).first == "axc")
  }

  @Test func `a patch handles a column added in the middle of its transaction`() throws {
    let one = try database("CREATE TABLE t (a INTEGER PRIMARY KEY, b)"),
      other = try database("CREATE TABLE t (a INTEGER PRIMARY KEY, b, c DEFAULT 1)")
    let patch = try one.patch { connection in
      try connection.executeChange("INSERT INTO t VALUES (1, 1), (2, 2)")
      try connection.executeChange("ALTER TABLE t ADD COLUMN c DEFAULT 1")
      try connection.executeChange("UPDATE t SET c = 5 WHERE a = 2")
      try connection.executeChange("INSERT INTO t VALUES (3, 3, 3)")
    }
    try other.apply(patch)
    #expect(try other.dump("t") == one.dump("t"))
  }

  @Test func `NaN is decoded as NULL, like in SQLite`() throws {
    let database = try database()
    let data = try database.patch {
      try $0.executeChange("INSERT INTO town VALUES (1, 'a', 1.5, NULL)")
    }.data
    let number = unsafe withUnsafeBytes(of: 1.5.bitPattern.bigEndian) { unsafe [UInt8]($0) }
    let other = unsafe withUnsafeBytes(of: Double.nan.bitPattern.bigEndian) { unsafe [UInt8]($0) }
    var bytes = [UInt8](data)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: number) })
    bytes.replaceSubrange(place..<place + 8, with: other)
    let patch = try Patch(data: Data(bytes))
    #expect(patch.tables.first?.rows.first?.new == [.integer(1), .text("a"), .null, .null])
  }

  @Test func `a row from before a column was added is restored with its default`() throws {
    let one = try database("CREATE TABLE t (a INTEGER PRIMARY KEY, b)")
    try one.executeMultipleChanges(
      """
      INSERT INTO t VALUES (1, 'x'), (2, NULL);
      ALTER TABLE t ADD COLUMN c TEXT NOT NULL DEFAULT 'none';
      ALTER TABLE t ADD COLUMN d REAL DEFAULT 2
      """)
    let before = try one.dump("t")
    let removal = try one.patch { try $0.executeChange("DELETE FROM t") }
    #expect(try one.dump("t").isEmpty)
    try one.apply(try Patch(data: removal.inverted.data))
    #expect(try one.dump("t") == before)
    let update = try one.patch { try $0.executeChange("UPDATE t SET c = 'some', d = NULL") }
    try one.apply(update.inverted)
    #expect(try one.dump("t") == before)
    try one.apply(removal)
    #expect(try one.dump("t").isEmpty)
  }

  @Test func `damaged data throws or is decoded consistently`() throws {
    let database = try database()
    let data = try database.patch { connection in
      try connection.executeMultipleChanges(
        """
        INSERT INTO town VALUES (1, 'a name', 1.5, x'0001020304');
        INSERT INTO pair VALUES ('a', 1, NULL); INSERT INTO word VALUES ('w', 1)
        """)
    }.data
    for end in 1..<data.count {
      guard let patch = try? Patch(data: data.prefix(end)) else { continue }
      // A truncated patch contains only complete changes.
      #expect(patch.count < 3)
    }
    var generator = SplitMix64(seed: 8)
    for _ in 0..<3000 {
      var bytes = [UInt8](data)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
          in: 0...255, using: &generator)
      }
      guard let patch = try? Patch(data: Data(bytes)) else { continue }
      #expect(try Patch(data: patch.data) == patch)
    }
    let patchset = #expect(throws: SQLiteError.self) { try Patch(data: Data([UInt8(ascii: "P")])) }
    #expect(patchset?.code == .misuse)
  }

  @Test func `without the preupdate hook, recording a patch throws`() throws {
    var options = Database.Options()
    options.usesPreupdateHook = false
    let database = try Database.memory(options: options)
    let error = sqliteError { _ = try database.patch { _ in } }
    #expect(error?.message.contains("SQLITE_ENABLE_PREUPDATE_HOOK") == true)
  }

  /// Returns a database with a trigger that writes rows with automatic keys.
  private func logged() throws -> Database {
    let database = try Database.memory()
    try database.executeMultipleChanges(
      """
      CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE log (id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO town VALUES (1, 'a');
      CREATE TRIGGER logged AFTER UPDATE ON town BEGIN
        INSERT INTO log (name) VALUES (new.name);
      END;
      """)
    return database
  }

  @Test func `the triggers of a copy run for the rows of a patch`() throws {
    let once = try logged().patch { try $0.executeChange("UPDATE town SET name = 'b'") }
    let rename: SQL = "UPDATE town SET name = 'b'; UPDATE town SET name = 'c'"
    let twice = try logged().patch { try $0.executeMultipleChanges(rename) }

    // Rows that the source's trigger wrote come last, whatever their table. The copy's trigger has
    // written them by then.
    let mixed = try logged().patch { connection in
      try connection.executeChange("INSERT INTO log VALUES (9, 'own')")
      try connection.executeChange("UPDATE town SET name = 'b'")
    }
    let same = try logged()
    let report = try same.apply(mixed)
    #expect((report.appliedCount, report.skippedCount) == (2, 1))
    #expect(
      try same.rows("SELECT id || name FROM log ORDER BY id", as: String.self) == ["9own", "10b"])

    // The copy's trigger assigns another key to its row, and the patch inserts its own row, too.
    let other = try logged()
    try other.executeChange("INSERT INTO log VALUES (5, 'x')")
    try other.apply(once)
    #expect(
      try other.rows("SELECT id || name FROM log ORDER BY id", as: String.self)
        == ["1b", "5x", "6b"])

    // The trigger runs once because the patch contains each row once.
    let copy = try logged()
    let error = #expect(throws: PatchError.self) { try copy.apply(twice) }
    #expect(error?.conflicts.map(\.kind) == [.conflict])
    #expect(try copy.rows("SELECT name FROM town", as: String.self) == ["a"])
    try copy.apply(twice.filtered { $0 != "log" })
    #expect(try copy.rows("SELECT id || name FROM log", as: String.self) == ["1c"])
  }

  @Test func `without its triggers, a copy gets only the rows of a patch`() throws {
    let source = try logged(), copy = try logged()
    try copy.executeChange("INSERT INTO log VALUES (5, 'x')")
    let patch = try source.patch { connection in
      try connection.executeMultipleChanges(
        "UPDATE town SET name = 'b'; UPDATE town SET name = 'c'")
    }
    func applyWithoutTriggers() throws {
      try copy.write { try applyWithoutTriggers($0) }
    }
    func applyWithoutTriggers(_ connection: Connection) throws {
      let triggers = try connection.rows(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'", as: String.self, String.self)
      for (name, _) in triggers { try connection.executeChange("DROP TRIGGER \(identifier: name)") }
      try connection.apply(patch)
      for (_, sql) in triggers { try connection.executeChange(SQL(unchecked: sql)) }
    }
    try applyWithoutTriggers()
    // The second time fails and keeps the trigger.
    #expect(throws: PatchError.self) { try applyWithoutTriggers() }
    #expect(
      try copy.rows("SELECT id || name FROM log ORDER BY id", as: String.self)
        == ["1b", "2c", "5x"])
    try copy.executeChange("UPDATE town SET name = 'd'")
    #expect(try copy.rows("SELECT max(id) || name FROM log", as: String.self) == ["6d"])
  }
}
