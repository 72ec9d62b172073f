import Conformance
import SQLiteCore
import SQLiteMapping
import TestSupport
import Testing

private struct Memo: Record, Equatable {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.searched("title", "text")]
  var id: Int?
  var title: String
  var text: String
  var size: Int
}

/// A record of the same table after a migration renamed a column.
private struct RenamedMemo: Record {
  static let tableName = "Memo"
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.searched("title", "body")]
  var id: Int?
  var title: String
  var body: String
  var size: Int
}

private struct ShortMemo: Record {
  static let tableName = "Memo"
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.searched("title")]
  var id: Int?
  var title: String
  var size: Int
}

private struct MovedMemo: Record {
  static let tableName = "Moved"
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.searched("title", "text")]
  var id: Int?
  var title: String
  var text: String
  var size: Int
}

private struct Ranked: Record {
  static let traits: [PropertyTrait] = [.searched("Rank")]
  static let prototype: Ranked? = Ranked(id: 1, Rank: "")
  var id: Int
  var Rank: String
}

/// A record with a property that FTS5 can't index: each FTS5 table has a hidden column with the
/// table's own name.
private struct SelfNamed: Record {
  static let traits: [PropertyTrait] = [.searched("selfnamed_search")]
  var id: Int
  var selfnamed_search: String
}

/// Tests that full-text indexes stay correct under SQL, migrations and changes by other programs.
@Suite struct SearchIndexMaintenanceTests {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
    let database = try Database(path: folder.file())
    try database.write {
      try $0.insert(contentsOf: [
        Memo(title: "shopping", text: "milk bread", size: 1),
        Memo(title: "garden", text: "roses", size: 2),
      ])
    }
    try database.close()
  }

  /// Opens the file like a new process, before any record type is used.
  private func opened() throws -> Database { try Database(path: folder.file()) }

  @Test func `SQL on a new connection updates the index`() throws {
    for isFirst in [true, false] {
      let database = try opened()
      if isFirst {
        try database.executeChange("UPDATE Memo SET text = 'tulips' WHERE id = 2")
      } else {
        try database.write {
          try $0.executeChange("INSERT INTO Memo (title, text, size) VALUES ('a', 'tulips', 3)")
        }
      }
      try database.close()
    }
    let database = try opened()
    #expect(try database.read { try $0.fetch(Memo.all.search(.all(of: "tulips"))) }.count == 2)
    #expect(try database.read { try $0.fetch(Memo.all.search(.all(of: "roses"))) }.isEmpty)
    let differences = try database.write { try $0.check(of: Memo.self) }
    #expect(differences == [])
  }

  @Test func `a migration on a new connection updates the index`() throws {
    let database = try opened()
    try database.migrate([
      Migration(
        "texts",
        .transform("Memo") { ["text": try $0.get("text", as: String.self) + " more"] },
        .sql("DELETE FROM Memo WHERE id = 2"))
    ])
    #expect(
      try database.read { try $0.fetch(Memo.all.search(.all(of: "more"))) }.map(\.value.id) == [1])
    #expect(try database.write { try $0.check(of: Memo.self) } == [])
  }

  @Test(.needsUntrustedSearch) func `the triggers of an untrusted file stay untrusted`() throws {
    var options = Database.Options.untrusted
    options.mode = .readWrite
    let database = try Database(path: folder.file(), options: options)
    let error = #expect(throws: SQLiteError.self) {
      try database.executeChange("UPDATE Memo SET text = 'x'")
    }
    if let error { #expect(error.message.contains("unsafe use")) }
  }

  @Test func `a renamed column can be searched immediately`() throws {
    let database = try opened()
    try database.migrate([Migration("body", .renameColumn("text", to: "body", in: "Memo"))])
    #expect(
      try database.read { try $0.fetch(RenamedMemo.all.search(.all(of: "milk"))) }.map(\.value.id)
        == [1])
    try database.executeChange("UPDATE Memo SET body = 'tulips' WHERE id = 1")
    #expect(
      try database.read { try $0.fetch(RenamedMemo.all.search(.all(of: "tulips"))) }.count == 1)
    #expect(try database.write { try $0.check(of: RenamedMemo.self) } == [])
  }

  @Test func `a searched column can be dropped`() throws {
    let database = try opened()
    try database.migrate([Migration("short", .dropColumn("text", in: "Memo"))])
    #expect(
      try database.read { try $0.fetch(ShortMemo.all.search(.all(of: "garden"))) }.map(\.value.id)
        == [2])
    #expect(try database.read { try $0.fetch(ShortMemo.all.search(.all(of: "milk"))) }.isEmpty)
    #expect(try database.write { try $0.check(of: ShortMemo.self) } == [])
  }

  @Test func `dropping the last searched column drops the index`() throws {
    let database = try opened()
    try database.migrate([
      Migration("none", .dropColumn("text", in: "Memo"), .dropColumn("title", in: "Memo"))
    ])
    #expect(try names(database).isEmpty)
    try database.executeChange("UPDATE Memo SET size = 5")
  }

  @Test func `a renamed table can be searched immediately, and a drop removes the index`() throws {
    let database = try opened()
    try database.migrate([Migration("moved", .renameTable("Memo", to: "Moved"))])
    #expect(
      try database.read { try $0.fetch(MovedMemo.all.search(.all(of: "milk"))) }.map(\.value.id)
        == [1])
    #expect(try database.write { try $0.check(of: MovedMemo.self) } == [])
    try database.migrate([
      Migration("moved", .renameTable("Memo", to: "Moved")), Migration("gone", .dropTable("Moved")),
    ])
    #expect(try names(database).isEmpty)
  }

  /// Returns the names of the full-text indexes and their triggers in the schema.
  private func names(_ database: Database) throws -> [String] {
    try database.rows(
      "SELECT name FROM sqlite_schema WHERE name LIKE '%search%'", as: String.self)
  }

  @Test func `a change of another column doesn't write to the index`() throws {
    let database = try opened()
    let content: SQL = "SELECT id, hex(block) FROM Memo_search_data ORDER BY id"
    let before = try database.rows(content, as: Int.self, String.self).map { "\($0)" }
    try database.executeChange("UPDATE Memo SET size = size + 1")
    #expect(try database.rows(content, as: Int.self, String.self).map { "\($0)" } == before)
    for name in ["id", "rowid", "oid"] {
      try database.executeChange("UPDATE Memo SET \(identifier: name) = \(identifier: name) + 7")
    }
    #expect(
      try database.read { try $0.fetch(Memo.all.search(.all(of: "milk"))) }.map(\.value.id) == [22])
    #expect(try database.write { try $0.check(of: Memo.self) } == [])
  }

  @Test func `a record update that doesn't change text doesn't write to the index`() throws {
    let database = try opened()
    try database.write { try $0.prepare(Memo.self) }
    let content: SQL = "SELECT id, hex(block) FROM Memo_search_data ORDER BY id"
    let before = try database.rows(content, as: Int.self, String.self).map { "\($0)" }
    try database.write { connection in
      var memo = try connection.object(of: Memo.self, primary: 1)
      memo.size = 7
      try connection.updateExisting(memo)
      memo.size = 8
      try connection.update(memo)
    }
    #expect(try database.rows(content, as: Int.self, String.self).map { "\($0)" } == before)
    try database.write { connection in
      var memo = try connection.object(of: Memo.self, primary: 1)
      #expect(memo.size == 8)
      memo.text = "cheese"
      try connection.update(memo)
    }
    #expect(
      try database.read { try $0.fetch(Memo.all.search(.all(of: "cheese"))) }.map(\.value.id)
        == [1])
    #expect(
      try database.read { try $0.fetch(Memo.all.search(.all(of: "milk"))) }.isEmpty)
  }

  /// SQLite compares 1 and 1.0 as equal, and a collation can make different strings equal, but
  /// their text differs.
  @Test(arguments: ["title = 1.0", "title = 'b'", "title = NULL", "title = x'31', text = ''"])
  func `an equal value with a different text is indexed`(change: String) throws {
    var options = Database.Options()
    options.prepareConnection = { try $0.addCollation("alike") { _, _ in 0 } }
    let database = try Database(path: folder.file("values"), options: options)
    try database.executeMultipleChanges(
      """
      CREATE TABLE Memo (
        id INTEGER PRIMARY KEY AUTOINCREMENT, title COLLATE alike, text TEXT, size INTEGER)
      """)
    try database.executeChange("INSERT INTO Memo VALUES (1, 1, 'a', 0), (2, 'a', 'a', 0)")
    try database.write { try $0.prepare(Memo.self) }
    try database.executeChange("UPDATE Memo SET \(SQL(unchecked: change))")
    let fault = try database.write {
      try $0.firstRow(
        "INSERT INTO Memo_search (Memo_search, rank) VALUES ('integrity-check', 1)")
    }
    #expect(fault == nil)
  }

  @Test func `prepare replaces the triggers of an older version`() throws {
    let database = try opened()
    try database.executeMultipleChanges(
      """
      DROP TRIGGER Memo_search_update;
      CREATE TRIGGER Memo_search_update AFTER UPDATE ON Memo BEGIN
        INSERT INTO Memo_search (Memo_search, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
        INSERT INTO Memo_search (rowid, title, text) VALUES (new.id, new.title, new.text);
      END;
      """)
    let found = try database.read { try $0.check(of: Memo.self) }
    #expect(found.map(\.kind) == [.searchIndex])
    #expect(found.map(\.isResolvedByWriting) == [true])
    try database.write { try $0.prepare(Memo.self) }
    #expect(try database.read { try $0.check(of: Memo.self) } == [])
    let sql = try database.rows(
      "SELECT sql FROM sqlite_schema WHERE name = 'Memo_search_update'", as: String.self)
    #expect(sql.count == 1 && sql.allSatisfy { $0.contains("UPDATE OF") })
  }

  @Test(arguments: [
    ("DROP TRIGGER Memo_search_delete", SchemaDifference.Kind.searchIndex),
    ("DROP TABLE Memo_search", .searchIndex),
    ("ALTER TABLE Memo RENAME COLUMN text TO body", .searchIndex),
    ("DROP TRIGGER Memo_search_insert; INSERT INTO Memo VALUES (9, '', '', 0)", .searchIndex),
    ("INSERT INTO Memo_search (Memo_search) VALUES ('delete-all')", .searchContent),
    ("INSERT INTO Memo_search (rowid, title, text) VALUES (1, 'other', 'words')", .searchContent),
  ])
  func `check reports an index that is damaged or out of date`(
    sql: String, kind: SchemaDifference.Kind
  ) throws {
    let database = try opened()
    try database.executeMultipleChanges(SQL(unchecked: sql))
    let isRenamed = sql.contains("RENAME")
    let found = try database.write {
      isRenamed ? try $0.check(of: RenamedMemo.self) : try $0.check(of: Memo.self)
    }
    #expect(found.map(\.kind) == [kind], "\(found)")
    #expect(found.allSatisfy { $0.description.contains("Memo_search") })
    guard kind == .searchIndex else { return }
    try database.write {
      isRenamed ? try $0.prepare(RenamedMemo.self) : try $0.prepare(Memo.self)
    }
    let left = try database.write {
      isRenamed ? try $0.check(of: RenamedMemo.self) : try $0.check(of: Memo.self)
    }
    #expect(left == [])
  }

  @Test(arguments: [
    "TABLE Memo_search (title, text)", "VIEW Memo_search AS SELECT 1 AS title",
    "VIRTUAL TABLE Memo_search USING fts4(title, text)",
    "VIRTUAL TABLE Memo_search USING fts5(title, text)",
  ])
  func `check and search report another table or view with the index's name`(other: String) throws {
    let database = try opened()
    try database.executeMultipleChanges(
      SQL(unchecked: "DROP TABLE Memo_search; CREATE \(other)"))
    for found in [
      try database.read { try $0.check(of: Memo.self) },
      try database.write { try $0.check(of: Memo.self) },
    ] {
      #expect(found.map(\.kind) == [.searchName])
      #expect(found.map(\.isResolvedByWriting) == [false])
    }
    let unfound = #expect(throws: SQLiteError.self) {
      try database.read { try $0.fetch(Memo.all.search(.all(of: "milk"))) }
    }
    let unprepared = #expect(throws: SQLiteError.self) {
      try database.write { try $0.prepare(Memo.self) }
    }
    for error in [unfound, unprepared] {
      #expect(error?.message.contains("“Memo_search”") == true)
    }
  }

  @Test func `an index of other columns throws until the next write rebuilds it`() throws {
    var database = try opened()
    let error = #expect(throws: SQLiteError.self) {
      try database.read { try $0.fetch(ShortMemo.all.search(.all(of: "garden"))) }
    }
    #expect(error?.message.contains("“Memo_search” with the columns (title)") == true)
    try database.executeChange("ALTER TABLE Memo RENAME COLUMN text TO body")
    try database.close()
    database = try opened()
    #expect(throws: SQLiteError.self) {
      try database.read { try $0.fetch(RenamedMemo.all.search(.all(of: "roses"))) }
    }
    try database.write { try $0.insert(RenamedMemo(title: "a", body: "roses", size: 1)) }
    #expect(
      try database.read { try $0.fetch(RenamedMemo.all.search(.all(of: "roses"))) }.count == 2)
  }

  @Test(arguments: [
    "DROP TRIGGER Memo_search_insert",
    """
    DROP TABLE Memo;
    CREATE TABLE Memo (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, text TEXT NOT NULL, size INTEGER NOT NULL)
    """,
  ])
  func `the next write restores triggers that another connection dropped`(sql: String) throws {
    let database = try opened()
    try database.write { try $0.insert(Memo(title: "first", text: "", size: 1)) }
    try opened().executeMultipleChanges(SQL(unchecked: sql))
    try database.write { try $0.insert(Memo(title: "second", text: "", size: 1)) }
    #expect(try database.read { try $0.fetch(Memo.all.search(.all(of: "second"))) }.count == 1)
    #expect(try database.write { try $0.check(of: Memo.self) } == [])
  }

  @Test func `two traits can name the same property`() throws {
    struct Twice: Record {
      static let traits: [PropertyTrait] = [.searched("a", "a"), .searched("b", "a")]
      var id: Int
      var a: String
      var b: String
    }
    let database = try opened()
    try database.write { try $0.insert(Twice(id: 1, a: "milk", b: "bread")) }
    #expect(try database.read { try $0.fetch(Twice.all.search(.all(of: "milk bread"))) }.count == 1)
  }

  @Test func `a search trait without properties makes nothing searchable`() throws {
    struct Nothing: Record {
      static let traits: [PropertyTrait] = [.searched()]
      var id: Int
    }
    let database = try opened()
    try database.write { try $0.insert(Nothing(id: 1)) }
    let error = #expect(throws: SQLiteError.self) {
      try database.read { try $0.fetch(Nothing.all.search(.all(of: "a"))) }
    }
    #expect(error?.code == .misuse)
  }

  @Test func `check in a read finds rows that aren't indexed`() throws {
    let database = try opened()
    try database.executeChange("INSERT INTO Memo_search (Memo_search) VALUES ('delete-all')")
    let found = try database.read { try $0.check(of: Memo.self) }
    #expect(found.map(\.kind) == [.searchContent])
    try database.executeChange("INSERT INTO Memo_search (Memo_search) VALUES ('rebuild')")
    #expect(try database.read { try $0.check(of: Memo.self) } == [])
  }

  @Test func `a searched property with a name that FTS5 reserves throws`() throws {
    let database = try opened()
    let error = #expect(throws: (any Error).self) {
      try database.write { try $0.insert(Ranked(id: 1, Rank: "a")) }
    }
    #expect("\(error as Any)".contains("“Rank”"))
    #expect("\(error as Any)".contains("FTS5"))
    let other = #expect(throws: (any Error).self) {
      try database.write { try $0.insert(SelfNamed(id: 1, selfnamed_search: "a")) }
    }
    #expect("\(other as Any)".contains("“selfnamed_search”"))
  }
}
