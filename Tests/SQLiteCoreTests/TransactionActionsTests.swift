import Conformance
import SQLiteCore
import Testing

@Suite(.everyEngine) struct TransactionActionsTests {
  let fixture: Fixture

  init() throws {
    fixture = try Fixture(.memory)
    try fixture.database.executeChange("CREATE TABLE t (a)")
  }

  @Test(arguments: ["COMMIT", "END"])
  func `what waits for a commit is done before the user's own`(word: String) throws {
    let steps = try run("BEGIN", word)
    #expect(steps == ["before in the transaction", "after outside"])
    #expect(try fixture.count() == 2)
  }

  @Test func `a savepoint that is released outermost is a commit too`() throws {
    #expect(try run("SAVEPOINT s", "RELEASE s") == ["before in the transaction", "after outside"])
    #expect(try fixture.count() == 2)
  }

  @Test func `nothing that waits for a commit is done at the user's ROLLBACK`() throws {
    #expect(try run("BEGIN", "ROLLBACK") == ["rolled back"])
    #expect(try fixture.count() == 0)
  }

  @Test(arguments: [("BEGIN", "COMMIT"), ("SAVEPOINT s", "RELEASE s")])
  func `what fails before the user's commit rolls back`(begin: String, end: String) throws {
    var steps: [String] = []
    let error = sqliteError {
      try fixture.database.withoutTransaction { connection in
        try connection.executeChange(SQL(unchecked: begin))
        try connection.executeChange("INSERT INTO t VALUES (1)")
        connection.beforeCommit { _ in throw Stop() }
        connection.afterCommit { _ in steps.append("after") }
        connection.afterRollback { _ in steps.append("rolled back") }
        let error = sqliteError { try connection.executeChange(SQL(unchecked: end)) }
        #expect(error?.code == .abort)
        #expect(connection.isAutocommit)
        if let error { throw error }
      }
    }
    #expect(error?.code == .abort)
    #expect(steps == ["rolled back"])
    #expect(try fixture.count() == 0)
  }

  /// Runs a transaction in SQL, and says what was done around its end.
  private func run(_ begin: String, _ end: String) throws -> [String] {
    var steps: [String] = []
    try fixture.database.withoutTransaction { connection in
      try connection.executeChange(SQL(unchecked: begin))
      try connection.executeChange("INSERT INTO t VALUES (1)")
      connection.beforeCommit { connection in
        try connection.executeChange("INSERT INTO t VALUES (2)")
        steps.append("before \(connection.isAutocommit ? "outside" : "in the transaction")")
      }
      connection.afterCommit { connection in
        steps.append("after \(connection.isAutocommit ? "outside" : "in the transaction")")
      }
      connection.afterRollback { _ in steps.append("rolled back") }
      try connection.executeChange(SQL(unchecked: end))
    }
    return steps
  }
}
