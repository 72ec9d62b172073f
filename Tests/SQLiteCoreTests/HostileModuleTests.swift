import SQLiteCore
import Testing
import TestSupport

/// Tests of virtual table arguments that crash some versions of SQLite. Each test runs in a
/// separate process.
@Suite struct HostileModuleTests {
  /// Module arguments with an option of `trigram` that lacks its value.
  static let arguments = [
    "a, tokenize = 'trigram case_sensitive'", "tokenize=\"trigram case_sensitive\", a",
    "a, tokenize = 'porter trigram case_sensitive'",
    "a, tokenize = 'TRIGRAM case_sensitive 1 case_sensitive'",
  ]

  private static func throwsSQLiteError(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch {
      return error is SQLiteError
    }
  }

  @Test func `a tokenizer option without a value throws`() async {
    await #expect(processExitsWith: .success) {
      for arguments in HostileModuleTests.arguments {
        let database = try Database.memory()
        let sql = SQL(unchecked: "CREATE VIRTUAL TABLE t USING fts5(\(arguments))")
        #expect(HostileModuleTests.throwsSQLiteError { try database.executeChange(sql) })
        #expect(try database.rows("SELECT count(*) FROM sqlite_schema", as: Int.self) == [0])
      }
    }
  }

  /// Creates a database with a virtual table whose stored arguments SQLite hasn't checked.
  private static func makeDatabase(at path: String, withArguments arguments: String) throws {
    var damaging = Database.Options()
    damaging.allowsSchemaDamage = true
    let maker = try Database(path: path, options: damaging)
    try maker.withoutTransaction { connection in
      try connection.executeMultipleChanges("CREATE TABLE s (a); INSERT INTO s VALUES (7)")
      try connection.executeChange("PRAGMA writable_schema = 1")
      let sql = "CREATE VIRTUAL TABLE t USING fts5(\(arguments))"
      try connection.executeChange(
        "INSERT INTO sqlite_schema VALUES ('table', 't', 't', 0, \(sql))")
    }
    try maker.close()
  }

  @Test func `a table with such an option in a file's schema throws when it is used`() async {
    await #expect(processExitsWith: .success) {
      for arguments in HostileModuleTests.arguments {
        let folder = try TestFolder()
        let path = folder.file()
        try HostileModuleTests.makeDatabase(at: path, withArguments: arguments)
        #expect(
          HostileModuleTests.throwsSQLiteError { _ = try Database(path: path, options: .untrusted) }
        )
        var unchecked = Database.Options.untrusted
        unchecked.allowedModules = nil
        for options in [Database.Options(), .readOnly, unchecked] {
          let database = try Database(path: path, options: options)
          #expect(try database.rows("SELECT a FROM s", as: Int.self) == [7])
          for query: SQL in ["PRAGMA table_info(t)", "SELECT * FROM t", "SELECT * FROM t('abc')"] {
            #expect(HostileModuleTests.throwsSQLiteError { _ = try database.executeQuery(query) })
          }
          try database.close()
        }
      }
    }
  }

  @Test func `trigram works with valid options`() throws {
    let database = try Database.memory()
    try database.executeMultipleChanges(
      """
      CREATE VIRTUAL TABLE folded USING fts5(a, tokenize = 'trigram');
      CREATE VIRTUAL TABLE exact USING fts5(a, tokenize = 'trigram case_sensitive 1');
      INSERT INTO folded VALUES ('SQLite');
      INSERT INTO exact VALUES ('SQLite');
      """)
    #expect(try database.rows("SELECT count(*) FROM folded('lit')", as: Int.self) == [1])
    #expect(try database.rows("SELECT count(*) FROM folded('LIT')", as: Int.self) == [1])
    #expect(try database.rows("SELECT count(*) FROM exact('Lit')", as: Int.self) == [1])
    #expect(try database.rows("SELECT count(*) FROM exact('LIT')", as: Int.self) == [0])
  }
}
