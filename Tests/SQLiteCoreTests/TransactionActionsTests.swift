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
  func `commit actions run before and after the user's COMMIT`(word: String) throws {
    let steps = try run("BEGIN", word)
    #expect(steps == ["before in the transaction", "after outside"])
    #expect(try fixture.count() == 2)
  }

  @Test func `releasing the outermost savepoint runs commit actions`() throws {
    #expect(try run("SAVEPOINT s", "RELEASE s") == ["before in the transaction", "after outside"])
    #expect(try fixture.count() == 2)
  }

  @Test func `the user's ROLLBACK runs no commit actions`() throws {
    #expect(try run("BEGIN", "ROLLBACK") == ["rolled back"])
    #expect(try fixture.count() == 0)
  }

  @Test(arguments: [("BEGIN", "COMMIT"), ("SAVEPOINT s", "RELEASE s")])
  func `an error in an action before the user's commit rolls back`(begin: String, end: String)
    throws
  {
    var steps: [String] = []
    let error = sqliteError {
      try fixture.database.withoutTransaction { connection in
        // A cluster may run the closure again.
        steps = []
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

  @Test(arguments: ["ROLLBACK TO s", "rollback transaction to savepoint \"S\""])
  func `rolling back an SQL savepoint runs the rollback actions added since it began`(
    undo: String
  ) throws {
    var steps: [String] = []
    func wait(_ name: String, _ connection: Connection) {
      connection.afterCommit { _ in steps.append("\(name) committed") }
      connection.afterRollback { _ in steps.append("\(name) undone") }
    }
    try fixture.database.withoutTransaction { connection in
      // A cluster may run the closure again.
      steps = []
      try connection.executeChange("BEGIN")
      wait("first", connection)
      try connection.executeChange("SAVEPOINT s")
      wait("second", connection)
      try connection.executeChange("SAVEPOINT inner")
      wait("third", connection)
      try connection.transaction { wait("fourth", connection) }
      try connection.executeChange("RELEASE inner")
      try connection.executeChange(SQL(unchecked: undo))
      #expect(steps == ["fourth undone", "third undone", "second undone"])
      steps = []
      wait("fifth", connection)
      try connection.executeChange("COMMIT")
    }
    #expect(steps == ["first committed", "fifth committed"])
  }

  @Test func `only the RELEASE that commits runs commit actions`() throws {
    var steps: [String] = []
    try fixture.database.withoutTransaction { connection in
      // A cluster may run the closure again.
      steps = []
      try connection.executeChange("SAVEPOINT s")
      try connection.executeChange("SAVEPOINT s")
      connection.beforeCommit { _ in steps.append("before") }
      try connection.executeChange("RELEASE s")
      #expect(steps.isEmpty)
      try connection.executeChange("RELEASE s")
      #expect(steps == ["before"])
    }
  }

  @Test func `a rollback by SQLite runs the rollback actions of all scopes`()
    throws
  {
    var steps: [String] = []
    try fixture.database.executeChange("CREATE TABLE u (a UNIQUE)")
    try fixture.database.withoutTransaction { connection in
      // A cluster may run the closure again.
      steps = []
      try connection.executeChange("BEGIN")
      try connection.executeChange("INSERT INTO u VALUES (1)")
      connection.afterCommit { _ in steps.append("first committed") }
      connection.afterRollback { _ in steps.append("first undone") }
      let error = sqliteError {
        try connection.transaction {
          connection.afterRollback { _ in steps.append("second undone") }
          try connection.executeChange("INSERT OR ROLLBACK INTO u VALUES (1)")
        }
      }
      #expect(error?.code == .uniqueConstraint)
      #expect(connection.isAutocommit)
      #expect(steps == ["second undone", "first undone"])
    }
    #expect(steps == ["second undone", "first undone"])
  }

  /// Runs a transaction with SQL and returns the actions that ran at its end.
  private func run(_ begin: String, _ end: String) throws -> [String] {
    var steps: [String] = []
    try fixture.database.withoutTransaction { connection in
      // A cluster may run the closure again.
      steps = []
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
