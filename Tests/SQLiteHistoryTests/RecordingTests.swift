import SQLiteCore
import SQLiteHistory
import Synchronization
import Testing
import TestSupport

/// Tests that exactly the committed changes are recorded, even after failures and rollbacks.
@Suite struct RecordingTests {
  private let database: Database
  private let observed = Observed()
  private let subscription: Registration
  private let journal: ChangeJournal
  private let start: JournalMark

  private final class Observed: Sendable {
    let commits = Mutex<[CommittedChanges]>([])
  }

  private final class Cancelled: Sendable {
    let task = Mutex<Task<Void, any Error>?>(nil)
  }

  init() throws {
    database = try Database.memory()
    try database.executeMultipleChanges(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, v, u UNIQUE);
      CREATE TABLE log (id INTEGER PRIMARY KEY, t);
      CREATE TABLE child (id INTEGER PRIMARY KEY, t REFERENCES t (id));
      CREATE TABLE late (id INTEGER PRIMARY KEY, t REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER t_insert AFTER INSERT ON t BEGIN INSERT INTO log (t) VALUES (new.id); END;
      """)
    journal = try database.journal()
    subscription = database.subscribe(to: .values) { [observed] changes in
      observed.commits.withLock { $0.append(changes) }
    }
    start = try journal.mark()
  }

  /// Returns the net changes: those reported to subscribers, and those in the journal.
  private func recorded() throws -> [Set<String>] {
    let commits = observed.commits.withLock { $0 }
    #expect(!commits.contains { $0.isIncomplete })
    let patches = try commits.map { try Patch($0.recorded).filtered { $0 != "magicdata_journal" } }
    let journaled = try #require(try journal.patch(since: start))
    return [try patches.reduce(Patch()) { try $0.combined(with: $1) }, journaled].map { patch in
      Set(
        patch.tables.flatMap { table in
          table.rows.map { row in "\(row.kind) \(table.name) \(table.key(of: row).values)" }
        })
    }
  }

  private func expect(_ changes: Set<String>) throws {
    for found in try recorded() { #expect(found == changes) }
  }

  @Test func `a failed statement isn't recorded even if its trigger ran`() throws {
    let patch = try database.patch { connection in
      #expect(throws: SQLiteError.self) {
        try connection.executeChange("INSERT INTO t VALUES (1, 1, 1), (2, 2, 1)")
      }
      try connection.executeChange("INSERT INTO t VALUES (9, 9, 9)")
    }
    #expect(patch.count == 2)
    try expect([
      "insert t [SQLiteCore.Value.integer(9)]", "insert log [SQLiteCore.Value.integer(1)]",
    ])
  }

  @Test(arguments: ["OR FAIL", "OR ABORT", "OR IGNORE", "OR REPLACE"])
  func `a statement is recorded as far as its conflict clause keeps its rows`(clause: String) throws
  {
    try database.write { connection in
      _ = try? connection.executeChange(
        SQL(unchecked: "INSERT \(clause) INTO t VALUES (1, 1, 1), (2, 2, 1), (3, 3, 3)"))
    }
    let kept = try database.executeQuery("SELECT id FROM t").map { "insert t \($0.values)" }
    let logged = try database.executeQuery("SELECT id FROM log").map { "insert log \($0.values)" }
    try expect(Set(kept + logged))
  }

  @Test func `a RETURNING statement that is reset early and fails to commit isn't recorded`() throws
  {
    try database.withoutTransaction { connection in
      do {
        var insert = try connection.statement("INSERT INTO late VALUES (1, 7), (2, 7) RETURNING id")
        let isRow = try insert.step()
        #expect(isRow)
        // Resetting checks the deferred foreign key, and SQLite rolls back the statement.
        try? insert.reset()
      }
      let count = try connection.firstRow("SELECT count(*) FROM late", as: Int.self)
      #expect(count == 0)
      try connection.executeChange("INSERT INTO child VALUES (3, NULL)")
    }
    try expect(["insert child [SQLiteCore.Value.integer(3)]"])
  }

  @Test func `other changes between the rows of a RETURNING statement are recorded`() throws {
    try database.write { connection in
      var insert = try connection.statement(
        "INSERT INTO t VALUES (1, 1, 1), (2, 2, 2) RETURNING id")
      let isRow = try insert.step()
      #expect(isRow)
      _ = try? connection.executeChange("INSERT OR FAIL INTO t VALUES (3, 3, 3), (4, 4, 1)")
      _ = try? connection.executeChange("INSERT INTO t VALUES (5, 5, 5), (6, 6, 1)")
    }
    let logged = try database.executeQuery("SELECT id FROM log").map { "insert log \($0.values)" }
    try expect(Set([1, 2, 3].map { "insert t [SQLiteCore.Value.integer(\($0))]" } + logged))
  }

  @Test func `an interrupted statement isn't recorded`() async throws {
    let database = database
    let writer = Cancelled()
    try await database.withoutTransaction { connection in
      try connection.addFunction("cancelled") { (number: Int) -> Int in
        if number == 500 { writer.task.withLock { $0?.cancel() } }
        return number
      }
    }
    // Stores the task before its statement runs.
    writer.task.withLock { task in
      task = Task {
        try await database.write { connection in
          try connection.executeChange("INSERT INTO child VALUES (1, NULL)")
          try connection.executeChange(
            """
            WITH RECURSIVE c (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM c WHERE n < 100000)
            INSERT INTO child SELECT cancelled(n), NULL FROM c
            """)
        }
      }
    }
    let task = try #require(writer.task.withLock { $0 })
    await #expect(throws: CancellationError.self) { try await task.value }
    try await database.executeChange("INSERT INTO child VALUES (3, NULL)")
    try expect(["insert child [SQLiteCore.Value.integer(3)]"])
  }

  @Test func `changes before a savepoint are journaled after a failed COMMIT`() throws {
    try database.withoutTransaction { connection in
      try connection.executeChange("BEGIN")
      try connection.executeChange("INSERT INTO t VALUES (1, 1, 1)")
      try connection.executeChange("SAVEPOINT s")
      try connection.executeChange("INSERT INTO late VALUES (1, 7)")
      let error = #expect(throws: SQLiteError.self) { try connection.executeChange("COMMIT") }
      #expect(error?.code == .foreignKeyConstraint)
      try connection.executeChange("ROLLBACK TO s")
      try connection.executeChange("COMMIT")
    }
    try expect([
      "insert t [SQLiteCore.Value.integer(1)]", "insert log [SQLiteCore.Value.integer(1)]",
    ])
  }

  @Test(arguments: ["s", "S", "\"s\"", "'S'", "[s]", "SAVEPOINT s -- the outer one"])
  func `savepoints in SQL are matched by name like in SQLite`(name: String) throws {
    try database.withoutTransaction { connection in
      try connection.executeChange("SAVEPOINT s")
      try connection.executeChange("INSERT INTO child VALUES (1, NULL)")
      try connection.executeChange("/* inner */ SAVEPOINT S")
      try connection.executeChange("INSERT INTO child VALUES (2, NULL)")
      try connection.executeChange("SAVEPOINT other")
      try connection.executeChange("INSERT INTO child VALUES (3, NULL)")
      try connection.executeChange(SQL(unchecked: "ROLLBACK TO \(name)"))
      _ = try? connection.executeChange("ROLLBACK TO other")
      try connection.executeChange("INSERT INTO child VALUES (4, NULL)")
      try connection.executeChange("RELEASE s")
      try connection.executeChange("RELEASE s")
    }
    try expect([
      "insert child [SQLiteCore.Value.integer(1)]", "insert child [SQLiteCore.Value.integer(4)]",
    ])
  }

  @Test func `rolling back a savepoint that altered a table keeps the recording correct`()
    throws
  {
    try database.withoutTransaction { connection in
      try connection.executeChange("BEGIN")
      try connection.executeChange("INSERT INTO child VALUES (1, NULL)")
      try connection.executeChange("SAVEPOINT s")
      try connection.executeChange("ALTER TABLE child ADD COLUMN x DEFAULT 5")
      try connection.executeChange("INSERT INTO child VALUES (2, NULL, 1)")
      _ = try? connection.executeChange("INSERT INTO child VALUES (3, NULL, 1), (2, NULL, 1)")
      try connection.executeChange("ROLLBACK TO s")
      _ = try? connection.executeChange("INSERT INTO child VALUES (4, NULL), (1, NULL)")
      try connection.executeChange("INSERT INTO child VALUES (5, NULL)")
      try connection.executeChange("COMMIT")
    }
    try expect([
      "insert child [SQLiteCore.Value.integer(1)]", "insert child [SQLiteCore.Value.integer(5)]",
    ])
  }

  @Test func `a blob write that SQLite rejects isn't recorded`() throws {
    try database.write { connection in
      try connection.executeChange("INSERT INTO t VALUES (1, x'010203', 1)")
      #expect(throws: SQLiteError.self) {
        try connection.withBlob(table: "t", column: "v", rowID: 1, isWritable: true) { blob in
          try connection.executeChange("UPDATE t SET u = 2")
          try blob.write([9], at: 0)
        }
      }
    }
    let patch = try #require(try journal.patch(since: start))
    #expect(
      patch.tables.first { $0.name == "t" }?.rows.first?.new == [
        .integer(1), .blob([1, 2, 3]), .integer(2),
      ])
    try expect([
      "insert t [SQLiteCore.Value.integer(1)]", "insert log [SQLiteCore.Value.integer(1)]",
    ])
  }

  @Test func `rows with a NULL key are reported once after a failed statement`() throws {
    try database.executeMultipleChanges(
      "CREATE TABLE n (k TEXT PRIMARY KEY, v UNIQUE); INSERT INTO n VALUES (NULL, 1), (NULL, 2), ('a', 3)"
    )
    observed.commits.withLock { $0 = [] }
    try database.write { connection in
      // Fails at the last row. Earlier changes remain.
      _ = try? connection.executeChange(
        "UPDATE OR FAIL n SET k = CASE v WHEN 1 THEN 'b' WHEN 3 THEN 'b' ELSE k END, v = v + 10")
    }
    let stored = try database.executeQuery("SELECT k, v FROM n ORDER BY rowid").map(\.values)
    #expect(
      stored == [[.text("b"), .integer(11)], [.null, .integer(12)], [.text("a"), .integer(3)]])
    let commits = observed.commits.withLock { $0 }
    let rows = try #require(
      try commits.first?.recorded.coalesced().first { $0.layout.table == "n" }?.rows)
    #expect(rows.compactMap(\.new).contains([.text("b"), .integer(11)]))
    #expect(rows.compactMap(\.new).contains([.null, .integer(12)]))
    #expect(rows.compactMap(\.old).count == 2)
  }

  @Test func `a write that fails in a group doesn't affect the rows of other writes`() async throws
  {
    let database = database
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          for number in 0..<10 {
            let id = writer * 100 + number + 1
            _ = try? await database.writeInGroup { connection in
              try connection.executeChange("INSERT INTO t VALUES (\(id), 1, \(id))")
              _ = try? connection.executeChange(
                "INSERT INTO t VALUES (\(id + 5000), 1, \(id + 5000)), (\(id + 6000), 1, \(id))")
              if number == 3 { throw Stop() }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let kept = try await database.executeQuery("SELECT id FROM t").map { "insert t \($0.values)" }
    let logged = try await database.executeQuery("SELECT id FROM log").map {
      "insert log \($0.values)"
    }
    #expect(kept.count == 72)
    try expect(Set(kept + logged))
  }
}
