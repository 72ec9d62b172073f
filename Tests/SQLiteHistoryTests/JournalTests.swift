import Foundation
import SQLiteCore
import SQLiteHistory
import SQLiteMapping
import Testing
import TestSupport

private struct Town: Record, Equatable, Sendable {
  static let tableName = "town"
  static let prototype: Town? = Town(id: 0, name: "", size: 0)
  var id: Int
  var name: String
  var size: Int
}

/// Starts `HistoryHelper`, which is built next to the tests, as a process.
private func start(_ arguments: [String]) throws -> (process: Process, output: Pipe) {
  let process = Process()
  process.executableURL = try helperProgram("HistoryHelper")
  process.arguments = arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
  return (process, pipe)
}

/// Tests the journal: the changes of all processes, and patches of the changes since a mark.
@Suite struct JournalTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func database() throws -> Database {
    var options = Database.Options()
    options.busyTimeout = .seconds(300)
    let database = try Database(path: folder.file(), options: options)
    try database.executeMultipleChanges(
      """
      CREATE TABLE IF NOT EXISTS town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS level (id INTEGER PRIMARY KEY, n INTEGER);
      """)
    return database
  }

  @Test func `another process's changes are reported exactly, along with this one's`() async throws
  {
    let database = try database()
    let journal = try await database.journal()
    var deltas = journal.deltas(of: Town.self, including: .current).makeAsyncIterator()
    guard case .current(let first)? = try await deltas.next()?.first else {
      Issue.record("the first delta must be the current rows")
      return
    }
    #expect(first.isEmpty)
    let other = try start(["write", folder.file(), "300", "journal"])
    for number in 0..<40 {
      try await database.executeChange(
        "INSERT OR REPLACE INTO town VALUES (\(100 + number % 7), 'own', \(number))")
    }
    var rows: [Int: Town] = [:]
    // Reads until the last change of each process.
    while rows.values.first(where: { $0.name == "other 299" }) == nil
      || rows[100 + 39 % 7]?.size != 39
    {
      let changes = try #require(try await deltas.next())
      for change in changes {
        switch change {
        case .inserted(let town): #expect(rows.updateValue(town, forKey: town.id) == nil)
        case .updated(let old, let new, _): #expect(rows.updateValue(new, forKey: new.id) == old)
        case .deleted(let town): #expect(rows.removeValue(forKey: town.id) == town)
        default: Issue.record("unexpected change: \(change)")
        }
      }
      // The other process also increases the sizes of our rows.
      if let own = rows[100 + 39 % 7], own.size > 39, other.process.isRunning == false { break }
    }
    other.process.waitUntilExit()
    try await database.executeChange("INSERT INTO town VALUES (1000, 'end', 0)")
    while rows[1000] == nil {
      for change in try #require(try await deltas.next()) {
        switch change {
        case .inserted(let town): #expect(rows.updateValue(town, forKey: town.id) == nil)
        case .updated(let old, let new, _): #expect(rows.updateValue(new, forKey: new.id) == old)
        case .deleted(let town): #expect(rows.removeValue(forKey: town.id) == town)
        default: Issue.record("unexpected change: \(change)")
        }
      }
    }
    let found = try await database.readBriefly {
      try $0.objects(of: Town.self, orderedBy: .column("id"))
    }
    #expect(rows.values.sorted { $0.id < $1.id } == found)
  }

  @Test func `a patch of the changes since a mark updates a copy`() throws {
    let database = try database()
    let journal = try database.journal()
    let copy = try Database.memory()
    try copy.executeMultipleChanges(
      "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL)")
    let mark = try journal.mark()
    #expect(try journal.patch(since: mark)?.isEmpty == true)
    let other = try start(["write", folder.file(), "100", "journal"])
    other.process.waitUntilExit()
    try database.executeChange("UPDATE town SET name = 'x' WHERE id < 5")
    _ = sqliteError {
      try database.write { connection in
        try connection.executeChange("DELETE FROM town")
        throw SQLiteError(.abort)
      }
    }
    // A statement outside a transaction has an entry, too.
    try database.withoutTransaction { _ = try $0.executeChange("DELETE FROM town WHERE id = 3") }
    let patch = try #require(try journal.patch(since: mark))
    try copy.apply(patch)
    #expect(try copy.dump("town") == database.dump("town"))
    let later = try JSONDecoder().decode(
      JournalMark.self, from: JSONEncoder().encode(journal.mark()))
    #expect(try journal.patch(since: later)?.isEmpty == true)
    let stranger = try Database.memory()
    let foreign = try stranger.journal()
    #expect(try foreign.patch(since: mark) == nil)
  }

  @Test func `a transaction has one journal entry, however many journals are open`() async throws {
    let database = try database(), other = try self.database()
    var first: ChangeJournal? = try await database.journal()
    let second = try await database.journal()
    let third = try await other.journal()
    func count() throws -> Int? {
      try database.rows("SELECT count(*) FROM magicdata_journal", as: Int.self).first
    }
    #expect(try count() == 1)
    try await database.executeChange("INSERT INTO town VALUES (1, 'a', 1)")
    #expect(try count() == 2)
    try await other.executeChange("UPDATE town SET size = 2")
    #expect(try count() == 3)
    try await database.withoutTransaction { _ = try $0.executeChange("UPDATE town SET size = 3") }
    #expect(try count() == 4)
    withExtendedLifetime(first) {}
    first = nil
    try await database.executeChange("DELETE FROM town")
    #expect(try count() == 5)
    withExtendedLifetime((second, third)) {}
  }

  @Test func `the journal drops old entries and returns nil for marks before them`() async throws {
    let database = try Database.memory()
    try await database.executeMultipleChanges(
      "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL)")
    let journal = try await database.journal(limit: 10_000)
    let mark = try await journal.mark()
    var deltas = journal.deltas(of: Town.self).makeAsyncIterator()
    for number in 0..<500 {
      try await database.executeChange("INSERT INTO town VALUES (\(number), 'town', 1)")
    }
    #expect(try await journal.patch(since: mark) == nil)
    #expect(try await deltas.next() == [.overflow])
    try await database.executeChange("DELETE FROM town WHERE id = 1")
    #expect(try await deltas.next() == [.deleted(Town(id: 1, name: "town", size: 1))])
    let size = try await database.rows(
      "SELECT sum(length(rows)) FROM magicdata_journal", as: Int.self
    ).first
    #expect(try #require(size) < 12_000)
    let big = try await journal.mark()
    try await database.executeChange("UPDATE town SET name = printf('%1000d', id)")
    #expect(try await journal.patch(since: big) == nil)
    #expect(try await deltas.next() == [.overflow])
  }

  @Test func `a killed process leaves complete patches and a consistent journal`() throws {
    let database = try database()
    try database.executeChange(
      "WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 200) INSERT INTO level SELECT i, 0 FROM c"
    )
    let journal = try database.journal(limit: 1 << 30)
    let copy = try Database.memory()
    try copy.executeMultipleChanges(
      """
      CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL);
      CREATE TABLE level (id INTEGER PRIMARY KEY, n INTEGER);
      WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 200) INSERT INTO level SELECT i, 0 FROM c;
      """)
    var mark = try journal.mark()
    var generator = SplitMix64(seed: 3)
    for _ in 0..<15 {
      let (process, output) = try start(["loop", folder.file()])
      _ = output.fileHandleForReading.availableData
      usleep(UInt32.random(in: 3_000...90_000, using: &generator))
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      #expect(try database.rows("PRAGMA integrity_check", as: String.self).first == "ok")
      #expect(try database.rows("SELECT count(DISTINCT n) FROM level", as: Int.self).first == 1)
      let patch = try #require(try journal.patch(since: mark))
      mark = try journal.mark()
      try copy.apply(patch)
      #expect(try copy.dump("town") == database.dump("town"))
      #expect(try copy.dump("level") == database.dump("level"))
    }
    #expect(try #require(try database.rows("SELECT n FROM level", as: Int.self).first) > 0)
  }

  @Test func `copies converge although their programs are killed during the exchange`() throws {
    let post = folder.file("post")
    try FileManager.default.createDirectory(atPath: post, withIntermediateDirectories: false)
    let names = ["1", "2", "3"]
    func arguments(_ name: String, _ task: String) -> [String] {
      ["exchange", folder.file("copy \(name)"), name, post, task]
    }
    var generator = SplitMix64(seed: 12)
    for _ in 0..<8 {
      let started = try names.map { try start(arguments($0, "write")) }
      for (_, output) in started { _ = output.fileHandleForReading.availableData }
      for (process, _) in started.shuffled(using: &generator) {
        usleep(UInt32.random(in: 3_000...90_000, using: &generator))
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
      }
    }
    // The first round sends the remaining patches, the second receives them.
    for _ in 0..<2 {
      for name in names {
        let (process, output) = try start(arguments(name, "finish"))
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8))
      }
    }
    let copies = try names.map { try Database(path: folder.file("copy \($0)")) }
    for copy in copies {
      #expect(try copy.rows("PRAGMA integrity_check", as: String.self).first == "ok")
    }
    let reported = Set(
      try copies.flatMap { try $0.rows("SELECT id FROM conflict", as: Int.self) })
    let rows = try copies.map { copy in
      try copy.read { try $0.objects(of: Town.self, orderedBy: .column("id")) }.filter {
        !reported.contains($0.id)
      }
    }
    #expect(rows[1] == rows[0])
    #expect(rows[2] == rows[0])
    #expect(rows[0].count > 20)
    // Only rows that several copies write are ever in conflict.
    #expect(!reported.isEmpty && reported.allSatisfy { $0 < 10 })
  }

  enum Copy: CaseIterable {
    case older, newer, withoutJournal, withOtherColumns
  }

  enum Restorer: CaseIterable {
    case sameDatabase, otherDatabase, otherProcess
  }

  @Test(arguments: Copy.allCases, Restorer.allCases)
  func `an open journal continues after a copy is restored`(
    _ copy: Copy, by restorer: Restorer
  ) async throws {
    let database = try database()
    let journal = try await database.journal()
    let town = { @Sendable (id: Int) in Town(id: id, name: "town", size: 1) }
    try await database.write { try $0.insert(town(1)) }
    let early = try await journal.mark()
    let path = folder.file("copy")
    do {
      let other = try Database(path: path)
      if copy == .older { try await database.backup(to: other) }
      try await database.write { try $0.insert(town(2)) }
      switch copy {
      case .older: break
      case .newer:
        try await database.backup(to: other)
        let held = try await other.journal()
        try await other.write { try $0.insert(town(3)) }
        withExtendedLifetime(held) {}
      case .withoutJournal, .withOtherColumns:
        try await other.executeMultipleChanges(
          "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL)")
        if copy == .withOtherColumns {
          try await other.executeMultipleChanges(
            "CREATE TABLE magicdata_journal (a); INSERT INTO magicdata_journal VALUES ('x')")
        }
      }
      try await other.close()
    }
    let late = try await journal.mark()
    var changes = journal.deltas(of: Town.self).makeAsyncIterator()
    var towns = journal.deltas(of: Town.self, including: .current).makeAsyncIterator()
    _ = try await towns.next()
    switch restorer {
    case .sameDatabase: try await Database(path: path).backup(to: database)
    case .otherDatabase: try await Database(path: path).backup(to: self.database())
    case .otherProcess:
      let (process, _) = try start(["restore", folder.file(), path])
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
    if copy == .newer, restorer == .otherProcess {
      // The copy's journal continues this one.
      #expect(try await changes.next() == [.inserted(town(3))])
      #expect(try await towns.next() == [.inserted(town(3))])
    } else {
      #expect(try await changes.next() == [.replaced])
      #expect(try await towns.next() == [.replaced])
      let rows = try await database.readBriefly {
        try $0.objects(of: Town.self, orderedBy: .column("id"))
      }
      #expect(try await towns.next() == [.current(rows)])
    }
    let after = try await journal.mark()
    try await database.write { try $0.insert(town(20)) }
    #expect(try await changes.next() == [.inserted(town(20))])
    #expect(try await towns.next() == [.inserted(town(20))])
    #expect(try await journal.patch(since: after)?.tables.first?.rows.count == 1)
    #expect(
      try await journal.patch(since: early)?.tables.first?.rows.count
        == [.older: 1, .newer: 3][copy])
    #expect(
      try await journal.patch(since: late)?.tables.first?.rows.count == [.newer: 2][copy])
  }

  @Test func `a mark identifies an entry, not only its number`() async throws {
    let database = try database(), copy = try Database.memory()
    let journal = try await database.journal()
    try await database.backup(to: copy)
    try await database.write { try $0.insert(Town(id: 1, name: "before", size: 1)) }
    let mark = try await journal.mark()
    try await copy.backup(to: database)
    for id in 2...4 {
      try await database.write { try $0.insert(Town(id: id, name: "after", size: 1)) }
    }
    #expect(try await journal.patch(since: mark) == nil)
  }

  @Test(arguments: [Int.min, -1, 0, 1, Int.max])
  func `a journal with any limit keeps its last entry`(limit: Int) async throws {
    let database = try database()
    let journal = try await database.journal(limit: limit)
    for id in 1...3 {
      try await database.write { try $0.insert(Town(id: id, name: "town", size: 1)) }
    }
    let mark = try await journal.mark()
    #expect(try await journal.patch(since: mark)?.isEmpty == true)
  }

  @Test(arguments: ["token", "total"], ["max", "min"])
  func `the next write replaces a journal with invalid numbers`(
    column: String, end: String
  ) throws {
    let database = try database()
    let journal = try database.journal()
    for id in 1...3 { try database.write { try $0.insert(Town(id: id, name: "town", size: 1)) } }
    let mark = try journal.mark()
    try database.withoutTransaction {
      try $0.executeChange(
        SQL(
          unchecked: """
            UPDATE magicdata_journal SET \(column) = CAST(X'FF' AS TEXT)
            WHERE number = (SELECT \(end)(number) FROM magicdata_journal)
            """))
    }
    try database.write { try $0.insert(Town(id: 4, name: "town", size: 1)) }
    // Either the mark's own entry is damaged or the sizes before it are.
    let patch = try journal.patch(since: mark)
    #expect(patch == nil || patch?.count == 1)
    let next = try journal.mark()
    try database.write { try $0.insert(Town(id: 5, name: "town", size: 1)) }
    #expect(try journal.patch(since: next)?.count == 1)
  }

  @Test func `without the preupdate hook, opening the journal throws`() throws {
    var options = Database.Options()
    options.usesPreupdateHook = false
    let database = try Database.memory(options: options)
    let error = sqliteError { _ = try database.journal() }
    #expect(error?.message.contains("SQLITE_ENABLE_PREUPDATE_HOOK") == true)
  }
}
