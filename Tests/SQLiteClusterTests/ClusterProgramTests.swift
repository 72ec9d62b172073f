import Conformance
import Foundation
import MagicCluster
import MagicData
import Synchronization
import TestSupport
import Testing

/// Tests typical uses of a cluster's database, and the results of disturbing them.
@Suite(
  .serialized, .enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterProgramTests {
  private func database(_ name: String = #function) throws -> Database {
    try TestCluster.shared.get().database(name)
  }

  @Test func `a list can contain any values, which are compared exactly`() throws {
    let database = try database()
    let reals = [
      0.1, 1.0 / 3, .leastNonzeroMagnitude, 0x1.fffffffffffffp-1022, .leastNormalMagnitude, 1e22,
      0x1p60,
      .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .infinity, -.infinity, -2.5, 0,
    ]
    let list: [Value] =
      reals.map { .real($0) } + [
        .blob([]), .blob([0, 255, 39]), .blob([UInt8](repeating: 7, count: 70_000)), .text(""),
        .text("ü'\"\\"), .integer(.min), .integer(.max), .null,
      ]
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
    for (index, value) in list.enumerated() {
      try database.executeChange("INSERT INTO t VALUES (?, ?)", withArgs: [index, value])
    }
    // NULL equals nothing, and 0 equals 0.0.
    let found = try database.rows("SELECT id FROM t WHERE v IN \(list) ORDER BY id", as: Int.self)
    #expect(found == Array(0..<list.count - 1))
    for (index, value) in list.dropLast().enumerated() {
      let one = [value, .text("another")]
      #expect(try database.rows("SELECT id FROM t WHERE v IN \(one)", as: Int.self) == [index])
    }
    #expect(try database.rows("SELECT id FROM t WHERE v IN \([Value]())", as: Int.self).isEmpty)
  }

  @Test func `SELECT * returns the current columns, whichever client changed the table`() throws {
    let (one, other) = (try database(), try database())
    func columns() throws -> [[String]] {
      let query: SQL = "SELECT * FROM t"
      let read = try one.executeQuery(query).map(\.columnNames)
      let changed = try one.executeQuery("UPDATE t SET a = a RETURNING *").map(\.columnNames)
      return read + changed
    }
    try one.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    try one.executeChange("INSERT INTO t VALUES (1, 2)")
    for _ in 0..<3 { #expect(try columns() == [["id", "a"], ["id", "a"]]) }
    try other.executeChange("ALTER TABLE t ADD COLUMN b DEFAULT 3")
    for _ in 0..<3 { #expect(try columns() == [["id", "a", "b"], ["id", "a", "b"]]) }
    try one.executeChange("ALTER TABLE t ADD COLUMN c DEFAULT 4")
    for _ in 0..<3 { #expect(try columns()[0] == ["id", "a", "b", "c"]) }
    try other.executeChange("ALTER TABLE t DROP COLUMN b")
    for _ in 0..<3 { #expect(try columns() == [["id", "a", "c"], ["id", "a", "c"]]) }
    #expect(
      try one.executeQuery("SELECT * FROM t")[0].values == [.integer(1), .integer(2), .integer(4)])
  }

  @Test(arguments: [1, 2, 5, 10, 12, 40], [0, 3, 700])
  func `a query that fails at any row throws SQLite's error`(columns: Int, rows: Int) throws {
    let database = try TestCluster.shared.get().database("failing rows")
    let names = (0..<columns - 1).map { ", \($0) AS \"column \($0)\"" }.joined()
    let sql = """
      WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      SELECT CASE WHEN i < \(rows) THEN i ELSE abs(-9223372036854775807 - 1) END\(names) FROM n
      """
    let error = #expect(throws: SQLiteError.self) {
      try database.executeQuery(SQL(unchecked: sql))
    }
    #expect(error?.code == .error)
    #expect(error?.message == "integer overflow")
    #expect(try database.rows("SELECT 7", as: Int.self).first == 7)
  }

  @Test func `a failing change with RETURNING throws SQLite's error and is rolled back`() throws {
    let database = try TestCluster.shared.get().database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER UNIQUE)")
    try database.executeChange("INSERT INTO t VALUES (1, 1)")
    for sql: SQL in [
      "INSERT INTO t VALUES (2, 1) RETURNING id",
      "INSERT INTO t VALUES (3, 3), (4, 4), (5, 1) RETURNING id, n, id + 1, id + 2, id + 3",
    ] {
      let error = #expect(throws: SQLiteError.self) { try database.executeQuery(sql) }
      #expect(error?.code == .uniqueConstraint)
      #expect(error?.constraint?.columns == ["n"])
    }
    #expect(try database.rows("SELECT id FROM t", as: Int.self) == [1])
  }

  @Test(arguments: [1, 15, 16, 17, 32, 33, 200])
  func `rows can have many columns`(count: Int) throws {
    let database = try database("columns \(count)")
    let names = (0..<count).map { "c\($0)" }.joined(separator: ", ")
    try database.executeChange(SQL(unchecked: "CREATE TABLE t (\(names))"))
    let values = (0..<count).map { Value.integer(Int64($0)) }
    let marks = Array(repeating: "?", count: count).joined(separator: ", ")
    for _ in 0..<3 {
      try database.executeChange(
        SQL(unchecked: "INSERT INTO t VALUES (\(marks))"), withArgs: values)
    }
    #expect(try database.executeQuery("SELECT * FROM t").map(\.values) == [values, values, values])
  }

  @Test(arguments: [600, 1_900])
  func `a row with column names that fill a page is returned or throws`(count: Int) throws {
    let database = try TestCluster.shared.get().database("names of \(count)")
    let names = (0..<count).map { "1 AS n\($0)" }.joined(separator: ", ")
    for _ in 0..<2 {
      let rows = Result { try database.executeQuery(SQL(unchecked: "SELECT \(names)")) }
      switch rows {
      case .success(let rows): #expect(rows.map(\.values.count) == [count])
      case .failure(let error):
        #expect((error as? SQLiteError)?.message.contains("the column names fill a page") == true)
      }
    }
    #expect(try database.executeQuery("SELECT 1").count == 1)
  }

  @Test func `100,000 rows and a 10 MB value are returned completely`() throws {
    let database = try database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
    try database.executeChange(
      """
      INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      SELECT i, i * 2 FROM n
      """)
    var (count, sum) = (0, 0)
    try database.read { connection in
      try connection.forEachRow("SELECT id, v FROM t") { row in
        count += 1
        sum += Int(row.integer(at: 1))
      }
    }
    #expect(count == 100_000 && sum == 100_000 * 100_001)
    let blob = (0..<10 << 20).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) }
    try database.executeChange("UPDATE t SET v = \(blob) WHERE id = 1")
    #expect(try database.executeQuery("SELECT v FROM t WHERE id = 1")[0][0]?.value == .blob(blob))
  }

  @Test(arguments: ["a \"b\"", "it's", "[x]", "select", "ü", "a;b", "--", "名前"])
  func `tables and columns can have any name`(name: String) throws {
    let database = try database("names \(name)")
    try database.executeChange("CREATE TABLE \(identifier: name) (\(identifier: name))")
    try database.executeChange("INSERT INTO \(identifier: name) VALUES (1)")
    let rows = try database.executeQuery("SELECT * FROM \(identifier: name)")
    #expect(rows.map(\.columnNames) == [[name]])
    #expect(try database.read { try $0.existingTables() } == [name])
  }

  @Test func `grouped writes take effect once when their node is lost`() async throws {
    let cluster = try TestCluster()
    let database = try cluster.database()
    try await database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let runs = Counter()
    try await withThrowingTaskGroup { group in
      for id in 0..<20 {
        group.addTask {
          try await database.writeInGroup { connection in
            try connection.executeChange("INSERT INTO t VALUES (\(id))")
            if runs.next() == 3 { cluster.signal(try cluster.leader(), SIGKILL) }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(runs.next() > 21)
    #expect(
      try await database.rows("SELECT id FROM t ORDER BY id", as: Int.self) == Array(0..<20))
  }

  private final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
      count.withLock { count in
        count += 1
        return count
      }
    }
  }

  private final class Tracked: Sendable {}

  @Test func `the result of a run that is repeated is released`() throws {
    let cluster = try TestCluster()
    let database = try cluster.database()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    weak var first: Tracked?
    var runs = 0
    let result = try database.write { connection in
      runs += 1
      try connection.executeChange("INSERT INTO t VALUES (1)")
      let tracked = Tracked()
      if runs == 1 {
        first = tracked
        cluster.signal(try cluster.leader(), SIGKILL)
      }
      return tracked
    }
    #expect(runs > 1)
    #expect(first == nil)
    withExtendedLifetime(result) {}
  }

  @Test func `cancelling a task that waits for its commit leaves all rows or none`()
    async throws
  {
    let cluster = try TestCluster()
    let database = try cluster.database {
      $0.attemptTimeout = .seconds(1)
      $0.leaderTimeout = .seconds(5)
    }
    try await database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let leader = try cluster.leader()
    let hasWritten = Flag()
    let task = Task {
      try await database.write { connection in
        try connection.executeChange("INSERT INTO t VALUES (1), (2)")
        // The commit can't reach a majority.
        for node in 0..<3 where node != leader { cluster.signal(node, SIGSTOP) }
        hasWritten.set()
      }
    }
    try await waitUntil { hasWritten.isSet }
    task.cancel()
    let outcome = await task.result
    for node in 0..<3 where node != leader { cluster.signal(node, SIGCONT) }
    let count = try await database.rows("SELECT count(*) FROM t", as: Int.self).first
    switch outcome {
    case .success: #expect(count == 2)
    case .failure(let error as SQLiteError) where error.code == .outcomeUnknown:
      #expect(count == 0 || count == 2)
    case .failure: #expect(count == 0)
    }
    try await database.executeChange("INSERT INTO t VALUES (3)")
  }

  @Test func `closing ends waiting writes and leaves no session open`() async throws {
    let database = try database()
    try await database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let done = try await withThrowingTaskGroup(of: Bool.self) { group in
      for id in 0..<20 {
        group.addTask {
          do {
            try await database.executeChange("INSERT INTO t VALUES (\(id))")
            return true
          } catch is SQLiteError {
            return false
          }
        }
      }
      group.addTask {
        try await database.close()
        return false
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    await #expect(throws: SQLiteError.self) { try await database.executeQuery("SELECT 1") }
    let again = try TestCluster.shared.get().database(#function)
    #expect(try await again.rows("SELECT count(*) FROM t", as: Int.self).first == done)
  }
}
