import Dispatch
import Foundation
import SQLiteCore
import Synchronization
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(40))) struct BriefReadTests {
  /// Counts to a limit: short for 1, long for a million, endless for -1.
  private static let counting: SQL =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?1) SELECT count(*) FROM n"

  /// Options with which every statement that ran before counts as short.
  private static var patient: Database.Options {
    var options = Database.Options()
    options.longestReadOnTask = .seconds(3_600)
    // Other tests run at the same time and may delay the thread that holds the lock.
    options.busyTimeout = .seconds(100)
    return options
  }

  /// Counts the runs of a read's body.
  private final class Runs: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
  }

  private func count(
    to limit: Int, _ database: Database, deadline: ContinuousClock.Instant? = nil,
    _ runs: Runs = Runs()
  ) async throws -> Int? {
    try await database.readBriefly(deadline: deadline) { connection in
      runs.add()
      var statement = try connection.statement(Self.counting)
      try statement.bind(limit, at: 1)
      return try statement.step() ? Int(statement.integer(at: 0)) : nil
    }
  }

  /// Returns a database in which the counting statement has run and counts as short.
  private func preparedFixture(_ kind: Kind = .file) async throws -> Fixture {
    let fixture = try Fixture(kind, Self.patient)
    try await fixture.database.executeMultipleChanges(
      "CREATE TABLE t (a); INSERT INTO t VALUES (7)")
    for _ in 0..<3 { #expect(try await count(to: 1, fixture.database) == 1) }
    #expect(fixture.database.readOnTaskCount == 2)
    return fixture
  }

  @Test(arguments: Kind.allCases)
  func `a statement that ran before runs on the task's thread`(kind: Kind) async throws {
    let fixture = try Fixture(kind, Self.patient)
    let database = fixture.database
    try await database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (7)")
    for round in 0..<40 {
      let value = try await database.rows("SELECT a FROM t", as: Int.self).first
      #expect(value == 7)
      #expect(database.readOnTaskCount == round)
    }
    #expect(try await database.executeQuery("SELECT a FROM t").count == 1)
    #expect(database.readOnTaskCount == 40)
  }

  @Test func `a plain read never runs on the task's thread, nor any read with the option zero`()
    async throws
  {
    var options = Database.Options()
    options.longestReadOnTask = .zero
    let fixture = try Fixture(.file, options), patient = try await preparedFixture()
    for _ in 0..<3 {
      #expect(try await count(to: 1, fixture.database) == 1)
      _ = try await patient.database.read { try $0.firstRow("SELECT a FROM t") }
    }
    #expect(fixture.database.readOnTaskCount == 0)
    #expect(patient.database.readOnTaskCount == 2)
  }

  @Test(arguments: Kind.allCases)
  func `a statement that becomes long runs again on another thread`(kind: Kind) async throws {
    let fixture = try await preparedFixture(kind)
    let runs = Runs()
    #expect(try await count(to: 300_000, fixture.database, runs) == 300_000)
    #expect(runs.count == 2)
    #expect(fixture.database.readOnTaskCount == 2)
    #expect(try await count(to: 1, fixture.database) == 1)
  }

  @Test func `many short runs of one statement in a read count as long`() async throws {
    let fixture = try await preparedFixture()
    let runs = Runs()
    let sum = try await fixture.database.readBriefly { connection in
      runs.add()
      var sum = 0
      for _ in 0..<2_000 {
        var statement = try connection.statement(Self.counting)
        try statement.bind(1, at: 1)
        while try statement.step() { sum += Int(statement.integer(at: 0)) }
      }
      return sum
    }
    #expect(sum == 2_000)
    #expect(runs.count == 2)
  }

  @Test func `a body that catches the error of a stopped statement runs again`() async throws {
    let fixture = try await preparedFixture()
    let result = try await fixture.database.readBriefly { connection in
      do {
        var statement = try connection.statement(Self.counting)
        try statement.bind(300_000, at: 1)
        return try statement.step() ? "counted" : "nothing"
      } catch {
        return "failed"
      }
    }
    #expect(result == "counted")
  }

  @Test func `a read waits for another connection's lock on another thread`() async throws {
    let fixture = try Fixture(.rollbackJournal, Self.patient)
    let database = fixture.database
    try await database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (7)")
    let runs = Runs()
    @Sendable func read() async throws -> Int? {
      try await database.readBriefly {
        runs.add()
        return try $0.firstRow("SELECT a FROM t", as: Int.self)
      }
    }
    for _ in 0..<2 { #expect(try await read() == 7) }
    #expect(database.readOnTaskCount == 1)
    var options = Self.patient
    options.journalMode = .delete
    let other = try Database(path: fixture.folder.file(), options: options)
    let entered = DispatchSemaphore(value: 0), leave = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      _ = sqliteError {
        try other.write(.exclusive) {
          try $0.executeChange("UPDATE t SET a = 8")
          entered.signal()
          leave.wait()
        }
      }
    }
    await wait(for: entered)
    let before = runs.count
    let task = Task { try await read() }
    try await waitUntil { runs.count >= before + 2 }
    leave.signal()
    #expect(try await task.value == 8)
    #expect(database.readOnTaskCount == 1)
  }

  @Test(arguments: ["function", "collation", "authorizer", "trace"])
  func `reads that call the program's code never run on the task's thread`(code: String)
    async throws
  {
    var options = Self.patient
    options.prepareConnection = { connection in
      switch code {
      case "function": try connection.addFunction("seven") { 7 }
      case "collation": try connection.addCollation("equal") { _, _ in 0 }
      case "authorizer": try connection.setAuthorizer { _ in .allow }
      default: try connection.trace { _ in }
      }
    }
    let fixture = try Fixture(.file, options)
    for _ in 0..<3 { #expect(try await count(to: 1, fixture.database) == 1) }
    #expect(fixture.database.readOnTaskCount == 0)
  }

  @Test func `cancellation prevents a brief read, or stops it while it runs`() async throws {
    let fixture = try await preparedFixture()
    let database = fixture.database, runs = Runs()
    let early = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await count(to: 1, database, runs)
    }
    early.cancel()
    await #expect(throws: CancellationError.self) { try await early.value }
    #expect(runs.count == 0)
    let late = Task { try await count(to: -1, database, runs) }
    try await waitUntil { runs.count >= 2 }
    late.cancel()
    await #expect(throws: CancellationError.self) { try await late.value }
    #expect(try await count(to: 1, database) == 1)
  }

  @Test func `a deadline applies to both runs`() async throws {
    let fixture = try await preparedFixture()
    let runs = Runs()
    let late = await #expect(throws: SQLiteError.self) {
      try await count(to: 1, fixture.database, deadline: .now - .seconds(1), runs)
    }
    #expect(late?.message == "the deadline has passed")
    let endless = await #expect(throws: SQLiteError.self) {
      try await count(to: -1, fixture.database, deadline: .now + .milliseconds(50))
    }
    #expect(endless?.message == "the deadline has passed")
    #expect(try await count(to: 1, fixture.database) == 1)
  }

  @Test func `suspending stops a brief read, and a suspended or closed database rejects it`()
    async throws
  {
    let fixture = try await preparedFixture()
    let database = fixture.database, runs = Runs()
    let endless = Task { try await count(to: -1, database, runs) }
    try await waitUntil { runs.count >= 2 }
    try await database.suspend()
    let ended = await #expect(throws: SQLiteError.self) { try await endless.value }
    #expect(ended?.code == .interrupt)
    let suspended = await #expect(throws: SQLiteError.self) { try await count(to: 1, database) }
    #expect(suspended?.code.primary == .abort)
    database.resume()
    // Suspending closed the connections.
    for _ in 0..<3 { #expect(try await count(to: 1, database) == 1) }
    #expect(database.readOnTaskCount == 4)
    try await database.close()
    let closed = await #expect(throws: SQLiteError.self) { try await count(to: 1, database) }
    #expect(closed?.code == .misuse)
  }

  @Test func `an error in the body is thrown, and the read ends`() async throws {
    let fixture = try await preparedFixture()
    let database = fixture.database
    for _ in 0..<3 {
      await #expect(throws: Stop.self) {
        try await database.readBriefly { connection in
          _ = try connection.firstRow("SELECT a FROM t")
          throw Stop()
        }
      }
    }
    #expect(database.readOnTaskCount == 4)
    try await database.executeChange("UPDATE t SET a = 8")
    #expect(try await database.rows("SELECT a FROM t", as: Int.self).first == 8)
  }

  @Test func `a brief read can't write, and nested calls join it`() async throws {
    let fixture = try await preparedFixture()
    let database = fixture.database
    for _ in 0..<3 {
      let error = await #expect(throws: SQLiteError.self) {
        try await database.readBriefly { try $0.executeChange("UPDATE t SET a = 9") }
      }
      #expect(error?.code.primary == .readOnly)
      let sum = try await database.readBriefly { connection in
        let outer = try connection.firstRow("SELECT a FROM t", as: Int.self) ?? 0
        return outer + (try database.rows("SELECT a FROM t", as: Int.self).first ?? 0)
      }
      #expect(sum == 14)
    }
  }

  @Test func `a schema change by another database is visible`() async throws {
    let fixture = try await preparedFixture()
    let database = fixture.database, other = try Database(path: fixture.folder.file())
    for number in 0..<5 {
      try await other.executeChange(
        SQL(unchecked: "ALTER TABLE t ADD COLUMN b\(number) DEFAULT \(number)"))
      let row = try await database.executeQuery("SELECT * FROM t").first
      #expect(row?.values.count == 2 + number)
    }
  }

  @Test(arguments: Kind.allCases)
  func `concurrent brief reads see whole transactions`(kind: Kind) async throws {
    let fixture = try Fixture(kind, Self.patient)
    let database = fixture.database
    try await database.executeMultipleChanges(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 500), (2, 500)")
    try await withThrowingTaskGroup { group in
      for _ in 0..<20 {
        group.addTask {
          for _ in 0..<50 {
            let sum = try await database.readBriefly { connection in
              let first = try connection.firstRow("SELECT a FROM t WHERE id = 1", as: Int.self)
              let second = try connection.firstRow("SELECT a FROM t WHERE id = 2", as: Int.self)
              return (first ?? 0) + (second ?? 0)
            }
            #expect(sum == 1_000)
          }
        }
      }
      for amount in 1...4 {
        group.addTask {
          for _ in 0..<25 {
            try await database.write { (connection) -> Void in
              try connection.executeChange("UPDATE t SET a = a - \(amount) WHERE id = 1")
              try connection.executeChange("UPDATE t SET a = a + \(amount) WHERE id = 2")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await database.rows("SELECT a FROM t WHERE id = 2", as: Int.self).first == 750)
  }
}
