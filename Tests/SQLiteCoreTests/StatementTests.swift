import Conformance
import SQLiteCore
import Testing

@Suite(.everyEngine) struct StatementTests {
  @Test func `two concurrent users of the same SQL get two statements`() throws {
    try Fixture(.memory).database.read { connection in
      var outer = try connection.statement("SELECT value FROM json_each('[1,2,3]')")
      var pairs: [[Int64]] = []
      while try outer.step() {
        var inner = try connection.statement("SELECT value FROM json_each('[1,2,3]')")
        while try inner.step() { pairs.append([outer.integer(at: 0), inner.integer(at: 0)]) }
      }
      #expect(pairs.count == 9)
      #expect(pairs.last == [3, 3])
    }
  }

  @Test func `canonically equal SQL with different bytes uses different statements`() throws {
    try Fixture(.memory).database.read { connection in
      let composed = try connection.firstRow(SQL(unchecked: "SELECT '\u{e9}'"), as: String.self)
      let decomposed = try connection.firstRow(SQL(unchecked: "SELECT 'e\u{301}'"), as: String.self)
      #expect(composed?.utf8.count == 2)
      #expect(decomposed?.utf8.count == 3)
    }
  }

  @Test func `a cached statement is returned reset and unbound`() throws {
    try Fixture(.memory).database.read { connection in
      do {
        var statement = try connection.statement("SELECT ?1, ?2")
        try statement.bind(1, at: 1)
        try statement.bind("private", at: 2)
        _ = try statement.step()
      }
      var again = try connection.statement("SELECT ?1, ?2")
      try again.bind(2, at: 1)
      _ = try again.step()
      let (value, isNull) = (try again.value(at: 0), again.isNull(at: 1))
      #expect(value == .integer(2))
      #expect(isNull)
    }
  }

  @Test func `a cached statement sees a column that was added later`() throws {
    let fixture = try Fixture(.file)
    try fixture.database.write { connection in
      try connection.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
      #expect(try connection.executeQuery("SELECT * FROM t").first?.columnNames == ["a"])
      try connection.executeChange("ALTER TABLE t ADD COLUMN b DEFAULT 'x'")
      let row = try connection.firstRow("SELECT * FROM t")
      #expect(row?.columnNames == ["a", "b"])
      #expect(row?.values == [.integer(1), .text("x")])
    }
  }

  @Test func `a reader sees columns that the writer renamed or added`() throws {
    let fixture = try Fixture(.file)
    try fixture.database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    #expect(try fixture.database.executeQuery("SELECT * FROM t").first?.count == 1)
    try fixture.database.executeChange("ALTER TABLE t RENAME COLUMN a TO z")
    #expect(try fixture.database.executeQuery("SELECT * FROM t").first?.columnNames == ["z"])
    try fixture.database.executeChange("ALTER TABLE t ADD COLUMN b")
    #expect(try fixture.database.executeQuery("SELECT * FROM t").first?.columnNames == ["z", "b"])
  }

  @Test(arguments: ["", " \n\t", "-- nothing", "/* nothing */", ";", "; ;"])
  func `SQL without a statement throws`(text: String) throws {
    let database = try Fixture(.memory).database
    let error = sqliteError {
      try database.read { _ = try $0.executeQuery(SQL(unchecked: text)) }
    }
    #expect(error?.code == .misuse)
  }

  @Test(arguments: ["SELECT 1; SELECT 2", "SELECT 1; x", "SELECT 1;; SELECT 2", "SELECT 1; 'a'"])
  func `SQL with more than one statement throws`(text: String) throws {
    let database = try Fixture(.memory).database
    let error = sqliteError {
      try database.read { _ = try $0.executeQuery(SQL(unchecked: text)) }
    }
    #expect(error?.code == .misuse)
  }

  @Test(arguments: ["SELECT 1;", "SELECT 1; -- one", "SELECT 1; /* one */ ;", " SELECT 1\n"])
  func `whitespace, comments and semicolons can follow a statement`(text: String) throws {
    let database = try Fixture(.memory).database
    #expect(try database.rows(SQL(unchecked: text), as: Int.self).first == 1)
  }

  @Test func `SQL with NUL throws`() throws {
    let database = try Fixture(.memory).database
    let error = sqliteError {
      try database.read { _ = try $0.executeQuery(SQL(unchecked: "SELECT 1\0 SELECT 2")) }
    }
    #expect(error?.code == .misuse)
  }

  @Test func `values can't be bound between two rows`() throws {
    try Fixture(.memory).database.read { connection in
      var statement = try connection.statement("SELECT ?1")
      try statement.bind(1, at: 1)
      _ = try statement.step()
      do throws(SQLiteError) {
        try statement.bind(2, at: 1)
        Issue.record("binding didn't throw")
      } catch {
        #expect(error.code == .misuse)
      }
      try statement.reset()
      try statement.bind(2, at: 1)
      _ = try statement.step()
      let integer = statement.integer(at: 0)
      #expect(integer == 2)
    }
  }

  private func familyFixture() throws -> Fixture {
    let fixture = try Fixture(.memory)
    try fixture.database.executeMultipleChanges(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY);
      CREATE TABLE child (t REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED);
      """)
    return fixture
  }

  @Test(.requires(.localWork)) func `reset throws if the statement can't be committed`() throws {
    let fixture = try familyFixture()
    let sql: SQL = "INSERT INTO child VALUES (1), (2) RETURNING t"
    try fixture.database.withoutTransaction { connection in
      var insert = try connection.statement(sql)
      _ = try insert.step()
      do throws(SQLiteError) {
        try insert.reset()
        Issue.record("reset didn't throw")
      } catch {
        #expect(error.code == .foreignKeyConstraint)
        #expect(error.sql == sql.text)
      }
      try insert.reset()
      try connection.executeChange("INSERT INTO t VALUES (1), (2)")
      _ = try insert.step()
      try insert.reset()
    }
    #expect(try fixture.count("child") == 2)
  }

  @Test(.requires(.localWork))
  func `an access throws if an unfinished statement can't be committed`() throws {
    let fixture = try familyFixture()
    let error = sqliteError {
      try fixture.database.withoutTransaction { connection in
        try connection.executeChange("INSERT INTO t VALUES (1)")
        do {
          var insert = try connection.statement("INSERT INTO child VALUES (7) RETURNING t")
          _ = try insert.step()
        }
        let later = sqliteError { try connection.executeChange("INSERT INTO t VALUES (2)") }
        #expect(later?.code == .abortRollback)
      }
    }
    #expect(error?.code == .abortRollback)
    #expect(error?.message.contains("FOREIGN KEY") == true)
    #expect(error?.sql?.contains("RETURNING") == true)
    // The first INSERT was committed in a separate transaction.
    #expect(try fixture.count() == 1)
    #expect(try fixture.count("child") == 0)
    try fixture.database.executeChange("INSERT INTO child VALUES (1)")
  }

  @Test func `columns out of range read as NULL`() throws {
    try Fixture(.memory).database.read { connection in
      var statement = try connection.statement("SELECT 7")
      _ = try statement.step()
      for column in [-1, 1, Int.max, Int.min, 1 << 32, (1 << 32) + 1] {
        let isNull = statement.isNull(at: column)
        let (integer, value) = (statement.integer(at: column), try statement.value(at: column))
        let blob = statement.blob(at: column)
        #expect(isNull)
        #expect(integer == 0)
        #expect(value == .null)
        #expect(blob.isEmpty)
      }
    }
  }

  @Test func `a statement with unbound parameters doesn't run`() throws {
    let fixture = try Fixture(.memory)
    try fixture.database.executeChange("CREATE TABLE t (a)")
    let error = sqliteError {
      try fixture.database.write { connection in
        var insert = try connection.statement("INSERT INTO t VALUES (?1)")
        try insert.run()
      }
    }
    #expect(error?.code == .range)
    #expect(try fixture.count() == 0)
  }

  @Test func `values stay bound between runs`() throws {
    let fixture = try Fixture(.memory)
    try fixture.database.write { connection in
      try connection.executeChange("CREATE TABLE t (a)")
      var insert = try connection.statement("INSERT INTO t VALUES (?1)")
      try insert.run(1)
      try insert.run()
      insert.clearBindings()
      try insert.run()
      let values = try connection.rows("SELECT a FROM t", as: Int?.self)
      #expect(values == [1, 1, nil])
    }
  }

  @Test func `a RETURNING statement runs to its end even if one row is fetched`() throws {
    let fixture = try Fixture(.memory)
    try fixture.database.executeChange("CREATE TABLE t (a)")
    let row = try fixture.database.rows(
      "INSERT INTO t VALUES (1), (2), (3) RETURNING a", as: Int.self
    ).first
    #expect(row == 1)
    #expect(try fixture.count() == 3)
  }

  @Test(.requires(.localWork)) func `the expanded SQL shows the bound values`() throws {
    try Fixture(.memory).database.read { connection in
      let name = "O'Hara"
      let statement = try connection.statement("SELECT \(name), \(5)")
      let (sql, expanded) = (statement.sql, statement.expandedSQL)
      #expect(sql == "SELECT ?, ?")
      #expect(expanded == "SELECT 'O''Hara', 5")
    }
  }

  @Test func `a borrowed blob contains all its bytes`() throws {
    try Fixture(.memory).database.read { connection in
      var statement = try connection.statement("SELECT x'010003', x'', NULL")
      _ = try statement.step()
      let sum = statement.withBytes(at: 0) { bytes in
        unsafe bytes.withUnsafeBytes { unsafe $0.reduce(0) { $0 + Int($1) } }
      }
      #expect(sum == 4)
      for column in [1, 2, 9] {
        let size = statement.withBytes(at: column) { $0.byteCount }
        #expect(size == 0)
      }
    }
  }

  @Test func `a change returns the number of rows and the last inserted rowid`() throws {
    let fixture = try Fixture(.memory)
    try fixture.database.write { connection in
      #expect(try connection.executeChange("CREATE TABLE t (a)").rows == 0)
      let insert = try connection.executeChange("INSERT INTO t VALUES (1), (2)")
      let update = try connection.executeChange("UPDATE t SET a = a + 1")
      #expect(insert == update)
      #expect(insert.rows == 2)
      #expect(insert.lastInsertedRowID == 2)
      #expect(try connection.executeChange("DELETE FROM t WHERE a = 99").rows == 0)
      #expect(try connection.executeChange("DROP TABLE t").rows == 0)
      #expect(connection.lastInsertedRowID == 2)
    }
  }

  @Test func `a small statement cache evicts statements and still works`() throws {
    var options = Database.Options()
    options.statementCacheCapacity = 2
    try Fixture(.memory, options).database.read { connection in
      for round in 0..<3 {
        for number in 0..<10 {
          let sql = SQL(unchecked: "SELECT \(number)")
          let found = try connection.firstRow(sql, as: Int.self)
          #expect(found == number, "round \(round)")
        }
      }
    }
  }

  @Test func `a statement cache of capacity zero works`() throws {
    var options = Database.Options()
    options.statementCacheCapacity = 0
    try Fixture(.memory, options).database.read { connection in
      for _ in 0..<3 {
        let found = try connection.firstRow("SELECT 1", as: Int.self)
        #expect(found == 1)
      }
    }
  }
}
