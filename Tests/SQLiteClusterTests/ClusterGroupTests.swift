import Conformance
import Foundation
import MagicData
import SQLiteCluster
import Synchronization
import Testing
import TestSupport

/// A single-node cluster for tests that need no more, with a database for each test.
private let shared = Result { try TestCluster(count: 1) }

/// Tests writes of many tasks that share a transaction on a cluster.
@Suite(.enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterGroupTests {
  private struct Refusal: Error, Equatable {
    let id: Int
  }

  private final class Count: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    @discardableResult func next() -> Int { count.add(1, ordering: .relaxed).newValue }
  }

  private enum Outcome: Equatable {
    case done
    case refused(Int)
    case failed(ResultCode)
    case cancelled
  }

  /// Runs a closure in a group for each number concurrently, and returns the outcomes in order.
  private func outcomes(
    _ ids: Range<Int>, on database: Database,
    _ body: @escaping @Sendable (Connection, Int) throws -> Void
  ) async -> [Outcome] {
    await withTaskGroup(of: (Int, Outcome).self) { group in
      for id in ids {
        group.addTask {
          do {
            try await database.writeInGroup { try body($0, id) }
            return (id, .done)
          } catch let error as Refusal {
            return (id, .refused(error.id))
          } catch let error as SQLiteError {
            return (id, .failed(error.code))
          } catch {
            return (id, .cancelled)
          }
        }
      }
      var outcomes: [Int: Outcome] = [:]
      for await (id, outcome) in group { outcomes[id] = outcome }
      return ids.compactMap { outcomes[$0] }
    }
  }

  /// Returns a database with groups that wait long enough for all tasks.
  private func database(
    _ cluster: TestCluster, _ name: String = #function
  ) throws -> Database {
    try cluster.database(name) { options in
      options.database.groupCommit.maximumDuration = .milliseconds(200)
      options.database.busyTimeout = .seconds(300)
    }
  }

  @Test func `only the failing writes of a group throw, each with its own error`() async throws {
    let database = try database(shared.get())
    try await database.executeMultipleChanges(
      """
      CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL UNIQUE,
        parent INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
      INSERT INTO t VALUES (1000, -1, NULL)
      """)
    for round in 0..<3 {
      let first = round * 100
      let outcomes = await outcomes(first..<first + 40, on: database) { connection, id in
        // Executes one to three inserts. A later statement may fail.
        for part in 0...(id % 3) {
          try connection.executeChange("INSERT INTO t (n) VALUES (\(id * 10 + part))")
        }
        switch id % 10 {
        case 3: throw Refusal(id: id)
        case 5: try connection.executeChange("INSERT INTO t (n) VALUES (-1)")
        case 7: try connection.executeChange("INSERT INTO missing VALUES (1)")
        case 8: try connection.executeChange("INSERT OR ROLLBACK INTO t (n) VALUES (-1)")
        case 9: try connection.executeChange("INSERT INTO t (n, parent) VALUES (\(id * 10 + 9), 5)")
        default: break
        }
      }
      for (offset, outcome) in outcomes.enumerated() {
        let id = first + offset
        switch id % 10 {
        case 3: #expect(outcome == .refused(id))
        case 5, 8: #expect(outcome == .failed(.uniqueConstraint))
        case 7: #expect(outcome == .failed(.error))
        case 9: #expect(outcome == .failed(.foreignKeyConstraint))
        default: #expect(outcome == .done)
        }
      }
      let stored = try await database.rows(
        "SELECT n FROM t WHERE n BETWEEN \(first * 10) AND \(first * 10 + 999) ORDER BY n",
        as: Int.self)
      var expected: [Int] = []
      for id in first..<first + 40 where ![3, 5, 7, 8, 9].contains(id % 10) {
        for part in 0...(id % 3) { expected.append(id * 10 + part) }
      }
      #expect(stored == expected)
    }
  }

  @Test func `savepoints inside a grouped write end with it`() async throws {
    let database = try database(shared.get())
    try await database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let outcomes = await outcomes(0..<30, on: database) { connection, id in
      try? connection.savepoint {
        try connection.executeChange("INSERT INTO t VALUES (\(id * 10))")
        try connection.savepoint {
          try connection.executeChange("INSERT INTO t VALUES (\(id * 10 + 1))")
        }
        if id % 3 == 0 { throw Refusal(id: id) }
      }
      try connection.executeChange("INSERT INTO t VALUES (\(id * 10 + 2))")
      if id % 5 == 0 { throw Refusal(id: id) }
      let own = try connection.rows(
        "SELECT id - \(id * 10) FROM t WHERE id / 10 = \(id) ORDER BY id", as: Int.self)
      guard own == (id % 3 == 0 ? [2] : [0, 1, 2]) else { throw Refusal(id: -1) }
    }
    for (id, outcome) in outcomes.enumerated() {
      #expect(outcome == (id % 5 == 0 ? .refused(id) : .done))
    }
    let stored = try await database.rows("SELECT id FROM t ORDER BY id", as: Int.self)
    var expected: [Int] = []
    for id in 0..<30 where id % 5 != 0 {
      for part in id % 3 == 0 ? [2] : [0, 1, 2] { expected.append(id * 10 + part) }
    }
    #expect(stored == expected)
  }

  @Test func `change counts and returned rows are those of the write`() async throws {
    let database = try database(shared.get())
    try await database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)")
    let outcomes = await outcomes(1..<40, on: database) { connection, id in
      let insert = try connection.executeChange("INSERT INTO t VALUES (\(id), 0), (\(-id), 0)")
      guard insert.rows == 2 else { throw Refusal(id: -1) }
      let rows = try connection.rows(
        "UPDATE t SET n = 1 WHERE abs(id) = \(id) RETURNING id", as: Int.self)
      guard rows.sorted() == [-id, id] else { throw Refusal(id: -2) }
      let update = try connection.executeChange("UPDATE t SET n = 2 WHERE id = \(id)")
      guard update.rows == 1 else { throw Refusal(id: -3) }
    }
    #expect(outcomes.allSatisfy { $0 == .done })
    #expect(try await database.rows("SELECT sum(n) FROM t", as: Int.self).first == 39 * 3)
  }

  @Test func `a cancelled grouped write is atomic and doesn't affect the others`()
    async throws
  {
    let database = try database(shared.get())
    try await database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let running = Count()
    let tasks = (0..<40).map { id in
      Task {
        try await database.writeInGroup { connection in
          try connection.executeChange("INSERT INTO t VALUES (\(id))")
          running.next()
          try connection.executeChange("INSERT INTO t VALUES (\(id + 100))")
        }
      }
    }
    // Waits until the group is most likely in progress.
    try await waitUntil { running.value >= 3 }
    for (id, task) in tasks.enumerated() where id % 3 == 0 { task.cancel() }
    var done: [Int] = []
    for (id, task) in tasks.enumerated() {
      switch await task.result {
      case .success: done.append(id)
      case .failure(let error):
        #expect(error is CancellationError)
        #expect(id % 3 == 0)
      }
    }
    let stored = try await database.rows("SELECT id FROM t ORDER BY id", as: Int.self)
    #expect(stored == done + done.map { $0 + 100 })
  }

  @Test func `closing during grouped writes ends each write with its true outcome`() async throws {
    let database = try database(shared.get())
    try await database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let started = Count()
    async let closing: Void = {
      try await waitUntil { started.value >= 5 }
      try await database.close()
    }()
    let outcomes = await outcomes(0..<200, on: database) { connection, id in
      started.next()
      try connection.executeChange("INSERT INTO t VALUES (\(id))")
    }
    try await closing
    let again = try shared.get().database(#function)
    let stored = try await again.rows("SELECT id FROM t ORDER BY id", as: Int.self)
    let done = outcomes.indices.filter { outcomes[$0] == .done }
    #expect(stored == done)
  }

  @Test func `grouped closures run again when the leader is lost, and take effect once`()
    async throws
  {
    let cluster = try TestCluster()
    let database = try database(cluster)
    try await database.executeChange("CREATE TABLE t (id INTEGER, part INTEGER)")
    for round in 0..<2 {
      let runs = Count()
      let first = round * 100
      let outcomes = await outcomes(first..<first + 30, on: database) { connection, id in
        try connection.executeChange("INSERT INTO t VALUES (\(id), 0)")
        let run = runs.next()
        if run == 7 { cluster.signal(try cluster.leader(), SIGKILL) }
        if id % 10 == 4 { throw Refusal(id: id) }
        try connection.executeChange("INSERT INTO t VALUES (\(id), 1)")
      }
      #expect(runs.value > 30)
      for index in 0..<3 where !cluster.isRunning(index) { try cluster.start(index) }
      let expected = (first..<first + 30).filter { $0 % 10 != 4 }
      for (offset, outcome) in outcomes.enumerated() {
        let id = first + offset
        #expect(outcome == (id % 10 == 4 ? .refused(id) : .done))
      }
      let stored = try await database.rows(
        "SELECT id * 2 + part FROM t WHERE id >= \(first) ORDER BY 1", as: Int.self)
      let parts = expected.flatMap { id -> [Int] in [id * 2, id * 2 + 1] }
      #expect(stored == parts)
    }
  }

  @Test(arguments: 1...7)
  func `a commit with a lost response doesn't affect other writes of its group`(number: Int)
    async throws
  {
    let transport = LostAnswer(toCommit: number)
    let database = try shared.get().database("answer \(number)") { options in
      options.transport = transport
      options.database.groupCommit.maximumDuration = .milliseconds(200)
      options.database.busyTimeout = .seconds(300)
    }
    try await database.executeMultipleChanges(
      """
      CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE t (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
      """)
    transport.isCounting.store(true, ordering: .relaxed)
    let outcomes = await outcomes(0..<6, on: database) { connection, id in
      // One write fails in the commit, so each write runs in its own transaction.
      let parent: Int? = id == 1 ? 5 : nil
      try connection.executeChange("INSERT INTO t VALUES (\(id), \(parent))")
    }
    #expect(outcomes == (0..<6).map { $0 == 1 ? .failed(.foreignKeyConstraint) : .done })
    let stored = try await database.rows("SELECT id FROM t ORDER BY id", as: Int.self)
    #expect(stored == [0, 2, 3, 4, 5])
  }

  @Test(arguments: ["", ";", " ; ;", " -- comment", " /* comment */", " /* open", "; -- comment"])
  func `a statement in a savepoint can end with semicolons or comments`(_ end: String) throws {
    let cluster = try shared.get()
    let database = try cluster.database("end \(end.utf8.map(String.init).joined())")
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    try database.write { connection in
      try connection.executeChange("INSERT INTO t VALUES (1)")
      for id in [2, 3] {
        try? connection.savepoint {
          try connection.executeChange(
            SQL(unchecked: "INSERT INTO t VALUES (?)\(end)"), withArgs: [id])
          try connection.executeChange("INSERT INTO t VALUES (\(id * 10))")
          throw Refusal(id: id)
        }
        try connection.savepoint {
          try connection.executeChange(
            SQL(unchecked: "INSERT INTO t VALUES (?)\(end)"), withArgs: [id * 100])
        }
      }
    }
    #expect(try database.rows("SELECT id FROM t ORDER BY id", as: Int.self) == [1, 200, 300])
  }

  @Test(arguments: seeds(0..<12))
  func `writes, savepoints and rollbacks have the same results as in SQLite`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let remote = try shared.get().database("savepoints \(seed)")
    let local = try Database.memory()
    for database in [remote, local] {
      try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER UNIQUE)")
    }
    for _ in 0..<3 {
      var commands: [String] = ["BEGIN IMMEDIATE"]
      for _ in 0..<Int.random(in: 5...120, using: &random) {
        let name = ["a", "B", "b", "c d"].randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1, 2: commands.append("SAVEPOINT \"\(name)\"")
        case 3: commands.append("RELEASE \"\(name)\"")
        case 4: commands.append("ROLLBACK TO \"\(name)\"")
        case 5: commands.append("UPDATE OR FAIL t SET n = n - 1 WHERE n > 5")
        case 6: commands.append("SELECT count(*) FROM t")
        default:
          let number = Int.random(in: 0..<40, using: &random)
          commands.append("INSERT INTO t (n) VALUES (\(number))")
        }
      }
      commands.append(Bool.random(using: &random) ? "COMMIT" : "ROLLBACK")
      func outcomes(on database: Database) throws -> [String] {
        try database.withoutTransaction { connection in
          commands.map { command in
            let result = Result { try connection.executeChange(SQL(unchecked: command)) }
            switch result {
            case .success(let change): return "\(command): \(change.rows)"
            case .failure(let error):
              return "\(command): \((error as? SQLiteError)?.code.primary.rawValue ?? -1)"
            }
          }
        }
      }
      #expect(try outcomes(on: remote) == outcomes(on: local))
      let query: SQL = "SELECT id * 1000 + n FROM t ORDER BY id"
      #expect(try remote.rows(query, as: Int.self) == local.rows(query, as: Int.self))
    }
  }

  @Test func `hundreds of sequential or nested savepoints can be rolled back`() throws {
    let database = try shared.get().database(#function)
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    func nest(_ depth: Int, _ connection: Connection) throws {
      try connection.executeChange("INSERT INTO t VALUES (\(1_000 + depth))")
      guard depth < 100 else { return }
      try? connection.savepoint {
        try nest(depth + 1, connection)
        if depth == 50 { throw Refusal(id: depth) }
      }
    }
    try database.write { connection in
      for id in 0..<300 {
        try? connection.savepoint {
          try connection.executeChange("INSERT INTO t VALUES (\(id))")
          if id % 7 == 0 { throw Refusal(id: id) }
        }
      }
      try nest(0, connection)
    }
    let expected = (0..<300).filter { $0 % 7 != 0 } + Array(1_000...1_050)
    #expect(try database.rows("SELECT id FROM t ORDER BY id", as: Int.self) == expected)
  }
}

/// A transport that closes one stream after it has received the response to the nth COMMIT.
private final class LostAnswer: ClusterTransport {
  let isCounting = Atomic(false)
  private let number: Int
  private let count = Atomic(0)

  init(toCommit number: Int) { self.number = number }

  func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream {
    Stream(try SocketTransport().connect(to: address, before: deadline), self)
  }

  private func isLast(_ bytes: [UInt8]) -> Bool {
    guard isCounting.load(ordering: .relaxed),
      String(decoding: bytes, as: UTF8.self).contains("COMMIT")
    else { return false }
    return count.add(1, ordering: .relaxed).newValue == number
  }

  private final class Stream: ClusterStream {
    private let stream: any ClusterStream
    private let transport: LostAnswer
    private var isLast = false

    var socketDescriptor: Int32? { stream.socketDescriptor }

    init(_ stream: any ClusterStream, _ transport: LostAnswer) {
      self.stream = stream
      self.transport = transport
    }

    func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws {
      isLast = transport.isLast(bytes)
      try stream.send(bytes, before: deadline)
    }

    func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]? {
      let bytes = try stream.receive(atMost: count, before: deadline)
      guard !isLast else {
        stream.close()
        throw SQLiteError(.cannotOpen, "the test has cut the stream")
      }
      return bytes
    }

    func close() { stream.close() }
  }
}
