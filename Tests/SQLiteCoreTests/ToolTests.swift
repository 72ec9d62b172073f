import Conformance
import Dispatch
import Foundation
import SQLiteCore
import Synchronization
import Testing
import TestSupport

/// Tests of backups, serialization, blobs, limits, authorizers, traces and checkpoints.
@Suite(.everyEngine) struct ToolTests {
  private func filled(_ kind: Kind, rows: Int = 2_000) throws -> Fixture {
    let fixture = try Fixture(kind)
    try fixture.database.executeChange("CREATE TABLE t (a INTEGER PRIMARY KEY, b)")
    try fixture.database.executeChange(
      """
      INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
      SELECT i, zeroblob(500) FROM n
      """)
    return fixture
  }

  @Test(.requires(.backup), arguments: Kind.allCases, Kind.allCases)
  func `a backup copies everything`(from: Kind, to: Kind) throws {
    let source = try filled(from), target = try Fixture(to)
    try target.database.executeChange("CREATE TABLE old (a)")
    _ = try target.database.read { try $0.existingTables() }
    let steps = Mutex<[BackupProgress]>([])
    try source.database.backup(to: target.database, pagesPerStep: 50) { progress in
      steps.withLock { $0.append(progress) }
    }
    #expect(try target.count() == 2_000)
    #expect(try target.database.read { try $0.existingTables() } == ["t"])
    #expect(steps.withLock { $0 }.last?.remainingPages == 0)
    #expect(steps.withLock { $0 }.count > 3)
    try target.database.executeChange("DELETE FROM t")
    #expect(try source.count() == 2_000)
  }

  @Test(.requires(.backup)) func `a stopped backup doesn't change the destination`()
    throws
  {
    let source = try filled(.file), target = try Fixture(.file)
    try target.database.executeMultipleChanges("CREATE TABLE old (a); INSERT INTO old VALUES (1)")
    #expect(throws: Stop.self) {
      try source.database.backup(to: target.database, pagesPerStep: 10) { progress in
        if progress.remainingPages < progress.totalPages / 2 { throw Stop() }
      }
    }
    #expect(try target.count("old") == 1)
    #expect(try target.database.read { try $0.existingTables() } == ["old"])
    let error = sqliteError { try source.database.backup(to: source.database) }
    #expect(error?.code == .misuse)
  }

  @Test(.requires(.backup)) func `a backup is a consistent snapshot while others write`() throws {
    let source = try filled(.file), target = try Fixture(.file)
    let database = source.database
    try database.backup(to: target.database, pagesPerStep: 20) { _ in
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        _ = sqliteError { try database.executeChange("INSERT INTO t (b) VALUES (1)") }
        done.signal()
      }
      done.wait()
    }
    #expect(try target.count() == 2_000)
    #expect(try source.count() > 2_000)
  }

  @Test(.requires(.backup)) func `cancelling a task stops its backup`() async throws {
    let source = try filled(.file), target = try Fixture(.memory)
    let started = Mutex<Task<Void, any Error>?>(nil)
    let task = Task {
      try await source.database.backup(to: target.database, pagesPerStep: 1) { progress in
        guard progress.remainingPages > 10 else { return }
        // The task may get here before the variable is set.
        while started.withLock({ $0 }) == nil { Thread.sleep(forTimeInterval: 0.001) }
        started.withLock { $0?.cancel() }
      }
    }
    started.withLock { $0 = task }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await target.database.read { try $0.existingTables() }.isEmpty)
  }

  @Test(.requires(.files)) func `VACUUM INTO writes a private copy and overwrites nothing`() throws
  {
    let source = try filled(.file)
    let path = source.folder.file("copy's.db")
    try source.database.vacuum(into: path)
    #expect(
      try Database(path: path, options: .readOnly).rows("SELECT count(*) FROM t", as: Int.self)
        .first
        == 2_000)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(sqliteError { try source.database.vacuum(into: path) } != nil)
    #expect(sqliteError { try source.database.vacuum(into: source.folder.file("no/x")) } != nil)
  }

  @Test(.requires(.backup), arguments: Kind.allCases)
  func `a database is serialized and restored`(kind: Kind) throws {
    let source = try filled(kind)
    let bytes = try source.database.serialized()
    #expect(bytes.starts(with: Array("SQLite format 3\0".utf8)))
    let copy = try Database.memory(serialized: bytes)
    #expect(try copy.rows("SELECT count(*) FROM t", as: Int.self).first == 2_000)
    try copy.executeChange("INSERT INTO t (b) VALUES (randomblob(100000))")
    #expect(try copy.rows("SELECT count(*) FROM t", as: Int.self).first == 2_001)
    #expect(try copy.rows("PRAGMA integrity_check", as: String.self).first == "ok")
    #expect(try source.count() == 2_000)
  }

  @Test(.requires(.backup)) func `bytes that aren't a database throw`() throws {
    #expect(try Database.memory(serialized: []).read { try $0.existingTables() }.isEmpty)
    let junk = [UInt8](repeating: 65, count: 4_096)
    #expect(sqliteError { _ = try Database.memory(serialized: junk) }?.code == .notADatabase)
    #expect(try Database.fresh().serialized().count >= 0)
    var generator = SplitMix64(seed: 5)
    let whole = try filled(.memory, rows: 50).database.serialized()
    for _ in 0..<300 {
      var bytes = whole
      for _ in 0..<6 {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] =
          UInt8.random(in: 0...255, using: &generator)
      }
      do {
        let broken = try Database.memory(serialized: bytes)
        _ = try broken.executeQuery("SELECT * FROM t ORDER BY b")
      } catch is SQLiteError {}
    }
  }

  @Test(.requires(.blobs), arguments: Kind.allCases)
  func `a blob is read and written in place`(kind: Kind) throws {
    let fixture = try Fixture(kind)
    try fixture.database.write { connection in
      try connection.executeChange("CREATE TABLE t (a)")
      try connection.executeChange("INSERT INTO t VALUES (zeroblob(10)), (x'0102'), (5), (x'')")
      try connection.withBlob(table: "t", column: "a", rowID: 1, isWritable: true) { blob in
        #expect(blob.byteCount == 10)
        try blob.write([1, 2, 3], at: 7)
        #expect(try blob.read(count: 100, at: 6) == [0, 1, 2, 3])
        #expect(try blob.read(count: 5, at: 10) == [])
        for offset in [-1, 8, 11, Int.max] {
          #expect(sqliteError { try blob.write([9, 9, 9], at: offset) }?.code == .range)
        }
        #expect(sqliteError { _ = try blob.read(count: 1, at: 11) }?.code == .range)
        #expect(sqliteError { _ = try blob.read(count: -1, at: 0) }?.code == .range)
        try blob.reopen(rowID: 2)
        #expect(try blob.read(count: 9, at: 0) == [1, 2])
        #expect(sqliteError { try blob.reopen(rowID: 3) } != nil)
      }
      #expect(
        sqliteError {
          try connection.withBlob(table: "t", column: "a", rowID: 99) { _ in }
        } != nil)
    }
    var leaked: Blob?
    try fixture.database.read { connection in
      try connection.withBlob(table: "t", column: "a", rowID: 1) { blob in
        leaked = blob
        #expect(sqliteError { try blob.write([1], at: 0) }?.code == .readOnly)
      }
      #expect(
        sqliteError {
          try connection.withBlob(table: "t", column: "a", rowID: 1, isWritable: true) { _ in }
        }?.code == .readOnly)
      try connection.withBlob(table: "t", column: "a", rowID: 4) { blob in
        let bytes = try blob.read(count: 1, at: 0)
        #expect(blob.byteCount == 0)
        #expect(bytes.isEmpty)
      }
    }
    #expect(sqliteError { _ = try leaked?.read(count: 1, at: 0) }?.code == .misuse)
    #expect(leaked?.byteCount == 0)
  }

  @Test(.requires(.blobs)) func `closing a blob throws if it can't be committed`() throws {
    var options = Database.Options()
    options.journalMode = .delete
    options.busyTimeout = .zero
    let folder = try TestFolder()
    let database = try Database(path: folder.file(), options: options)
    let reader = try Database(path: folder.file(), options: options)
    try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (x'00')")
    let error = sqliteError {
      try reader.read { other in
        _ = try other.firstRow("SELECT * FROM t")
        // The commit requires a lock that the reader prevents.
        try database.withoutTransaction { connection in
          try connection.withBlob(table: "t", column: "a", rowID: 1, isWritable: true) {
            try $0.write([1], at: 0)
          }
        }
      }
    }
    #expect(error?.code == .busy)
    #expect(try database.rows("SELECT a FROM t", as: [UInt8].self).first == [0])
  }

  @Test(.requires(.blobs)) func `reading a blob throws after its row changed`() throws {
    let fixture = try filled(.memory)
    try fixture.database.write { connection in
      try connection.withBlob(table: "t", column: "b", rowID: 1) { blob in
        try connection.executeChange("UPDATE t SET b = 'x' WHERE a = 1")
        #expect(sqliteError { _ = try blob.read(count: 1, at: 0) }?.code == .abort)
      }
    }
  }

  @Test func `limits apply to every connection`() throws {
    var options = Database.Options()
    options.limits = [.sqlLength: 100, .variables: 3]
    let fixture = try Fixture(.file, options)
    let long = SQL(unchecked: "SELECT 1" + String(repeating: " ", count: 200))
    #expect(
      sqliteError { _ = try fixture.database.read { try $0.firstRow(long) } }?.code == .tooBig)
    #expect(sqliteError { _ = try fixture.database.write { try $0.firstRow(long) } } != nil)
    try fixture.database.read { connection in
      #expect(connection.limit(.variables) == 3)
      try connection.setLimit(.variables, to: 2)
      #expect(connection.limit(.variables) == 2)
      #expect(sqliteError { _ = try connection.firstRow("SELECT ?3") } != nil)
      #expect(sqliteError { try connection.setLimit(.variables, to: -1) }?.code == .range)
    }
  }

  @Test(.requires(.files)) func `an untrusted file is read with low limits`() throws {
    let fixture = try filled(.file)
    try fixture.database.executeMultipleChanges(
      """
      CREATE VIEW endless AS
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n
      """)
    var options = Database.Options.untrusted
    options.accessTimeout = .milliseconds(50)
    let database = try Database(path: fixture.folder.file(), options: options)
    #expect(try database.rows("SELECT count(*) FROM t", as: Int.self).first == 2_000)
    #expect(
      sqliteError { _ = try database.executeQuery("SELECT * FROM endless") }?.code == .interrupt)
    #expect(
      sqliteError { try database.executeChange("ATTACH \(fixture.folder.file("x")) AS x") } != nil)
    #expect(sqliteError { try database.executeChange("DELETE FROM t") } != nil)
  }

  @Test(.requires(.authorization)) func `an authorizer also decides about cached statements`()
    throws
  {
    let fixture = try filled(.memory)
    let seen = Mutex<[Authorization]>([])
    try fixture.database.withoutTransaction { connection in
      _ = try connection.firstRow("SELECT b FROM t")
      try connection.setAuthorizer { request in
        seen.withLock { $0.append(request) }
        if request.action == Authorization.delete { return .deny }
        if request.action == Authorization.read, request.second == "b" { return .ignore }
        return .allow
      }
      #expect(try connection.firstRow("SELECT b FROM t")?.values == [.null])
      #expect(sqliteError { try connection.executeChange("DELETE FROM t") }?.code == .authorization)
    }
    // The authorizer isn't called for the library's BEGIN and COMMIT.
    try fixture.database.write { _ = try $0.executeChange("INSERT INTO t (b) VALUES (1)") }
    #expect(!seen.withLock { $0 }.contains { $0.action == 22 })
    try fixture.database.withoutTransaction { try $0.setAuthorizer(nil) }
    try fixture.database.executeChange("DELETE FROM t")
    #expect(try fixture.count() == 0)
  }

  @Test(.requires(.tracing)) func `a trace reports statements, and values only on request`()
    throws
  {
    let fixture = try filled(.memory)
    let events = Mutex<[TraceEvent]>([])
    try fixture.database.withoutTransaction { connection in
      try connection.trace { event in events.withLock { $0.append(event) } }
      _ = try connection.firstRow("SELECT \("secret")")
      try connection.trace(showsValues: true) { event in events.withLock { $0.append(event) } }
      _ = try connection.firstRow("SELECT \("shown")")
      try connection.trace(nil)
      _ = try connection.firstRow("SELECT 'unseen'")
    }
    let all = events.withLock { $0 }
    #expect(all.contains(.begins(sql: "SELECT ?")))
    #expect(all.contains(.begins(sql: "SELECT 'shown'")))
    #expect(!"\(all)".contains("secret"))
    #expect(!"\(all)".contains("unseen"))
    let ended = all.contains {
      if case .ended(_, let duration) = $0 { duration >= .zero } else { false }
    }
    #expect(ended)
  }

  @Test(.requires(.files)) func `a checkpoint empties the WAL file`() throws {
    let fixture = try filled(.file)
    let passive = try fixture.database.checkpoint()
    #expect(passive.logPages ?? 0 > 0)
    #expect(passive.logPages == passive.checkpointedPages)
    try fixture.database.checkpoint(.truncate)
    let size =
      try FileManager.default.attributesOfItem(
        atPath: fixture.folder.file("data.sqlite3-wal"))[.size] as? Int
    #expect(size == 0)
    #expect(try fixture.database.checkpoint(.full).logPages == 0)
    #expect(try fixture.database.checkpoint(.restart).logPages == 0)
    #expect(try filled(.memory).database.checkpoint().logPages == nil)
    let inside = sqliteError {
      try fixture.database.write { _ in _ = try fixture.database.checkpoint() }
    }
    #expect(inside?.code == .misuse)
  }

  @Test func `capabilities describe the SQLite library in use`() {
    #expect(Capabilities.version.hasPrefix("3."))
    #expect(Capabilities.versionNumber > 3_030_000)
    #expect(!Capabilities.compileOptions.isEmpty)
    #expect(Capabilities.compileOptions.contains { $0.hasPrefix("THREADSAFE") })
    #expect(Capabilities.has("THREADSAFE=1") || Capabilities.has("THREADSAFE=2"))
    #expect(!Capabilities.has("NO_SUCH_OPTION"))
    #expect(Capabilities.isThreadSafe)
    let fts = sqliteError {
      try Database.fresh().executeChange("CREATE VIRTUAL TABLE t USING fts5 (a)")
    }
    #expect(Capabilities.hasFTS5 == (fts == nil))
  }

  @Test func `names in the user's folder must be valid file names`() {
    for name in ["", ".", "..", "a/b", "a\0b"] {
      #expect(
        sqliteError { _ = try Database.inUserDataFolder(named: name, of: "x") }?.code == .cannotOpen
      )
      #expect(
        sqliteError { _ = try Database.inUserDataFolder(named: "x", of: name) }?.code == .cannotOpen
      )
    }
  }
}
