import Conformance
import Dispatch
import Foundation
import SQLiteCore
import Synchronization
import Testing
import TestSupport

/// A query that never ends.
private let endless: SQL =
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

@Suite(.everyEngine) struct AccessTests {
  @Test(.requires(.interruption), arguments: Kind.allCases)
  func `a deadline stops an endless statement`(kind: Kind) throws {
    let fixture = try Fixture(kind)
    try fixture.database.executeChange("CREATE TABLE t (a)")
    let began = ContinuousClock.now
    let error = sqliteError {
      _ = try fixture.database.read(deadline: .now + .milliseconds(50)) {
        try $0.executeQuery(endless)
      }
    }
    #expect(error?.code == .interrupt)
    #expect(error?.message == "the deadline has passed")
    let write = sqliteError {
      try fixture.database.write(deadline: .now + .milliseconds(50)) { connection in
        try connection.executeChange("INSERT INTO t VALUES (1)")
        _ = try connection.executeQuery(endless)
      }
    }
    #expect(write?.code == .interrupt)
    #expect(began.duration(to: .now) < .seconds(5))
    #expect(try fixture.count() == 0)
    try fixture.database.executeChange("INSERT INTO t VALUES (1)")
  }

  @Test(arguments: [Duration.seconds(-1), .zero])
  func `an access with a deadline in the past runs nothing`(distance: Duration) throws {
    let fixture = try Fixture(.file)
    let error = sqliteError {
      try fixture.database.write(deadline: .now + distance) { connection in
        _ = try connection.executeChange("CREATE TABLE t (a)")
      }
    }
    #expect(error?.code == .interrupt)
    #expect(try fixture.database.read { try $0.existingTables() } == [])
  }

  @Test func `a deadline limits the wait for the writer, and a distant one doesn't overflow`()
    throws
  {
    let fixture = try Fixture(.file)
    let entered = DispatchSemaphore(value: 0), leave = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    let database = fixture.database
    Thread.detachNewThread {
      _ = sqliteError {
        try database.write { _ in
          entered.signal()
          leave.wait()
        }
      }
      done.signal()
    }
    entered.wait()
    let error = sqliteError {
      try database.write(deadline: .now + .milliseconds(30)) { _ in }
    }
    #expect(error?.code == .interrupt)
    let far = Mutex<SQLiteError?>(nil)
    Thread.detachNewThread {
      let error = sqliteError {
        try database.write(deadline: .now + .seconds(1_000_000_000_000)) { _ in }
      }
      far.withLock { $0 = error }
      done.signal()
    }
    Thread.sleep(forTimeInterval: 0.02)
    leave.signal()
    done.wait()
    done.wait()
    #expect(far.withLock { $0 } == nil)
  }

  @Test(.requires(.interruption), arguments: Kind.allCases)
  func `cancelling a task stops its statement and rolls back`(kind: Kind) async throws {
    let fixture = try Fixture(kind)
    let database = fixture.database
    try await database.executeChange("CREATE TABLE t (a)")
    let began = DispatchSemaphore(value: 0)
    let task = Task {
      try await database.write { connection in
        try connection.executeChange("INSERT INTO t VALUES (1)")
        began.signal()
        _ = try connection.executeQuery(endless)
      }
    }
    await wait(for: began)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try fixture.count() == 0)
    try await database.write { try $0.executeChange("INSERT INTO t VALUES (2)") }
    #expect(try fixture.count() == 1)
  }

  @Test func `cancelling a waiting task ends its wait`() async throws {
    let fixture = try Fixture(.file)
    let database = fixture.database
    let entered = DispatchSemaphore(value: 0), leave = DispatchSemaphore(value: 0)
    let holder = Task {
      try await database.write { _ in
        entered.signal()
        leave.wait()
      }
    }
    await wait(for: entered)
    let waiting = Task { try await database.write { _ in } }
    try await Task.sleep(for: .milliseconds(20))
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    leave.signal()
    try await holder.value
    let late = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await database.write { _ in }
    }
    await #expect(throws: CancellationError.self) { try await late.value }
  }

  @Test func `a reader keeps its snapshot while the writer commits`() throws {
    let fixture = try Fixture(.file)
    let database = fixture.database
    try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    try database.read { connection in
      let before = try connection.firstRow("SELECT count(*) FROM t", as: Int.self)
      #expect(before == 1)
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        _ = sqliteError { try database.executeChange("INSERT INTO t VALUES (2)") }
        done.signal()
      }
      done.wait()
      let after = try connection.firstRow("SELECT count(*) FROM t", as: Int.self)
      #expect(after == 1)
    }
    #expect(try fixture.count() == 2)
  }

  @Test func `writes run in the order in which they were requested`() throws {
    let fixture = try Fixture(.file)
    let database = fixture.database
    let leave = DispatchSemaphore(value: 0), entered = DispatchSemaphore(value: 0)
    let order = Mutex<[Int]>([])
    let group = DispatchGroup()
    Thread.detachNewThread {
      _ = sqliteError {
        try database.write { _ in
          entered.signal()
          leave.wait()
        }
      }
    }
    entered.wait()
    for number in 0..<20 {
      group.enter()
      Thread.detachNewThread {
        _ = sqliteError {
          try database.write { _ in
            // A cluster may run a write again, but before the next one.
            order.withLock { if $0.last != number { $0.append(number) } }
          }
        }
        group.leave()
      }
      while database.waitingAccessCount <= number { Thread.sleep(forTimeInterval: 0.0002) }
    }
    leave.signal()
    group.wait()
    #expect(order.withLock { $0 } == Array(0..<20))
  }

  @Test(arguments: Kind.allCases)
  func `mixed calls on eight threads add up`(kind: Kind) throws {
    let fixture = try Fixture(kind)
    let database = fixture.database
    try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (0)")
    let errors = Mutex<[any Error]>([])
    let calls = Engine.current == .cluster ? 40 : kind == .file || kind == .memory ? 1_000 : 200
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for call in 0..<calls {
        do {
          switch call % 4 {
          case 0:
            try database.write { connection in
              let old = try connection.firstRow("SELECT a FROM t", as: Int.self) ?? 0
              try connection.executeChange("UPDATE t SET a = \(old + 1)")
            }
          case 1: try database.executeChange("UPDATE t SET a = a + 1")
          case 2:
            let twice = try database.read { connection in
              [
                try connection.firstRow("SELECT a FROM t", as: Int.self),
                try connection.firstRow("SELECT a FROM t", as: Int.self),
              ]
            }
            guard twice[0] == twice[1] else { throw Stop() }
          default:
            do {
              try database.write { connection in
                try connection.executeChange("UPDATE t SET a = a + 1000000")
                if (thread + call) % 2 == 0 { try connection.savepoint { throw Stop() } }
                throw Stop()
              }
            } catch is Stop {}
          }
        } catch {
          errors.withLock { $0.append(error) }
        }
      }
    }
    #expect(errors.withLock { $0 }.isEmpty, "\(errors.withLock { $0.first })")
    #expect(try database.rows("SELECT a FROM t", as: Int.self).first == 8 * calls / 2)
  }

  @Test(.timeLimit(.minutes(40)))
  func `an async access doesn't need a thread that blocked accesses occupy`() async throws {
    let fixture = try Fixture(.file)
    let database = fixture.database
    let entered = DispatchSemaphore(value: 0), leave = DispatchSemaphore(value: 0)
    let group = DispatchGroup()
    let holder = Task {
      try await database.write { _ in
        entered.signal()
        leave.wait()
        // A cluster may run the closure again.
        leave.signal()
      }
    }
    await wait(for: entered)
    let next = Task { try await database.write { _ in } }
    try await waitUntil { database.waitingAccessCount != 0 }
    // A separate thread continues, because the blocked accesses may occupy all threads of Swift's
    // pool.
    Thread.detachNewThread {
      for _ in 0..<40 {
        DispatchQueue.global().async(group: group) {
          _ = sqliteError { try database.write { _ in } }
        }
      }
      while database.waitingAccessCount < 3 { Thread.sleep(forTimeInterval: 0.001) }
      leave.signal()
    }
    try await holder.value
    try await next.value
  }

  @Test func `hundreds of tasks and blocked threads don't starve each other`() async throws {
    let fixture = try Fixture(.file)
    let database = fixture.database
    try await database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (0)")
    let group = DispatchGroup()
    for _ in 0..<300 {
      DispatchQueue.global().async(group: group) {
        _ = sqliteError { try database.executeChange("UPDATE t SET a = a + 1") }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for _ in 0..<300 {
        tasks.addTask { try await database.executeChange("UPDATE t SET a = a + 1") }
      }
      try await tasks.waitForAll()
    }
    await withCheckedContinuation { continuation in
      group.notify(queue: .global()) { continuation.resume() }
    }
    #expect(try await database.rows("SELECT a FROM t", as: Int.self).first == 600)
  }

  @Test(arguments: Kind.allCases)
  func `closing waits for running accesses and rejects new ones`(kind: Kind) throws {
    let fixture = try Fixture(kind)
    let database = fixture.database
    let entered = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
    let ended = Mutex(false)
    Thread.detachNewThread {
      _ = sqliteError {
        try database.write { connection in
          entered.signal()
          Thread.sleep(forTimeInterval: 0.05)
          try connection.executeChange("CREATE TABLE t (a)")
          ended.withLock { $0 = true }
        }
      }
      done.signal()
    }
    entered.wait()
    #expect(sqliteError { try database.read { _ in try database.close() } }?.code == .misuse)
    try database.close()
    #expect(ended.withLock { $0 })
    done.wait()
    #expect(sqliteError { try database.read { _ in } }?.code == .misuse)
    try database.close()
  }

  @Test(arguments: Kind.allCases)
  func `a closed database stays closed`(kind: Kind) throws {
    let fixture = try Fixture(kind)
    try fixture.database.close()
    fixture.database.resume()
    #expect(sqliteError { try fixture.database.read { _ in } }?.code == .misuse)
    try fixture.database.suspend()
    fixture.database.resume()
    #expect(sqliteError { try fixture.database.read { _ in } }?.code == .misuse)
  }

  @Test(.requires(.interruption), arguments: Kind.allCases)
  func `suspending stops running accesses, and resuming allows new ones`(kind: Kind) throws {
    let fixture = try Fixture(kind)
    let database = fixture.database
    try database.executeChange("CREATE TABLE t (a)")
    let entered = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
    let stopped = Mutex<SQLiteError?>(nil)
    Thread.detachNewThread {
      let error = sqliteError {
        try database.write { connection in
          try connection.executeChange("INSERT INTO t VALUES (1)")
          entered.signal()
          _ = try connection.executeQuery(endless)
        }
      }
      stopped.withLock { $0 = error }
      done.signal()
    }
    entered.wait()
    try database.suspend()
    done.wait()
    #expect(stopped.withLock { $0 }?.code == .interrupt)
    #expect(stopped.withLock { $0 }?.message.contains("task") == false)
    #expect(sqliteError { try database.read { _ in } }?.code == .abort)
    if kind == .file {
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
          == ["data.sqlite3"])
    }
    database.resume()
    #expect(try fixture.count() == 0)
    try database.executeChange("INSERT INTO t VALUES (1)")
  }

  @Test func `resuming while suspending is safe`() throws {
    let fixture = try Fixture(.file)
    let database = fixture.database
    try database.executeChange("CREATE TABLE t (a)")
    let rounds = Engine.current == .local ? 200 : 20
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for round in 0..<rounds {
        switch thread {
        case 0: _ = sqliteError { try database.suspend() }
        case 1: database.resume()
        default:
          _ = sqliteError { try database.read { _ = try $0.executeQuery("SELECT * FROM t") } }
          if round % 10 == 0 { _ = sqliteError { try database.write { _ in } } }
        }
      }
    }
    database.resume()
    #expect(try fixture.count() == 0)
  }

  @Test(.requires(.interruption)) func `interrupting stops all running accesses`() throws {
    let fixture = try Fixture(.file)
    let database = fixture.database
    let began = DispatchSemaphore(value: 0)
    let errors = Mutex<[SQLiteError?]>([])
    let group = DispatchGroup()
    for _ in 0..<3 {
      group.enter()
      Thread.detachNewThread {
        let error = sqliteError {
          _ = try database.read { connection in
            began.signal()
            return try connection.executeQuery(endless)
          }
        }
        errors.withLock { $0.append(error) }
        group.leave()
      }
      began.wait()
    }
    database.interrupt()
    group.wait()
    #expect(errors.withLock { $0 }.map { $0?.code } == [.interrupt, .interrupt, .interrupt])
  }

  @Test(arguments: [1, 2, 8])
  func `the number of readers can be set`(limit: Int) throws {
    var options = Database.Options()
    options.maximumReaderCount = limit
    let fixture = try Fixture(.file, options)
    let running = Mutex((now: 0, most: 0))
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      _ = sqliteError {
        try fixture.database.read { connection in
          running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
          defer { running.withLock { $0.now -= 1 } }
          _ = try connection.executeQuery("SELECT * FROM sqlite_schema")
          Thread.sleep(forTimeInterval: 0.01)
        }
      }
    }
    #expect(running.withLock { $0.most } <= limit)
  }

  @Test func `a file without readers uses one connection`() throws {
    var options = Database.Options()
    options.maximumReaderCount = 0
    let fixture = try Fixture(.file, options)
    try fixture.database.write { _ = try $0.executeChange("CREATE TABLE t (a)") }
    #expect(try fixture.count() == 0)
  }
}
