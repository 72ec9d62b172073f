import Foundation
import MagicData
import Synchronization
import Testing
import TestSupport

/// Tests the file of an open database: it can't be removed or replaced unnoticed, and it has only
/// one name.
@Suite struct HoldFileTests {
  struct Note: MagicObject {
    @MagicValue var text: String
    @MagicValue var photo: MagicAsset<String>

    init() {
      text = ""
      photo = MagicAsset()
    }
  }

  let folder: TestFolder

  init() throws { folder = try TestFolder.inMemory() }

  private func remove(_ name: String, _ suffixes: [String] = ["", "-wal", "-shm", "-journal"]) {
    for suffix in suffixes {
      try? FileManager.default.removeItem(atPath: folder.file(name + suffix))
    }
  }

  private func note(_ text: String) -> Note {
    let note = Note()
    note.text = text
    note.photo = MagicAsset(value: "photo of \(text)")
    return note
  }

  private func permissions(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: folder.file(name))[.posixPermissions] as? Int
  }

  private func open(_ journalMode: Database.Options.JournalMode) throws -> Database {
    var options = Database.Options()
    options.journalMode = journalMode
    let database = try Database(path: folder.file(), options: options)
    try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    return database
  }

  @Test(arguments: [Database.Options.JournalMode.wal, .delete, .truncate])
  func `writes to a removed file throw`(
    mode: Database.Options.JournalMode
  ) throws {
    let database = try open(mode)
    remove("data.sqlite3")
    for _ in 0..<2 {
      let error = #expect(throws: SQLiteError.self) {
        try database.write { try $0.executeChange("INSERT INTO t VALUES (2)") }
      }
      #expect(error?.code.primary == .readOnly, "\(error as Any)")
    }
    #expect(throws: SQLiteError.self) {
      try database.withoutTransaction { try $0.executeChange("INSERT INTO t VALUES (2)") }
    }
    #expect(throws: SQLiteError.self) {
      try database.withoutTransaction { connection in
        try connection.executeChange("BEGIN IMMEDIATE")
        try connection.executeChange("INSERT INTO t VALUES (2)")
        try connection.executeChange("COMMIT")
      }
    }
    #expect(throws: SQLiteError.self) { try Database(path: folder.file()) }
    #expect(throws: SQLiteError.self) { try Database.memory().backup(to: database) }
    #expect(try folder.names() == [])
    try database.close()
    #expect(try folder.names() == [])
    let again = try open(mode)
    #expect(try again.rows("SELECT a FROM t", as: Int.self) == [1])
  }

  @Test(arguments: [false, true])
  func `concurrent tasks can't write to a removed file`(isGrouped: Bool) async throws {
    var options = Database.Options()
    options.groupCommit.includesAsyncWrites = isGrouped
    let database = try await Task { [path = folder.file()] in
      try Database(path: path, options: options)
    }.value
    try await database.write { try $0.executeChange("CREATE TABLE t (a)") }
    remove("data.sqlite3")
    await withTaskGroup { group in
      for number in 0..<10 {
        group.addTask {
          await #expect(throws: SQLiteError.self) {
            try await database.write { try $0.executeChange("INSERT INTO t VALUES (\(number))") }
          }
        }
      }
    }
    #expect(try folder.names() == [])
  }

  @Test func `later readers of a removed file see the old content or throw, and create no file`()
    throws
  {
    let database = try open(.wal)
    _ = try database.read { try $0.rows("SELECT a FROM t", as: Int.self) }
    remove("data.sqlite3")
    let counts = Mutex<[Int?]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      // Eight concurrent reads need connections that weren't open before.
      let count = try? database.read { connection in
        usleep(20_000)
        return try connection.firstRow("SELECT count(*) FROM sqlite_schema", as: Int.self)
      }
      counts.withLock { $0.append(count ?? nil) }
    }
    #expect(counts.withLock { $0.allSatisfy { $0 == nil || $0 == 1 } })
    #expect(try folder.names() == [])
  }

  @Test func `a file that replaces an open one isn't mistaken for it`() throws {
    let database = try open(.wal)
    _ = try database.read { try $0.rows("SELECT a FROM t", as: Int.self) }
    let other = try Database(path: folder.file("other"))
    try other.executeMultipleChanges("CREATE TABLE u (a); CREATE TABLE v (a)")
    try other.close()
    remove("data.sqlite3")
    try FileManager.default.moveItem(atPath: folder.file("other"), toPath: folder.file())
    let before = try folder.bytes(of: "data.sqlite3")
    DispatchQueue.concurrentPerform(iterations: 6) { _ in
      let count = try? database.read { connection in
        usleep(20_000)
        return try connection.firstRow("SELECT count(*) FROM sqlite_schema", as: Int.self)
      }
      #expect(count == nil || count == 1)
    }
    #expect(throws: SQLiteError.self) { try database.executeChange("INSERT INTO t VALUES (2)") }
    #expect(throws: SQLiteError.self) { try Database(path: folder.file()) }
    try database.close()
    #expect(try folder.bytes(of: "data.sqlite3") == before)
    let next = try Database(path: folder.file())
    #expect(try next.rows("SELECT count(*) FROM sqlite_schema", as: Int.self).first == 2)
  }

  @Test func `a write to a removed WAL throws`() throws {
    let database = try open(.wal)
    try database.executeChange("INSERT INTO t VALUES (2)")
    remove("data.sqlite3", ["-wal"])
    let error = #expect(throws: SQLiteError.self) {
      try database.executeChange("INSERT INTO t VALUES (3)")
    }
    #expect(error?.code == .readOnlyMoved)
  }

  @Test func `the journal mode can change while the database is open`() throws {
    let database = try open(.wal)
    for mode in ["DELETE", "WAL", "DELETE", "WAL"] {
      try database.executeChange("INSERT INTO t VALUES (2)")
      try database.suspend()
      database.resume()
      try database.withoutTransaction {
        _ = try $0.executeQuery("PRAGMA journal_mode = \(SQL(unchecked: mode))")
      }
      try database.executeChange("INSERT INTO t VALUES (3)")
    }
    #expect(try database.rows("SELECT count(*) FROM t", as: Int.self).first == 9)
  }

  @Test func `a store with a removed file can be opened again`() throws {
    let magic = try MagicData(path: folder.path)
    try magic.update(note("one"))
    remove("default.sqlite3")
    #expect(throws: SQLiteError.self) { try magic.update(note("two")) }
    #expect(!folder.contains("default.sqlite3"))
    try magic.database.close()
    let again = try MagicData(path: folder.path)
    #expect(try again.count(of: Note.self) == 0)
    try again.update(note("three"))
    #expect(try again.objects(of: Note.self).map { try $0.photo.get() } == ["photo of three"])
    #expect(try permissions("default.sqlite3") == 0o600)
    #expect(try permissions("default.sqlite3-wal") == 0o600)
  }

  @Test func `a store finds its assets after its file is restored`() throws {
    do {
      let magic = try MagicData(path: folder.path)
      try magic.update(note("one"))
      try magic.database.close()
    }
    let saved = try folder.bytes(of: "default.sqlite3")
    remove("default.sqlite3")
    do {
      let magic = try MagicData(path: folder.path)
      try magic.update(note("two"))
      try magic.database.close()
    }
    try folder.write(saved, to: "default.sqlite3")
    let magic = try MagicData(path: folder.path)
    #expect(try magic.objects(of: Note.self).map { try $0.photo.get() } == ["photo of one"])
  }

  @Test func `opening a hard link throws, and a symbolic link resolves to the original path`()
    throws
  {
    let database = try open(.wal)
    try FileManager.default.linkItem(atPath: folder.file(), toPath: folder.file("hard"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("soft"), withDestinationPath: folder.file())
    #expect(throws: SQLiteError.self) { try Database(path: folder.file("hard")) }
    #expect(try Database(path: folder.file("soft")).path == database.path)
    try database.executeChange("INSERT INTO t VALUES (2)")
  }

  @Test func `a folder, its file and links to them open one store with one assets folder`() throws {
    let path = folder.file("store")
    let magic = try MagicData(path: path)
    try magic.update(note("one"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link.sqlite3"), withDestinationPath: path + "/default.sqlite3")
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link"), withDestinationPath: path)
    let paths = [
      path + "/default.sqlite3", folder.file("link.sqlite3"), folder.file("link"),
      folder.file("link/default.sqlite3"),
    ]
    for path in paths {
      let other = try MagicData(path: path)
      #expect(other.assets.path == magic.assets.path)
      #expect(try other.objects(of: Note.self).map { try $0.photo.get() } == ["photo of one"])
      try other.update(note("two"))
      try other.remove(other.objects(of: Note.self, where: \.$text == "two")[0])
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/assets/files").count == 1)
    #expect(try folder.names() == ["link", "link.sqlite3", "store"])
  }
}
