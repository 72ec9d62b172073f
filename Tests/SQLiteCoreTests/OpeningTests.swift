import Foundation
import SQLiteCore
import Synchronization
import Testing
import TestSupport

#if canImport(Glibc)
  import Glibc
#endif

@Suite(.serialized) struct OpeningTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func failure(
    _ path: String, _ options: Database.Options = Database.Options()
  ) -> SQLiteError? {
    sqliteError { _ = try Database(path: path, options: options) }
  }

  private func permissions(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test func `a missing folder throws an error that names it`() {
    let error = failure(folder.file("none/data.db"))
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains("none cannot be opened: No such file") == true)
  }

  @Test func `a folder in place of the file throws`() throws {
    try FileManager.default.createDirectory(
      atPath: folder.file("dir"), withIntermediateDirectories: true)
    #expect(failure(folder.file("dir"))?.code == .cannotOpenDirectory)
    #expect(failure(folder.file("dir/"))?.code == .cannotOpenDirectory)
    #expect(failure(folder.file("dir/.."))?.code == .cannotOpenDirectory)
    #expect(failure("/")?.code == .cannotOpenDirectory)
    #expect(failure(".")?.code == .cannotOpenDirectory)
  }

  @Test(arguments: ["", "a\0b"])
  func `an empty path and a path with NUL throw`(path: String) {
    #expect(failure(path)?.code == .cannotOpen)
  }

  @Test(arguments: [
    "this is not a database, whatever its name says", String(repeating: "x", count: 9_000),
  ])
  func `a file that isn't a database throws and isn't changed`(content: String) throws {
    try Data(content.utf8).write(to: URL(filePath: folder.file()))
    for mode in [Database.Options.Mode.readOnly, .readWrite, .readWriteCreate] {
      #expect(failure(folder.file(), Database.Options(mode: mode))?.code == .notADatabase)
    }
    #expect(try Data(contentsOf: URL(filePath: folder.file())) == Data(content.utf8))
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files == ["data.sqlite3"])
  }

  @Test func `a negative cache size throws, and a huge number of readers is limited`() throws {
    var options = Database.Options()
    options.cacheSize = -5
    #expect(failure(folder.file(), options)?.code == .range)
    options.cacheSize = nil
    options.maximumReaderCount = .max
    let database = try Database(path: folder.file(), options: options)
    #expect(try database.rows("SELECT 1", as: Int.self) == [1])
  }

  @Test func `an invalid option throws before a file is created`() throws {
    let invalid: [(ResultCode, (inout Database.Options) -> Void)] = [
      (.range, { $0.cacheSize = -1 }), (.range, { $0.cacheSize = .min }),
      (.range, { $0.cacheSize = Int(Int32.max) + 1 }), (.range, { $0.cacheSize = .max }),
      (.range, { $0.limits = [.length: 1_000, .variables: -1] }),
      (.range, { $0.limits = [.columns: .min] }), (.misuse, { $0.vfs = "unix\0" }),
    ]
    for (code, change) in invalid {
      var options = Database.Options()
      change(&options)
      #expect(failure(folder.file(), options)?.code == code)
      #expect(sqliteError { _ = try Database.memory(options: options) }?.code == code)
      #expect(sqliteError { _ = try Database.temporary(options: options) }?.code == code)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    var options = Database.Options()
    options.cacheSize = Int(Int32.max)
    options.limits = [.length: .max]
    let database = try Database(path: folder.file(), options: options)
    #expect(try database.rows("PRAGMA cache_size", as: Int.self) == [-Int(Int32.max)])
  }

  @Test func `a FIFO and a device throw without blocking`() throws {
    #expect(unsafe mkfifo(folder.file("fifo"), 0o600) == 0)
    #expect(failure(folder.file("fifo"))?.message.contains("not a regular file") == true)
    #expect(failure("/dev/zero")?.message.contains("not a regular file") == true)
  }

  @Test(arguments: [Database.Options.Mode.readOnly, .readWrite])
  func `a missing file isn't created if it must exist`(mode: Database.Options.Mode) {
    let error = failure(folder.file(), Database.Options(mode: mode))
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains("No such file") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.file()))
  }

  @Test func `a database opened for reading can't write`() throws {
    try Database(path: folder.file()).executeMultipleChanges(
      "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let database = try Database(path: folder.file(), options: .readOnly)
    #expect(try database.rows("SELECT a FROM t", as: Int.self).first == 1)
    #expect(sqliteError { try database.executeChange("DELETE FROM t") }?.code == .readOnly)
    #expect(try database.rows("SELECT a FROM t", as: Int.self).first == 1)
  }

  @Test func `all files of a database are private with any umask`() throws {
    let mask = umask(0)
    defer { umask(mask) }
    let database = try Database(path: folder.file())
    try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(files == ["data.sqlite3", "data.sqlite3-shm", "data.sqlite3-wal"])
    for file in files { #expect(try permissions(folder.file(file)) == 0o600, "\(file)") }
    var options = Database.Options()
    options.filePermissions = 0o640
    options.journalMode = .persist
    let other = try Database(path: folder.file("other"), options: options)
    try other.executeChange("CREATE TABLE t (a)")
    #expect(try permissions(folder.file("other")) == 0o640)
    #expect(try permissions(folder.file("other-journal")) == 0o640)
  }

  @Test func `the last connection that closes removes the WAL file`() throws {
    let database = try Database(path: folder.file())
    try database.executeChange("CREATE TABLE t (a)")
    _ = try database.executeQuery("SELECT * FROM t")
    try database.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["data.sqlite3"])
  }

  @Test func `a symbolic link is followed, or throws if the option is off`() throws {
    let real = folder.file("real"), link = folder.file("link")
    try Database(path: real).executeMultipleChanges("CREATE TABLE t (a)")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: real)
    let database = try Database(path: link)
    #expect(database.path?.hasSuffix("/real") == true)
    #expect(try database.rows("SELECT count(*) FROM t", as: Int.self).first == 0)
    var options = Database.Options()
    options.followsSymbolicLinks = false
    #expect(failure(link, options)?.code == .cannotOpenSymbolicLink)
  }

  @Test func `a dangling symbolic link throws, and its target isn't created`() throws {
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: folder.file("nothing"))
    #expect(failure(link)?.code == .cannotOpen)
    #expect(!FileManager.default.fileExists(atPath: folder.file("nothing")))
  }

  @Test(arguments: ["file:data.db?mode=memory", "a b%20c?d=e#f", "ünï", ":memory:", "-x", "it's"])
  func `a path is never interpreted as a URI`(name: String) throws {
    let database = try Database(path: folder.file(name))
    try database.executeChange("CREATE TABLE t (a)")
    #expect(FileManager.default.fileExists(atPath: folder.file(name)))
    try database.close()
    var options = Database.Options.readOnly
    options.isImmutable = true
    let frozen = try Database(path: folder.file(name), options: options)
    #expect(try frozen.rows("SELECT count(*) FROM t", as: Int.self).first == 0)
  }

  @Test func `a temporary database has no path and leaves no files`() throws {
    let database = try Database.temporary()
    try database.executeMultipleChanges(
      """
      CREATE TABLE t (a);
      INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
      SELECT zeroblob(1000000) FROM n
      """)
    #expect(database.path == nil)
    #expect(try database.rows("SELECT sum(length(a)) FROM t", as: Int.self).first == 9_000_000)
  }

  @Test(arguments: Kind.allCases)
  func `the default settings apply to every connection`(kind: Kind) throws {
    let fixture = try Fixture(kind)
    for name in ["foreign_keys", "recursive_triggers"] {
      let pragma = SQL(unchecked: "PRAGMA \(name)")
      #expect(try fixture.database.read { try $0.firstRow(pragma, as: Int.self) } == 1)
      #expect(try fixture.database.write { try $0.firstRow(pragma, as: Int.self) } == 1)
    }
    let trusted = try fixture.database.rows("PRAGMA trusted_schema", as: Int.self).first
    #expect(trusted == 0)
    #expect(sqliteError { _ = try fixture.database.executeQuery("SELECT \"nope\"") } != nil)
    let schema = sqliteError {
      try fixture.database.withoutTransaction { connection in
        try connection.executeChange("PRAGMA writable_schema = 1")
        try connection.executeChange("DELETE FROM sqlite_schema")
      }
    }
    #expect(schema != nil)
    #expect(
      sqliteError { _ = try fixture.database.executeQuery("SELECT load_extension('x')") } != nil)
  }

  @Test func `databases use WAL and sync every commit unless options say otherwise`() throws {
    let database = try Database(path: folder.file())
    #expect(try database.rows("PRAGMA journal_mode", as: String.self).first == "wal")
    #expect(try database.read { try $0.firstRow("PRAGMA synchronous", as: Int.self) } == 2)
    #expect(try database.write { try $0.firstRow("PRAGMA synchronous", as: Int.self) } == 2)
    var options = Database.Options()
    options.journalMode = .truncate
    options.synchronous = .normalLosesLastCommitsOnPowerCut
    options.foreignKeys = false
    options.cacheSize = 100
    options.mappedSize = 0
    options.secureDelete = .fast
    options.checksCells = true
    let other = try Database(path: folder.file("other"), options: options)
    #expect(try other.rows("PRAGMA journal_mode", as: String.self).first == "truncate")
    #expect(try other.rows("PRAGMA synchronous", as: Int.self).first == 1)
    #expect(try other.rows("PRAGMA foreign_keys", as: Int.self).first == 0)
    #expect(try other.rows("PRAGMA cache_size", as: Int.self).first == -100)
    #expect(try other.rows("PRAGMA secure_delete", as: Int.self).first == 2)
    #expect(try other.rows("PRAGMA cell_size_check", as: Int.self).first == 1)
  }

  @Test func `each connection is prepared before its first use`() throws {
    var options = Database.Options()
    options.prepareConnection = { connection in
      try connection.executeChange("CREATE TEMP TABLE mine (a)")
    }
    let database = try Database(path: folder.file(), options: options)
    #expect(try database.read { try $0.firstRow("SELECT count(*) FROM mine", as: Int.self) } == 0)
    #expect(try database.write { try $0.firstRow("SELECT count(*) FROM mine", as: Int.self) } == 0)
    options.prepareConnection = { _ in throw SQLiteError(.error, "not today") }
    let error = failure(folder.file("other"), options)
    #expect(error?.message.contains("not today") == true)
  }

  @Test func `the opening connection serves the first access, and the other kind opens its own`()
    throws
  {
    let path = folder.file()
    try Database(path: path).executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let opened = Mutex(0)
    var options = Database.Options()
    options.prepareConnection = { _ in opened.withLock { $0 += 1 } }
    let reading = try Database(path: path, options: options)
    for _ in 0..<3 { #expect(try reading.rows("SELECT a FROM t", as: Int.self) == [1]) }
    #expect(opened.withLock { $0 } == 1)
    let error = #expect(throws: SQLiteError.self) {
      try reading.read { try $0.executeChange("INSERT INTO t VALUES (0)") }
    }
    #expect(error?.code.primary == .readOnly || error?.code.primary == .misuse)
    try reading.write { connection in
      try connection.executeChange("INSERT INTO t VALUES (2)")
      #expect(opened.withLock { $0 } == 2)
    }
    #expect(try reading.rows("SELECT a FROM t ORDER BY a", as: Int.self) == [1, 2])
    #expect(opened.withLock { $0 } == 2)
    let writing = try Database(path: path, options: options)
    try writing.executeChange("INSERT INTO t VALUES (3)")
    #expect(opened.withLock { $0 } == 3)
    #expect(try writing.rows("SELECT max(a) FROM t", as: Int.self) == [3])
    #expect(opened.withLock { $0 } == 4)
    try reading.close()
    try writing.close()
    #expect(!FileManager.default.fileExists(atPath: "\(path)-wal"))
  }

  @Test func `a writer setup runs once for each writer connection`() throws {
    let path = folder.file()
    try Database(path: path).executeMultipleChanges("CREATE TABLE t (a)")
    let database = try Database(path: path)
    // The read uses the opening connection.
    #expect(try database.rows("SELECT a FROM t", as: Int.self) == [])
    let runs = Mutex(0)
    let setup = try database.setUpWriter { connection in
      runs.withLock { $0 += 1 }
      try connection.executeChange("CREATE TEMP TABLE mine (a)")
    }
    try database.executeChange("INSERT INTO mine VALUES (1)")
    #expect(runs.withLock { $0 } == 1)
    withExtendedLifetime(setup) {}
  }

  @Test func `a program that only reads never sets up a writer`() throws {
    let path = folder.file()
    try Database(path: path).executeMultipleChanges("CREATE TABLE t (a)")
    let database = try Database(path: path)
    let runs = Mutex(0)
    let setup = try database.setUpWriter { _ in runs.withLock { $0 += 1 } }
    #expect(try database.rows("SELECT a FROM t", as: Int.self) == [])
    #expect(runs.withLock { $0 } == 0)
    try database.write { connection in
      #expect(runs.withLock { $0 } == 1)
      let inner = try database.setUpWriter { connection in
        runs.withLock { $0 += 10 }
        try connection.executeChange("CREATE TEMP TABLE inner (a)")
      }
      #expect(runs.withLock { $0 } == 11)
      try connection.executeChange("INSERT INTO inner VALUES (1)")
      withExtendedLifetime(inner) {}
    }
    try database.executeChange("INSERT INTO t VALUES (1)")
    #expect(runs.withLock { $0 } == 11)
    let memory = try Database.memory()
    let inMemory = try memory.setUpWriter { _ in runs.withLock { $0 = 0 } }
    _ = try memory.rows("SELECT 1", as: Int.self)
    #expect(runs.withLock { $0 } == 0)
    withExtendedLifetime((setup, inMemory)) {}
  }

  @Test(arguments: [Database.Options.JournalMode.delete, .wal])
  func `a file that checkBeforeUse rejects isn't changed`(
    mode: Database.Options.JournalMode
  ) throws {
    let path = folder.file()
    var options = Database.Options()
    options.journalMode = mode
    let former = try Database(path: path, options: options)
    try former.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    // The copies are in the state that a killed program would leave.
    let copy = folder.file("copy")
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    let files = ["", "-wal"].map { try? Data(contentsOf: URL(filePath: copy + $0)) }
    options.journalMode = mode == .wal ? .delete : .wal
    options.checkBeforeUse = { connection in
      #expect(try connection.hasLoaded("A", of: "T"))
      #expect(try !connection.hasLoaded("b", of: "t"))
      #expect(try !connection.hasLoaded("a", of: "other"))
      throw SQLiteError(.misuse, "not this one")
    }
    let error = failure(copy, options)
    #expect(error?.message.contains("not this one") == true)
    #expect(["", "-wal"].map { try? Data(contentsOf: URL(filePath: copy + $0)) } == files)
    options.checkBeforeUse = { connection in
      let isKnown = try connection.hasLoaded("a", of: "t")
      #expect(isKnown)
    }
    #expect(
      try Database(path: copy, options: options).rows("SELECT a FROM t", as: Int.self) == [1])
  }

  @Test func `first accesses of many concurrent tasks get their connections`() async throws {
    let path = folder.file()
    try await Database(path: path).executeMultipleChanges("CREATE TABLE t (a)")
    for _ in 0..<20 {
      let database = try Database(path: path)
      try await withThrowingTaskGroup { group in
        for number in 0..<12 {
          group.addTask {
            if number % 3 == 0 {
              try await database.write { _ = try $0.executeChange("INSERT INTO t VALUES (1)") }
            } else {
              _ = try await database.read { try $0.rows("SELECT count(*) FROM t", as: Int.self) }
            }
          }
        }
        try await group.waitForAll()
      }
      try await database.close()
    }
    #expect(try await Database(path: path).rows("SELECT count(*) FROM t", as: Int.self) == [80])
  }

  @Test func `truncated and corrupted files produce errors or data, never a crash`() throws {
    let database = try Database(path: folder.file())
    try database.executeMultipleChanges(
      """
      CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); CREATE INDEX i ON t (b);
      INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
      SELECT i, printf('text %d', i) FROM n
      """)
    try database.close()
    let whole = try Data(contentsOf: URL(filePath: folder.file()))
    var generator = SplitMix64(seed: 17)
    for round in 0..<150 {
      var bytes = [UInt8](whole)
      if round % 3 == 0 { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator)) }
      for _ in 0..<(round % 3) * 8 {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        bytes[index] = UInt8.random(in: 0...255, using: &generator)
      }
      let path = folder.file("broken-\(round)")
      try Data(bytes).write(to: URL(filePath: path))
      do {
        let broken = try Database(path: path)
        _ = try broken.executeQuery("SELECT * FROM t ORDER BY b")
        try broken.executeChange("DELETE FROM t WHERE a % 3 = 0")
      } catch is SQLiteError {
        // Any SQLite error is fine.
      }
    }
  }
}
