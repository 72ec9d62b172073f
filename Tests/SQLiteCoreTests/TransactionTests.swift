import Conformance
import SQLiteCore
import Testing

@Suite(.everyEngine) struct TransactionTests {
  private func fixture(_ kind: Kind) throws -> Fixture {
    let fixture = try Fixture(kind)
    try fixture.database.executeChange("CREATE TABLE t (a UNIQUE)")
    return fixture
  }

  @Test(arguments: Kind.allCases)
  func `a write that throws is rolled back`(kind: Kind) throws {
    let fixture = try fixture(kind)
    #expect(throws: Stop.self) {
      try fixture.database.write { connection in
        try connection.executeChange("INSERT INTO t VALUES (1)")
        try connection.executeChange("CREATE TABLE u (a)")
        throw Stop()
      }
    }
    #expect(try fixture.count() == 0)
    #expect(try fixture.database.read { try $0.existingTables() } == ["t"])
  }

  @Test(arguments: Kind.allCases)
  func `a closure can return rollback`(kind: Kind) throws {
    let fixture = try fixture(kind)
    let outcome = try fixture.database.write { connection in
      try connection.executeChange("INSERT INTO t VALUES (1)")
      try connection.savepoint {
        try connection.executeChange("INSERT INTO t VALUES (2)")
        return TransactionOutcome.rollback
      }
      #expect(try connection.firstRow("SELECT count(*) FROM t", as: Int.self) == 1)
      return TransactionOutcome.commit
    }
    #expect(outcome == .commit)
    #expect(try fixture.count() == 1)
    _ = try fixture.database.write { connection in
      try connection.executeChange("INSERT INTO t VALUES (3)")
      return TransactionOutcome.rollback
    }
    #expect(try fixture.count() == 1)
  }

  @Test(arguments: Kind.allCases)
  func `savepoints nest and roll back only their part`(kind: Kind) throws {
    let fixture = try fixture(kind)
    try fixture.database.write { connection in
      try connection.executeChange("INSERT INTO t VALUES (1)")
      try connection.savepoint {
        try connection.executeChange("INSERT INTO t VALUES (2)")
        #expect(throws: Stop.self) {
          try connection.transaction {
            try connection.executeChange("INSERT INTO t VALUES (3)")
            try fixture.database.write { inner in
              #expect(inner === connection)
              try inner.executeChange("INSERT INTO t VALUES (4)")
            }
            throw Stop()
          }
        }
      }
    }
    #expect(try fixture.database.rows("SELECT a FROM t ORDER BY a", as: Int.self) == [1, 2])
  }

  @Test func `a hundred savepoints can be nested`() throws {
    let fixture = try fixture(.memory)
    func nest(_ depth: Int, _ connection: Connection) throws {
      try connection.executeChange("INSERT INTO t VALUES (\(depth))")
      guard depth < 100 else { return }
      try connection.savepoint { try nest(depth + 1, connection) }
    }
    try fixture.database.write { try nest(1, $0) }
    #expect(try fixture.count() == 100)
  }

  @Test(arguments: Kind.allCases)
  func `a failed commit rolls back and throws`(kind: Kind) throws {
    let fixture = try fixture(kind)
    try fixture.database.executeMultipleChanges(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE c (p REFERENCES p DEFERRABLE INITIALLY DEFERRED);
      """)
    let error = sqliteError {
      try fixture.database.write { connection in
        try connection.executeChange("INSERT INTO t VALUES (1)")
        try connection.executeChange("INSERT INTO c VALUES (7)")
      }
    }
    #expect(error?.code == .foreignKeyConstraint)
    #expect(try fixture.count() == 0)
    try fixture.database.write { _ = try $0.executeChange("INSERT INTO t VALUES (1)") }
    #expect(try fixture.count() == 1)
  }

  @Test(.requires(.localWork), arguments: Kind.allCases)
  func `after SQLite ends a transaction, every scope throws and nothing else runs`(
    kind: Kind
  ) throws {
    let fixture = try fixture(kind)
    try fixture.database.executeChange("INSERT INTO t VALUES (1)")
    var inner: SQLiteError?
    var later: SQLiteError?
    let outer = sqliteError {
      try fixture.database.write { connection in
        try connection.executeChange("INSERT INTO t VALUES (10)")
        inner = sqliteError {
          try connection.savepoint {
            try connection.executeChange("INSERT INTO t VALUES (11)")
            // The conflict ends the whole transaction. The error is ignored.
            _ = sqliteError { try connection.executeChange("INSERT OR ROLLBACK INTO t VALUES (1)") }
          }
        }
        later = sqliteError { try connection.executeChange("INSERT INTO t VALUES (12)") }
      }
    }
    #expect(inner?.code == .abortRollback)
    #expect(later?.code == .abortRollback)
    #expect(outer?.code == .abortRollback)
    #expect(try fixture.database.rows("SELECT a FROM t", as: Int.self) == [1])
    try fixture.database.write { _ = try $0.executeChange("INSERT INTO t VALUES (2)") }
    #expect(try fixture.count() == 2)
  }

  @Test(.requires(.interruption), arguments: Kind.allCases)
  func `a write that a deadline interrupts rolls back the whole transaction`(kind: Kind) throws {
    let fixture = try fixture(kind)
    var later: SQLiteError?
    let error = sqliteError {
      try fixture.database.write(deadline: .now + .milliseconds(100)) { connection in
        try connection.executeChange("INSERT INTO t VALUES (1)")
        _ = sqliteError {
          try connection.savepoint {
            _ = try connection.executeChange(
              """
              INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n)
              SELECT i FROM n
              """)
          }
        }
        later = sqliteError { try connection.executeChange("INSERT INTO t VALUES (2)") }
      }
    }
    #expect(error != nil)
    #expect(later != nil)
    #expect(try fixture.count() == 0)
  }

  @Test(arguments: [
    "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT x", "RELEASE x", "/* a */ begin", " ;; Commit",
    "-- a\nROLLBACK", "\u{feff}COMMIT", "ROLLBACK TO magicdata_1",
  ])
  func `a write's closure can't begin or end transactions with SQL`(text: String) throws {
    let fixture = try fixture(.memory)
    let error = sqliteError {
      try fixture.database.write { connection -> Void in
        try connection.executeChange("INSERT INTO t VALUES (1)")
        try connection.executeChange(SQL(unchecked: text))
      }
    }
    #expect(error?.code == .misuse)
    #expect(try fixture.count() == 0)
  }

  @Test(arguments: Kind.allCases)
  func `SQL can control transactions outside the library's own`(kind: Kind) throws {
    let fixture = try fixture(kind)
    try fixture.database.withoutTransaction { connection in
      #expect(connection.isAutocommit)
      try connection.executeChange("BEGIN")
      try connection.executeChange("INSERT INTO t VALUES (1)")
      try connection.savepoint { _ = try connection.executeChange("INSERT INTO t VALUES (2)") }
      try connection.executeChange("COMMIT")
      if fixture.database.has(.files) { try connection.executeChange("VACUUM") }
    }
    #expect(try fixture.count() == 2)
  }

  @Test func `SQL can't end a transaction that the library began`() throws {
    let fixture = try fixture(.memory)
    let error = sqliteError {
      try fixture.database.withoutTransaction { connection in
        try connection.transaction {
          try connection.executeChange("INSERT INTO t VALUES (1)")
          try connection.executeChange("COMMIT")
        }
      }
    }
    #expect(error?.code == .misuse)
    #expect(try fixture.count() == 0)
  }

  @Test(arguments: Kind.allCases)
  func `a transaction left open is rolled back and throws`(kind: Kind) throws {
    let fixture = try fixture(kind)
    let error = sqliteError {
      try fixture.database.withoutTransaction { connection in
        try connection.executeMultipleChanges("INSERT INTO t VALUES (0)")
        try connection.executeChange("BEGIN")
        try connection.executeChange("INSERT INTO t VALUES (1)")
      }
    }
    #expect(error?.code == .misuse)
    #expect(try fixture.database.rows("SELECT a FROM t", as: Int.self) == [0])
  }

  @Test func `a nested call doesn't change the outer call's permission to use BEGIN and COMMIT`()
    throws
  {
    let fixture = try fixture(.memory)
    try fixture.database.withoutTransaction { connection in
      try connection.executeChange("BEGIN")
      try fixture.database.executeChange("INSERT INTO t VALUES (1)")
      try connection.executeChange("INSERT INTO t VALUES (2)")
      try connection.executeChange("COMMIT")
    }
    #expect(try fixture.count() == 2)
  }

  @Test(.requires(.localWork), arguments: Kind.allCases)
  func `an SQL transaction that SQLite ended doesn't continue`(kind: Kind) throws {
    let fixture = try fixture(kind)
    try fixture.database.executeChange("INSERT INTO t VALUES (1)")
    let error = sqliteError {
      try fixture.database.withoutTransaction { connection in
        try connection.executeChange("BEGIN")
        try connection.executeChange("INSERT INTO t VALUES (10)")
        _ = sqliteError { try connection.executeChange("INSERT OR ROLLBACK INTO t VALUES (1)") }
        _ = sqliteError { try connection.executeChange("INSERT INTO t VALUES (12)") }
      }
    }
    #expect(error?.code == .abortRollback)
    #expect(try fixture.database.rows("SELECT a FROM t", as: Int.self) == [1])
  }

  @Test(arguments: Kind.allCases)
  func `a read can't write`(kind: Kind) throws {
    let fixture = try fixture(kind)
    let error = sqliteError {
      try fixture.database.read { _ = try $0.executeChange("INSERT INTO t VALUES (1)") }
    }
    #expect(error?.code == .readOnly)
    let nested = sqliteError {
      try fixture.database.read { _ in
        try fixture.database.write { _ = try $0.executeChange("INSERT INTO t VALUES (1)") }
      }
    }
    #expect(nested?.code == .misuse)
    let unlocked = sqliteError {
      try fixture.database.read { connection in
        _ = try connection.executeQuery("PRAGMA query_only = 0")
        try connection.executeChange("INSERT INTO t VALUES (1)")
      }
    }
    // A cluster rejects the PRAGMA.
    #expect(unlocked?.code == (Engine.current == .local ? .readOnly : .authorization))
    #expect(try fixture.count() == 0)
  }

  @Test(arguments: Kind.allCases)
  func `a read inside a write sees the written rows`(kind: Kind) throws {
    let fixture = try fixture(kind)
    try fixture.database.write { connection in
      try connection.executeChange("INSERT INTO t VALUES (1)")
      #expect(try fixture.count() == 1)
    }
  }

  @Test func `a script is executed atomically`() throws {
    let fixture = try fixture(.memory)
    let error = sqliteError {
      try fixture.database.executeMultipleChanges(
        "INSERT INTO t VALUES (1); -- one\n INSERT INTO t VALUES (';'); INSERT INTO t VALUES (1);")
    }
    #expect(error?.code == .uniqueConstraint)
    #expect(error?.sql == " INSERT INTO t VALUES (1);")
    #expect(try fixture.count() == 0)
    let first = sqliteError {
      try fixture.database.executeMultipleChanges("INSERT INTO t VALUES (1, 2); SELECT 1")
    }
    #expect(first?.code == .error)
    let failing = sqliteError {
      try fixture.database.executeMultipleChanges(
        "INSERT OR ABORT INTO t VALUES (1), (1); INSERT INTO t VALUES (3)")
    }
    #expect(failing?.sql == "INSERT OR ABORT INTO t VALUES (1), (1);")
    try fixture.database.executeMultipleChanges(" ; INSERT INTO t VALUES (1); ; /* */ ;")
    try fixture.database.executeMultipleChanges("")
    #expect(try fixture.count() == 1)
    #expect(
      sqliteError { try fixture.database.executeMultipleChanges("INSERT INTO t VALUES (?)") }?.code
        == .range)
  }

  @Test(.requires(.localWork)) func `the time of a script is proportional to its length`()
    throws
  {
    let fixture = try fixture(.memory)
    let script = (0..<20_000).map { "INSERT INTO t VALUES ('value number \($0)');" }
      .joined(separator: "\n")
    let time = try ContinuousClock().measure {
      try fixture.database.executeMultipleChanges(SQL(unchecked: script))
    }
    #expect(try fixture.count() == 20_000)
    #expect(time < .seconds(5))
  }

  @Test func `a failed list of statements throws an error with the statement's index`() throws {
    let fixture = try fixture(.memory)
    let error = sqliteError {
      try fixture.database.write {
        try $0.executeMultipleChanges([
          "INSERT INTO t VALUES (\(1))", "INSERT INTO t VALUES (\(1))",
        ])
      }
    }
    #expect(error?.message.hasPrefix("statement 1: ") == true)
    #expect(try fixture.count() == 0)
  }
}
