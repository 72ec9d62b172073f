import Foundation
import MagicData
import SPON
import SQLSyntax
import SQLiteCore
import SQLiteMapping
import SQLitePortable
import SQLiteRelations
import Testing
import TestSupport

/// Tests that each row of the tables in the guide “Coming from the older libraries” has an example,
/// which these tests run.
@Suite struct ComingFromTheSeedsTests {
  struct Row: CustomTestStringConvertible {
    let old: String
    let new: String
    var testDescription: String { old }
  }

  typealias Person = SavedBySwiftDatabase.Person

  struct Pet: Record, Equatable {
    static let primaryKeyType = PrimaryKeyType.computedInt
    var id: Int?
    var name = ""
    var home = Home()
  }

  struct Home: Codable, Equatable { var city = "" }

  struct Toy: Record {
    static let primaryKey = "name"
    static let primaryKeyType = PrimaryKeyType.unique
    var name = ""
  }

  struct Tagged: Record {
    static let primaryKeyType = PrimaryKeyType.uuid
    var id: String?
  }

  struct Numbered: Record {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    var id: Int?
  }

  struct Stored: MagicObject {
    @MagicValue var list: [Int]
    @MagicValue var set: Set<Int>
    @MagicValue var job: Job
    init() {}
    struct Job: MagicalCodable { var title: String }
  }

  static let source = URL(filePath: #filePath)
  static let guide = source.deletingLastPathComponent()
    .appending(path: "../../Sources/MagicData/MagicData.docc/ComingFromTheSeeds.md")

  /// The rows of all tables, without their headers.
  static let rows: [Row] = {
    let text = (try? String(contentsOf: guide, encoding: .utf8)) ?? ""
    var rows: [Row] = []
    var isInBody = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      guard line.hasPrefix("| ") || line.hasPrefix("|-") else {
        isInBody = false
        continue
      }
      if line.hasPrefix("|-") {
        isInBody = true
      } else if isInBody {
        let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
        rows.append(Row(old: cells[0], new: cells.dropFirst().joined(separator: " | ")))
      }
    }
    return rows
  }()

  @Test(arguments: rows)
  func `each row of the guide has one example, which succeeds`(row: Row) throws {
    let examples = Self.examples.filter { row.old.hasPrefix($0.key) }
    #expect(examples.count == 1, "exactly one example must match the start of this row")
    let folder = try TestFolder()
    for example in examples.values { try example(folder) }
  }

  @Test func `each example belongs to a row, and each name in a row is used by an example`() throws
  {
    #expect(Self.rows.count > 40)
    #expect(Self.examples.count == Self.rows.count)
    let code = try String(contentsOf: Self.source, encoding: .utf8)
    for row in Self.rows {
      for (number, span) in row.new.split(separator: "`", omittingEmptySubsequences: false)
        .enumerated()
      where number % 2 == 1 {
        for name in span.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" }) {
          #expect(code.contains(name), "\(row.old): \(name)")
        }
      }
    }
  }

  @Test func `collections and structs are stored as TEXT, and assets are read with get`() throws {
    let magic = try MagicData(type: .memory)
    let stored = Stored()
    stored.list = [1]
    stored.set = [2]
    stored.job = Stored.Job(title: "Cook")
    try magic.update(stored)
    let types = try magic.database.rows(
      "SELECT typeof(list), typeof(\"set\"), typeof(job) FROM Stored",
      as: String.self, String.self, String.self)
    #expect(types.first ?? ("", "", "") == ("text", "text", "text"))
    let asset = MagicAsset(value: "Hello")
    #expect(try asset.get() == "Hello")
  }

  typealias Example = @Sendable (TestFolder) throws -> Void

  /// The examples, keyed by the start of their row.
  static let examples = swiftData.merging(swiftDatabase) { $1 }.merging(swiftletData) { $1 }

  private static func store() throws -> CodableStore {
    let store = try CodableStore()
    try store.insert(items: [Person(id: 1, name: "Ann"), Person(id: 2, name: "Bob")])
    return store
  }

  private static func database() throws -> Database {
    let database = try Database.memory()
    try database.executeMultipleChanges(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT);
      CREATE INDEX i ON t (name);
      INSERT INTO t (name) VALUES ('x')
      """)
    return database
  }
}

// MARK: SwiftData

extension ComingFromTheSeedsTests {
  static let swiftData: [String: Example] = [
    "`SD.executeChange(sql": { (_: TestFolder) throws in
      let database = try database()
      let change = try database.executeChange("INSERT INTO t (name) VALUES (?)", withArgs: ["y"])
      #expect(change.rows == 1)
      #expect(throws: SQLiteError.self) { try database.executeChange("INSERT INTO no VALUES (1)") }
    },
    "`SD.executeMultipleChanges": { (_: TestFolder) throws in
      let database = try database()
      #expect(throws: SQLiteError.self) {
        try database.write { try $0.executeMultipleChanges(["DELETE FROM t", "DELETE FROM no"]) }
      }
      #expect(try database.rows("SELECT count(*) FROM t", as: Int.self).first == 1)
    },
    "`SD.executeQuery(sql)`": { (_: TestFolder) throws in
      let database = try database()
      for row in try database.executeQuery("SELECT 7 AS name") {
        #expect(row["name"]?.asInt() == 7)
      }
      #expect(try database.rows("SELECT id FROM t", as: Int.self) == [1])
    },
    "`asAnyObject()`": { (_: TestFolder) throws in
      let row = try database().executeQuery("SELECT name FROM t").first
      #expect(row?["name"]?.value == .text("x"))
    },
    "`?` and `i?`": { (_: TestFolder) throws in
      let database = try database()
      let name = "x"
      let old = try database.executeQuery(
        "SELECT '?', i? FROM t WHERE name = ? -- i?", withArgs: ["name", name])
      #expect(old.first?[0]?.asString() == "?")
      let new = try database.rows(
        "SELECT \(identifier: "name") FROM t WHERE name = \(name)", as: String.self)
      #expect(new == ["x"])
    },
    "`escapeValue`": { (_: TestFolder) throws in
      #expect(try SQL.escapeValue("O'Hara") == "'O''Hara'")
      #expect(try SQL.escapeIdentifier("a\"b") == "\"a\"\"b\"")
    },
    "`executeWithConnection(flags)`": { (_: TestFolder) throws in
      let database = try database()
      let count = try database.read { connection in
        try connection.firstRow("SELECT count(*) FROM t", as: Int.self)
      }
      #expect(count == 1)
      try database.write { connection in _ = try connection.executeChange("DELETE FROM t") }
    },
    "`transaction {": { (_: TestFolder) throws in
      let database = try database()
      _ = try database.write { connection in
        try connection.executeChange("DELETE FROM t")
        return TransactionOutcome.rollback
      }
      #expect(throws: CancellationError.self) {
        try database.write { connection in
          try connection.executeChange("DELETE FROM t")
          throw CancellationError()
        }
      }
      #expect(try database.rows("SELECT count(*) FROM t", as: Int.self).first == 1)
    },
    "`createTable(_:with": { (_: TestFolder) throws in
      let database = try Database.memory()
      try database.write { try $0.createTable("a", columns: [ColumnDefinition("name", .text)]) }
      try database.write {
        try $0.createTable(
          "b", columns: [ColumnDefinition("ID", .integer, isPrimaryKey: true)])
      }
      let names = try database.read { try $0.columns(of: "a").map(\.name) }
      #expect(names == ["name"])
      try database.executeChange("INSERT INTO b DEFAULT VALUES")
      #expect(try database.rows("SELECT ID FROM b", as: Int.self) == [1])
    },
    "`deleteTable`": { (_: TestFolder) throws in
      let database = try database()
      try database.write { try $0.createIndex("j", on: "t", columns: ["id"]) }
      #expect(try database.read { try $0.existingIndexes() }.map(\.name).sorted() == ["i", "j"])
      try database.write { try $0.removeIndex("j") }
      try database.write { try $0.deleteTable("t") }
      #expect(try database.read { try $0.existingTables() } == [])
    },
    "`existingIndexesForTable": { (_: TestFolder) throws in
      let table = "t"
      #expect(try database().read { try $0.existingIndexes(of: table) }.map(\.name) == ["i"])
    },
    "`databasePath()`": { (folder: TestFolder) throws in
      let database = try Database(path: folder.file("a"))
      #expect(database.path?.hasSuffix("/a") == true)
      try database.close()
    },
    "`errorMessageForCode`": { (_: TestFolder) throws in
      let error = #expect(throws: SQLiteError.self) {
        try database().executeChange("INSERT INTO no VALUES (1)")
      }
      // SQLiteError.message
      #expect(error?.message == "no such table: no")
    },
    "an error code": { (_: TestFolder) throws in
      let error = #expect(throws: SQLiteError.self) {
        try database().executeChange("INSERT INTO t (id) VALUES (1)")
      }
      // SQLiteError.code
      #expect(error?.code == .primaryKeyConstraint)
    },
    "several statements in one string": { (_: TestFolder) throws in
      let database = try database()
      #expect(throws: SQLiteError.self) {
        try database.executeChange("DELETE FROM t; DELETE FROM t")
      }
      #expect(try database.rows("SELECT count(*) FROM t", as: Int.self).first == 1)
      try database.executeMultipleChanges("DELETE FROM t; INSERT INTO t VALUES (5, 'z')")
      #expect(try database.rows("SELECT id FROM t", as: Int.self) == [5])
    },
    "one database in Documents": { (folder: TestFolder) throws in
      let two = try ["a", "b"].map { try Database(path: folder.file($0)) }
      for database in two { try database.close() }
    },
  ]
}

// MARK: SwiftDatabase

extension ComingFromTheSeedsTests {
  static let swiftDatabase: [String: Example] = [
    "a file that it saved": { (_: TestFolder) throws in
      // The tests of the tool run `magicdata import FILE PATH`.
      let data = SavedBySwiftDatabase.data
      let people: [Person] = try CodableStore(importing: data).read()
      #expect(people == [Person(id: 1, name: "Ann")])
    },
    "`insert(item:)`": { (_: TestFolder) throws in
      let store = try store()
      try store.insert(on: "VIP", item: Person(id: 3, name: "Cid"))
      let vip: [Person] = try store.read(from: "VIP") { $0.id > 2 }
      #expect(vip.count == 1)
      try store.database.close()
      #expect(throws: SQLiteError.self) { try store.insert(item: vip[0]) }
    },
    "`update`, ": { (_: TestFolder) throws in
      let store = try store()
      let (ann, missing) = (Person(id: 1, name: "Ann"), Person(id: 9, name: ""))
      #expect(try store.update(item: ann) == 1)
      #expect(try store.update(item: missing) == 0)
      #expect(try store.delete(item: missing) == 0)
      #expect(
        try store.updateAllItems(of: Person.self, changes: { $0 }, filter: { _ in false }) == 0)
      #expect(try store.deleteAllItems(of: Person.self, filter: { $0.id == 1 }) == 1)
    },
    "`update(items:)`": { (_: TestFolder) throws in
      let items = [Person(id: 9, name: ""), Person(id: 1, name: "Ann")]
      #expect(try store().update(items: items) == 1)
    },
    "`…Async`": { (_: TestFolder) throws in
      // Other tests run the async forms, such as `await store.read()`.
      let read: (CodableStore) async throws -> [Person] = { try await $0.read() }
      _ = read
    },
    "`save(to:)`": { (folder: TestFolder) throws in
      let (store, url) = (try store(), URL(filePath: folder.file("a")))
      try store.save(to: url)
      let other = try CodableStore()
      try other.load(from: url)
      #expect(try other.count(of: Person.self) == 2)
      try other.set(data: try CodableStore().data())
      #expect(try other.count(of: Person.self) == 0)
      let lasting = try CodableStore(path: folder.file("b"))
      try lasting.insert(item: Person(id: 1, name: "Ann"))
      try lasting.database.close()
      let again = try CodableStore(path: folder.file("b"))
      #expect(try again.count(of: Person.self) == 1)
      try again.database.close()
    },
    "`data`, a property": { (_: TestFolder) throws in
      let store = try store()
      #expect(try store.data().isEmpty == false)
      try store.database.close()
      #expect(throws: SQLiteError.self) { try store.data() }
    },
    "`clearDatabase()`": { (_: TestFolder) throws in
      let store = try store()
      try store.clear()
      #expect(try store.tableNames() == [])
    },
    "a list that does not decode": { (_: TestFolder) throws in
      let store = try CodableStore()
      try store.insert(on: "Person", item: Home(city: "Rome"))
      #expect {
        let _: [Person] = try store.read()
      } throws: { error in
        if case CodableStoreError.undecodable = error { true } else { false }
      }
      try store.insert(item: Person(id: 1, name: "Ann"))
      let report = try store.readReport(of: Person.self)
      #expect(report.items.count == 1)
      #expect(report.undecodable.count == 1)
    },
    "a list is named": { (_: TestFolder) throws in
      struct Person: Codable, Equatable {}
      let store = try store()
      #expect(try store.tableNames() == ["Person"])
      let error = #expect(throws: CodableStoreError.self) { try store.insert(item: Person()) }
      guard case .sameName = error else {
        Issue.record("CodableStoreError.sameName is expected")
        return
      }
    },
  ]
}

// MARK: SwiftletData

extension ComingFromTheSeedsTests {
  static let swiftletData: [String: Example] = [
    "`ADDataTable`": { (_: TestFolder) throws in
      // Record
      let database = try Database.memory()
      try database.write { try $0.update(Pet(name: "Rex")) }
      #expect(try database.read { try $0.existingTables() }.contains("Pet"))
    },
    "`primaryKeyType`": { (_: TestFolder) throws in
      let database = try Database.memory()
      #expect(Toy.primaryKeyType == .unique)
      #expect(try database.write { try $0.update(Numbered()) }.id == 1)
      #expect(Numbered.primaryKeyType == .autoIncrement)
      #expect(try database.write { try $0.update(Pet()) }.id == 1)
      #expect(Pet.primaryKeyType == .computedInt)
      #expect(UUID(uuidString: try database.write { try $0.update(Tagged()) }.id ?? "") != nil)
      #expect(Tagged.primaryKeyType == .uuid)
    },
    "`ADSQLiteProvider.shared.openSource`": { (folder: TestFolder) throws in
      try Database(path: folder.file("a")).close()
    },
    "`openSource(_:fromBundle": { (folder: TestFolder) throws in
      try Database(path: folder.file("a")).close()
      let reading = try Database(path: folder.file("a"), options: .readOnly)
      #expect(throws: SQLiteError.self) { try reading.executeChange("CREATE TABLE t (a)") }
      try reading.close()
      // DataFile.copy
      try DataFile.sqlite(path: folder.file("a")).copy(to: .sqlite(path: folder.file("b")))
      try Database(path: folder.file("b")).close()
    },
    "`saveSource(name)`": { (folder: TestFolder) throws in
      let database = try Database(path: folder.file("a"))
      try database.vacuum(into: folder.file("b"))
      #expect(database.path?.hasSuffix("/a") == true)
      try database.close()
      #expect(folder.contains("b"))
    },
    "`deleteSource(name)`": { (folder: TestFolder) throws in
      let database = try Database(path: folder.file("a"))
      try database.executeChange("CREATE TABLE t (a)")
      try database.close()
      // A closed database has no -wal and -shm files, unless another program has it open.
      #expect(try folder.names() == ["a"])
    },
    "`save`, `getRow": { (_: TestFolder) throws in
      let database = try Database.memory()
      let rex = try database.write { try $0.update(Pet(name: "Rex")) }
      #expect(try database.read { try $0.object(of: Pet.self, ifPresent: 1) } == rex)
      #expect(try database.read { try $0.object(of: Pet.self, ifPresent: 2) } == nil)
      #expect(try database.read { try $0.objects(of: Pet.self, where: "name = \("Rex")") } == [rex])
      try database.write { try $0.remove(rex) }
    },
    "`hasRow": { (_: TestFolder) throws in
      let database = try Database.memory()
      try database.write { try $0.update(Pet()) }
      #expect(try database.read { try $0.has(of: Pet.self, primary: 1) })
      #expect(try !database.read { try $0.has(of: Pet.self, primary: 2) })
    },
    "`rowCount": { (_: TestFolder) throws in
      let database = try Database.memory()
      try database.write { try $0.update(Pet(name: "Rex")) }
      #expect(try database.read { try $0.count(of: Pet.self, where: "name = 'Rex'") } == 1)
    },
    "`lastIntID": { (_: TestFolder) throws in
      let database = try Database.memory()
      let rex = try database.write { try $0.update(Pet()) }
      #expect(try database.rows("SELECT max(id) FROM Pet", as: Int.self).first == rex.id)
    },
    "`make`, `makeID`": { (_: TestFolder) throws in
      #expect(try Database.memory().read { try $0.makeKey(for: Pet.self) } == .integer(1))
    },
    "`registerTableSchema`": { (_: TestFolder) throws in
      let database = try Database.memory()
      try database.write { try $0.prepare(Pet.self) }
      #expect(try database.read { try $0.tableExists(of: Pet.self) })
    },
    "a nested record": { (_: TestFolder) throws in
      let database = try Database.memory()
      try database.write { try $0.update(Pet(home: Home(city: "Rome"))) }
      #expect(try database.rows("SELECT home FROM Pet", as: String.self) == [#"{"city":"Rome"}"#])
    },
    "`ADCrossReference`": { (_: TestFolder) throws in
      let database = try Database.memory()
      let reference = CrossReference<Pet, Toy>("PetToys")
      let rex = try database.write { try $0.update(Pet(name: "Rex")) }
      try database.write { try $0.setLinks(of: rex, to: [Toy(name: "ball")], through: reference) }
      try database.write { try $0.update(rex) }
      let toys = try database.read { try $0.rightObjects(ofEach: [rex], through: reference) }
      #expect(toys.map { $0.map(\.name) } == [["ball"]])
    },
    "`ADSPONProvider`": { (folder: TestFolder) throws in
      // import SPON
      let database = try Database.memory()
      try database.write { try $0.update(Pet(name: "Rex")) }
      try database.dump(to: .spon(path: folder.file("a")))
      let other = try Database.memory()
      try other.restore(from: .spon(path: folder.file("a")))
      #expect(try other.read { try $0.count(of: Pet.self) } == 1)
    },
    "`ADRecord`": { (_: TestFolder) throws in
      #expect(try database().rows("SELECT name FROM t", as: Value.self).first == .text("x"))
    },
    "`ADInstanceDictionary`": { (_: TestFolder) throws in
      let text = try SPONEncoder().encodeText(Home(city: "Rome"))
      #expect(try SPONDecoder().decode(Home.self, from: text) == Home(city: "Rome"))
    },
    "`compare(condition": { (_: TestFolder) throws in
      let (condition, a, b) = (true, 1, 2)
      let database = try Database.memory()
      #expect(
        try database.rows("SELECT iif(\(condition), \(a), \(b))", as: Int.self).first == 1)
      #expect(
        try database.rows("SELECT CASE WHEN \(condition) THEN \(a) END", as: Int.self).first == 1)
    },
    "the column type of a Color": { (_: TestFolder) throws in
      struct Paint: Record {
        var id = 1
        var color = "#FF8800"
      }
      let database = try Database.memory()
      try database.write { try $0.update(Paint()) }
      #expect(try database.rows("SELECT color FROM Paint", as: String.self) == ["#FF8800"])
    },
    "`ADSQLParser`": { (_: TestFolder) throws in
      // SQLSyntax
      #expect(try SQLExpression(parsing: "1 + x").description == "1 + x")
    },
    "`ADiCloudProvider`": { (_: TestFolder) throws in
      // `MagicData(path:syncedThrough:)` is tested in MagicSync.
    },
  ]
}
