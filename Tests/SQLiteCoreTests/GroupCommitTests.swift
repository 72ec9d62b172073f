import Conformance
import Dispatch
import Foundation
import SQLiteCore
import Synchronization
import Testing
import TestSupport

/// A statement that inserts rows endlessly.
private let endlessInsert: SQL = """
  INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n
  """

@Suite(.timeLimit(.minutes(40)), .everyEngine) struct GroupCommitTests {
  let folder: TestFolder
  let commits = CommitCount()

  init() throws { folder = try TestFolder() }

  private func database(_ groupCommit: GroupCommit = .unhurried) throws -> Database {
    let database = try commits.database(folder.file(), groupCommit)
    try database.executeMultipleChanges(
      """
      CREATE TABLE t (a);
      CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE child (parent REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
      CREATE TABLE strict (parent REFERENCES parent);
      CREATE TRIGGER ending BEFORE INSERT ON t WHEN new.a = -1
      BEGIN SELECT RAISE(ROLLBACK, 'all is lost'); END
      """)
    return database
  }

  @Test func `writes that wait at the same time share one commit, in order`() async throws {
    let database = try database()
    let before = try commits.mark
    let outcomes = try await database.inGroup((0..<20).map(inserting))
    #expect(outcomes.map(\.summary) == (0..<20).map { "\($0)" })
    #expect(try database.numbers() == Array(0..<20))
    try commits.expect(1, since: before)
  }

  @Test(arguments: [1, 0, -3, 5, 19, 20])
  func `a group commit contains at most the maximum number of writes`(count: Int) async throws {
    var groupCommit = GroupCommit.unhurried
    groupCommit.maximumCount = count
    let database = try database(groupCommit)
    let before = try commits.mark
    _ = try await database.inGroup((0..<20).map(inserting))
    #expect(try database.numbers() == Array(0..<20))
    let size = max(1, count)
    try commits.expect((20 + size - 1) / size, since: before)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `a group commit accepts no more writes after its maximum duration`(
    duration: Duration
  ) async throws {
    var groupCommit = GroupCommit()
    groupCommit.maximumDuration = duration
    let database = try database(groupCommit)
    let before = try commits.mark
    _ = try await database.inGroup((0..<6).map(inserting))
    #expect(try database.numbers() == Array(0..<6))
    try commits.expect(6, since: before)
  }

  @Test func `a write outside groups keeps its place in the queue`() async throws {
    let database = try database()
    let hold = await WriterHold(database)
    let before = try commits.mark
    var tasks: [Task<Int, any Error>] = []
    for number in 0..<9 {
      tasks.append(
        Task {
          number % 3 == 2
            ? try await database.write { try inserting(number)($0) }
            : try await database.writeInGroup(inserting(number))
        })
      try await database.waitForWaitingAccesses(number + 1)
    }
    hold.release()
    for task in tasks { _ = try await task.value }
    #expect(try database.numbers() == Array(0..<9))
    try commits.expect(6, since: before)
  }

  @Test func `an option merges all async writes`() async throws {
    var groupCommit = GroupCommit.unhurried
    groupCommit.includesAsyncWrites = true
    let database = try database(groupCommit)
    let hold = await WriterHold(database)
    let before = try commits.mark
    let tasks = (0..<10).map { number in
      Task { try await database.write { try inserting(number)($0) } }
    }
    try await database.waitForWaitingAccesses(10)
    hold.release()
    for task in tasks { _ = try await task.value }
    try commits.expect(1, since: before)
    let plain = try commits.database(folder.file("plain"))
    try await plain.executeChange("CREATE TABLE t (a)")
    let start = try commits.mark
    let second = await WriterHold(plain)
    let others = (0..<10).map { number in
      Task { try await plain.write { try inserting(number)($0) } }
    }
    try await plain.waitForWaitingAccesses(10)
    second.release()
    for task in others { _ = try await task.value }
    try commits.expect(10, since: start)
  }

  @Test func `a write that throws doesn't undo the others`() async throws {
    let database = try database()
    let before = try commits.mark
    let outcomes = try await database.inGroup([
      inserting(0),
      { connection in
        try connection.executeChange("INSERT INTO t VALUES (1)")
        throw Stop()
      },
      { connection in
        try connection.executeChange("INSERT INTO t VALUES (2)")
        return try connection.executeChange("INSERT INTO nowhere VALUES (2)").rows
      },
      inserting(3),
    ])
    #expect(
      outcomes.map(\.summary) == ["0", "Stop()", "1 no such table: nowhere", "3"])
    #expect(try database.numbers() == [0, 3])
    try commits.expect(1, since: before)
  }

  @Test func `a closure can return rollback`() async throws {
    let database = try database()
    let hold = await WriterHold(database)
    let first = Task { try await database.writeInGroup(inserting(0)) }
    try await database.waitForWaitingAccesses(1)
    let second = Task {
      try await database.writeInGroup { connection in
        try connection.executeChange("INSERT INTO child VALUES (7)")
        return TransactionOutcome.rollback
      }
    }
    try await database.waitForWaitingAccesses(2)
    hold.release()
    #expect(try await first.value == 0)
    #expect(try await second.value == .rollback)
    #expect(try await database.rows("SELECT count(*) FROM child", as: Int.self).first == 0)
  }

  @Test(arguments: 0..<4)
  func `a write that ends the transaction fails alone, and the others run again`(
    place: Int
  ) async throws {
    let database = try database()
    let runs = Mutex([0, 0, 0, 0])
    let works = (0..<4).map { number -> Work in
      { connection in
        runs.withLock { $0[number] += 1 }
        try connection.executeChange("INSERT INTO t VALUES (\(number == place ? -1 : number))")
        return number
      }
    }
    let outcomes = try await database.inGroup(works)
    #expect(try database.numbers() == (0..<4).filter { $0 != place })
    // Writes before it run twice. It runs twice too, unless it is the first. Writes after it run
    // once.
    let expectedRuns = (0..<4).map { $0 < place || ($0 == place && place > 0) ? 2 : 1 }
    let found = runs.withLock { $0 }
    // After a node loses its leadership, a group may run once more, and another error may end it
    // first.
    if !database.has(.functions), found != expectedRuns {
      #expect(outcomes.indices.allSatisfy { ((try? outcomes[$0].get()) == nil) == ($0 == place) })
      return
    }
    #expect(found == expectedRuns)
    #expect(outcomes.map(\.summary) == (0..<4).map { $0 == place ? "1811 all is lost" : "\($0)" })
  }

  @Test func `a write that hides the end of the transaction fails too`() async throws {
    let database = try database()
    let outcomes = try await database.inGroup([
      inserting(0),
      { connection in
        _ = try? connection.executeChange("INSERT INTO t VALUES (-1)")
        return 1
      },
      inserting(2),
    ])
    #expect(outcomes[1].summary.hasPrefix("516 SQLite has rolled back"))
    #expect(try database.numbers() == [0, 2])
  }

  @Test func `two writes that end the transaction in turn don't affect the others`() async throws {
    let database = try database()
    let before = try commits.mark
    let runs = Mutex(0)
    let outcomes = try await database.inGroup([
      inserting(0),
      { connection in
        // Ends the transaction only in the group's second run.
        let run = runs.withLock { runs in
          runs += 1
          return runs
        }
        try connection.executeChange("INSERT INTO t VALUES (\(run == 2 ? -1 : 1))")
        return run
      },
      inserting(-1),
      inserting(3),
    ])
    let found = outcomes.map(\.summary)
    // After the loss of a leader, the group may run again in other parts.
    let isEnded = commits.hasNewConnections(since: before) && found[1] == "1811 all is lost"
    #expect(found[1] == "3" || isEnded)
    #expect([found[0], found[2], found[3]] == ["0", "1811 all is lost", "3"])
    #expect(try database.numbers() == (isEnded ? [0, 3] : [0, 1, 3]))
  }

  @Test(.requires(.interruption)) func `a deadline stops only the write that it belongs to`()
    async throws
  {
    let database = try database()
    let hold = await WriterHold(database)
    let first = Task { try await database.writeInGroup(inserting(0)) }
    try await database.waitForWaitingAccesses(1)
    let hasEnded = Flag()
    let late = Task<Int, any Error> {
      defer { hasEnded.set() }
      return try await database.writeInGroup(deadline: .now + .seconds(2)) { connection in
        try connection.executeChange(endlessInsert).rows
      }
    }
    // On a busy machine, the deadline may pass while the write waits.
    func expected(_ count: Int) -> Int { hasEnded.isSet ? count - 1 : count }
    try await waitUntil { database.waitingAccessCount >= expected(2) }
    let third = Task { try await database.writeInGroup(inserting(2)) }
    try await waitUntil { database.waitingAccessCount >= expected(3) }
    hold.release()
    #expect(try await first.value == 0)
    let error = await late.result
    #expect(error.summary.hasPrefix("9 the deadline has passed"))
    #expect(try await third.value == 2)
    #expect(try database.numbers() == [0, 2])
  }

  @Test func `a deadline limits the wait for the group`() throws {
    let database = try database()
    let leave = DispatchSemaphore(value: 0), entered = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      _ = sqliteError {
        try database.write { _ in
          entered.signal()
          leave.wait()
        }
      }
    }
    entered.wait()
    let error = sqliteError {
      try database.writeInGroup(deadline: .now + .milliseconds(20)) { _ in }
    }
    #expect(error?.code == .interrupt)
    leave.signal()
    try database.writeInGroup { _ in }
  }

  @Test(.requires(.interruption))
  func `cancelling a task rolls back only its write, waiting or running`() async throws {
    let database = try database()
    let hold = await WriterHold(database)
    let began = DispatchSemaphore(value: 0)
    let first = Task { try await database.writeInGroup(inserting(0)) }
    try await database.waitForWaitingAccesses(1)
    let running = Task {
      try await database.writeInGroup { connection in
        began.signal()
        return try connection.executeChange(endlessInsert).rows
      }
    }
    try await database.waitForWaitingAccesses(2)
    let waiting = Task { try await database.writeInGroup(inserting(2)) }
    try await database.waitForWaitingAccesses(3)
    let last = Task { try await database.writeInGroup(inserting(3)) }
    try await database.waitForWaitingAccesses(4)
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    hold.release()
    await wait(for: began)
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
    #expect(try await first.value == 0)
    #expect(try await last.value == 3)
    #expect(try database.numbers() == [0, 3])
  }

  @Test(.requires(.interruption)) func `interrupting stops only the running write`()
    async throws
  {
    let database = try database()
    let hold = await WriterHold(database)
    let began = DispatchSemaphore(value: 0)
    let first = Task { try await database.writeInGroup(inserting(0)) }
    try await database.waitForWaitingAccesses(1)
    let running = Task {
      try await database.writeInGroup { connection in
        began.signal()
        return try connection.executeChange(endlessInsert).rows
      }
    }
    try await database.waitForWaitingAccesses(2)
    let last = Task { try await database.writeInGroup(inserting(2)) }
    try await database.waitForWaitingAccesses(3)
    hold.release()
    await wait(for: began)
    database.interrupt()
    #expect(await running.result.summary == "9 the access was interrupted")
    #expect(try await first.value == 0)
    #expect(try await last.value == 2)
    #expect(try database.numbers() == [0, 2])
  }

  @Test func `only the write that leaves a foreign key violation fails`() async throws {
    let database = try database()
    let before = try commits.mark
    let outcomes = try await database.inGroup([
      inserting(0),
      { try $0.executeChange("INSERT INTO child VALUES (7)").rows },
      { connection in
        try connection.executeChange("INSERT INTO child VALUES (8)")
        return try connection.executeChange("INSERT INTO parent VALUES (8)").rows
      },
      inserting(3),
    ])
    let alone = sqliteError {
      try database.write { _ = try $0.executeChange("INSERT INTO child VALUES (7)") }
    }
    let summaries = outcomes.map(\.summary)
    #expect(summaries == ["0", "787 \(alone?.message ?? "")", "1", "3"])
    #expect(alone?.code == .foreignKeyConstraint)
    #expect(
      try await database.rows("SELECT group_concat(parent) FROM child", as: String.self).first
        == "8")
    #expect(try database.numbers() == [0, 3])
    // A node reports the violation only when it commits, so each write runs alone.
    try commits.expect(Engine.current == .local ? 2 : 3, since: before)
  }

  @Test(arguments: [true, false])
  func `deferring foreign keys ends with the write that requested it`(fails: Bool) async throws {
    let database = try database()
    let outcomes = try await database.inGroup([
      { connection in
        try connection.executeChange("PRAGMA defer_foreign_keys = ON")
        try connection.executeChange("INSERT INTO strict VALUES (7)")
        if fails { throw Stop() }
        return try connection.executeChange("INSERT INTO parent VALUES (7)").rows
      },
      { try $0.executeChange("INSERT INTO strict VALUES (8)").rows },
      { connection in
        try connection.executeChange("PRAGMA defer_foreign_keys = ON")
        return try connection.executeChange("INSERT INTO strict VALUES (9)").rows
      },
      inserting(3),
    ])
    let error = "787 FOREIGN KEY constraint failed"
    #expect(outcomes.map(\.summary) == [fails ? "Stop()" : "1", error, error, "3"])
    let failed = outcomes[1...2].map { result -> String? in
      guard case .failure(let error as SQLiteError) = result else { return nil }
      return error.sql
    }
    // The first error is from the statement, the second from the end of the write.
    #expect(failed == ["INSERT INTO strict VALUES (8)", "COMMIT"])
  }

  @Test(.requires(.files)) func `a failed commit throws in every write of the group`() async throws
  {
    var options = commits.options()
    options.journalMode = .delete
    options.busyTimeout = .milliseconds(20)
    let database = try Database.at(folder.file(), options: options)
    try await database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (9)")
    let reader = try Database.at(folder.file(), options: options)
    let (entered, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      _ = sqliteError {
        try reader.read { connection in
          _ = try connection.executeQuery("SELECT * FROM t")
          entered.signal()
          leave.wait()
        }
      }
      done.signal()
    }
    await wait(for: entered)
    let outcomes = try await database.inGroup((0..<3).map(inserting))
    for outcome in outcomes { #expect(outcome.summary.hasPrefix("5 database is locked")) }
    leave.signal()
    await wait(for: done)
    #expect(try database.numbers() == [9])
    _ = try await database.inGroup((0..<3).map(inserting))
    #expect(try database.numbers() == [9, 0, 1, 2])
  }

  @Test func `closing rejects waiting writes and lets the running group finish`() async throws {
    let database = try database()
    let hold = await WriterHold(database)
    let (began, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let running = Task {
      try await database.writeInGroup { connection in
        try connection.executeChange("INSERT INTO t VALUES (0)")
        began.signal()
        leave.wait()
      }
    }
    try await database.waitForWaitingAccesses(1)
    hold.release()
    await wait(for: began)
    let waiting = Task { try await database.writeInGroup(inserting(1)) }
    try await database.waitForWaitingAccesses(1)
    let closed = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      _ = sqliteError { try database.close() }
      closed.signal()
    }
    #expect(await waiting.result.summary == "21 the database was closed")
    leave.signal()
    try await running.value
    await wait(for: closed)
    let again = try Database.at(folder.file())
    #expect(try again.numbers() == [0])
  }

  @Test(.requires(.interruption)) func `suspending rolls back the whole group`() async throws {
    let database = try database()
    let hold = await WriterHold(database)
    let began = DispatchSemaphore(value: 0)
    let first = Task { try await database.writeInGroup(inserting(0)) }
    try await database.waitForWaitingAccesses(1)
    let running = Task {
      try await database.writeInGroup { connection in
        began.signal()
        return try connection.executeChange(endlessInsert).rows
      }
    }
    try await database.waitForWaitingAccesses(2)
    hold.release()
    await wait(for: began)
    let suspended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      _ = sqliteError { try database.suspend() }
      suspended.signal()
    }
    let results = [await first.result.summary, await running.result.summary]
    await wait(for: suspended)
    database.resume()
    #expect(results == Array(repeating: "9 the database is being suspended", count: 2))
    #expect(try database.numbers() == [])
  }

  @Test(arguments: Kind.allCases)
  func `a group write is a savepoint in a write and throws in a read`(kind: Kind) throws {
    let fixture = try Fixture(kind)
    try fixture.database.executeChange("CREATE TABLE t (a)")
    try fixture.database.write { connection in
      try fixture.database.writeInGroup(inserting(1))
      _ = try? fixture.database.writeInGroup { inner in
        try inner.executeChange("INSERT INTO t VALUES (2)")
        throw Stop()
      }
      try connection.executeChange("INSERT INTO t VALUES (3)")
    }
    #expect(try fixture.database.numbers() == [1, 3])
    let error = sqliteError {
      try fixture.database.read { _ in _ = try fixture.database.writeInGroup(inserting(4)) }
    }
    #expect(error?.code == .misuse)
  }

  @Test func `commit and rollback actions run once for each write`() async throws {
    let database = try database()
    let events = Mutex<[String]>([])
    let recording = { @Sendable (number: Int) -> Work in
      { connection in
        connection.beforeCommit { _ in
          events.withLock { $0.append("before \(number)") }
          if number == 1 { throw Stop() }
        }
        connection.afterCommit { connection in
          events.withLock { $0.append("after \(number) \(connection.isAutocommit)") }
        }
        connection.afterRollback { _ in events.withLock { $0.append("undone \(number)") } }
        return try inserting(number)(connection)
      }
    }
    /// Compares the recorded events and clears them.
    ///
    /// A node that loses its leadership rolls back a group, which runs again and may be committed
    /// in parts. On a cluster, only the last events of each write are compared, in order.
    func expect(_ expected: [String]) {
      let found = events.withLock { events in
        defer { events = [] }
        return events
      }
      guard !database.has(.functions) else { return #expect(found == expected) }
      for number in Set(expected.map { $0.split(separator: " ")[1] }) {
        let ofNumber = { (event: String) in event.split(separator: " ")[1] == number }
        let (wanted, all) = (expected.filter(ofNumber), found.filter(ofNumber))
        #expect(Array(all.suffix(wanted.count)) == wanted)
        #expect(!all.dropLast(wanted.count).contains { $0.hasPrefix("after") })
      }
    }
    let outcomes = try await database.inGroup([recording(0), recording(1), recording(2)])
    #expect(outcomes.map(\.summary) == ["0", "Stop()", "2"])
    expect(["before 0", "before 1", "undone 1", "before 2", "after 0 true", "after 2 true"])
    _ = try await database.inGroup([recording(3), inserting(-1), recording(4)])
    expect(["before 3", "undone 3", "before 3", "after 3 true", "before 4", "after 4 true"])
  }

  @Test(.requires(.rowChanges), .needsPreupdateHook)
  func `subscribers receive the committed changes in order`()
    async throws
  {
    let database = try database()
    let reported = Mutex<[[Int64]]>([])
    let subscription = database.subscribe(to: .values) { changes in
      let numbers = changes.rows.compactMap { row -> Int64? in
        guard case .integer(let number)? = row.new?.first else { return nil }
        return number
      }
      reported.withLock { $0.append(numbers) }
    }
    _ = try await database.inGroup([
      inserting(0),
      { connection in
        _ = try inserting(1)(connection)
        throw Stop()
      },
      inserting(2),
    ])
    _ = try await database.inGroup([inserting(3), inserting(-1), inserting(4)])
    subscription.cancel()
    #expect(reported.withLock { $0 } == [[0, 2], [3], [4]])
  }

  @Test(arguments: Kind.allCases)
  func `a hundred tasks with a hundred updates each add up`(kind: Kind) async throws {
    let fixture = try Fixture(kind)
    let database = fixture.database
    try await database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (0)")
    let count = Engine.current == .local ? 100 : 20
    try await withThrowingTaskGroup { group in
      for _ in 0..<count {
        group.addTask {
          for _ in 0..<count {
            try await database.writeInGroup { try $0.executeChange("UPDATE t SET a = a + 1") }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try database.numbers() == [count * count])
  }

  @Test func `grouped and other writes of many threads add up`() throws {
    let database = try database()
    try database.executeChange("INSERT INTO t VALUES (0)")
    let errors = Mutex<[any Error]>([])
    let calls = Engine.current == .local ? 100 : 20
    DispatchQueue.concurrentPerform(iterations: 12) { thread in
      for call in 0..<calls {
        do {
          switch (thread + call) % 4 {
          case 0: try database.write { try $0.executeChange("UPDATE t SET a = a + 1") }
          case 1: _ = try database.numbers()
          default: try database.writeInGroup { try $0.executeChange("UPDATE t SET a = a + 1") }
          }
        } catch {
          errors.withLock { $0.append(error) }
        }
      }
    }
    #expect(errors.withLock { $0 }.isEmpty, "\(errors.withLock { $0.first })")
    #expect(try database.numbers() == [9 * calls])
  }
}
