import Conformance
import Foundation
import SQLiteCore
import Synchronization
import Testing
import TestSupport

/// The work of one write in a random group. Its outcome depends on the writes before it.
private enum Action: CaseIterable {
  case append, sum, repeatLast, rollback
  case stop, noTable, conflict
  case end, swallowEnd, interrupt, interruptRead
  case orphan, heal, immediate, deferring

  func work(_ number: Int) -> Work {
    { connection in
      try connection.executeChange("INSERT INTO t (a) VALUES (\(number))")
      let count = try connection.firstRow("SELECT count(*) FROM t", as: Int.self) ?? 0
      switch self {
      case .append: break
      case .sum:
        try connection.executeChange("INSERT INTO t (a) SELECT sum(a) % 1000 FROM t")
      case .repeatLast:
        try connection.executeChange(
          "INSERT INTO t (a) SELECT a FROM t WHERE id < (SELECT max(id) FROM t) ORDER BY id DESC")
        try connection.executeChange("DELETE FROM t WHERE id > \(count + 20)")
      case .rollback: return try connection.savepoint { throw Stop() }
      case .stop: throw Stop()
      case .noTable: try connection.executeChange("DELETE FROM nowhere")
      case .conflict:
        // Conflicts with another write if the numbers of rows match.
        try connection.executeChange("INSERT INTO single VALUES (\(count % 3))")
      case .end: try connection.executeChange("INSERT INTO t (a) VALUES (-1)")
      case .swallowEnd: _ = try? connection.executeChange("INSERT INTO t (a) VALUES (-1)")
      case .interrupt:
        try connection.executeChange(
          """
          INSERT INTO t (a) WITH RECURSIVE n(i) AS (SELECT interrupted() UNION ALL SELECT i + 1 FROM n)
          SELECT i FROM n
          """)
      case .interruptRead:
        _ = try connection.executeQuery(
          """
          WITH RECURSIVE n(i) AS (SELECT interrupted() UNION ALL SELECT i + 1 FROM n)
          SELECT count(*) FROM n
          """)
      case .orphan: try connection.executeChange("INSERT INTO child VALUES (\(number))")
      case .heal:
        try connection.executeChange("INSERT INTO child VALUES (\(number))")
        try connection.executeChange("INSERT OR IGNORE INTO parent VALUES (\(number))")
      case .immediate: try connection.executeChange("INSERT INTO strict VALUES (\(number))")
      case .deferring:
        try connection.executeChange("PRAGMA defer_foreign_keys = ON")
        try connection.executeChange("INSERT INTO strict VALUES (\(number))")
        if number % 2 == 0 {
          try connection.executeChange("INSERT OR IGNORE INTO parent VALUES (\(number))")
        }
      }
      return count
    }
  }
}

@Suite(.timeLimit(.minutes(40)), .everyEngine) struct GroupCommitRandomTests {
  /// Opens a database. A test compares two of them: one groups its writes, the other runs them one
  /// by one.
  private func database(_ path: String) throws -> Database {
    let interrupt = Interrupter()
    var options = Database.Options()
    options.groupCommit = .unhurried
    options.synchronous = .normalLosesLastCommitsOnPowerCut
    if Engine.current == .local {
      options.prepareConnection = { connection in
        try connection.addFunction("interrupted") { () -> Int in
          interrupt.run()
          return 0
        }
      }
    }
    let database = try Database.at(path, options: options)
    interrupt.set(database)
    try database.executeMultipleChanges(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a);
      CREATE TABLE single (a UNIQUE);
      CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE child (parent REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
      CREATE TABLE strict (parent REFERENCES parent);
      CREATE TRIGGER ending BEFORE INSERT ON t WHEN new.a = -1
      BEGIN SELECT RAISE(ROLLBACK, 'all is lost'); END
      """)
    return database
  }

  private func content(of database: Database) throws -> [[Row]] {
    try ["t", "single", "parent", "child", "strict"].map {
      try database.executeQuery("SELECT * FROM \(identifier: $0)")
    }
  }

  @Test(arguments: seeds(1...12))
  func `a group has the same outcome as its writes run one by one`(seed: UInt64) async throws {
    let folder = try TestFolder()
    let (grouped, serial) = (
      try database(folder.file("grouped")), try database(folder.file("serial"))
    )
    var random = SplitMix64(seed: seed)
    for _ in 0..<8 {
      // A statement on a node can't be interrupted.
      let all = Action.allCases.filter {
        Engine.current == .local || ![.interrupt, .interruptRead].contains($0)
      }
      // In most rounds only the sixth write can end the transaction, in some rounds any write can.
      let mild = all.filter { ![.end, .swallowEnd, .interrupt].contains($0) }
      let isWild = Int.random(in: 0..<3, using: &random) == 0
      let actions = (0..<Int.random(in: 1...14, using: &random)).map { place -> (Action, Int) in
        let isAny = isWild || place == 5
        let action = (isAny ? all : mild).randomElement(using: &random) ?? .append
        return (action, Int.random(in: 0..<20, using: &random))
      }
      let alone = actions.map { action, number in
        Result { try serial.write { try action.work(number)($0) } }.summary
      }
      let together = try await grouped.inGroup(actions.map { $0.work($1) })
      #expect(together.map(\.summary) == alone, "\(actions.map(\.0))")
      let (stored, expected) = (try content(of: grouped), try content(of: serial))
      #expect(stored == expected, "\(actions.map(\.0))")
    }
  }

  @Test(arguments: seeds(1...6))
  func `a cancelled write is committed or rolled back, and the others are committed`(seed: UInt64)
    async throws
  {
    let folder = try TestFolder()
    let database = try database(folder.file())
    var random = SplitMix64(seed: seed)
    for round in 0..<10 {
      let hold = await WriterHold(database)
      var tasks: [(number: Int, isCancelled: Bool, task: Task<Int, any Error>)] = []
      for place in 0..<20 {
        let number = round * 100 + place
        let isSlow = place % 7 == 3
        let task = Task {
          try await database.writeInGroup { connection in
            try connection.executeChange("INSERT INTO t (a) VALUES (\(number))")
            if isSlow {
              try connection.executeChange(
                """
                INSERT INTO single WITH RECURSIVE n(i) AS
                  (SELECT \(round * 1_000_000 + place * 10_000) UNION ALL
                   SELECT i + 1 FROM n LIMIT 3000) SELECT i FROM n
                """)
            }
            return number
          }
        }
        tasks.append((number, Int.random(in: 0..<3, using: &random) == 0, task))
      }
      try await database.waitForWaitingAccesses(20)
      hold.release()
      for entry in tasks where entry.isCancelled {
        entry.task.cancel()
        try await Task.sleep(for: .microseconds(200))
      }
      var done: Set<Int> = []
      for entry in tasks {
        do {
          done.insert(try await entry.task.value)
        } catch {
          #expect(error is CancellationError)
          #expect(entry.isCancelled)
        }
      }
      let stored = try await database.rows(
        "SELECT a FROM t WHERE a BETWEEN \(round * 100) AND \(round * 100 + 99)", as: Int.self)
      #expect(Set(stored) == done)
      #expect(stored.count == done.count)
    }
  }
}

/// Interrupts a database from inside one of its statements.
private final class Interrupter: Sendable {
  private struct Weak: Sendable { weak var database: Database? }
  private let stored = Mutex(Weak())

  func set(_ database: Database) { stored.withLock { $0.database = database } }

  func run() { stored.withLock { $0.database }?.interrupt() }
}
