import CExtension
import Conformance
import Foundation
import SQLiteCore
import Synchronization
import TestSupport
import Testing

extension Database.Options {
  /// Options with a key of 32 equal bytes, for which SQLCipher needn't derive the encryption key.
  fileprivate static func encrypted(_ byte: UInt8 = 1) -> Database.Options {
    var options = Database.Options()
    options.key = Database.Key(bytes: [UInt8](repeating: byte, count: 32))
    options.synchronous = .normalLosesLastCommitsOnPowerCut
    return options
  }
}

private let secret = "a secret that no file contains"

/// Runs `CoreHelper`, and returns its output.
private func runHelper(_ arguments: String...) throws -> (status: Int32, output: String) {
  let process = Process()
  process.executableURL = try helperProgram("CoreHelper")
  process.arguments = arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
  let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  return (process.terminationStatus, String(decoding: data, as: UTF8.self))
}

@Suite struct KeyTests {
  @Test func `no description of a key or of options shows the key`() throws {
    var options = Database.Options()
    options.key = Database.Key(passphrase: "correct horse")
    var texts = ["\(options)", "\(String(describing: options.key))", String(reflecting: options)]
    for value: Any in [options, options.key as Any] {
      var text = ""
      dump(value, to: &text)
      texts.append(text)
    }
    for text in texts {
      #expect(!text.contains("horse"))
      #expect(!text.contains("bytes"))
      #expect(text.contains("Database.Key"))
    }
  }

  @Test(.enabled(if: !Capabilities.hasEncryption, "this SQLite can encrypt"))
  func `without SQLCipher, a key throws before a file is created or changed`() throws {
    let folder = try TestFolder()
    var options = Database.Options()
    options.key = Database.Key(passphrase: "a")
    let refusal = "this libsqlite3 cannot encrypt databases"
    let opening: [() throws -> Database] = [
      { try Database(path: folder.file(), options: options) }, { try .memory(options: options) },
      { try .temporary(options: options) },
    ]
    for open in opening {
      let error = sqliteError { _ = try open() }
      #expect(error?.code == .misuse)
      #expect(error?.message.contains(refusal) == true)
    }
    #expect(try folder.names().isEmpty)
    let database = try Database.memory()
    let key = Database.Key(passphrase: "a")
    let error = sqliteError { try database.vacuum(into: folder.file(), key: key) }
    #expect(error?.message.contains(refusal) == true)
    #expect(sqliteError { try database.rekey(to: key) }?.message.contains(refusal) == true)
    #expect(try folder.names().isEmpty)
  }

  #if os(Linux)
    @Test(arguments: ["bytes", "passphrase"])
    func `no copy of a key remains in memory after its last use`(kind: String) throws {
      let folder = try TestFolder()
      let (status, output) = try runHelper("key", folder.file(), kind)
      let lines = output.split(separator: "\n")
      #expect(status == 0, "\(lines)")
      // The search finds a copy that exists.
      #expect(lines.contains("held: 1 digits"), "\(lines)")
      #expect(lines.suffix(2) == ["released: 0 bytes", "released: 0 digits"], "\(lines)")
    }
  #endif

  @Test func `a copy without a key needs no SQLCipher`() throws {
    let folder = try TestFolder()
    let database = try Database.memory()
    try database.executeChange("CREATE TABLE t (a)")
    try database.vacuum(into: folder.file(), key: nil)
    #expect(try Database(path: folder.file()).rows("SELECT a FROM t", as: Int.self).isEmpty)
  }
}

/// Whether `.ci/sqlcipher` runs the tests.
private let expectsSQLCipher =
  ProcessInfo.processInfo.environment["MAGICDATA_EXPECTS_SQLCIPHER"] != nil

@Test(.enabled(if: expectsSQLCipher, "the tests run with the system's SQLite"))
func `the whole program uses SQLCipher`() throws {
  let version = try Database.memory().rows("PRAGMA cipher_version", as: String.self)
  #expect(version.first?.hasPrefix("4.") == true)
  #expect(Capabilities.hasEncryption)
  #expect(Capabilities.compileOptions.contains("HAS_CODEC"))
}

@Suite(.needsEncryption) struct EncryptionTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func open(_ options: Database.Options = .encrypted()) throws -> Database {
    try Database(path: folder.file(), options: options)
  }

  /// Creates the file with one row, and closes it.
  private func make(_ options: Database.Options = .encrypted()) throws {
    let database = try open(options)
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    try database.executeChange("INSERT INTO t (a) VALUES (\(secret))")
    try database.close()
  }

  private func secrets(in database: Database) throws -> [String] {
    try database.rows("SELECT a FROM t ORDER BY id", as: String.self)
  }

  /// Returns the contents of all files in the folder, keyed by their names.
  private func files() throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try folder.names() { files[name] = try folder.bytes(of: name) }
    return files
  }

  /// Checks that no file in the folder contains the secret or the header of a plain database.
  private func expectNoPlainText(in count: Int) throws {
    let files = try files().filter { !$0.value.isEmpty }
    #expect(files.count >= count, "\(files.keys)")
    for (name, bytes) in files {
      let data = Data(bytes)
      #expect(data.range(of: Data(secret.utf8)) == nil, "\(name)")
      #expect(data.range(of: Data("CREATE TABLE".utf8)) == nil, "\(name)")
      #expect(data.range(of: Data("SQLite format 3".utf8)) == nil, "\(name)")
    }
  }

  @Test func `the file, the log and copies contain no plain text`() throws {
    let database = try open()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    try database.executeChange("INSERT INTO t (a) VALUES (\(secret))")
    try database.checkpoint(.passive)
    try database.executeChange("INSERT INTO t (a) VALUES (\(secret))")
    try database.vacuum(into: folder.file("copy.sqlite3"))
    let backup = try Database(path: folder.file("backup.sqlite3"), options: .encrypted(2))
    try database.backup(to: backup)
    #expect(folder.contains("data.sqlite3-wal"))
    try expectNoPlainText(in: 5)
    #expect(try secrets(in: backup).count == 2)
    try backup.close()
    // VACUUM INTO keeps the key.
    let copy = try Database(path: folder.file("copy.sqlite3"), options: .encrypted())
    #expect(try secrets(in: copy).count == 2)
  }

  @Test(arguments: [Database.Options.JournalMode.delete, .truncate, .persist])
  func `a rollback journal contains no plain text`(mode: Database.Options.JournalMode) throws {
    var options = Database.Options.encrypted()
    options.journalMode = mode
    try make(options)
    let database = try open(options)
    try database.write { connection in
      try connection.executeChange("UPDATE t SET a = \(secret + "!")")
      try connection.executeChange("INSERT INTO t (a) VALUES (zeroblob(9000000))")
      try expectNoPlainText(in: 2)
    }
  }

  @Test(arguments: [false, true])
  func `a wrong key and a missing key throw and change no file`(hasLog: Bool) throws {
    try make()
    if hasLog {
      // A copy of the files of an open database, as after a crash.
      let database = try open()
      try database.executeChange("INSERT INTO t (a) VALUES (\(secret))")
      let copies = try files()
      try database.close()
      for (name, bytes) in copies where !name.hasSuffix("-shm") {
        try folder.write(bytes, to: name)
      }
    }
    let before = try files()
    #expect(before.count == (hasLog ? 2 : 1))
    var passphrase = Database.Options()
    passphrase.key = Database.Key(passphrase: "wrong")
    for mode in [Database.Options.Mode.readWriteCreate, .readWrite, .readOnly] {
      for var options in [Database.Options.encrypted(2), passphrase, .init()] {
        options.mode = mode
        let hasKey = options.key != nil
        let error = sqliteError { _ = try open(options) }
        #expect(error?.code == .notADatabase)
        let message =
          hasKey
          ? "the key is wrong, or the file is not an encrypted database"
          : "the file is not a database; if it is encrypted, open it with its key"
        #expect(error?.message == "\(folder.file()): \(message)")
        #expect(try files().filter { !$0.key.hasSuffix("-shm") } == before)
      }
    }
    #expect(try secrets(in: open()).count == (hasLog ? 2 : 1))
  }

  @Test func `a key for a file that isn't encrypted throws and changes no file`() throws {
    try make(Database.Options())
    let before = try files()
    for mode in [Database.Options.Mode.readWriteCreate, .readWrite, .readOnly] {
      var options = Database.Options.encrypted()
      options.mode = mode
      let error = sqliteError { _ = try open(options) }
      #expect(error?.code == .notADatabase)
      #expect(error?.message.contains("the file is not encrypted; open it without a key") == true)
      #expect(try files() == before)
    }
    #expect(try secrets(in: open(Database.Options())) == [secret])
  }

  @Test func `an invalid key throws before the file is created`() throws {
    for count in [0, 1, 31, 33, 47, 64] {
      var options = Database.Options()
      options.key = Database.Key(bytes: [UInt8](repeating: 1, count: count))
      #expect(sqliteError { _ = try open(options) }?.code == .misuse)
    }
    var options = Database.Options()
    options.key = Database.Key(passphrase: "")
    #expect(sqliteError { _ = try open(options) }?.code == .misuse)
    #expect(try folder.names().isEmpty)
  }

  @Test func `passphrases are compared byte by byte`() throws {
    for (index, passphrase) in ["a", "a\0b", "é", "e\u{301}", "'; --"].enumerated() {
      var options = Database.Options()
      options.key = Database.Key(passphrase: passphrase)
      let path = folder.file("\(index)")
      try Database(path: path, options: options).executeChange("CREATE TABLE t (a)")
      options.key = Database.Key(passphrase: passphrase + " ")
      #expect(sqliteError { _ = try Database(path: path, options: options) } != nil)
      options.key = Database.Key(passphrase: passphrase == "a\0b" ? "a" : passphrase)
      let error = sqliteError { _ = try Database(path: path, options: options) }
      #expect((error == nil) == (passphrase != "a\0b"), "\(passphrase)")
    }
  }

  @Test func `the options of an open database, traces and errors don't contain the key`() throws {
    var options = Database.Options()
    options.key = Database.Key(passphrase: "correct horse")
    let texts = Mutex<[String]>([])
    options.prepareConnection = { connection in
      try connection.trace(showsValues: true) { event in
        texts.withLock { $0.append("\(event)") }
      }
    }
    let database = try open(options)
    #expect(database.options.key == nil)
    try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    try database.vacuum(
      into: folder.file("copy"), key: Database.Key(passphrase: "battery horse"))
    try database.rekey(to: Database.Key(passphrase: "staple horse"))
    #expect(try database.rows("SELECT a FROM t", as: Int.self) == [1])
    let error = sqliteError { _ = try open(options) }
    var text = ""
    dump(database, to: &text)
    texts.withLock { $0 += ["\(error as Any)", text] }
    #expect(error?.code == .notADatabase)
    #expect(texts.withLock { $0.count } > 5)
    #expect(!texts.withLock { $0.joined().contains("horse") })
  }

  @Test func `the right key opens the file after a wrong one was tried`() throws {
    try make()
    let kept = try open()
    for byte in [2, 3] as [UInt8] {
      #expect(sqliteError { _ = try open(.encrypted(byte)) }?.code == .notADatabase)
      #expect(sqliteError { _ = try open(Database.Options()) }?.code == .notADatabase)
      let other = try open()
      try other.executeChange("INSERT INTO t (a) VALUES (\(secret))")
      #expect(try secrets(in: kept) == secrets(in: other))
    }
    #expect(try kept.firstIntegrityCheck() == "ok")
    #expect(try secrets(in: kept).count == 3)
  }

  @Test func `an extension can read the encrypted file while it is initialized`() throws {
    try make()
    let before = try files()
    for (byte, code) in [(1, nil), (2, ResultCode.error)] as [(UInt8, ResultCode?)] {
      var options = Database.Options.encrypted(byte)
      options.extensions = unsafe [
        .linked("reading") { unsafe extension_init_reading($0, $1, nil) }
      ]
      let error = sqliteError {
        let found = try secrets(in: open(options))
        #expect(found == [secret])
      }
      #expect(error?.code == code)
      let reason = "reading: the extension cannot be initialized: file is not a database"
      #expect(error?.message.hasSuffix(reason) ?? true)
      #expect(try files() == before)
    }
  }

  @Test func `an extension doesn't hide that the key is wrong or missing`() throws {
    try make()
    let before = try files()
    for key in [Database.Options.encrypted(2).key, nil] {
      var options = Database.Options()
      options.key = key
      options.extensions = unsafe [
        .linked("answer") { unsafe sqlite3_extension_init($0, $1, nil) }
      ]
      #expect(sqliteError { _ = try open(options) }?.code == .notADatabase)
      #expect(try files() == before)
    }
  }

  @Test func `all connections of the pool have the key`() async throws {
    try make()
    let database = try open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<40 {
        group.addTask {
          if index.isMultiple(of: 4) {
            try await database.writeInGroup {
              _ = try $0.executeChange("INSERT INTO t (a) VALUES (\(secret))")
            }
          } else {
            _ = try await database.read { try $0.executeQuery("SELECT * FROM t") }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try secrets(in: database).count == 11)
    try expectNoPlainText(in: 2)
  }

  @Test(arguments: [Database.Options.JournalMode.wal, .delete])
  func `a pool in use continues with the new key`(mode: Database.Options.JournalMode) async throws {
    var options = Database.Options.encrypted()
    options.journalMode = mode
    try make(options)
    let database = try open(options)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for _ in 0..<50 {
            if worker == 0 {
              try await database.executeChange("INSERT INTO t (a) VALUES (\(secret))")
            } else {
              let all = try await database.rows("SELECT a FROM t", as: String.self)
              #expect(all.allSatisfy { $0 == secret })
            }
          }
        }
      }
      group.addTask {
        for byte in 2..<6 {
          try await database.rekey(
            to: Database.Key(bytes: [UInt8](repeating: UInt8(byte), count: 32)))
        }
      }
      try await group.waitForAll()
    }
    #expect(try secrets(in: database).count == 51)
    #expect(try database.firstIntegrityCheck() == "ok")
    try expectNoPlainText(in: 1)
    try await database.close()
    options.key = Database.Key(bytes: [UInt8](repeating: 4, count: 32))
    #expect(sqliteError { _ = try open(options) }?.code == .notADatabase)
    options.key = Database.Key(bytes: [UInt8](repeating: 5, count: 32))
    #expect(try secrets(in: open(options)).count == 51)
  }

  @Test func `the old key remains if another connection has the file open`() throws {
    try make()
    var options = Database.Options.encrypted()
    options.busyTimeout = .zero
    let other = try open(options)
    _ = try secrets(in: other)
    let database = try open(options)
    let error = sqliteError { try database.rekey(to: Database.Key(passphrase: "b")) }
    #expect(error?.code.primary == .busy)
    try database.executeChange("INSERT INTO t (a) VALUES (\(secret))")
    #expect(try secrets(in: other).count == 2)
    try other.close()
    try database.close()
    #expect(try secrets(in: open()).count == 2)
  }

  @Test func `the old key remains if pages can't be written`() throws {
    var options = Database.Options.encrypted()
    options.journalMode = .delete
    try make(options)
    let database = try open(options)
    // SQLite can't create a journal in place of a folder.
    let journal = folder.file("data.sqlite3-journal")
    try FileManager.default.createDirectory(atPath: journal, withIntermediateDirectories: false)
    #expect(sqliteError { try database.rekey(to: Database.Key(passphrase: "b")) } != nil)
    try FileManager.default.removeItem(atPath: journal)
    try database.executeChange("INSERT INTO t (a) VALUES (\(secret))")
    #expect(try secrets(in: database).count == 2)
    try database.close()
    #expect(try secrets(in: open()).count == 2)
  }

  #if os(Linux)
    @Test(arguments: ["killed", "failed"])
    func `the old key remains if replacing it is interrupted`(end: String) throws {
      do {
        let database = try open()
        try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        try database.write { connection in
          for _ in 0..<100 {
            try connection.executeChange("INSERT INTO t (a) VALUES (randomblob(30000))")
          }
        }
        try database.close()
      }
      let before = try files()
      let (status, output) = try runHelper("rekey", folder.file(), end)
      #expect(status == (end == "killed" ? SIGXFSZ : 0), "\(output)")
      #expect(output.contains("the key was replaced") == false)
      if end == "killed" {
        // A part of the file has the new key, and the journal contains the pages with the old one.
        #expect(try folder.names() == ["data.sqlite3", "data.sqlite3-journal"])
        #expect(try folder.bytes(of: "data.sqlite3") != before["data.sqlite3"])
      }
      #expect(sqliteError { _ = try open(.encrypted(2)) }?.code == .notADatabase)
      let database = try open()
      #expect(try database.firstIntegrityCheck() == "ok")
      let count = try database.rows("SELECT count(*) FROM t", as: Int.self)
      #expect(count == [end == "killed" ? 100 : 101])
    }
  #endif

  @Test func `only an encrypted file has a key to replace`() throws {
    let key = Database.Key(passphrase: "b")
    try make(Database.Options())
    let plain = try open(Database.Options())
    #expect(sqliteError { try plain.rekey(to: key) }?.code == .misuse)
    #expect(sqliteError { try Database.memory().rekey(to: key) }?.code == .misuse)
    try plain.close()
    try FileManager.default.removeItem(atPath: folder.file())
    try make()
    let database = try open()
    let inside = sqliteError { try database.write { _ in try database.rekey(to: key) } }
    #expect(inside?.code == .misuse)
    let invalid = Database.Key(bytes: [1])
    #expect(sqliteError { try database.rekey(to: invalid) }?.code == .misuse)
    #expect(try secrets(in: database) == [secret])
  }

  @Test func `a copy can be encrypted, decrypted, or encrypted with another key`() throws {
    try make(Database.Options())
    let plain = try open(Database.Options())
    try plain.executeMultipleChanges(
      """
      PRAGMA user_version = 7; PRAGMA application_id = 8;
      CREATE INDEX i ON t (a); CREATE VIEW v AS SELECT a FROM t;
      CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT);
      INSERT INTO counted VALUES (5); DELETE FROM counted;
      CREATE TRIGGER r AFTER INSERT ON counted BEGIN DELETE FROM t; END;
      CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES ('one two');
      ANALYZE;
      """)
    let key = Database.Key(passphrase: "a")
    try plain.vacuum(into: folder.file("a"), key: key)
    var options = Database.Options()
    options.key = key
    let encrypted = try Database(path: folder.file("a"), options: options)
    try encrypted.vacuum(into: folder.file("b"), key: Database.Options.encrypted().key)
    try encrypted.vacuum(into: folder.file("c"), key: nil)
    let copies = [
      encrypted, try Database(path: folder.file("b"), options: .encrypted()),
      try Database(path: folder.file("c")),
    ]
    for copy in copies {
      #expect(try secrets(in: copy) == [secret])
      #expect(try copy.read { try $0.userVersion() } == 7)
      #expect(try copy.read { try $0.applicationID() } == 8)
      #expect(try copy.rows("SELECT a FROM v", as: String.self) == [secret])
      let found = try copy.rows(
        "SELECT text FROM words WHERE words MATCH 'two'", as: String.self)
      #expect(found == ["one two"])
      let schema: SQL = "SELECT type || name FROM sqlite_schema ORDER BY 1"
      #expect(
        try copy.rows(schema, as: String.self) == plain.rows(schema, as: String.self))
      #expect(try copy.firstIntegrityCheck() == "ok")
      try copy.executeChange("INSERT INTO counted DEFAULT VALUES")
      #expect(try copy.rows("SELECT id FROM counted", as: Int.self) == [6])
    }
    // Existing files aren't replaced.
    #expect(sqliteError { try plain.vacuum(into: folder.file("a"), key: key) } != nil)
    #expect(try folder.names().allSatisfy { !$0.contains("pending") })
  }

  @Test func `a backup between an encrypted and a plain database throws`() throws {
    try make()
    let database = try open()
    let plain = try Database(path: folder.file("plain"))
    try plain.executeMultipleChanges("CREATE TABLE t (id, a); INSERT INTO t VALUES (1, 'kept')")
    for (source, target) in [(database, plain), (plain, database)] {
      let error = sqliteError { try source.backup(to: target) }
      #expect(error?.message.contains("vacuum(into:key:)") == true, "\(error as Any)")
    }
    #expect(try secrets(in: plain) == ["kept"])
    #expect(try secrets(in: database) == [secret])
  }

  @Test func `temporary and in-memory databases accept a key and backups`() throws {
    try make()
    let database = try open()
    for copy in [
      try Database.temporary(options: .encrypted(3)), try .memory(options: .encrypted(3)),
    ] {
      try database.backup(to: copy)
      try copy.executeChange("INSERT INTO t (a) VALUES (\(secret))")
      #expect(try secrets(in: copy).count == 2)
      let another = try Database(path: folder.file("another"), options: .encrypted(4))
      try copy.backup(to: another)
      #expect(try secrets(in: another).count == 2)
    }
  }

  #if os(Linux)
    @Test func `a temporary database writes no plain text to a file`() throws {
      let database = try Database.temporary(options: .encrypted())
      let rows = String(repeating: secret, count: 1_000)
      try database.executeChange("CREATE TABLE t (a)")
      for _ in 0..<1_000 { try database.executeChange("INSERT INTO t VALUES (\(rows))") }
      for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
        let path = "/proc/self/fd/\(name)"
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path),
          target.contains("etilqs_"), let data = FileManager.default.contents(atPath: path)
        else { continue }
        #expect(data.range(of: Data(secret.utf8)) == nil)
      }
    }
  #endif

  @Test func `the bytes of an encrypted database are those of a plain one`() throws {
    try make()
    let bytes = try open().serialized()
    #expect(Data(bytes).range(of: Data(secret.utf8)) != nil)
    #expect(try secrets(in: Database.memory(serialized: bytes)) == [secret])
  }

  @Test func `an attached file has the key of the main file unless SQL names one`() throws {
    try make()
    let (path, key) = (folder.file("other"), "k")
    var options = Database.Options()
    options.key = Database.Key(passphrase: key)
    try Database(path: path, options: options).executeMultipleChanges(
      "CREATE TABLE u (a); INSERT INTO u VALUES (1)")
    let database = try open()
    try database.withoutTransaction { connection in
      #expect(throws: SQLiteError.self) {
        try connection.executeChange("ATTACH \(path) AS other")
        _ = try connection.executeQuery("SELECT a FROM other.u")
      }
      _ = try? connection.executeChange("DETACH other")
      try connection.executeChange("ATTACH \(path) AS other KEY \(key)")
      #expect(try connection.firstRow("SELECT a FROM other.u", as: Int.self) == 1)
      try connection.executeChange("DETACH other")
      try folder.write([], to: "new")
      try connection.executeChange("ATTACH \(folder.file("new")) AS new")
      try connection.executeChange("CREATE TABLE new.t AS SELECT * FROM t")
    }
    let new = try Database(path: folder.file("new"), options: .encrypted())
    #expect(try secrets(in: new) == [secret])
  }

  @Test func `a subscription continues after the key is replaced`() throws {
    try make()
    let database = try open()
    let tables = Mutex<[Set<String>]>([])
    let subscription = database.subscribe(to: .tables) { changes in
      tables.withLock { $0.append(changes.tables) }
    }
    try database.executeChange("INSERT INTO t (a) VALUES (\(secret))")
    try database.rekey(to: Database.Key(bytes: [UInt8](repeating: 2, count: 32)))
    try database.executeChange("INSERT INTO t (a) VALUES (\(secret))")
    withExtendedLifetime(subscription) {}
    #expect(tables.withLock { $0 } == [["t"], ["t"]])
  }
}

extension Database {
  fileprivate func firstIntegrityCheck() throws -> String? {
    try rows("PRAGMA integrity_check", as: String.self).first
  }
}
