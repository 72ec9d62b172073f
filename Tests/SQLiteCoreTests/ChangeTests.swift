import Conformance
import Dispatch
import Foundation
import SQLiteCore
import Synchronization
import Testing
import TestSupport

/// Tests of the changes that subscribers receive.
@Suite(.everyEngine, .requires(.rowChanges)) struct ChangeTests {
  /// Collects the changes that a subscriber receives.
  private final class Log: Sendable {
    let changes = Mutex<[CommittedChanges]>([])
    var tables: [Set<String>] { changes.withLock { $0.map(\.tables) } }
    var rows: [RowChange] { changes.withLock { $0.flatMap(\.rows) } }
    func take(_ change: CommittedChanges) { changes.withLock { $0.append(change) } }
  }

  private func fixture(_ kind: Kind, preupdate: Bool = true) throws -> Fixture {
    var options = Database.Options()
    options.usesPreupdateHook = preupdate
    let fixture = try Fixture(kind, options)
    try fixture.database.executeMultipleChanges(
      "CREATE TABLE t (a INTEGER PRIMARY KEY, b UNIQUE); CREATE TABLE u (a)")
    return fixture
  }

  @Test(arguments: Kind.allCases, [true, false])
  func `a committed transaction is reported once, and a rolled back one never`(
    kind: Kind, preupdate: Bool
  ) throws {
    let fixture = try fixture(kind, preupdate: preupdate)
    let log = Log()
    let subscription = fixture.database.subscribe(to: .tables, log.take)
    try fixture.database.write { connection in
      try connection.executeChange("INSERT INTO t VALUES (1, 1)")
      try connection.executeChange("UPDATE t SET b = 2")
      try connection.executeChange("INSERT INTO u VALUES (1)")
      #expect(log.tables.isEmpty)
    }
    #expect(log.tables == [["t", "u"]])
    _ = sqliteError {
      try fixture.database.write { connection in
        try connection.executeChange("DELETE FROM t")
        throw SQLiteError(.abort)
      }
    }
    try fixture.database.read { _ = try $0.executeQuery("SELECT * FROM t") }
    #expect(log.tables.count == 1)
    try fixture.database.executeChange("DELETE FROM u")
    #expect(log.tables == [["t", "u"], ["u"]])
    subscription.cancel()
    try fixture.database.executeChange("DELETE FROM t")
    #expect(log.tables.count == 2)
    #expect(log.rows.isEmpty)
  }

  @Test(arguments: [true, false])
  func `changes in a rolled back savepoint aren't reported`(preupdate: Bool) throws {
    let fixture = try fixture(.memory, preupdate: preupdate)
    let log = Log()
    let subscription = fixture.database.subscribe(to: .rows, log.take)
    try fixture.database.write { connection in
      try connection.executeChange("INSERT INTO t VALUES (1, 1)")
      _ = try connection.savepoint {
        try connection.executeChange("INSERT INTO u VALUES (1)")
        try connection.savepoint { _ = try connection.executeChange("INSERT INTO u VALUES (2)") }
        return TransactionOutcome.rollback
      }
      try connection.savepoint { _ = try connection.executeChange("INSERT INTO t VALUES (2, 2)") }
    }
    #expect(log.tables == [["t"]])
    #expect(log.rows.map(\.rowID) == [1, 2])
    withExtendedLifetime(subscription) {}
  }

  @Test(arguments: [true, false])
  func `changes that a failed statement undid aren't reported`(preupdate: Bool) throws {
    let fixture = try fixture(.file, preupdate: preupdate)
    let log = Log()
    let subscription = fixture.database.subscribe(to: .rows, log.take)
    try fixture.database.write { connection in
      try connection.executeChange("INSERT INTO t VALUES (1, 1)")
      _ = sqliteError { try connection.executeChange("INSERT INTO t VALUES (2, 2), (3, 1)") }
      _ = sqliteError {
        try connection.executeChange("INSERT OR FAIL INTO t VALUES (4, 4), (5, 1)")
      }
    }
    #expect(log.rows.map(\.rowID) == [1, 4])
    _ = sqliteError { try fixture.database.executeChange("INSERT INTO t VALUES (6, 6), (7, 1)") }
    #expect(log.changes.withLock { $0.count } == 1)
    withExtendedLifetime(subscription) {}
  }

  @Test(.needsPreupdateHook)
  func `row changes contain the old and new values`() throws {
    let fixture = try fixture(.file)
    try fixture.database.executeChange("INSERT INTO t VALUES (1, 'old')")
    let log = Log()
    let subscription = fixture.database.subscribe(to: .values, log.take)
    try fixture.database.write { connection in
      try connection.executeChange("UPDATE t SET a = 10, b = 'new'")
      try connection.executeChange("INSERT OR REPLACE INTO t VALUES (11, 'new')")
      try connection.executeChange("INSERT INTO u VALUES (CAST(x'ff' AS TEXT))")
      try connection.executeChange("DELETE FROM t")
    }
    let rows = log.rows
    #expect(rows.map(\.kind) == [.update, .delete, .insert, .insert, .delete])
    #expect(rows[0].oldRowID == 1)
    #expect(rows[0].rowID == 10)
    #expect(rows[0].old == [.integer(1), .text("old")])
    #expect(rows[0].new == [.integer(10), .text("new")])
    #expect(rows[1].rowID == 10)
    #expect(rows[1].old == [.integer(10), .text("new")])
    #expect(rows[1].new == nil)
    #expect(rows[2].new == [.integer(11), .text("new")])
    #expect(rows[3].new == [.blob([255])])
    #expect(rows[4].old == [.integer(11), .text("new")])
    withExtendedLifetime(subscription) {}
  }

  @Test(.needsPreupdateHook, arguments: ["", " WITHOUT ROWID"])
  func `an added column has its default value in older rows`(suffix: String) throws {
    let fixture = try fixture(.memory)
    try fixture.database.executeMultipleChanges(
      """
      CREATE TABLE d (k TEXT, n INTEGER, v, PRIMARY KEY (n, k))\(SQL(unchecked: suffix));
      INSERT INTO d VALUES ('a', 1, 'x'), ('b', 2, NULL), ('c', 3, 'z'), ('e', 4, NULL);
      ALTER TABLE d ADD COLUMN "a text" TEXT DEFAULT 'none';
      ALTER TABLE d ADD COLUMN size REAL NOT NULL DEFAULT 5;
      ALTER TABLE d ADD COLUMN bytes BLOB DEFAULT x'00ff';
      INSERT INTO d VALUES ('d', 5, 'w', NULL, 2, NULL);
      UPDATE d SET "a text" = NULL WHERE n = 4;
      """)
    let rest: [Value] = [.text("none"), .real(5), .blob([0, 255])]
    let log = Log()
    let subscription = fixture.database.subscribe(to: .values, log.take)
    try fixture.database.write { connection in
      try connection.executeChange("UPDATE d SET v = 'y' WHERE n = 1")
      try connection.executeChange("INSERT OR REPLACE INTO d (k, n) VALUES ('b', 2)")
      try connection.executeChange("DELETE FROM d")
    }
    let rows = log.rows
    #expect(rows[0].old == [.text("a"), .integer(1), .text("x")] + rest)
    #expect(rows[0].new == [.text("a"), .integer(1), .text("y")] + rest)
    #expect(rows[1].old == [.text("b"), .integer(2), .null] + rest)
    let deleted = rows.filter { $0.kind == .delete }.suffix(5).compactMap(\.old)
      .sorted { "\($0[1])" < "\($1[1])" }
    #expect(
      deleted == [
        [.text("a"), .integer(1), .text("y")] + rest,
        [.text("b"), .integer(2), .null] + rest,
        [.text("c"), .integer(3), .text("z")] + rest,
        [.text("e"), .integer(4), .null, .null, .real(5), .blob([0, 255])],
        [.text("d"), .integer(5), .text("w"), .null, .real(2), .null],
      ])
    withExtendedLifetime(subscription) {}
  }

  @Test(.needsPreupdateHook)
  func `text is reported unchanged in every encoding`() throws {
    for encoding in ["UTF-8", "UTF-16le", "UTF-16be"] {
      let database = try Database.memory()
      try database.withoutTransaction { connection in
        _ = try connection.pragma("encoding", " = '\(encoding)'")
        try connection.executeChange("CREATE TABLE t (a INTEGER PRIMARY KEY, b, c)")
      }
      let log = Log()
      let subscription = database.subscribe(to: .values, log.take)
      let texts = ["", "a", "a\0b", "äöü€", "😀", String(repeating: "long ", count: 3000)]
      try database.write { connection in
        for (number, text) in texts.enumerated() {
          try connection.executeChange("INSERT INTO t VALUES (\(number), \(text), 1)")
        }
        try connection.executeChange("UPDATE t SET b = b || 'x', c = b")
        try connection.executeChange("DELETE FROM t")
      }
      for (number, text) in texts.enumerated() {
        let rows = log.rows.filter { $0.oldRowID == number }
        #expect(rows[0].new == [.integer(Int64(number)), .text(text), .integer(1)], "\(encoding)")
        #expect(rows[1].old == rows[0].new)
        #expect(rows[1].new == [.integer(Int64(number)), .text(text + "x"), .text(text)])
        #expect(rows[2].old == rows[1].new)
      }
      withExtendedLifetime(subscription) {}
    }
  }

  @Test(.needsPreupdateHook)
  func `rows beyond every subscriber's limit are dropped and reported as incomplete`() throws {
    let fixture = try fixture(.memory)
    let small = Log(), tables = Log()
    let subscriptions = [
      fixture.database.subscribe(to: .values, atMost: 10_000, small.take),
      fixture.database.subscribe(to: .tables, tables.take),
    ]
    func insert(_ connection: Connection, _ numbers: Range<Int>) throws {
      for number in numbers {
        try connection.executeChange("INSERT INTO t VALUES (\(number), \("text \(number)"))")
      }
    }
    try fixture.database.write { try insert($0, 0..<10) }
    #expect(small.rows.count == 10)
    try fixture.database.write { connection in
      try insert(connection, 10..<1000)
      // A separate recording is complete.
      let (_, rows) = try connection.recordingRows {
        try insert(connection, 1000..<2000)
        _ = try connection.savepoint {
          try insert(connection, 2000..<2010)
          return TransactionOutcome.rollback
        }
      }
      #expect(CommittedChanges(recorded: rows).rows.map(\.rowID) == Array(1000..<2000))
      try insert(connection, 2000..<2010)
    }
    #expect(small.rows.count == 10)
    #expect(small.changes.withLock { $0.map(\.isIncomplete) } == [false, true])
    #expect(small.tables == [["t"], ["t"]])
    #expect(tables.tables == [["t"], ["t"]])
    // The next transaction is reported with its rows, and another subscriber can have a higher
    // limit.
    try fixture.database.write { try insert($0, 3000..<3010) }
    #expect(small.rows.count == 20)
    let large = Log()
    let other = fixture.database.subscribe(to: .values, large.take)
    try fixture.database.write { try insert($0, 4000..<5000) }
    #expect(large.rows.count == 1000)
    withExtendedLifetime((subscriptions, other)) {}
  }

  @Test(arguments: [true, false])
  func `clearing a table with a cached statement reports every row`(preupdate: Bool) throws {
    let fixture = try fixture(.memory, preupdate: preupdate)
    try fixture.database.executeChange("DELETE FROM t")
    try fixture.database.executeChange("INSERT INTO t VALUES (1, 1), (2, 2)")
    let log = Log()
    let subscription = fixture.database.subscribe(to: .rows, log.take)
    try fixture.database.executeChange("DELETE FROM t")
    #expect(log.rows.map(\.rowID).sorted() == [1, 2])
    #expect(log.rows.map(\.kind) == [.delete, .delete])
    try fixture.database.executeChange("DROP TABLE t")
    #expect(try fixture.database.read { try $0.existingTables() } == ["u"])
    #expect(log.changes.withLock { $0.last?.changesSchema } == true)
    withExtendedLifetime(subscription) {}
  }

  @Test(.needsPreupdateHook)
  func `changes by triggers and cascades, and in all kinds of tables, are reported`() throws {
    let fixture = try fixture(.memory)
    try fixture.database.executeMultipleChanges(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE c (p REFERENCES p ON DELETE CASCADE);
      CREATE TABLE w (k PRIMARY KEY) WITHOUT ROWID;
      CREATE TRIGGER g AFTER DELETE ON c BEGIN INSERT INTO w VALUES (old.p); END;
      CREATE VIRTUAL TABLE f USING fts5 (text);
      INSERT INTO p VALUES (1); INSERT INTO c VALUES (1);
      """)
    let log = Log()
    let subscription = fixture.database.subscribe(to: .tables, log.take)
    try fixture.database.executeChange("DELETE FROM p")
    #expect(log.tables == [["p", "c", "w"]])
    try fixture.database.executeChange("INSERT INTO f VALUES ('x')")
    #expect(log.tables.last?.contains("f_content") == true)
    withExtendedLifetime(subscription) {}
  }

  @Test func `statements outside transactions are reported even if a later one fails`() throws {
    let fixture = try fixture(.file)
    let log = Log()
    let subscription = fixture.database.subscribe(to: .rows, log.take)
    _ = sqliteError {
      try fixture.database.withoutTransaction { connection in
        try connection.executeChange("INSERT INTO t VALUES (1, 1)")
        _ = sqliteError {
          try connection.transaction {
            try connection.executeChange("INSERT INTO t VALUES (2, 2)")
            throw SQLiteError(.abort)
          }
        }
        try connection.executeChange("BEGIN")
        try connection.executeChange("INSERT INTO t VALUES (3, 3)")
        try connection.executeChange("ROLLBACK")
        try connection.executeChange("BEGIN")
        try connection.executeChange("INSERT INTO t VALUES (4, 4)")
        try connection.executeChange("COMMIT")
        throw SQLiteError(.abort)
      }
    }
    #expect(log.rows.map(\.rowID) == [1, 4])
    withExtendedLifetime(subscription) {}
  }

  @Test(.needsPreupdateHook)
  func `writing a blob in place is reported as an update`() throws {
    let fixture = try fixture(.memory)
    try fixture.database.executeChange("INSERT INTO t VALUES (1, 1), (7, 7)")
    try fixture.database.executeChange("INSERT INTO u VALUES (x'00')")
    let log = Log()
    let subscription = fixture.database.subscribe(to: .rows, log.take)
    try fixture.database.write { connection in
      try connection.withBlob(table: "u", column: "a", rowID: 1, isWritable: true) { blob in
        try blob.write([1], at: 0)
      }
    }
    #expect(log.rows.map(\.kind) == [.update])
    #expect(log.tables == [["u"]])
    withExtendedLifetime(subscription) {}
  }

  @Test func `a subscriber receives the changes of all databases on its file only`() throws {
    let fixture = try fixture(.file), stranger = try self.fixture(.file)
    let second = try Database(path: fixture.folder.path + "/./data.sqlite3")
    let log = Log()
    let subscription = fixture.database.subscribe(to: .tables, log.take)
    try second.executeChange("INSERT INTO u VALUES (1)")
    try stranger.database.executeChange("INSERT INTO t VALUES (1, 1)")
    #expect(log.tables == [["u"]])
    withExtendedLifetime(subscription) {}
  }

  @Test(.needsPreupdateHook, arguments: Kind.allCases)
  func `a write that began before a subscription is reported without its rows`(
    kind: Kind
  ) throws {
    let fixture = try fixture(kind)
    let early = Log(), late = Log(), careful = Log()
    let first = fixture.database.subscribe(to: .tables, early.take)
    var others: [Registration] = []
    let before = try fixture.database.write { connection in
      try connection.executeChange("INSERT INTO u VALUES (1)")
      others.append(fixture.database.subscribe(to: .tables, late.take))
      others.append(fixture.database.subscribe(to: .values, careful.take))
      return connection.reserveCommitNumber()
    }
    #expect(early.tables == [["u"]])
    #expect(early.changes.withLock { $0.first?.changesSchema } == false)
    // The tables were recorded, and this subscriber requires no more.
    #expect(late.tables == [["u"]])
    #expect(careful.changes.withLock { $0.map(\.changesSchema) } == [true])
    let after = try fixture.database.write { $0.reserveCommitNumber() }
    let turns = careful.changes.withLock { $0.map(\.commitNumber) }
    #expect(turns.count == 1 && turns.allSatisfy { before < $0 && $0 < after })
    try fixture.database.write { try $0.executeChange("INSERT INTO u VALUES (2)") }
    #expect(careful.rows.map(\.new) == [[.integer(2)]])
    withExtendedLifetime((first, others)) {}
  }

  @Test(arguments: Kind.allCases)
  func `an access that began before the first subscription is reported if it wrote`(kind: Kind)
    throws
  {
    let fixture = try fixture(kind)
    let log = Log()
    var subscription: Registration?
    try fixture.database.withoutTransaction { connection in
      _ = try connection.executeQuery("SELECT * FROM u")
      subscription = fixture.database.subscribe(to: .tables, log.take)
    }
    #expect(log.tables.isEmpty)
    subscription = nil
    try fixture.database.withoutTransaction { connection in
      subscription = fixture.database.subscribe(to: .tables, log.take)
      try connection.executeChange("INSERT INTO u VALUES (1)")
    }
    #expect(log.changes.withLock { $0.map(\.changesSchema) } == [true])
    withExtendedLifetime(subscription) {}
  }

  @Test(arguments: Kind.allCases)
  func `a backup into a database is reported`(kind: Kind) throws {
    let fixture = try fixture(kind), source = try self.fixture(.file)
    let log = Log()
    let subscription = fixture.database.subscribe(to: .values, log.take)
    try source.database.backup(to: fixture.database)
    #expect(log.changes.withLock { $0.map(\.changesSchema) } == [true])
    withExtendedLifetime(subscription) {}
  }

  @Test func `a subscription's closure can use the database when it is released`() throws {
    final class User: Sendable {
      let database: Database
      init(_ database: Database) { self.database = database }
      deinit { _ = database.subscribe(to: .rows) { _ in } }
    }
    let fixture = try fixture(.memory)
    var user: User? = User(fixture.database)
    let subscription = fixture.database.subscribe(to: .tables) { [user] _ in
      withExtendedLifetime(user) {}
    }
    user = nil
    subscription.cancel()
    try fixture.database.executeChange("INSERT INTO u VALUES (1)")
  }

  @Test(.needsPreupdateHook) func `several subscribers can be added and cancelled`() throws {
    let fixture = try fixture(.memory)
    let first = Log(), second = Log()
    let one = fixture.database.subscribe(to: .tables, first.take)
    do {
      let two = fixture.database.subscribe(to: .values, second.take)
      try fixture.database.executeChange("INSERT INTO u VALUES (1)")
      withExtendedLifetime(two) {}
    }
    try fixture.database.executeChange("INSERT INTO u VALUES (2)")
    #expect(first.tables.count == 2)
    #expect(second.rows.map(\.new) == [[.integer(1)]])
    one.cancel()
    one.cancel()
    try fixture.database.executeChange("INSERT INTO u VALUES (3)")
    #expect(first.tables.count == 2)
  }

  @Test(.needsPreupdateHook)
  func `random transactions are reported exactly`() throws {
    let fixture = try fixture(.memory)
    let log = Log()
    let subscription = fixture.database.subscribe(to: .values, log.take)
    var generator = SplitMix64(seed: 99)
    for _ in 0..<300 {
      var random = generator
      _ = sqliteError {
        try fixture.database.write { connection in
          for _ in 0..<Int.random(in: 1...6, using: &random) {
            _ = sqliteError {
              try connection.savepoint {
                let key = Int.random(in: 1...20, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: try connection.executeChange("INSERT INTO t VALUES (\(key), \(key))")
                case 1: try connection.executeChange("DELETE FROM t WHERE a = \(key)")
                case 2: try connection.executeChange("UPDATE t SET b = b + 100 WHERE a = \(key)")
                default: try connection.executeChange("UPDATE t SET b = 5 WHERE a > \(key)")
                }
                if Int.random(in: 0..<4, using: &random) == 0 { throw SQLiteError(.abort) }
              }
            }
          }
          if Int.random(in: 0..<4, using: &random) == 0 { throw SQLiteError(.abort) }
        }
      }
      generator = random
    }
    // Replaying the reported changes must produce the same table.
    var copy: [Int64: [Value]] = [:]
    for change in log.rows {
      if let old = change.old {
        #expect(copy[change.oldRowID] == old)
        copy[change.oldRowID] = nil
      }
      if let new = change.new { copy[change.rowID] = new }
    }
    let rows = try fixture.database.executeQuery("SELECT * FROM t").map(\.values)
    #expect(Set(rows) == Set(copy.values))
    withExtendedLifetime(subscription) {}
  }

  @Test func `a busy error describes the accesses that hold the lock`() throws {
    let fixture = try fixture(.file)
    var options = Database.Options()
    options.busyTimeout = .milliseconds(20)
    let second = try Database(path: fixture.folder.file(), options: options)
    let database = fixture.database
    let entered = DispatchSemaphore(value: 0), leave = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
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
    let error = sqliteError { try second.write { _ in } }
    leave.signal()
    done.wait()
    #expect(error?.code == .busy)
    #expect(error?.message.contains("other accesses in this process: 1 writing for") == true)
    let nested = sqliteError { try fixture.database.write { _ in try second.write { _ in } } }
    #expect(nested?.code == .busy)
    #expect(nested?.message.contains("other accesses in this process: 1 writing for") == true)
  }
}
