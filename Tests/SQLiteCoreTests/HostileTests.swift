import Conformance
import SQLiteCore
import Synchronization
import Testing

/// Tests of uses that the documentation advises against. They produce errors or results, never a
/// crash.
@Suite(.everyEngine) struct HostileTests {
  private func fixture(
    _ kind: Kind, _ prepare: @escaping @Sendable (Connection) throws -> Void = { _ in }
  ) throws -> Fixture {
    var options = Database.Options()
    options.prepareConnection = prepare
    let fixture = try Fixture(kind, options)
    try fixture.database.executeMultipleChanges(
      "CREATE TABLE t (a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    return fixture
  }

  /// Lets a callback use the database although it must not, and collects the errors.
  private final class ReentrantUse: Sendable {
    let database = Mutex<Database?>(nil)
    let errors = Mutex<[SQLiteError?]>([])

    func use(_ body: (Database) throws -> Void) {
      guard let database = database.withLock({ $0 }) else { return }
      let error = sqliteError { try body(database) }
      errors.withLock { $0.append(error) }
    }

    var codes: [ResultCode?] { errors.withLock { $0.map { $0?.code } } }
  }

  @Test func `reading a number as text doesn't convert the column`() throws {
    let fixture = try fixture(.memory)
    try fixture.database.forEach("SELECT 42, 0.5, x'61', NULL, 'a'") { row in
      for _ in 0..<2 {
        #expect(try (0..<5).map { try row.text(at: $0) } == ["42", "0.5", "a", "", "a"])
        #expect((0..<5).map { row.blob(at: $0) } == [[52, 50], [48, 46, 53], [97], [], [97]])
        #expect(row.withBytes(at: 0) { $0.byteCount } == 2)
        let values = try (0..<5).map { try row.value(at: $0) }
        #expect(values == [.integer(42), .real(0.5), .blob([97]), .null, .text("a")])
        #expect(try row.get(0, as: Int.self) == 42)
        #expect(try row.get(1, as: Double.self) == 0.5)
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func `borrowed bytes stay valid while the column is read in other ways`(kind: Kind) throws {
    let fixture = try fixture(kind)
    let size = 3 << 20
    try fixture.database.executeChange("UPDATE t SET b = zeroblob(\(size)) WHERE a = 1")
    for sql: SQL in [
      "SELECT b FROM t WHERE a = 1", "SELECT zeroblob(\(size))",
      "SELECT CAST(zeroblob(\(size)) AS TEXT)", "SELECT substr(b, 2) || b FROM t WHERE a = 1",
    ] {
      try fixture.database.forEach(sql) { row in
        try row.withBytes(at: 0) { bytes in
          let text = try row.text(at: 0)
          #expect(text.utf8.count == bytes.byteCount)
          _ = try row.value(at: 0)
          _ = row.blob(at: 0)
          row.withBytes(at: 0) { #expect($0.byteCount == bytes.byteCount) }
          var sum = 0
          for index in 0..<bytes.byteCount {
            sum += unsafe Int(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
          }
          #expect(sum == 0)
        }
      }
    }
  }

  @Test(.requires(.files)) func `a UTF-16 database returns the same text and bytes`() throws {
    var options = Database.Options()
    options.prepareConnection = { connection in
      var statement = try connection.statement("PRAGMA encoding = 'UTF-16le'")
      try statement.run()
    }
    let database = try Database.memory(options: options)
    try database.executeChange("CREATE TABLE t (a)")
    let text = "aé東🚲\0b"
    try database.executeChange("INSERT INTO t VALUES (\(text))")
    #expect(try database.rows("PRAGMA encoding", as: String.self).first == "UTF-16le")
    #expect(try database.rows("SELECT a FROM t", as: String.self).first == text)
    try database.forEach("SELECT a FROM t") { row in
      #expect(row.blob(at: 0) == Array(text.utf8))
      #expect(row.withBytes(at: 0) { $0.byteCount } == text.utf8.count)
      let read = try row.text(at: 0)
      #expect(read == text)
    }
  }

  @Test(.requires(.tracing), arguments: Kind.allCases)
  func `a trace that uses the database gets an error and doesn't recurse`(kind: Kind) throws {
    let reentrant = ReentrantUse()
    let fixture = try fixture(kind) { connection in
      try connection.trace { _ in
        reentrant.use { _ = try $0.executeQuery("SELECT 1") }
      }
    }
    reentrant.database.withLock { $0 = fixture.database }
    defer { reentrant.database.withLock { $0 = nil } }
    #expect(try fixture.database.rows("SELECT a FROM t", as: Int.self) == [1, 2])
    try fixture.database.executeChange("UPDATE t SET b = 'z'")
    #expect(!reentrant.codes.isEmpty)
    #expect(reentrant.codes.allSatisfy { $0 == .misuse })
  }

  @Test func `the preparation of a reader can't use the database`() throws {
    let reentrant = ReentrantUse()
    let fixture = try fixture(.file) { _ in
      reentrant.use { _ = try $0.executeQuery("SELECT 1") }
      reentrant.use { try $0.executeChange("DELETE FROM t") }
    }
    reentrant.database.withLock { $0 = fixture.database }
    defer { reentrant.database.withLock { $0 = nil } }
    #expect(try fixture.database.rows("SELECT a FROM t", as: Int.self) == [1, 2])
    #expect(reentrant.codes == [.misuse, .misuse])
  }

  @Test(.requires(.authorization), arguments: Kind.allCases)
  func `an authorizer that uses the database gets an error`(kind: Kind) throws {
    let reentrant = ReentrantUse()
    let fixture = try fixture(kind) { connection in
      try connection.setAuthorizer { _ in
        reentrant.use { database in
          try database.withoutTransaction { try $0.setAuthorizer(nil) }
        }
        reentrant.use { _ = try $0.executeQuery("SELECT b FROM t") }
        return .allow
      }
    }
    reentrant.database.withLock { $0 = fixture.database }
    defer { reentrant.database.withLock { $0 = nil } }
    #expect(try fixture.database.rows("SELECT a FROM t", as: Int.self) == [1, 2])
    #expect(!reentrant.codes.isEmpty)
    #expect(reentrant.codes.allSatisfy { $0 == .misuse })
  }

  @Test(.requires(.functions), arguments: Kind.allCases)
  func `a function that uses the database joins the access or gets an error`(
    kind: Kind
  ) throws {
    let reentrant = ReentrantUse()
    let fixture = try fixture(kind) { connection in
      try connection.addFunction("reads") { () -> Int in
        reentrant.use { _ = try $0.executeQuery("SELECT reads2()") }
        return 1
      }
      try connection.addFunction("reads2") { () -> Int in 2 }
      try connection.addFunction("writes") { (a: Int) -> Int in
        reentrant.use { try $0.executeChange("UPDATE t SET b = 'w' WHERE a = \(a)") }
        return a
      }
      try connection.addFunction("fails") { (a: Int) -> Int in
        reentrant.use { database in
          try database.write { connection in
            try connection.executeChange("DELETE FROM t")
            throw SQLiteError(.abort)
          }
        }
        return a
      }
      try connection.addFunction("closes") { () -> Int in
        reentrant.use { try $0.close() }
        reentrant.use { try $0.suspend() }
        return 1
      }
      try connection.addFunction("drops") { () -> Int in
        reentrant.use { try $0.executeChange("DROP TABLE t") }
        return 1
      }
      try connection.addFunction("removes") { () -> Int in
        reentrant.use { database in
          try database.withoutTransaction { try $0.removeFunction("removes", argumentCount: 0) }
        }
        return 1
      }
      try connection.addFunction("commits") { () -> Int in
        reentrant.use { try $0.executeChange("COMMIT") }
        return 1
      }
    }
    let database = fixture.database
    reentrant.database.withLock { $0 = database }
    defer { reentrant.database.withLock { $0 = nil } }
    func codes(_ sql: SQL) throws -> [ResultCode?] {
      reentrant.errors.withLock { $0 = [] }
      try database.write { _ = try $0.executeQuery(sql) }
      return reentrant.codes
    }
    #expect(try codes("SELECT reads()") == [nil])
    #expect(try codes("SELECT writes(a) FROM t") == [nil, nil])
    #expect(try database.rows("SELECT b FROM t", as: String.self) == ["w", "w"])
    // SQLite can't begin a savepoint while a statement writes.
    #expect(try codes("UPDATE t SET b = fails(a)") == [.busy, .busy])
    #expect(try database.rows("SELECT b FROM t", as: Value.self) == [.integer(1), .integer(2)])
    #expect(try codes("SELECT fails(a) FROM t") == [.abort, .abort])
    #expect(try codes("SELECT closes()") == [.misuse, .misuse])
    #expect(try codes("SELECT drops() FROM t").allSatisfy { $0?.primary == .locked })
    #expect(try codes("SELECT removes()") == [.busy])
    #expect(try codes("SELECT commits()") == [.misuse])
    #expect(try database.rows("SELECT a FROM t", as: Int.self) == [1, 2])
    #expect(try database.rows("PRAGMA integrity_check", as: String.self).first == "ok")
  }

  @Test(.requires(.functions), arguments: Kind.allCases)
  func `a function can interrupt its own statement`(kind: Kind) throws {
    let reentrant = ReentrantUse()
    let fixture = try fixture(kind) { connection in
      try connection.addFunction("stop") { () -> Int in
        reentrant.use { $0.interrupt() }
        return 1
      }
    }
    reentrant.database.withLock { $0 = fixture.database }
    defer { reentrant.database.withLock { $0 = nil } }
    let error = sqliteError {
      try fixture.database.write { connection in
        try connection.executeChange("INSERT INTO t VALUES (9, 'new')")
        try connection.executeChange(
          """
          WITH RECURSIVE n(i) AS (SELECT stop() UNION ALL SELECT i + 1 FROM n)
          INSERT INTO t(b) SELECT i FROM n
          """)
      }
    }
    #expect(error?.code == .interrupt)
    #expect(try fixture.database.rows("SELECT a FROM t", as: Int.self) == [1, 2])
  }

  @Test(.requires(.collations), arguments: Kind.allCases)
  func `a collation can use the database`(kind: Kind) throws {
    let reentrant = ReentrantUse()
    let fixture = try fixture(kind) { connection in
      try connection.addCollation("strange") { left, right in
        reentrant.use { _ = try $0.executeQuery("SELECT count(*) FROM t") }
        return left < right ? -1 : left == right ? 0 : 1
      }
    }
    reentrant.database.withLock { $0 = fixture.database }
    defer { reentrant.database.withLock { $0 = nil } }
    let sorted = try fixture.database.rows(
      "SELECT b FROM t ORDER BY b COLLATE strange DESC", as: String.self)
    #expect(sorted == ["y", "x"])
    #expect(reentrant.codes.allSatisfy { $0 == nil })
  }

  @Test(arguments: Kind.allCases)
  func `a loop over rows can use the database in any way`(kind: Kind) throws {
    let fixture = try fixture(kind)
    let database = fixture.database
    try database.executeChange("CREATE TABLE u (a)")
    try database.write { connection in
      var seen: [Int] = []
      try connection.forEachRow("SELECT a FROM t") { row in
        seen.append(try row.get(0))
        // A node has already sent all rows, so the table can be dropped.
        if Engine.current == .local {
          let dropped = sqliteError { try connection.executeChange("DROP TABLE t") }
          #expect(dropped?.code.primary == .locked)
        }
        #expect(sqliteError { try database.close() }?.code == .misuse)
        _ = sqliteError {
          try connection.savepoint {
            try connection.executeChange("UPDATE t SET b = 'inside'")
            throw SQLiteError(.abort)
          }
        }
        try connection.executeMultipleChanges(
          "INSERT INTO u VALUES (1); UPDATE u SET a = a + 1")
      }
      #expect(seen == [1, 2])
    }
    #expect(try fixture.count("u") == 2)
    #expect(try database.rows("SELECT b FROM t", as: String.self) == ["x", "y"])
  }

  @Test(.requires(.settings), arguments: Kind.allCases)
  func `the user's pragmas don't break later accesses`(kind: Kind) throws {
    let fixture = try fixture(kind)
    let database = fixture.database
    for pragma in [
      "journal_mode = DELETE", "journal_mode = OFF", "journal_mode = MEMORY", "query_only = 1",
      "query_only = 0", "foreign_keys = 0", "locking_mode = NORMAL", "temp_store = 2",
      "cache_size = 1", "read_uncommitted = 1", "automatic_index = 0", "auto_vacuum = 2",
      "wal_autocheckpoint = 0", "busy_timeout = 1", "recursive_triggers = 0",
      "writable_schema = 1", "synchronous = 0", "case_sensitive_like = 1", "shrink_memory",
      "optimize", "incremental_vacuum", "wal_checkpoint(TRUNCATE)", "page_size = 8192",
    ] {
      let sql = SQL(unchecked: "PRAGMA \(pragma)")
      _ = sqliteError { try database.withoutTransaction { _ = try $0.executeQuery(sql) } }
      _ = sqliteError { try database.read { _ = try $0.executeQuery(sql) } }
      _ = sqliteError { try database.write { _ = try $0.executeQuery(sql) } }
      try database.withoutTransaction { _ = try $0.executeQuery("PRAGMA query_only = 0") }
      try database.executeChange("UPDATE t SET b = \(pragma)")
      #expect(
        try database.rows("SELECT b FROM t", as: String.self) == [pragma, pragma], "\(pragma)")
    }
    #expect(try database.rows("PRAGMA integrity_check", as: String.self).first == "ok")
  }

  @Test(.requires(.files), arguments: Kind.allCases)
  func `another database can be attached, used and detached`(kind: Kind) throws {
    let fixture = try fixture(kind)
    try fixture.database.withoutTransaction { connection in
      try connection.executeChange("ATTACH ':memory:' AS extra")
      try connection.transaction {
        try connection.executeChange("CREATE TABLE extra.copy AS SELECT * FROM t")
        #expect(sqliteError { try connection.executeChange("DETACH extra") } != nil)
      }
      try connection.forEachRow("SELECT * FROM extra.copy") { _ in
        #expect(sqliteError { try connection.executeChange("DETACH extra") } != nil)
      }
      let count = try connection.firstRow(
        "SELECT count(*) FROM t JOIN extra.copy USING (a)", as: Int.self)
      #expect(count == 2)
      try connection.executeChange("DETACH extra")
      #expect(sqliteError { _ = try connection.executeQuery("SELECT * FROM extra.copy") } != nil)
    }
    #expect(try fixture.count() == 2)
  }

  @Test(arguments: Kind.allCases)
  func `the last reference can be released inside an access`(kind: Kind) throws {
    var fixture: Fixture? = try fixture(kind)
    let folder = fixture?.folder
    let access = try #require(fixture?.database)
    fixture = nil
    defer { withExtendedLifetime(folder) {} }
    let rows = try access.read { connection in
      try connection.rows("SELECT a FROM t", as: Int.self)
    }
    #expect(rows == [1, 2])
    let sum = Mutex(0)
    func sumOfAll(_ last: consuming Database) throws {
      try last.write { connection in
        try connection.forEachRow("SELECT a FROM t") { row in
          let a = row.integer(at: 0)
          sum.withLock { $0 += Int(a) }
        }
      }
    }
    try sumOfAll(access)
    #expect(sum.withLock { $0 } == 3)
  }
}

extension Database {
  fileprivate func forEach(_ sql: SQL, _ body: (borrowing Statement) throws -> Void) throws {
    try read { try $0.forEachRow(sql, body) }
  }
}
