import CExtension
import Foundation
import SQLiteCore
import Synchronization
import TestSupport
import Testing

/// The extension of `Tests/CExtension` as a shared library, which this process compiles.
private struct TestLibrary {
  let path: String

  /// Compiles the library. It is removed together with the folder.
  init(in folder: TestFolder, named name: String = "answer.so") throws {
    path = folder.file(name)
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../CExtension").standardized.path
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = [
      TestLibrary.compiler ?? "cc", "-shared", "-fPIC", "-I\(source)/include", "-o", path,
      "\(source)/extension.c",
    ]
    try compiler.run()
    compiler.waitUntilExit()
    #expect(compiler.terminationStatus == 0)
  }

  static let compiler = ["clang", "cc"].first { name in
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
    }
  }
}

@Suite struct LinkedExtensionTests {
  let folder: TestFolder
  private let answer = unsafe Database.Extension.linked("answer") {
    unsafe sqlite3_extension_init($0, $1, nil)
  }

  init() throws { folder = try TestFolder() }

  private func options(_ extensions: Database.Extension...) -> Database.Options {
    var options = Database.Options()
    options.extensions = extensions
    return options
  }

  @Test(arguments: Kind.allCases) func `the extension is added to a database of every kind`(
    kind: Kind
  ) throws {
    let fixture = try Fixture(kind, options(answer))
    let written = try fixture.database.write {
      try $0.firstRow("SELECT test_answer()", as: Int.self)
    }
    #expect(written == 42)
    #expect(try fixture.database.rows("SELECT test_answer()", as: Int.self) == [42])
  }

  @Test func `the extension is added to each connection of the pool, and not to others`() throws {
    let count = Mutex(0)
    let counting = unsafe Database.Extension.linked("counting") { _, _ in
      count.withLock { $0 += 1 }
      return 0
    }
    var options = options(answer, counting)
    options.maximumReaderCount = 3
    let database = try Database(path: folder.file(), options: options)
    try database.write { _ = try $0.executeChange("CREATE TABLE t (a)") }
    // All readers are used at the same time.
    let readers = DispatchGroup()
    for _ in 0..<3 { readers.enter() }
    let answers = Mutex<[Int?]>([])
    let done = DispatchGroup()
    for _ in 0..<3 {
      done.enter()
      Thread.detachNewThread {
        let result = try? database.read { connection in
          readers.leave()
          readers.wait()
          return try connection.firstRow("SELECT test_answer()", as: Int.self)
        }
        answers.withLock { $0.append(result ?? nil) }
        done.leave()
      }
    }
    done.wait()
    #expect(answers.withLock { $0 } == [42, 42, 42])
    // One connection for each reader, the writer, and the check before the file was created.
    #expect(count.withLock { $0 } == 5)
    // The connections that are opened after a suspension have the extension, too.
    try database.suspend()
    database.resume()
    #expect(try database.rows("SELECT test_answer()", as: Int.self) == [42])
    let other = try Database(path: folder.file())
    for database in [other, try .memory()] {
      #expect(
        sqliteError { _ = try database.executeQuery("SELECT test_answer()") }?.message
          == "no such function: test_answer")
    }
  }

  @Test func `the extension is added before the preparation of the connection`() throws {
    let answers = Mutex<[Int?]>([])
    var options = options(answer)
    options.prepareConnection = { connection in
      let found = try connection.firstRow("SELECT test_answer()", as: Int.self)
      answers.withLock { $0.append(found) }
    }
    _ = try Database(path: folder.file(), options: options)
    #expect(answers.withLock { $0 } == [42])
  }

  @Test func `the schema can use the extension`() throws {
    do {
      let database = try Database(path: folder.file(), options: options(answer))
      try database.executeMultipleChanges(
        """
        CREATE TABLE t (a, b AS (a + test_answer()));
        CREATE INDEX i ON t (a + test_answer());
        INSERT INTO t VALUES (1)
        """)
      try database.close()
    }
    let database = try Database(path: folder.file(), options: options(answer))
    #expect(try database.rows("SELECT b FROM t WHERE a + test_answer() = 43", as: Int.self) == [43])
    let text = folder.file("copy.sqlite3")
    try database.vacuum(into: text)
    let copy = try Database.memory(serialized: database.serialized(), options: options(answer))
    #expect(try copy.rows("SELECT b FROM t", as: Int.self) == [43])
  }

  @Test func `an entry point that asks to stay loaded succeeds`() throws {
    let database = try Database.memory(
      options: unsafe options(.linked("a") { unsafe extension_init_permanently($0, $1, nil) }))
    #expect(try database.rows("SELECT test_answer()", as: Int.self) == [42])
  }

  @Test func `a failure is an error with the name of the extension and its message`() throws {
    let failing = unsafe Database.Extension.linked("oracle") {
      unsafe extension_init_failing($0, $1, nil)
    }
    let silent = unsafe Database.Extension.linked("oracle") {
      unsafe extension_init_silent($0, $1, nil)
    }
    for (added, reason) in [(failing, "the answer is unknown"), (silent, "out of memory")] {
      let error = sqliteError { _ = try Database.memory(options: options(answer, added)) }
      #expect(error?.code == .error)
      #expect(
        error?.message == ":memory:: oracle: the extension cannot be initialized: \(reason)")
    }
  }

  @Test func `a failure on a later connection fails only the access that needs it`() throws {
    let count = Mutex(0)
    let second = unsafe Database.Extension.linked("second") { _, _ in
      count.withLock {
        $0 += 1
        return $0 == 2 ? 1 : 0
      }
    }
    try folder.write([], to: "data.sqlite3")
    let database = try Database(path: folder.file(), options: options(answer, second))
    try database.write { _ = try $0.executeChange("CREATE TABLE t (a)") }
    let error = sqliteError { _ = try database.read { try $0.tableExists("t") } }
    #expect(
      error?.message.hasSuffix("second: the extension cannot be initialized: SQL logic error")
        == true)
    // The next access opens the connection again.
    #expect(try database.read { try $0.firstRow("SELECT test_answer()", as: Int.self) } == 42)
    try database.write { _ = try $0.executeChange("INSERT INTO t VALUES (test_answer())") }
  }

  @Test func `an untrusted database rejects extensions`() throws {
    try Database(path: folder.file()).executeChange("CREATE TABLE t (a)")
    let before = try folder.bytes(of: "data.sqlite3")
    var untrusted = Database.Options.untrusted
    untrusted.extensions = [answer]
    var changed = untrusted
    changed.allowedModules = nil
    changed.mode = .readWriteCreate
    for options in [untrusted, changed] {
      let errors = [
        sqliteError { _ = try Database(path: folder.file(), options: options) },
        sqliteError { _ = try Database(path: folder.file("new.sqlite3"), options: options) },
        sqliteError { _ = try Database.memory(options: options) },
      ]
      for error in errors {
        #expect(error?.code == .misuse)
        #expect(
          error?.message.contains("an untrusted database can't be opened with extensions") == true)
      }
    }
    #expect(try folder.bytes(of: "data.sqlite3") == before)
    #expect(try folder.names() == ["data.sqlite3"])
  }

  @Test func `the error of a missing module names the option`() throws {
    var damaging = Database.Options()
    damaging.allowsSchemaDamage = true
    let database = try Database(path: folder.file(), options: damaging)
    try database.withoutTransaction { connection in
      try connection.executeMultipleChanges("CREATE TABLE s (a); PRAGMA writable_schema = 1")
      try connection.executeChange(
        "INSERT INTO sqlite_schema VALUES ('table', 't', 't', 0, 'CREATE VIRTUAL TABLE t USING vec0(a)')"
      )
    }
    try database.close()
    // The file can be opened, checked and used, except for the table.
    let opened = try Database(path: folder.file())
    try opened.executeChange("INSERT INTO s VALUES (1)")
    #expect(try opened.rows("PRAGMA integrity_check", as: String.self) == ["ok"])
    for sql: SQL in ["SELECT * FROM t", "CREATE VIRTUAL TABLE u USING vec0(a)"] {
      let error = sqliteError { _ = try opened.write { try $0.executeChange(sql) } }
      #expect(error?.code == .error)
      #expect(
        error?.message
          == "no such module: vec0; pass the extension with this module in Options.extensions")
    }
  }
}

@Suite(
  .enabled(if: TestLibrary.compiler != nil, "there is no C compiler"),
  .enabled(if: Capabilities.hasLoadableExtensions, "this SQLite can't load extensions"))
struct LoadedExtensionTests {
  let folder: TestFolder
  private let library: TestLibrary

  init() throws {
    folder = try TestFolder()
    library = try TestLibrary(in: folder)
  }

  private func options(_ path: String, _ entryPoint: String? = nil) -> Database.Options {
    var options = Database.Options()
    options.extensions = [.library(path, entryPoint: entryPoint)]
    return options
  }

  @Test(arguments: Kind.allCases) func `the library is loaded for a database of every kind`(
    kind: Kind
  ) throws {
    let fixture = try Fixture(kind, options(library.path))
    let written = try fixture.database.write {
      try $0.firstRow("SELECT test_answer()", as: Int.self)
    }
    #expect(written == 42)
    #expect(try fixture.database.rows("SELECT test_answer()", as: Int.self) == [42])
    let other = try Database.memory()
    #expect(sqliteError { _ = try other.executeQuery("SELECT test_answer()") } != nil)
  }

  @Test(arguments: [nil, "sqlite3_extension_init", "extension_init_permanently"])
  func `the name can lack its suffix, and the entry point can have a name`(
    entryPoint: String?
  ) throws {
    #if !canImport(Darwin)
      let path = folder.file("answer")
      let database = try Database.memory(options: options(path, entryPoint))
      #expect(try database.rows("SELECT test_answer()", as: Int.self) == [42])
    #endif
  }

  @Test(arguments: [nil, "extension_init_enabling"])
  func `SQL can't load extensions`(entryPoint: String?) throws {
    var options = options(library.path, entryPoint)
    let path = library.path
    options.prepareConnection = { connection in
      let error = sqliteError { _ = try connection.executeQuery("SELECT load_extension(\(path))") }
      #expect(error?.message == "not authorized")
    }
    let database = try Database(path: folder.file(), options: options)
    let error = sqliteError {
      _ = try database.write { try $0.executeQuery("SELECT load_extension(\(path))") }
    }
    #expect(error?.message == "not authorized")
  }

  /// Each row: the path, the entry point, the code, and the end of the message.
  @Test func `each failure has its own error and leaves the file untouched`() throws {
    do {
      let database = try Database(path: folder.file())
      try database.executeChange("CREATE TABLE t (a)")
    }
    let before = try folder.bytes(of: "data.sqlite3")
    try folder.write("this is not a library", to: "text.so")
    try folder.write([], to: "empty.so")
    try FileManager.default.createDirectory(
      atPath: folder.file("folder.so"), withIntermediateDirectories: false)
    let names = try folder.names()
    let long = "/" + String(repeating: "a", count: 5_000)
    let cases: [(String, String?, ResultCode, String)] = [
      (folder.file("none.so"), nil, .cannotOpen, "none.so: the extension cannot be loaded: "),
      (folder.file("text.so"), nil, .cannotOpen, "text.so: the extension cannot be loaded: "),
      (folder.file("text"), nil, .cannotOpen, "text: the extension cannot be loaded: "),
      (folder.file("empty.so"), nil, .cannotOpen, "empty.so: the extension cannot be loaded: "),
      (folder.file("folder.so"), nil, .cannotOpen, "folder.so: the extension cannot be loaded: "),
      (folder.path, nil, .cannotOpen, ": the extension cannot be loaded: "),
      ("no-such-library-anywhere", nil, .cannotOpen, "the extension cannot be loaded: "),
      (long, nil, .cannotOpen, "the extension cannot be loaded: "),
      (library.path, "no_such_function", .notFound, "the extension has no such entry point: "),
      (library.path, "", .misuse, "the path or entry point of an extension is empty"),
      (library.path, "a\0b", .misuse, "the path or entry point of an extension is empty"),
      (
        library.path, "extension_init_failing", .error,
        "the extension cannot be initialized: the answer is unknown"
      ),
      (library.path, "extension_init_silent", .error, "the extension cannot be initialized: "),
      ("", nil, .misuse, "the path or entry point of an extension is empty"),
      ("a\0b", nil, .misuse, "the path or entry point of an extension is empty"),
    ]
    for (path, entryPoint, code, message) in cases {
      let options = options(path, entryPoint)
      var reading = options
      reading.mode = .readOnly
      let errors = [
        sqliteError { _ = try Database(path: folder.file(), options: options) },
        sqliteError { _ = try Database(path: folder.file(), options: reading) },
        sqliteError { _ = try Database(path: folder.file("new.sqlite3"), options: options) },
        sqliteError { _ = try Database.memory(options: options) },
        sqliteError { _ = try Database.temporary(options: options) },
      ]
      for error in errors {
        #expect(error?.code == code, "\(path) \(entryPoint ?? "")")
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
      }
    }
    #expect(try folder.bytes(of: "data.sqlite3") == before)
    #expect(try folder.names() == names)
  }

  @Test func `the error of a file that isn't a library contains the system's reason`() throws {
    try folder.write("this is not a library", to: "text.so")
    for name in ["text.so", "text"] {
      let error = sqliteError { _ = try Database.memory(options: options(folder.file(name))) }
      // SQLite's own message says that “text.so.so” is missing.
      #expect(error?.message.contains(".so.so") == false)
      #expect(error?.message.contains("No such file") == false)
    }
  }

  @Test func `a log that was left behind is not checkpointed if loading fails`() throws {
    let database = try Database(path: folder.file())
    try database.executeChange("CREATE TABLE t (a)")
    for name in ["data.sqlite3", "data.sqlite3-wal"] {
      try folder.write(try folder.bytes(of: name), to: "left/" + name)
    }
    try database.close()
    let before = try ["data.sqlite3", "data.sqlite3-wal"].map { try folder.bytes(of: "left/" + $0) }
    #expect(before[1].isEmpty == false)
    let path = folder.file("left/data.sqlite3")
    #expect(
      sqliteError { _ = try Database(path: path, options: options(folder.file("none.so"))) } != nil)
    let after = try ["data.sqlite3", "data.sqlite3-wal"].map { try folder.bytes(of: "left/" + $0) }
    #expect(before == after)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("left"))
    #expect(names.sorted() == ["data.sqlite3", "data.sqlite3-wal"])
  }

  @Test func `a library that is removed while it is in use stays loaded`() throws {
    let database = try Database(path: folder.file(), options: options(library.path))
    try database.write { _ = try $0.executeChange("CREATE TABLE t (a)") }
    try FileManager.default.removeItem(atPath: library.path)
    // This read opens another connection.
    #expect(try database.read { try $0.firstRow("SELECT test_answer()", as: Int.self) } == 42)
  }
}
