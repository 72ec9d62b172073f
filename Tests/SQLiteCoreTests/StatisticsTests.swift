import SQLiteCore
import Synchronization
import TestSupport
import Testing

/// Tests of the query planner's statistics, which are updated when a database closes and after many
/// changes.
@Suite struct StatisticsTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func database(_ options: Database.Options = Database.Options()) throws -> Database {
    try Database(path: folder.file(), options: options)
  }

  private static let script: SQL = """
    CREATE TABLE t (a INTEGER PRIMARY KEY, b, c); CREATE INDEX i ON t (b);
    CREATE TABLE small (a TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE [other "table"] ("odd column"); CREATE INDEX o ON [other "table"] ("odd column");
    INSERT INTO small VALUES ('x');
    """

  private func fill(_ database: Database, _ count: Int) throws {
    try database.executeChange(
      """
      INSERT INTO t (b, c) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(count))
      SELECT i % 10, i FROM n
      """)
  }

  /// Returns the tables and indexes that have statistics.
  private func analyzed(_ database: Database) throws -> [String] {
    try database.read { connection in
      guard try connection.tableExists("sqlite_stat1") else { return [] }
      return try connection.rows(
        "SELECT tbl || '.' || idx FROM sqlite_stat1 WHERE tbl <> 'small' ORDER BY 1",
        as: String.self)
    }
  }

  private func analyzed() throws -> [String] {
    var options = Database.Options()
    options.updatesStatistics = false
    return try analyzed(database(options))
  }

  @Test(arguments: [true, false])
  func `closing a database updates its statistics once a table has many rows`(
    callsClose: Bool
  ) throws {
    do {
      let first = try database()
      try first.executeMultipleChanges(Self.script)
      try fill(first, 999)
      if callsClose { try first.close() }
    }
    #expect(try analyzed() == [])
    do {
      let second = try database()
      try fill(second, 1)
      #expect(try analyzed(second) == [])
      if callsClose { try second.close() }
    }
    #expect(try analyzed() == ["t.i"])
  }

  @Test func `reading, and writing with the option off, don't update statistics`()
    throws
  {
    var options = Database.Options()
    options.updatesStatistics = false
    let first = try database(options)
    try first.executeMultipleChanges(Self.script)
    try fill(first, 5_000)
    try first.close()
    #expect(try analyzed() == [])
    let reading = try database()
    #expect(try reading.rows("SELECT count(*) FROM t WHERE b = 3", as: Int.self) == [500])
    try reading.close()
    let readOnly = try database(.readOnly)
    #expect(try readOnly.rows("SELECT count(*) FROM t WHERE b = 3", as: Int.self) == [500])
    try readOnly.close()
    #expect(try analyzed() == [])
    #expect(!Database.Options.untrusted.updatesStatistics)
    #expect(Database.Options().updatesStatistics)
  }

  @Test func `many changes update the statistics of an open database without a notification`()
    async throws
  {
    var options = Database.Options()
    options.statisticsInterval = 2_000
    let database = try database(options)
    try await database.executeMultipleChanges(Self.script)
    let reported = Mutex<[Set<String>]>([])
    let subscription = database.subscribe(to: .values) { changes in
      reported.withLock { $0.append(changes.tables) }
    }
    try fill(database, 3_000)
    // The next access detects that many rows have changed.
    try await database.executeChange("UPDATE t SET c = 0 WHERE a = 1")
    try await waitUntil { try analyzed(database) == ["t.i"] }
    try await database.executeChange("UPDATE t SET c = 1 WHERE a = 1")
    #expect(reported.withLock { $0 }.allSatisfy { $0.isSubset(of: ["t"]) })
    #expect(try await database.rows("PRAGMA analysis_limit", as: Int.self) == [0])
    withExtendedLifetime(subscription) {}
  }

  @Test func `updating statistics doesn't wait for a lock`() throws {
    let first = try database()
    try first.executeMultipleChanges(Self.script)
    try fill(first, 5_000)
    let other = try database()
    try other.write { connection in
      try connection.executeChange("UPDATE t SET c = 1 WHERE a = 1")
      try first.close()
    }
    #expect(try analyzed(other) == [])
    try other.close()
    #expect(try analyzed() == ["t.i"])
  }

  @Test func `tables with odd names and without rowids get statistics`() throws {
    let database = try database()
    try database.executeMultipleChanges(Self.script)
    try fill(database, 1_000)
    try database.executeChange("INSERT INTO [other \"table\"] VALUES (1)")
    try database.close()
    #expect(try analyzed() == ["other \"table\".o", "t.i"])
  }
}
