import Foundation
import SQLiteCore
import SQLiteHistory
import SQLiteMapping
import Synchronization
import TestSupport
import Testing

private struct Town: Record, Equatable {
  static let tableName = "town"
  static let prototype: Town? = Town(id: 0, name: "", size: 0)
  var id: Int
  var name: String
  var size: Int
  var note: String?
}

private struct Place: Record, Equatable {
  static let tableName = "place"
  static let primaryKey = "theKey"
  static var strategies: MappingStrategies {
    var strategies = MappingStrategies()
    strategies.keys = .convertToSnakeCase
    return strategies
  }
  var theKey: String
  var someNumber: Double
  var isOld: Bool
}

/// Tests the deltas of records: each committed change of a row is reported once, whatever wrote it.
@Suite struct DeltaTests {
  private func database() throws -> Database {
    let database = try Database.memory()
    try database.executeMultipleChanges(
      """
      CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL, note TEXT);
      CREATE TABLE place (the_key TEXT PRIMARY KEY, some_number REAL, is_old INTEGER, other) WITHOUT ROWID;
      CREATE TABLE house (town INTEGER REFERENCES town ON DELETE CASCADE);
      """)
    return database
  }

  @Test(.timeLimit(.minutes(40)), arguments: [true, false])
  func `a reader isn't notified of a commit whose result it has already read`(
    hasSubscriber: Bool
  ) async throws {
    let folder = try TestFolder()
    let writer = try Database(path: folder.file())
    let reader = try Database(path: folder.file())
    try await writer.write { try $0.update(Town(id: 1, name: "a", size: 1)) }
    let early = hasSubscriber ? writer.subscribe(to: .tables) { _ in } : nil
    let begun = Mutex<DeltaQueue?>(nil)
    try await writer.write { connection in
      try connection.update(Town(id: 2, name: "b", size: 2))
      let queue = DeltaQueue(reader, tables: ["town"], limit: .max)
      begun.withLock { $0 = queue }
      // The commit is visible, but observers haven't been notified of it yet.
      connection.afterCommit { _ in
        let count = try? reader.write { connection in
          queue.begin(after: connection.reserveCommitNumber())
          return try connection.count(of: Town.self)
        }
        #expect(count == 2)
      }
    }
    try await writer.write { try $0.update(Town(id: 3, name: "c", size: 3)) }
    let queue = try #require(begun.withLock { $0 })
    guard case .commit(let changes)? = try await queue.next() else {
      Issue.record("the earlier commit is reported again")
      return
    }
    #expect(changes.rows.map { $0.new?.first } == [.integer(3)])
    withExtendedLifetime(early) {}
  }

  @Test(.timeLimit(.minutes(40)), arguments: [true, false])
  func `a reader that starts while a write waits for the file lock receives its rows`(
    hasSubscriber: Bool
  ) async throws {
    let folder = try TestFolder()
    let first = try Database(path: folder.file())
    try await first.write { try $0.update(Town(id: 1, name: "a", size: 1)) }
    let waits = Flag()
    var options = Database.Options()
    options.busyTimeout = .seconds(86_400)
    options.prepareConnection = { connection in
      try connection.trace { event in
        if event == .begins(sql: "BEGIN IMMEDIATE") { waits.set() }
      }
    }
    let second = try Database(path: folder.file(), options: options)
    let early = hasSubscriber ? second.subscribe(to: .values) { _ in } : nil
    let isLocked = Flag()
    let mayEnd = Flag()
    let holder = Task {
      try await first.write { connection in
        isLocked.set()
        while !mayEnd.isSet { Thread.sleep(forTimeInterval: 0.001) }
      }
    }
    try await waitUntil { isLocked.isSet }
    let write = Task {
      try await second.write { connection in
        _ = try connection.executeChange("INSERT INTO town VALUES (2, 'b', 2, NULL)")
      }
    }
    try await waitUntil { waits.isSet }
    let queue = DeltaQueue(first, tables: ["town"], limit: .max)
    mayEnd.set()
    try await holder.value
    try await write.value
    guard case .commit(let changes)? = try await queue.next() else {
      Issue.record("the rows were not recorded")
      return
    }
    #expect(changes.rows.map { $0.new?.first } == [.integer(2)])
    withExtendedLifetime(early) {}
  }

  @Test(arguments: [
    "CREATE TEMP TABLE note (town)", "CREATE TEMPORARY TABLE note AS SELECT * FROM town",
    "CREATE TEMP TABLE town (a)", "CREATE TABLE temp.note AS SELECT * FROM town",
    "CREATE TEMP TABLE note (a); INSERT INTO note VALUES (1); DROP TABLE temp.note",
    "CREATE TEMP TABLE note (a); ALTER TABLE temp.note RENAME TO town",
    "create temporary table if not exists town (a); drop table if exists \"TEMP\".town",
    "CREATE TEMP VIEW towns AS SELECT * FROM town; DROP VIEW temp.towns",
    "ATTACH ':memory:' AS other; DETACH other",
    "ATTACH ':memory:' AS other; CREATE TABLE other.town AS SELECT * FROM main.town",
    "ATTACH ':memory:' AS other; CREATE TABLE other.town (a); DROP TABLE other.town; DETACH other",
  ])
  func `changes in other schemas aren't reported`(script: String) async throws {
    let database = try database()
    let town = Town(id: 1, name: "a", size: 1)
    var early = database.deltas(of: Town.self).makeAsyncIterator()
    try await database.withoutTransaction { connection in
      for statement in script.split(separator: "; ") {
        try connection.executeChange(SQL(unchecked: String(statement)))
      }
      try connection.executeChange("INSERT INTO main.town VALUES (1, 'a', 1, NULL)")
    }
    #expect(try await early.next() == [.inserted(town)])
  }

  @Test func `a transaction is one element that contains each row once`() async throws {
    let database = try database()
    var deltas = database.deltas(of: Town.self).makeAsyncIterator()
    try await database.write { connection in
      try connection.update(Town(id: 1, name: "a", size: 1))
      try connection.executeChange(
        "INSERT INTO town VALUES (2, 'b', 2, NULL), (3, 'gone', 3, NULL)")
      try connection.executeChange("UPDATE town SET size = 20 WHERE id = 2")
      try connection.executeChange("DELETE FROM town WHERE id = 3")
      try connection.savepoint {
        try connection.executeChange("DELETE FROM town")
        return TransactionOutcome.rollback
      }
    }
    #expect(
      try await deltas.next() == [
        .inserted(Town(id: 1, name: "a", size: 1)), .inserted(Town(id: 2, name: "b", size: 20)),
      ])
    try await database.executeChange("INSERT INTO house VALUES (1)")
    try await database.executeChange("UPDATE town SET name = 'c', note = 'x' WHERE id = 1")
    #expect(
      try await deltas.next() == [
        .updated(
          old: Town(id: 1, name: "a", size: 1), new: Town(id: 1, name: "c", size: 1, note: "x"),
          properties: ["name", "note"])
      ])
    try await database.executeChange("UPDATE town SET id = 9 WHERE id = 2")
    #expect(
      try await deltas.next() == [
        .deleted(Town(id: 2, name: "b", size: 20)), .inserted(Town(id: 9, name: "b", size: 20)),
      ])
    try await database.executeChange("INSERT OR REPLACE INTO town VALUES (9, 'r', 1, NULL)")
    #expect(
      try await deltas.next() == [
        .updated(
          old: Town(id: 9, name: "b", size: 20), new: Town(id: 9, name: "r", size: 1),
          properties: ["name", "size"])
      ])
    try await database.executeChange("DELETE FROM town")
    #expect(
      try await deltas.next() == [
        .deleted(Town(id: 1, name: "c", size: 1, note: "x")),
        .deleted(Town(id: 9, name: "r", size: 1)),
      ])
  }

  @Test func `properties have their Swift names, and changes of other columns aren't reported`()
    async throws
  {
    let database = try database()
    var deltas = database.deltas(of: Place.self).makeAsyncIterator()
    try await database.executeChange("INSERT INTO place VALUES ('k', 2, 1, 'o')")
    #expect(try await deltas.next() == [.inserted(Place(theKey: "k", someNumber: 2, isOld: true))])
    try await database.executeChange("UPDATE place SET other = 'p'")
    try await database.executeChange("UPDATE place SET some_number = 2.5, is_old = 0")
    #expect(
      try await deltas.next() == [
        .updated(
          old: Place(theKey: "k", someNumber: 2, isOld: true),
          new: Place(theKey: "k", someNumber: 2.5, isOld: false),
          properties: ["someNumber", "isOld"])
      ])
  }

  @Test func `changes by cascades, triggers, blobs and patches are reported`() async throws {
    let database = try database()
    try await database.executeMultipleChanges(
      """
      CREATE TRIGGER g AFTER INSERT ON house BEGIN
        UPDATE town SET size = size + 1 WHERE id = new.town;
      END;
      CREATE TABLE land (id INTEGER PRIMARY KEY);
      CREATE TABLE t2 (id INTEGER PRIMARY KEY, name TEXT, size INTEGER, note TEXT, land REFERENCES land ON DELETE CASCADE);
      DROP TABLE house; DROP TABLE town; ALTER TABLE t2 RENAME TO town;
      INSERT INTO land VALUES (1); INSERT INTO town VALUES (1, 'abc', 1, NULL, 1);
      CREATE TABLE house (town INTEGER);
      CREATE TRIGGER g AFTER INSERT ON house BEGIN
        UPDATE town SET size = size + 1 WHERE id = new.town;
      END;
      """)
    var deltas = database.deltas(of: Town.self).makeAsyncIterator()
    let first = Town(id: 1, name: "abc", size: 1), second = Town(id: 1, name: "abc", size: 2)
    try await database.executeChange("INSERT INTO house VALUES (1)")
    #expect(try await deltas.next() == [.updated(old: first, new: second, properties: ["size"])])
    try await database.write { connection in
      try connection.withBlob(table: "town", column: "name", rowID: 1, isWritable: true) {
        try $0.write([UInt8(ascii: "\0"), UInt8(ascii: "z")], at: 1)
      }
    }
    let third = Town(id: 1, name: "a\0z", size: 2)
    #expect(try await deltas.next() == [.updated(old: second, new: third, properties: ["name"])])
    try await database.executeChange("DELETE FROM land")
    #expect(try await deltas.next() == [.deleted(third)])
    let other = try self.database()
    let patch = try await other.patch { try $0.update(Town(id: 5, name: "p", size: 5)) }
    try await database.apply(patch)
    #expect(try await deltas.next() == [.inserted(Town(id: 5, name: "p", size: 5))])
  }

  @Test func `changes in savepoints that raw SQL rolled back aren't reported`() async throws {
    let database = try database()
    var deltas = database.deltas(of: Town.self).makeAsyncIterator()
    try await database.withoutTransaction { connection in
      for sql in [
        "BEGIN", "INSERT INTO town VALUES (1, 'a', 1, NULL)", "SAVEPOINT \"A b\"",
        "INSERT INTO town VALUES (2, 'b', 2, NULL)", "SAVEPOINT c",
        "INSERT INTO town VALUES (3, 'c', 3, NULL)", "RELEASE SAVEPOINT c",
        "ROLLBACK TRANSACTION TO SAVEPOINT \"a B\"", "INSERT INTO town VALUES (4, 'd', 4, NULL)",
        "RELEASE \"A b\"", "COMMIT", "INSERT INTO town VALUES (5, 'e', 5, NULL)",
      ] as [SQL] { try connection.executeChange(sql) }
    }
    #expect(
      try await deltas.next() == [
        .inserted(Town(id: 1, name: "a", size: 1)), .inserted(Town(id: 4, name: "d", size: 4)),
      ])
    #expect(try await deltas.next() == [.inserted(Town(id: 5, name: "e", size: 5))])
  }

  @Test func `an undecodable row is reported as unreadable, and other rows as usual`() async throws
  {
    let database = try database()
    var deltas = database.deltas(of: Town.self).makeAsyncIterator()
    try await database.executeChange(
      "INSERT INTO town VALUES (1, 'a', 'many', NULL), (2, 'b', 2, CAST(x'ff' AS TEXT)), (3, 'c', 3, NULL)"
    )
    let changes = try #require(try await deltas.next())
    #expect(changes.count == 3)
    guard case .unreadable(let row) = changes[0] else {
      Issue.record("unexpected changes: \(changes)")
      return
    }
    #expect(row.table == "town" && row.reason.contains("size") && row.old == nil)
    #expect(row.new == [.integer(1), .text("a"), .text("many"), .null])
    guard case .unreadable = changes[1] else {
      Issue.record("unexpected changes: \(changes)")
      return
    }
    #expect(changes[2] == .inserted(Town(id: 3, name: "c", size: 3)))
    try await database.executeChange("UPDATE town SET size = 1, note = NULL")
    let next = try #require(try await deltas.next())
    #expect(next.count == 3)
  }

  @Test func `the current rows come first, and no change is missed or repeated`() async throws {
    let database = try database()
    try await database.executeChange("INSERT INTO town VALUES (1, 'a', 1, NULL)")
    let sequence = database.deltas(of: Town.self, including: .current)
    try await database.executeChange("INSERT INTO town VALUES (2, 'b', 2, NULL)")
    var deltas = sequence.makeAsyncIterator()
    #expect(
      try await deltas.next() == [
        .current([Town(id: 1, name: "a", size: 1), Town(id: 2, name: "b", size: 2)])
      ])
    try await database.executeChange("DELETE FROM town WHERE id = 1")
    #expect(try await deltas.next() == [.deleted(Town(id: 1, name: "a", size: 1))])
  }

  @Test func `a reader that falls behind receives overflow once`() async throws {
    let database = try database()
    var slow = database.deltas(of: Town.self, limit: 20_000).makeAsyncIterator()
    var withCurrent = database.deltas(of: Town.self, including: .current, limit: 20_000)
      .makeAsyncIterator()
    #expect(try await withCurrent.next() == [.current([])])
    for id in 0..<1000 {
      try await database.executeChange("INSERT INTO town VALUES (\(id), 'a town', 1, NULL)")
    }
    #expect(try await slow.next() == [.overflow])
    let first = try #require(try await slow.next())
    guard case .inserted(let town) = first[0] else {
      Issue.record("unexpected changes: \(first)")
      return
    }
    #expect(town.id > 900)
    #expect(try await withCurrent.next() == [.overflow])
    guard case .current(let towns) = try #require(try await withCurrent.next())[0] else {
      Issue.record("no current rows follow")
      return
    }
    #expect(towns.count == 1000)
    try await database.executeChange("DELETE FROM town WHERE id = 7")
    #expect(try await withCurrent.next() == [.deleted(Town(id: 7, name: "a town", size: 1))])
  }

  @Test func `a table that is created later is reported, and an altered one as replaced`()
    async throws
  {
    let database = try Database.memory()
    var deltas = database.deltas(of: Town.self).makeAsyncIterator()
    try await database.write { try $0.update(Town(id: 1, name: "a", size: 1)) }
    #expect(try await deltas.next() == [.inserted(Town(id: 1, name: "a", size: 1))])
    try await database.executeChange("CREATE INDEX i ON town (name)")
    try await database.executeChange("ALTER TABLE town ADD COLUMN more DEFAULT 5")
    #expect(try await deltas.next() == [.replaced])
    try await database.executeChange("UPDATE town SET size = 2, more = 6")
    #expect(
      try await deltas.next() == [
        .updated(
          old: Town(id: 1, name: "a", size: 1), new: Town(id: 1, name: "a", size: 2),
          properties: ["size"])
      ])
    try await database.executeChange("DROP TABLE town")
    #expect(try await deltas.next() == [.replaced])
    try await Database.memory().backup(to: database)
    #expect(try await deltas.next() == [.replaced])
  }

  @Test func `cancelling the loop ends it`() async throws {
    let database = try database()
    let (started, begin) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      var count = 0
      for try await changes in database.deltas(of: Town.self, including: .current) {
        count += changes.count
        begin.yield()
      }
      return count
    }
    _ = await started.first { _ in true }
    task.cancel()
    #expect(try await task.value == 1)
  }

  @Test(arguments: [DeltaStart.changes, .current])
  func `closing the database makes the loop throw`(start: DeltaStart) async throws {
    let database = try database()
    var unread = database.deltas(of: Town.self, including: start).makeAsyncIterator()
    let (started, begin) = AsyncStream.makeStream(of: Void.self)
    let loop = Task { () -> (any Error)? in
      do {
        let changes = database.deltas(of: Town.self, including: start)
        begin.yield()
        for try await delta in changes where delta != [.current([])] {
          Issue.record("\(delta)")
          break
        }
        return nil
      } catch {
        return error
      }
    }
    _ = await started.first { _ in true }
    try await database.close()
    await #expect(throws: SQLiteError.self) { try await unread.next() }
    #expect((await loop.value as? SQLiteError)?.code == .misuse)
  }

  @Test func `closing another database on the same file isn't reported`() async throws {
    let folder = try TestFolder()
    let databases = try (0..<2).map { _ in try Database(path: folder.path + "/towns.sqlite3") }
    try await databases[0].executeChange(
      "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL, note TEXT)"
    )
    var deltas = databases[0].deltas(of: Town.self).makeAsyncIterator()
    let town = Town(id: 1, name: "a", size: 1)
    try await databases[1].close()
    try await databases[0].write { try $0.insert(town) }
    #expect(try await deltas.next() == [.inserted(town)])
  }

  @Test func `without the preupdate hook, the first iteration throws`() async throws {
    var options = Database.Options()
    options.usesPreupdateHook = false
    let database = try Database.memory(options: options)
    var deltas = database.deltas(of: Town.self).makeAsyncIterator()
    let error = await #expect(throws: SQLiteError.self) { try await deltas.next() }
    #expect(error?.message.contains("SQLITE_ENABLE_PREUPDATE_HOOK") == true)
  }

  @Test func `changes in attached databases and temporary tables aren't reported`() async throws {
    let database = try database()
    var deltas = database.deltas(of: Town.self).makeAsyncIterator()
    try await database.withoutTransaction { connection in
      try connection.executeChange("CREATE TEMP TABLE town (id, name, size, note)")
      try connection.executeChange("INSERT INTO temp.town VALUES (1, 'temp', 1, NULL)")
      try connection.executeChange("INSERT INTO main.town VALUES (2, 'main', 1, NULL)")
    }
    #expect(try await deltas.next() == [.inserted(Town(id: 2, name: "main", size: 1))])
  }
}
